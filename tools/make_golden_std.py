#!/usr/bin/python3
"""Makes tests/golden/std_*.json: what the text of models/std must compute, in float64, by PyTorch and formulas of papers.

    apt-get install python3-torch python3-numpy && /usr/bin/python3 tools/make_golden_std.py

std_formulas.json    activations, normalisations, losses and metrics: values and gradients of their sum with respect to each input
std_optimizers.json  20 steps of each optimizer on a small network: losses and last parameters
std_schedules.json   learning rates of 30 steps
std_draws.json       the first initial values of a parameter, by an independent Philox4x32-10
"""
import json
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests/golden"
STEPS = 20


def numbers(x):
    return [float(v) for v in np.asarray(x, dtype=np.float64).reshape(-1)]


def save(name, value):
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    (GOLDEN / f"std_{name}.json").write_text(text.replace("},{", "},\n{") + "\n")
    print(name, len(text))


# ---- formulas

# Away from 0, 1, 3 and 0.7, where some functions have a kink; zero itself is there for the values.
POINTS = [0.0, 1e-12, 1e-6, 1e-3, 0.03, 0.11, 0.29, 0.5, 0.83, 1.3, 1.7, 2.2, 2.9, 3.3, 4.1, 5.7, 8.4, 13.0, 27.5, 40.0, 120.0, 1000.0, 30000.0]
X = sorted(set(POINTS + [-p for p in POINTS if p]))


def make_inputs():
    rng = np.random.default_rng(3)
    return {
        "x": np.array(X),
        "z": rng.normal(size=(6, 5)) * np.array([0.1, 1, 3, 10, 100, 1000])[:, None],
        "w": rng.normal(size=(6, 5)) * 2,
        "a": np.array([0.3, -0.4, 2.0, -30.0, 1e4, 0.05, -1.5, 0.69, 9.0, -0.71]),
        "b": np.array([-0.2, 0.7, 0.1, 12.0, -5.0, 0.04, 1.25, 0.02, 9.5, 0.01]),
        "v": np.array([0.01, 0.5, 1.0, 4.0, 1e6, 1e-4, 2.0, 3.0, 0.3, 0.7]),
        "t": np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.2, 0.9, 0.5, 1.0, 0.0]),
        "y": np.array([0, 4, -1, 2, 2, -1]),
    }


def softplus(x):
    return torch.logaddexp(x, torch.zeros_like(x))


def xent(z, y, **how):
    return F.cross_entropy(z, y, ignore_index=-1, **how)


def pinball(y, t, q):
    return torch.where(t > y, q * (t - y), (q - 1) * (t - y))


def bce(z, t, weight):
    return F.binary_cross_entropy_with_logits(z, t, pos_weight=torch.tensor(weight), reduction="none")


def nll(mu, v, t):
    return F.gaussian_nll_loss(mu, t, v, eps=1e-6, reduction="none")


def kl(z, w):
    return F.kl_div(F.log_softmax(w, -1), F.log_softmax(z, -1), log_target=True, reduction="none").sum(-1)


def kl_normal(mu, logvar):
    one = torch.distributions.Normal(mu, torch.exp(0.5 * logvar))
    return torch.distributions.kl_divergence(one, torch.distributions.Normal(0.0, 1.0))


def top(z, y, k):
    best = torch.topk(z, k, -1).indices
    hit = (best == y[:, None]).any(-1)[y >= 0]
    return hit.double().mean()


def r2(y, t):
    """sklearn.metrics.r2_score: the mean over outputs."""
    return (1 - ((t - y) ** 2).sum(0) / ((t - t.mean(0)) ** 2).sum(0)).mean()


def auc(score, hit):
    """Every pair of a hit and a miss."""
    d = torch.sigmoid(score[hit])[:, None] - torch.sigmoid(score[~hit])[None, :]
    return ((d > 0).double() + 0.5 * (d == 0).double()).mean()


