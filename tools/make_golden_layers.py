#!/usr/bin/python3
"""Makes tests/golden/std_layers.json: what the layers of models/std (nn, kan, cfc, and the distributions of rl) must compute, in float64, by PyTorch.

    apt-get install python3-torch python3-numpy && /usr/bin/python3 tools/make_golden_layers.py

Inputs and parameters are not stored: element i of the s-th tensor of a case is ((7919 i + 104729 s) mod 1009) / 1009 - 0.5, times `scale`.
A case has the outputs in training, the gradients of its loss, all tensors after five steps of Adam, and the outputs then, not in training.
The loss is mean(r^2 q + r (1 - q)) of the outputs r in a row, q = 0, 1 / n, .., (n - 1) / n.
"""
import json
import pathlib

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.stateless import functional_call

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests/golden"
STEPS = 5


def value(shape, s, scale):
    i = np.arange(int(np.prod(shape)))
    return torch.tensor(scale * (((7919 * i + 104729 * s) % 1009) / 1009 - 0.5)).reshape(shape)


def run(module, tensors, *x):
    return functional_call(module, tensors, x)


def first(t):  # channels last -> first
    return t.movedim(-1, 1)


def last(t):
    return t.movedim(1, -1)


def linear(p, name=""):
    return {"weight": p[name + "w"].T, **({"bias": p[name + "b"]} if name + "b" in p else {})}


def through(module, names):
    """A module whose parameters have the names of gml as they are."""
    return lambda p, training: run(module.train(training), {to: p[of] for to, of in names.items()}, p["x"])


def conv(module):
    def f(p, training):
        w = p["w"].movedim(-1, 0).movedim(-1, 1)
        return last(run(module, {"weight": w, "bias": p["b"]}, first(p["x"])))

    return f


def batch_norm(p, training):
    m = nn.BatchNorm1d(4).train(training)
    return last(run(m, {"weight": p["g"], "bias": p["b"], "running_mean": p["mu"], "running_var": p["s2"]}, first(p["x"])))


def group_norm(p, training):
    return last(F.group_norm(first(p["x"]), 2, p["g"], p["b"]))


def attend(p, mask=None, causal=False, kv=None, at=""):
    kv = p["x"] if kv is None else kv
    names = {"out_proj.weight": p[at + "o.w"].T, "out_proj.bias": p[at + "o.b"],
             "in_proj_bias": torch.cat([p[at + f"{k}.b"] for k in "qkv"])}
    same = p[at + "q.w"].shape == p[at + "k.w"].shape
    if same:
        names["in_proj_weight"] = torch.cat([p[at + f"{k}.w"].T for k in "qkv"])
    else:
        names.update({f"{k}_proj_weight": p[at + f"{k}.w"].T for k in "qkv"})
    m = nn.MultiheadAttention(p[at + "q.w"].shape[1], 2, kdim=kv.shape[-1], vdim=kv.shape[-1], batch_first=True)
    T = p["x"].shape[1]
    hide = torch.triu(torch.ones(T, T, dtype=torch.bool), 1) if causal else None
    x = p["h"] if at else p["x"]
    return functional_call(m.train(), names, (x, kv if not at else x, kv if not at else x), {"key_padding_mask": mask, "attn_mask": hide, "need_weights": False})[0]


def masked(p, training):
    return attend(p, ~torch.tensor([[True, True, False, True], [True, False, False, True]]))


def block(p, training):
    n = lambda k, h: F.layer_norm(h, (4,), p[k + ".g"], p[k + ".b"])
    h = p["x"] + attend({**p, "h": n("norm1", p["x"])}, at="attn.")
    up = F.gelu(n("norm2", h) @ p["up.w"] + p["up.b"])
    return h + up @ p["down.w"] + p["down.b"]


def encoder(p, training):
    """The same by torch.nn.TransformerEncoderLayer; `block` is checked against it below."""
    m = nn.TransformerEncoderLayer(4, 2, 6, 0.0, F.gelu, batch_first=True, norm_first=True).train()
    names = {"self_attn.in_proj_weight": torch.cat([p[f"attn.{k}.w"].T for k in "qkv"]), "self_attn.in_proj_bias": torch.cat([p[f"attn.{k}.b"] for k in "qkv"]),
             "self_attn.out_proj.weight": p["attn.o.w"].T, "self_attn.out_proj.bias": p["attn.o.b"],
             "linear1.weight": p["up.w"].T, "linear1.bias": p["up.b"], "linear2.weight": p["down.w"].T, "linear2.bias": p["down.b"],
             "norm1.weight": p["norm1.g"], "norm1.bias": p["norm1.b"], "norm2.weight": p["norm2.g"], "norm2.bias": p["norm2.b"]}
    return run(m, names, p["x"])


