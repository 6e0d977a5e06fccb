#!/usr/bin/env python3
"""The peers of the benchmarks in PyTorch: python3 torch_peers.py CASE [--warm]. peers.py runs this and jax_peers.py beside gml.

One training step is forward, loss, backward and AdamW (fused, capturable), captured whole in one CUDA graph, once as it is and once after
torch.compile; TF32 products are allowed. Prints one JSON line: microseconds of a step (median of blocks of replays), peak memory of the device beyond the
context, and for `wide` the time of its products alone. --warm runs two steps of each and times nothing: it fills the caches of the compiler.
"""
import json
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

import torch_digits
from torch_digits import captured, measure

torch.set_float32_matmul_precision("high")
DEVICE = "cuda"


class Splines(torch.nn.Module):
    """A layer of a Kolmogorov-Arnold network: cubic B-splines on 8 intervals of [-1, 1] and a SiLU branch, all as one product."""

    def __init__(self, n_in, n_out, intervals=8, degree=3):
        super().__init__()
        h = 2 / intervals
        self.degree = degree
        self.register_buffer("knots", torch.arange(-degree, intervals + degree + 1) * h - 1)
        self.weight = torch.nn.Parameter(torch.randn(n_in, intervals + degree + 1, n_out) * 0.1)
        self.scale = torch.nn.Parameter(torch.randn(n_in, n_out) * 0.1)

    def forward(self, x):
        t, z = self.knots, x[..., None]
        basis = ((z >= t[:-1]) & (z < t[1:])).to(x.dtype)
        for k in range(1, self.degree + 1):
            left = (z - t[:-k - 1]) / (t[k:-1] - t[:-k - 1]) * basis[..., :-1]
            basis = left + (t[k + 1:] - z) / (t[k + 1:] - t[1:-k]) * basis[..., 1:]
        columns = torch.cat([basis, F.silu(z)], -1).flatten(-2)
        spline = self.weight[:, :-1] * self.scale[:, None]
        return columns @ torch.cat([spline, self.weight[:, -1:]], 1).flatten(0, 1)


class Transformer(torch.nn.Module):
    def __init__(self, n_in=40, width=64, depth=4, heads=4, places=128, classes=3):
        super().__init__()
        self.inp = torch.nn.Linear(n_in, width)
        self.places = torch.nn.Parameter(torch.randn(places, width) * 0.02)
        self.blocks = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
            for _ in range(depth))
        self.norm = torch.nn.LayerNorm(width)
        self.head = torch.nn.Linear(width, classes)

    def forward(self, x):
        h = self.inp(x) + self.places
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h).mean(1))


def mlp(widths, act):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(a, b), act()]
    return torch.nn.Sequential(*layers[:-1])


def labelled(net, shape, classes):
    x, y = torch.randn(shape, device=DEVICE), torch.randint(classes, shape[:1], device=DEVICE)
    return net.to(DEVICE), lambda forward: F.cross_entropy(forward(x), y)


def wide():
    net = mlp([4096] * 5, torch.nn.ReLU).to(DEVICE)
    x, y = torch.randn(8192, 4096, device=DEVICE), torch.randn(8192, 4096, device=DEVICE)

    def loss(forward):
        with torch.autocast(DEVICE, torch.bfloat16):
            out = forward(x)
        return F.mse_loss(out.float(), y)
    return net, loss


CASES = {
    "mlp": lambda: labelled(mlp([64, 256, 256, 256, 10], torch.nn.SiLU), (1024, 64), 10),
    "splines": lambda: labelled(torch.nn.Sequential(Splines(64, 64), Splines(64, 64), Splines(64, 10)), (1024, 64), 10),
    "wide": wide,
    "transformer": lambda: labelled(Transformer(), (64, 128, 40), 3),
}


def make_step(case, compiled):
    net, loss = CASES[case]()
    forward = torch.compile(net) if compiled else net
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01, fused=True, capturable=True)

    def step():
        opt.zero_grad(set_to_none=True)
        loss(forward).backward()
        opt.step()
    return step


def digits_step(compiled):
    data = np.load(os.path.join(os.path.dirname(__file__), "..", "..", "models", "data", "digits.npz"))
    train = data["split"] == b"train"
    x = torch.tensor(data["images"][train].astype(np.float32) / 16).to(DEVICE)
    y = torch.tensor(data["labels"][train].astype(np.int64)).to(DEVICE)
    return torch_digits.make_step(x, y, compiled)


def products():
    """The 11 products of a step of `wide` alone, in bf16: four forward, four for the weights, three for the inputs."""
    half = {"device": DEVICE, "dtype": torch.bfloat16}
    x, w, g = torch.randn(8192, 4096, **half), torch.randn(4096, 4096, **half), torch.randn(8192, 4096, **half)
    rows, square = torch.empty_like(x), torch.empty_like(w)

    def step():
        for i in range(4):
            torch.mm(x, w, out=rows)
            torch.mm(x.T, g, out=square)
            if i:
                torch.mm(g, w.T, out=rows)
    return step


def peak(free):
    return free - torch.cuda.mem_get_info()[0]


def main():
    case, warm = sys.argv[1], "--warm" in sys.argv
    torch.zeros(1, device=DEVICE)
    free = torch.cuda.mem_get_info()[0]
    result = {"version": f"PyTorch {torch.__version__}"}
    blocks = {"steps": 20, "repeats": 5} if case == "wide" else {"steps": 200, "repeats": 7}
    for name, compiled in (("graph", False), ("compiled", True)):
        try:
            step = digits_step(compiled) if case == "digits" else make_step(case, compiled)
            if warm:
                step(), step()
                continue
            result[name] = measure(captured(step), **blocks)
            result.setdefault("bytes", peak(free))  # of the plain graph; both keep the largest they ever had
        except Exception as error:
            print(f"{case}, {name}: {type(error).__name__}: {error}", file=sys.stderr)
    if case == "wide" and not warm:
        result["products"] = measure(captured(products()), **blocks)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