# expression in gml, the inputs it names, the same in PyTorch, points |x| without a gradient (None: no gradients)
FORMULAS = [
    ("relu(x)", "x", F.relu, [0]),
    ("silu(x)", "x", F.silu, []),
    ("sigmoid(x)", "x", torch.sigmoid, []),
    ("tanh(x)", "x", torch.tanh, []),
    ("softplus(x)", "x", softplus, []),
    ("gelu(x)", "x", F.gelu, []),
    ("nn.gelu_tanh(x)", "x", lambda x: F.gelu(x, approximate="tanh"), []),
    ("elu(x)", "x", F.elu, []),
    ("nn.elu(x, 0.7)", "x", lambda x: F.elu(x, 0.7), [0]),
    ("nn.selu(x)", "x", F.selu, [0]),
    ("nn.mish(x)", "x", lambda x: x * torch.tanh(softplus(x)), []),
    ("nn.leaky_relu(x)", "x", F.leaky_relu, [0]),
    ("nn.leaky_relu(x, 0.2)", "x", lambda x: F.leaky_relu(x, 0.2), [0]),
    ("nn.hard_sigmoid(x)", "x", lambda x: torch.clamp(x + 3, 0, 6) / 6, []),
    ("nn.hard_swish(x)", "x", F.hardswish, []),
    ("nn.hard_tanh(x)", "x", F.hardtanh, []),
    ("nn.hard_tanh(x, low = -2, high = 0.6)", "x", lambda x: F.hardtanh(x, -2, 0.6), []),
    ("logsigmoid(x)", "x", F.logsigmoid, []),
    ("softmax(z)", "z", lambda z: F.softmax(z, -1), []),
    ("log_softmax(z)", "z", lambda z: F.log_softmax(z, -1), []),
    ("logsumexp(z)", "z", lambda z: torch.logsumexp(z, -1), []),
    ("xent(z, y)", "z y", lambda z, y: xent(z, y, reduction="none"), []),
    ("nn.smooth_xent(z, y)", "z y", lambda z, y: xent(z, y, reduction="none", label_smoothing=0.1), []),
    ("nn.cross_entropy(z, y)", "z y", lambda z, y: xent(z, y), []),
    ("nn.cross_entropy(z, y, smooth = 0.3)", "z y", lambda z, y: xent(z, y, label_smoothing=0.3), []),
    ("nn.cross_entropy(z, 0 * y - 1)", "z y", lambda z, y: 0 * z.sum(), []),
    ("(z |> norm: nn.LayerNorm{}) * w", "z w", lambda z, w: F.layer_norm(z, (5,)) * w, []),
    ("(z |> norm: nn.LayerNorm{eps = 0.1, affine = false}) * w", "z w", lambda z, w: F.layer_norm(z, (5,), eps=0.1) * w, []),
    ("(z |> norm: nn.RMSNorm{}) * w", "z w", lambda z, w: z / torch.sqrt((z * z).mean(-1, keepdim=True) + 1e-5) * w, []),
    ("nn.mse(a, b)", "a b", F.mse_loss, []),
    ("nn.rmse(a, b)", "a b", lambda a, b: torch.sqrt(F.mse_loss(a, b)), []),
    ("nn.mae(a, b)", "a b", F.l1_loss, []),
    ("nn.huber(a - b)", "a b", lambda a, b: F.huber_loss(a, b, reduction="none"), []),
    ("nn.huber(a - b, 0.3)", "a b", lambda a, b: F.huber_loss(a, b, delta=0.3, reduction="none"), []),
    ("nn.quantile(a, b, 0.9)", "a b", lambda a, b: pinball(a, b, 0.9), []),
    ("nn.bce_with_logits(x, 0.25)", "x", lambda x: bce(x, torch.full_like(x, 0.25), 1.0), []),
    ("nn.bce_with_logits(a, t)", "a t", lambda a, t: bce(a, t, 1.0), []),
    ("nn.bce_with_logits(a, t, positive = 3.0)", "a t", lambda a, t: bce(a, t, 3.0), []),
    ("nn.gaussian_nll(a, v, b)", "a v b", nll, []),
    ("nn.kl(z, w)", "z w", kl, []),
    ("nn.kl(w, z)", "z w", lambda z, w: kl(w, z), []),
    ("nn.kl_normal(a, b)", "a b", kl_normal, []),
    ("nn.masked_mean(a, t > 0.4)", "a t", lambda a, t: a[t > 0.4].mean(), []),
    ("nn.accuracy(z, y)", "z y", lambda z, y: (z.argmax(-1) == y)[y >= 0].double().mean(), None),
    ("nn.top(z, y, 1)", "z y", lambda z, y: top(z, y, 1), None),
    ("nn.top(z, y, 3)", "z y", lambda z, y: top(z, y, 3), None),
    ("nn.binary_accuracy(a, t)", "a t", lambda a, t: ((a > 0) == (t > 0.5)).double().mean(), None),
    ("nn.r2(z, w)", "z w", r2, None),
    ("nn.r2(a, b)", "a b", r2, None),
    ("nn.perplexity(mean(b))", "b", lambda b: torch.exp(b.mean()), None),
    ("nn.auc(clamp(a, -5, 5), f32(b > 0))", "a b", lambda a, b: auc(a.clamp(-5, 5), b > 0), None),
    ("nn.auc(clamp(b, -5, 5), f32(a > 0.04), bins = 4096)", "a b", lambda a, b: auc(b.clamp(-5, 5), a > 0.04), None),
    ("nn.auc(a, f32(a > 1e5))", "a", lambda a: torch.tensor(0.5), None),
    ("nn.squash(x)", "x", lambda x: x.sign() * x.abs().sqrt(), None),
]