def cell(module):
    def f(p, training):
        names = {"weight_ih": p["wi"].T, "weight_hh": p["wh"].T, "bias_ih": p["bi"], "bias_hh": p["bh"]}
        state = (p["h"], p["c"]) if "c" in p else p["h"]
        out = functional_call(module, names, (p["x"], state))
        return torch.cat(out, -1) if "c" in p else out

    return f


def scanned(kind, backwards=False):
    """All outputs in a row, then the last state. kind: rnn_relu, gru or lstm, what torch.nn.RNN, GRU and LSTM call."""
    def f(p, training):
        weights = [p["cell.wi"].T, p["cell.wh"].T, p["cell.bi"], p["cell.bh"]]
        state = (p["h"][None], p["c"][None]) if "c" in p else p["h"][None]
        x = p["x"].flip(1) if backwards else p["x"]
        y, *s = getattr(torch._VF, kind)(x, state, weights, True, 1, 0.0, training, False, True)
        y = y.flip(1) if backwards else y
        return torch.cat([y.reshape(-1)] + [t.reshape(-1) for t in s])

    return f


def kept(module):
    """Step by step; rows whose mask is false keep their state."""
    def f(p, training):
        m, step = torch.tensor([[True, False, True, True], [False, True, True, False]]), cell(module)
        inner = {k[5:]: v for k, v in p.items() if k.startswith("cell.")}
        state, ys = {k: p[k] for k in "hc" if k in p}, []
        for t in range(4):
            new = step({**inner, **state, "x": p["x"][:, t]}, training).chunk(len(state), -1)
            ys.append(new[0])
            state = {k: torch.where(m[:, t, None], n, state[k]) for k, n in zip(state, new)}
        return torch.cat([torch.stack(ys, 1).reshape(-1)] + [v.reshape(-1) for v in state.values()])

    return f


def rotated(p, training):
    """Su et al. 2021 with complex numbers."""
    x, half = p["x"], p["x"].shape[-1] // 2
    angle = torch.arange(x.shape[-2])[:, None] * 10000.0 ** (-torch.arange(half) / half)
    z = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([z.real, z.imag], -1)


def positions(p, training):
    t, j = torch.arange(5)[:, None], torch.arange(4) // 2 * 2
    angle = t / 10000.0 ** (j / 4)
    return p["x"] + torch.where(torch.arange(4) % 2 == 0, torch.sin(angle), torch.cos(angle))


def image(f):
    return lambda p, training: last(f(first(p["x"])))


def causal_conv(p, training):
    x = F.pad(first(p["x"]), (2, 0))
    return F.silu(last(F.conv1d(x, p["w"][:, None], p["b"], groups=4)))


def spline(x, t, k):
    """Cox and de Boor: the basis of degree k over the knots t, [.., len(t) - k - 1]."""
    x = x[..., None]
    b = ((x >= t[:-1]) & (x < t[1:])).double()
    for d in range(1, k + 1):
        left, right = (x - t[: -d - 1]) / (t[d:-1] - t[: -d - 1]), (t[d + 1 :] - x) / (t[d + 1 :] - t[1:-d])
        b = left * b[..., :-1] + right * b[..., 1:]
    return b


def kan(G, k, layers=("",)):
    def f(p, training):
        knots, x = -1 + 2 / G * (torch.arange(G + 2 * k + 1) - k), p["x"]
        for at in layers:
            edges = torch.einsum("bim,iom->bio", spline(x, knots, k), p[at + "spl"])
            x = (F.silu(x)[..., None] * p[at + "base"] + p[at + "scale"] * edges).sum(1)
        return x

    return f


def two_kans(I, H, O, M):
    sizes = {"layers.0.kan.": (I, H), "layers.1.kan.": (H, O)}
    return {at + k: s if k != "spl" else (*s, M) for at, s in sizes.items() for k in ("base", "scale", "spl")}


