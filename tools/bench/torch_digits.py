#!/usr/bin/env python3
"""The peer of `gmlrun bench models/digits.gml`: the same network, batch and optimizer in PyTorch: python3 torch_digits.py digits.npz [--cpu].

Prints one JSON line: median microseconds of a training step, eager, with torch.compile, and as a CUDA graph of the whole step. Each row is a whole
step: the batch is gathered on the device by a permutation drawn once per epoch, then forward, loss, backward, AdamW (on a GPU fused and capturable).
TF32 is off, as in gml's default. With --cpu there are no graphs, and as many threads as the process may use. Times are wall-clock over 300 steps after warm-up, median of 7.
"""
import json
import statistics
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

BATCH, REPEATS, STEPS = 128, 7, 300
DEVICE = "cpu" if "--cpu" in sys.argv else "cuda"
FUSED = {"fused": True} if DEVICE == "cuda" else {}


def network():
    layer, relu, drop = torch.nn.Linear, torch.nn.ReLU, torch.nn.Dropout
    return torch.nn.Sequential(layer(64, 256), relu(), drop(0.1), layer(256, 128), relu(), drop(0.1), layer(128, 10)).to(DEVICE)


def make_step(x, y, compiled):
    net = network()
    forward = torch.compile(net) if compiled else net
    decay = [p for p in net.parameters() if p.ndim > 1]
    plain = [p for p in net.parameters() if p.ndim == 1]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}], lr=1e-3,
                            **FUSED, capturable=DEVICE == "cuda")
    order = torch.randperm(len(x), device=DEVICE)
    at = torch.zeros((), dtype=torch.long, device=DEVICE)
    lanes = torch.arange(BATCH, device=DEVICE)

    def step():
        rows = order[(at + lanes) % len(x)]
        at.add_(BATCH)
        loss = F.cross_entropy(forward(x[rows]), y[rows])
        loss.backward()
        opt.step()
        opt.zero_grad(set_to_none=False)
    return step


def captured(step):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(4):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def wait():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def measure(step, steps=STEPS, repeats=REPEATS):
    for _ in range(steps // 10):
        step()
    times = []
    for _ in range(repeats):
        wait()
        start = time.perf_counter()
        for _ in range(steps):
            step()
        wait()
        times.append((time.perf_counter() - start) / steps * 1e6)
    return statistics.median(times)


def main():
    data = np.load(sys.argv[1])
    train = data["split"] == b"train"
    x = torch.tensor(data["images"][train].astype(np.float32) / 16).to(DEVICE)
    y = torch.tensor(data["labels"][train].astype(np.int64)).to(DEVICE)
    result = {"torch": torch.__version__, "eager_us": measure(make_step(x, y, False))}
    more = [("compile_us", lambda: make_step(x, y, True))]
    if DEVICE == "cuda":
        more += [("graph_us", lambda: captured(make_step(x, y, False))), ("compile_graph_us", lambda: captured(make_step(x, y, True)))]
    for name, make in more:
        try:
            result[name] = measure(make())
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