def formulas():
    inputs = make_inputs()
    cases = []
    for text, names, f, kinks in FORMULAS:
        args = {n: torch.tensor(inputs[n]) for n in names.split()}
        for n, arg in args.items():
            arg.requires_grad_(arg.is_floating_point() and kinks is not None)
        r = f(*args.values())
        case = {"text": text, "inputs": list(args), "value": numbers(r.detach()), "gradient": {}}
        if kinks is not None:
            r.sum().backward()
        for n, arg in args.items():
            if arg.grad is not None:
                g = numbers(arg.grad)
                smooth = [n not in "x" or abs(at) not in kinks for at in inputs[n].reshape(-1)]
                case["gradient"][n] = [v if ok else None for v, ok in zip(g, smooth)]
        cases.append(case)
    save("formulas", {"inputs": {n: {"shape": list(v.shape), "whole": bool(v.dtype == np.int64), "at": v.reshape(-1).tolist()}
                                 for n, v in inputs.items()}, "cases": cases})


# ---- optimizers: inputs x[8, 4], labels y[8], logits (tanh(x @ w1 + b1) @ w2 + b2) * s; b1 and b2 do not decay, s is not negative

def start():
    rng = np.random.default_rng(5)
    return {"w1": rng.normal(size=(4, 5)), "b1": rng.normal(size=5) * 0.1, "w2": rng.normal(size=(5, 3)), "b2": rng.normal(size=3) * 0.1,
            "s": np.array([0.02, 0.9, 1.3])}


def clip_all(params, limit):
    torch.nn.utils.clip_grad_norm_(params, limit)


def clip_each(params, limit):
    for p in params:
        torch.nn.utils.clip_grad_norm_([p], limit)


def clip_value(params, limit):
    torch.nn.utils.clip_grad_value_(params, limit)