def cfc(mode, mixed=False, depth=1, rows=None, heads=None, alone=False):
    """Hasani et al. 2022, equation 10, and the forms of its reference implementation. rows: a mask of [2, 4]; heads: of the
    weights of ff1 and ff2; alone: one step of the cell."""
    def step(p, x, h, dt, at="cell."):
        z = torch.cat([x, h], -1)
        for n in range(depth):
            z = 1.7159 * torch.tanh(0.666 * (z @ p[f"{at}bb.{n}.lin.w"] + p[f"{at}bb.{n}.lin.b"]))
        part = lambda n: torch.tensor(heads) if heads is not None and n.startswith("ff") else 1.0
        lin = lambda n: z @ (p[f"{at}{n}.w"] * part(n)) + p[f"{at}{n}.b"]
        if mode == "pure":
            a, tau = p["cell.a"], p["cell.tau"]
            return a - a * torch.exp(-dt * (tau.abs() + lin("ff1").abs())) * lin("ff1")
        s = torch.sigmoid(lin("ta") * dt + lin("tb"))
        f1, f2 = torch.tanh(lin("ff1")), torch.tanh(lin("ff2"))
        return f1 + s * f2 if mode == "no_gate" else f1 * (1 - s) + s * f2

    def memory(p, x, h, c):
        i, ig, fg, og = (x @ p["mem.w"] + p["mem.b"] + h @ p["mem.r"]).chunk(4, -1)
        c = c * torch.sigmoid(fg + 1) + torch.tanh(i) * torch.sigmoid(ig)
        return torch.tanh(c) * torch.sigmoid(og), c

    def f(p, training):
        if alone:
            return step(p, p["x"], p["h"], p["dt"], "")
        h, c, ys = p["h"], p["c"], []
        for t in range(p["x"].shape[1]):
            u, v = memory(p, p["x"][:, t], h, c) if mixed else (h, c)
            u = step(p, p["x"][:, t], u, p["dt"][:, t])
            ys.append(u)
            keep = torch.tensor(rows)[:, t, None] if rows else torch.tensor(True)
            h, c = torch.where(keep, u, h), torch.where(keep, v, c)
        return torch.cat([torch.stack(ys, 1).reshape(-1), h.reshape(-1), c.reshape(-1)])

    return f


HEADS = {f"cell.{n}.{k}": s for n in ("ff1", "ff2", "ta", "tb") for k, s in (("w", (5, 3)), ("b", (3,)))}
BACKBONE = {"cell.bb.0.lin.w": (7, 5), "cell.bb.0.lin.b": (5,)}
PURE = {**BACKBONE, "cell.ff1.w": (5, 3), "cell.ff1.b": (3,), "cell.a": (1, 3), "cell.tau": (1, 3)}
MEMORY = {"mem.w": (4, 12), "mem.b": (12,), "mem.r": (3, 12)}
EVENTS = {"x": (2, 4, 4), "dt": (2, 4, 1), "h": (2, 3), "c": (2, 3)}
ATTENTION = {k: s for n in "qkvo" for k, s in ((f"{n}.w", (4, 4)), (f"{n}.b", (4,)))}
CROSS = {**ATTENTION, "k.w": (3, 4), "v.w": (3, 4)}
GATED = {"gate.w": (4, 6), "up.w": (4, 6), "down.w": (6, 4)}
NORMS = {f"{n}.{k}": (4,) for n in ("norm1", "norm2") for k in "gb"}


def gates(n, at=""):
    return {at + "wi": (4, n * 3), at + "wh": (3, n * 3), at + "bi": (n * 3,), at + "bh": (n * 3,)}