class Lion:
    """Chen et al. 2023, algorithm 2."""

    def __init__(self, groups, lr, b1, b2):
        self.groups, self.lr, self.b1, self.b2 = groups, lr, b1, b2
        self.m = {p: np.zeros(p.shape) for group in groups for p in group["params"]}

    def step(self):
        for group in self.groups:
            for p in group["params"]:
                x, g, m = p.detach().numpy(), p.grad.numpy(), self.m[p]
                u = np.sign(self.b1 * m + (1 - self.b1) * g)
                self.m[p] = self.b2 * m + (1 - self.b2) * g
                p.data = torch.tensor(x - self.lr * (u + group["weight_decay"] * x))


class Lamb:
    """You et al. 2020, algorithm 2, with phi(x) = x."""

    def __init__(self, groups, lr, b1, b2, eps):
        self.groups, self.lr, self.b1, self.b2, self.eps, self.t = groups, lr, b1, b2, eps, 0
        self.m = {p: np.zeros(p.shape) for group in groups for p in group["params"]}
        self.v = {p: np.zeros(p.shape) for group in groups for p in group["params"]}

    def step(self):
        self.t += 1
        for group in self.groups:
            for p in group["params"]:
                x, g = p.detach().numpy(), p.grad.numpy()
                self.m[p] = self.b1 * self.m[p] + (1 - self.b1) * g
                self.v[p] = self.b2 * self.v[p] + (1 - self.b2) * g * g
                m, v = self.m[p] / (1 - self.b1**self.t), self.v[p] / (1 - self.b2**self.t)
                u = m / (np.sqrt(v) + self.eps) + group["weight_decay"] * x
                nx, nu = np.linalg.norm(x), np.linalg.norm(u)
                p.data = torch.tensor(x - self.lr * (nx / nu if nx > 0 and nu > 0 else 1.0) * u)


SGD, RMS, ADAM, ADAMW = torch.optim.SGD, torch.optim.RMSprop, torch.optim.Adam, torch.optim.AdamW
# in gml, in PyTorch, its arguments, decay, clipping
OPTIMIZERS = [
    ("opt.sgd{0.3}", SGD, dict(lr=0.3), 0, None),
    ("opt.sgd{0.3, decay = 0.1}", SGD, dict(lr=0.3), 0.1, None),
    ("opt.sgd{0.3, momentum = 0.9}", SGD, dict(lr=0.3, momentum=0.9), 0, None),
    ("opt.sgd{0.2, momentum = 0.8, nesterov = true, decay = 0.05}", SGD, dict(lr=0.2, momentum=0.8, nesterov=True), 0.05, None),
    ("opt.sgd{0.5, momentum = 0.5, clip = 0.2}", SGD, dict(lr=0.5, momentum=0.5), 0, (clip_all, 0.2)),
    ("opt.sgd{0.5, momentum = 0.5, clip = 0.1, by = opt.clip_each}", SGD, dict(lr=0.5, momentum=0.5), 0, (clip_each, 0.1)),
    ("opt.sgd{0.5, momentum = 0.5, clip = 0.03, by = opt.clip_value}", SGD, dict(lr=0.5, momentum=0.5), 0, (clip_value, 0.03)),
    ("opt.rmsprop{}", RMS, dict(lr=1e-2), 0, None),
    ("opt.rmsprop{0.02, rate = 0.9, eps = 1e-5, decay = 0.1, momentum = 0.7}", RMS, dict(lr=0.02, alpha=0.9, eps=1e-5, momentum=0.7), 0.1, None),
    ("opt.rmsprop{0.01, centered = true, momentum = 0.3, clip = 0.3}", RMS, dict(lr=0.01, centered=True, momentum=0.3), 0, (clip_all, 0.3)),
    ("opt.adam{}", ADAM, dict(lr=1e-3), 0, None),
    ("opt.adam{0.05, b1 = 0.8, b2 = 0.95, decay = 0.1}", ADAM, dict(lr=0.05, betas=(0.8, 0.95)), 0.1, None),
    ("opt.adamw{}", ADAMW, dict(lr=1e-3), 0.01, None),
    ("opt.adamw{0.05, eps = 1e-6, decay = 0.2, clip = 0.2}", ADAMW, dict(lr=0.05, eps=1e-6), 0.2, (clip_all, 0.2)),
    ("opt.adamw{0.05, clip = 0.01, by = opt.clip_value}", ADAMW, dict(lr=0.05), 0.01, (clip_value, 0.01)),
    ("opt.adamw{opt.one_cycle(0.1, total = 20), decay = 0.0}", ADAMW, dict(lr=0.1), 0, None),
    ("opt.lion{}", Lion, dict(lr=1e-4, b1=0.9, b2=0.99), 0, None),
    ("opt.lion{0.02, b1 = 0.8, b2 = 0.95, decay = 0.3, clip = 0.5}", Lion, dict(lr=0.02, b1=0.8, b2=0.95), 0.3, (clip_all, 0.5)),
    ("opt.lamb{}", Lamb, dict(lr=1e-3, b1=0.9, b2=0.999, eps=1e-6), 0.01, None),
    ("opt.lamb{0.05, b1 = 0.8, b2 = 0.95, decay = 0.1, clip = 0.3}", Lamb, dict(lr=0.05, b1=0.8, b2=0.95, eps=1e-6), 0.1, (clip_all, 0.3)),
]


def train(make, args, decay, clip, one_cycle):
    p = {k: torch.tensor(v, requires_grad=True) for k, v in start().items()}
    rng = np.random.default_rng(6)
    x, y = torch.tensor(rng.normal(size=(8, 4))), torch.tensor(rng.integers(0, 3, size=8))
    groups = [{"params": [p["w1"], p["w2"], p["s"]], "weight_decay": decay}, {"params": [p["b1"], p["b2"]], "weight_decay": 0.0}]
    opt = make(groups, **args)
    rate = torch.optim.lr_scheduler.OneCycleLR(opt, args["lr"], total_steps=STEPS, cycle_momentum=False) if one_cycle else None
    losses = []
    for _ in range(STEPS):
        z = (torch.tanh(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]) * p["s"]
        loss = F.cross_entropy(z, y)
        for v in p.values():
            v.grad = None
        loss.backward()
        if clip:
            clip[0](list(p.values()), clip[1])
        opt.step()
        if rate:
            rate.step()
        p["s"].data.clamp_(min=0)
        losses.append(loss.item())
    return x, y, losses, {k: numbers(v.detach()) for k, v in p.items()}


def optimizers():
    cases = []
    for text, make, args, decay, clip in OPTIMIZERS:
        x, y, losses, last = train(make, args, decay, clip, "one_cycle" in text)
        cases.append({"text": text, "losses": losses, "last": last})
    save("optimizers", {"x": numbers(x), "y": y.tolist(), "first": {k: numbers(v) for k, v in start().items()}, "cases": cases})


# ---- schedules: 30 launches, of which `run` plans 24

def by_torch(scheduler, n=30, **args):
    opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=2.0)
    lr, rate = [], scheduler(opt, **args)
    for _ in range(n):
        lr.append(opt.param_groups[0]["lr"])
        opt.step()
        rate.step()
    return lr + lr[-1:] * (30 - n)


def warm_cosine(step, warmup, low, total):
    if step < warmup:
        return 2.0 * (step + 1) / warmup
    return low + (2.0 - low) * 0.5 * (1 + math.cos(math.pi * min(1, (step - warmup) / (total - warmup))))