X = {"x": (2, 5, 4)}
IMAGE = {"x": (2, 5, 6, 4)}
MASK = "tensor([[true, false, true, true], [false, true, true, false]])"
SEQUENCE = {"x": (2, 4, 4), "h": (2, 3)}
STEP = {"x": (2, 4), "h": (2, 3)}
ROWS = [[True, False, True, True], [False, True, True, False]]
SPARSE = [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
DEEP = {**BACKBONE, "cell.bb.1.lin.w": (5, 5), "cell.bb.1.lin.b": (5,)}
PLAIN = {k.removeprefix("cell."): s for k, s in {**BACKBONE, **HEADS}.items()}


def gaussian(p, training):
    d = torch.distributions.Normal(p["x"], torch.exp(p["log_std"]))
    return torch.cat([d.log_prob(p["a"]).sum(-1), d.entropy().sum(-1)])


def choices(a):
    def f(p, training):
        d = torch.distributions.Categorical(logits=p["x"])
        sums = [d.log_prob(torch.tensor(a)), d.entropy()]
        return torch.cat([x.sum(-1) if x.dim() > 1 else x for x in sums])

    return f


# instance (None: no parameters), expression, inputs, parameters, the same in PyTorch; states with their first values
CASES = [
    ("nn.Linear{3}", "net(x)", X, {"w": (4, 3), "b": (3,)}, lambda p, training: F.linear(p["x"], p["w"].T, p["b"])),
    ("nn.Linear{3, bias = none}", "net(x)", {"x": (2, 4)}, {"w": (4, 3)}, lambda p, training: F.linear(p["x"], p["w"].T)),
    ("nn.Embedding{5, 3}", "x * net(tensor([[0, 3], [3, 2]]))", {"x": (2, 2, 3)}, {"w": (5, 3)},
     lambda p, training: p["x"] * F.embedding(torch.tensor([[0, 3], [3, 2]]), p["w"])),
    ("nn.Embedding{5, 3}", "net.logits(x)", {"x": (2, 3)}, {"w": (5, 3)}, lambda p, training: F.linear(p["x"], p["w"])),
    ("nn.LayerNorm{}", "net(x)", X, {"g": (4,), "b": (4,)}, through(nn.LayerNorm(4), {"weight": "g", "bias": "b"})),
    ("nn.RMSNorm{eps = 1e-3}", "net(x)", X, {"g": (4,)}, lambda p, training: p["x"] / torch.sqrt(p["x"].pow(2).mean(-1, keepdim=True) + 1e-3) * p["g"]),
    ("nn.GroupNorm{2}", "net(x)", IMAGE, {"g": (4,), "b": (4,)}, group_norm),
    ("nn.BatchNorm{}", "net(x)", X, {"g": (4,), "b": (4,)}, batch_norm, {"mu": (4,), "s2": (4,)}),
    ("nn.FeedForward{6}", "net(x)", X, {"up.w": (4, 6), "up.b": (6,), "down.w": (6, 4), "down.b": (4,)},
     lambda p, training: F.silu(p["x"] @ p["up.w"] + p["up.b"]) @ p["down.w"] + p["down.b"]),
    ("nn.MLP{[5, 3], 2, act = tanh}", "net(x)", {"x": (3, 4)},
     {"fc.0.lin.w": (4, 5), "fc.0.lin.b": (5,), "fc.1.lin.w": (5, 3), "fc.1.lin.b": (3,), "head.w": (3, 2), "head.b": (2,)},
     lambda p, training: torch.tanh(torch.tanh(p["x"] @ p["fc.0.lin.w"] + p["fc.0.lin.b"]) @ p["fc.1.lin.w"] + p["fc.1.lin.b"]) @ p["head.w"] + p["head.b"]),
    ("nn.GLU{3}", "net(x)", X, {"lin.w": (4, 6), "lin.b": (6,)}, lambda p, training: F.glu(p["x"] @ p["lin.w"] + p["lin.b"])),
    ("nn.SwiGLU{6}", "net(x)", X, GATED, lambda p, training: (F.silu(p["x"] @ p["gate.w"]) * (p["x"] @ p["up.w"])) @ p["down.w"]),
    ("nn.Conv1d{3, 2, stride = 2, pad = 1}", "net(x)", X, {"w": (2, 4, 3), "b": (3,)}, conv(nn.Conv1d(4, 3, 2, stride=2, padding=1))),
    ("nn.Conv1d{6, dilation = 2, groups = 2}", "net(x)", X, {"w": (3, 2, 6), "b": (6,)}, conv(nn.Conv1d(4, 6, 3, dilation=2, groups=2))),
    ("nn.Conv2d{3, pad = 1, stride = 2}", "net(x)", IMAGE, {"w": (3, 3, 4, 3), "b": (3,)}, conv(nn.Conv2d(4, 3, 3, padding=1, stride=2))),
    ("nn.Conv2d{4, 2, groups = 4}", "net(x)", IMAGE, {"w": (2, 2, 1, 4), "b": (4,)}, conv(nn.Conv2d(4, 4, 2, groups=4))),
    ("nn.CausalConv{3}", "net(x)", X, {"w": (4, 3), "b": (4,)}, causal_conv),
    (None, "nn.max_pool1d(x, 2)", X, {}, image(lambda x: F.max_pool1d(x, 2))),
    (None, "nn.avg_pool1d(x, 3, stride = 1)", X, {}, image(lambda x: F.avg_pool1d(x, 3, 1))),
    (None, "nn.max_pool2d(x, 2)", IMAGE, {}, image(lambda x: F.max_pool2d(x, 2))),
    (None, "nn.avg_pool2d(x, 3, stride = 2)", IMAGE, {}, image(lambda x: F.avg_pool2d(x, 3, 2))),
    (None, "nn.upsample2d(x, 2)", {"x": (1, 2, 3, 2)}, {}, image(nn.UpsamplingNearest2d(scale_factor=2))),
    (None, "nn.rotary(x)", {"x": (2, 2, 5, 4)}, {}, rotated),
    (None, "x + nn.sinusoid(5, 4)", X, {}, positions),
    ("nn.Positions{9}", "net(x)", X, {"w": (9, 4)}, lambda p, training: p["x"] + p["w"][:5]),
    ("nn.MultiHead{2}", "net(x)", X, ATTENTION, lambda p, training: attend(p)),
    ("nn.MultiHead{2, causal = true}", "net(x)", X, ATTENTION, lambda p, training: attend(p, causal=True)),
    ("nn.MultiHead{2}", "net(x, kv)", {"x": (2, 3, 4), "kv": (2, 5, 3)}, CROSS, lambda p, training: attend(p, kv=p["kv"])),
    ("nn.MultiHead{2}", "net(x, mask = tensor([[true, true, false, true], [true, false, false, true]]))", {"x": (2, 4, 4)}, ATTENTION, masked),
    ("nn.TransformerBlock{2, 6}", "net(x)", X, {**NORMS, **{"attn." + k: s for k, s in ATTENTION.items()}, "up.w": (4, 6), "up.b": (6,), "down.w": (6, 4), "down.b": (4,)}, encoder),
    ("nn.RNNCell{3}", "net(x, h)", STEP, gates(1), cell(nn.RNNCell(4, 3))),
    ("nn.GRUCell{3}", "net(x, h)", STEP, gates(3), cell(nn.GRUCell(4, 3))),
    ("nn.LSTMCell{3}", "lstm(net(x, (h = h, c = c)))", {**STEP, "c": (2, 3)}, gates(4), cell(nn.LSTMCell(4, 3))),
    ("nn.RNN{3, act = relu}", "one(net(x, h))", SEQUENCE, gates(1, "cell."), scanned("rnn_relu")),
    ("nn.GRU{3}", "one(net(x, h))", SEQUENCE, gates(3, "cell."), scanned("gru")),
    ("nn.GRU{3, reverse = true}", "one(net(x, h))", SEQUENCE, gates(3, "cell."), scanned("gru", True)),
    ("nn.LSTM{3}", "two(net(x, (h = h, c = c)))", {**SEQUENCE, "c": (2, 3)}, gates(4, "cell."), scanned("lstm")),
    ("nn.LSTM{3}", f"two(net(x, (h = h, c = c), {MASK}))", {**SEQUENCE, "c": (2, 3)}, gates(4, "cell."), kept(nn.LSTMCell(4, 3))),
    ("nn.GRU{3}", f"one(net(x, h, {MASK}))", SEQUENCE, gates(3, "cell."), kept(nn.GRUCell(4, 3))),
    ("nn.RNN{3}", f"one(net(x, h, {MASK}))", SEQUENCE, gates(1, "cell."), kept(nn.RNNCell(4, 3))),
    ("kan.Layer{4, 3, G = 4, k = 2}", "net(x)", {"x": (5, 4)}, {"base": (4, 3), "scale": (4, 3), "spl": (4, 3, 6)}, kan(4, 2)),
    ("kan.Layer{2, 3}", "net(x)", {"x": (6, 2)}, {"base": (2, 3), "scale": (2, 3), "spl": (2, 3, 8)}, kan(5, 3)),
    ("cfc.CfC{3, units = 5}", "two(net(x, dt, (h = h, c = c)))", EVENTS, {**BACKBONE, **HEADS}, cfc("default")),
    ("cfc.CfC{3, units = 5, mode = \"no_gate\", mixed = true}", "two(net(x, dt, (h = h, c = c)))", EVENTS, {**BACKBONE, **HEADS, **MEMORY}, cfc("no_gate", True)),
    ("cfc.CfC{3, units = 5, mode = \"pure\"}", "two(net(x, dt, (h = h, c = c)))", EVENTS, PURE, cfc("pure")),
    ("cfc.CfC{3, units = 5, depth = 2}", "two(net(x, dt, (h = h, c = c)))", EVENTS, {**DEEP, **HEADS}, cfc("default", depth=2)),
    ("cfc.CfC{3, units = 5, mixed = true}", f"two(net(x, dt, (h = h, c = c), {MASK}))", EVENTS, {**BACKBONE, **HEADS, **MEMORY}, cfc("default", True, rows=ROWS)),
    (f"cfc.Cell{{3, units = 5, mask = tensor({SPARSE})}}", "net(x, h, dt)", {"x": (2, 4), "h": (2, 3), "dt": (2, 1)}, PLAIN, cfc("default", heads=SPARSE, alone=True)),
    ("kan.KAN{[4, 3, 2], G = 4, k = 2}", "net(x)", {"x": (5, 4)}, two_kans(4, 3, 2, 6), kan(4, 2, ("layers.0.kan.", "layers.1.kan."))),
    ("nn.NoisyLinear{3}", "net(x, false)", {"x": (2, 4)}, {"w": (4, 3), "b": (3,), "sw": (4, 3), "sb": (3,)},
     lambda p, training: F.linear(p["x"], p["w"].T, p["b"]) + 0 * p["sw"].sum() + 0 * p["sb"].sum()),
    ("rl.Gaussian{3}", "concat(net.logprob(x, a), net.entropy(x))", {"x": (4, 3), "a": (4, 3)}, {"log_std": (3,)}, gaussian),
    (None, "concat(rl.Categorical{}.logprob(x, tensor([1, 3])), rl.Categorical{}.entropy(x))", {"x": (2, 4)}, {}, choices([1, 3])),
    (None, "concat(rl.Heads{}.logprob(x, tensor([[1, 3, 0], [2, 0, 1]])), rl.Heads{}.entropy(x))", {"x": (2, 3, 4)}, {}, choices([[1, 3, 0], [2, 0, 1]])),
]


def digits(t, n):
    """A hundredth of the tolerance is kept."""
    return [round(v, n) for v in t.detach().reshape(-1).tolist()]


def solve(make, text, inputs, params, f, states=None):
    names = {**inputs, **params}
    scale = 2.0
    p = {k: value(s, i, scale).requires_grad_() for i, (k, s) in enumerate(names.items())}
    kept = {k: torch.full(s, 1.0 if k == "s2" else 0.0) for k, s in (states or {}).items()}
    opt = torch.optim.Adam(list(p.values()), lr=0.01, eps=1e-3)

    def loss():
        y = f({**p, **kept}, True)
        r = y.reshape(-1)
        q = torch.arange(len(r)) / len(r)
        return y, (r**2 * q + r * (1 - q)).mean()

    y, s = loss()
    grads = torch.autograd.grad(s, list(p.values()))
    for _ in range(STEPS):
        opt.zero_grad()
        loss()[1].backward()
        opt.step()
    return {"make": make or "", "text": text, "inputs": inputs, "params": params, "value": digits(y, 12),
            "gradient": {k: digits(g, 10) for k, g in zip(p, grads)}, "last": {k: digits(v, 10) for k, v in p.items()},
            "states": {k: digits(v, 10) for k, v in kept.items()}, "scale": scale, "after": digits(f({**p, **kept}, False), 10)}


def main():
    torch.set_default_dtype(torch.float64)
    for c in CASES:
        if c[4] is encoder:
            p = {k: value(s, i, 2.0) for i, (k, s) in enumerate({**c[2], **c[3]}.items())}
            assert torch.allclose(encoder(p, True), block(p, True), rtol=1e-13)
    cases = [solve(*c) for c in CASES]
    text = "[" + ",\n".join(json.dumps(c, separators=(",", ":"), allow_nan=False) for c in cases) + "]\n"
    (GOLDEN / "std_layers.json").write_text(text)
    print(len(cases), "cases,", len(text), "bytes")


if __name__ == "__main__":
    main()