def schedules():
    lr = torch.optim.lr_scheduler
    cases = [
        ("opt.constant(2.0)", [2.0] * 30),
        ("opt.constant(2.0, warmup = 4)", [2.0 * min(1, (s + 1) / 4) for s in range(30)]),
        ("opt.linear(2.0, 0.5, 10)", by_torch(lr.LinearLR, start_factor=1.0, end_factor=0.25, total_iters=10)),
        ("opt.linear(2.0, 0.5, 0)", [2.0] + [0.5] * 29),
        ("opt.stairs(2.0, 0)", [2.0] + [0.0] * 29),
        ("opt.exponential(2.0, 0)", [2.0] + [0.0] * 29),
        ("opt.inverse_root(2.0, 0)", [2.0 / math.sqrt(s + 1) for s in range(30)]),
        ("opt.stairs(2.0, 7)", by_torch(lr.StepLR, step_size=7, gamma=0.1)),
        ("opt.stairs(2.0, 4, rate = 0.5)", by_torch(lr.StepLR, step_size=4, gamma=0.5)),
        ("opt.exponential(2.0, 10)", by_torch(lr.ExponentialLR, gamma=0.1**0.1)),
        ("opt.inverse_root(2.0, 6)", [2.0 * min((s + 1) / 6, math.sqrt(6 / (s + 1))) for s in range(30)]),
        ("opt.cosine(2.0, total = 30)", by_torch(lr.CosineAnnealingLR, T_max=30)),
        ("opt.cosine(2.0)", [warm_cosine(s, 0, 0, 24) for s in range(30)]),
        ("opt.cosine(2.0, warmup = 5, floor = 0.1)", [warm_cosine(s, 5, 0.1, 24) for s in range(30)]),
        ("opt.one_cycle(2.0)", by_torch(lr.OneCycleLR, n=24, max_lr=2.0, total_steps=24, cycle_momentum=False)),
        ("opt.one_cycle(2.0, total = 30, up = 0.5, start = 10, end = 100)",
         by_torch(lr.OneCycleLR, n=30, max_lr=2.0, total_steps=30, pct_start=0.5, div_factor=10, final_div_factor=100, cycle_momentum=False)),
    ]
    save("schedules", [{"text": text, "value": value} for text, value in cases])


# ---- draws

MASK32, MASK64 = 2**32 - 1, 2**64 - 1


def philox(counter, key):
    """Salmon et al. 2011, Philox4x32-10."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK32, (a >> 32) ^ c[3] ^ k[1], a & MASK32]
        k = [(k[0] + 0x9E3779B9) & MASK32, (k[1] + 0xBB67AE85) & MASK32]
    return c


def mix64(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK64
    return x ^ (x >> 31)


def fnv1a64(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK64
    return h


def top_bits(seed, name, n):
    """24 bits for each of the first n elements of a draw in phase init (step 0)."""
    key = mix64(seed) ^ fnv1a64(name)
    return [philox((i // 4, 0, 0, 0), (key & MASK32, key >> 32))[i % 4] >> 8 for i in range(n)]


def draws():
    bits = np.array(top_bits(1, "init/net.w#0", 10), dtype=np.float64)
    u = bits / 2**24  # of [0, 1)
    z = torch.special.ndtri(torch.tensor((bits + 0.5) / 2**24)).numpy()
    low = 0.022750131948179207  # the share below -2
    cut = torch.special.ndtri(torch.tensor(low + (1 - 2 * low) * u)).numpy()
    save("draws", {"unit": numbers(z), "fan_in": numbers((2 * u - 1) / math.sqrt(250)), "uniform": numbers(2 * u - 1), "normal": numbers(0.02 * z),
                   "truncated": numbers(0.02 * cut), "kaiming": numbers(z * math.sqrt(2 / 250)), "xavier": numbers((2 * u - 1) * math.sqrt(6 / 650)),
                   "kaiming_uniform": numbers((2 * u - 1) * math.sqrt(6 / 250)), "xavier_normal": numbers(z * math.sqrt(2 / 650)),
                   "lecun": numbers(z / math.sqrt(250)), "lecun_uniform": numbers((2 * u - 1) * math.sqrt(3 / 250)),
                   "small": numbers(z * math.sqrt(2 / 1250))})


def main():
    torch.set_default_dtype(torch.float64)
    formulas()
    optimizers()
    schedules()
    draws()


if __name__ == "__main__":
    main()
