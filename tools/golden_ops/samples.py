"""What a sample is: inputs drawn by number as in tests/ops/case.h, a reference, its results as they are stored."""
import math

import numpy as np
import torch

KEEP_RESULT, KEEP_GRADIENT, WEIGHT = 5, 4, 7
NAMES = "abcdefgh"
U = np.uint64

# ---- numbers, as in tests/ops/case.h


def mix64(x):
    x = (x ^ (x >> U(30))) * U(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> U(27))) * U(0x94D049BB133111EB)
    return x ^ (x >> U(31))


def bits(seed, k, i):
    return mix64(U((seed << 40) + (k << 32) + 1) + i.astype(U))


def between(h, lo, hi):
    return (lo * 2**36 + ((h >> U(12)) % U((hi - lo) << 36)).astype(np.int64)).astype(np.float64) * 2.0**-40


def apart(seed, k, i):
    x = (i * 4 + k + seed * 97) & 8191
    x = x * 2757 & 8191
    x ^= x >> 7
    x = x * 5081 & 8191
    return (x - 4096) * 2.0**-10


INF, NAN = math.inf, math.nan
EDGES = [0, -0.0, 1, -1, INF, -INF, NAN, 0.5, -0.5, 1.5, 2.5, -2.5, 1e300, -1e300, 1e-300, -3]
WHOLES = [0, 1, -1, 2, -2, 3, -3, 7, -7, 2147483647, -2147483648, 2147483646, -2147483647, 65536, -65536, 46341]


def draw(dtype, domain, seed, k, shape, bound=0):
    n, width = int(np.prod(shape, dtype=np.int64)), shape[-1] if shape else 1
    i = np.arange(n, dtype=np.int64)
    h = bits(seed, k, i)
    ranges = {"ANY": (-32, 32), "POSITIVE": (5, 48), "UNIT": (-15, 15), "SMALL": (-48, 48)}
    if domain in ranges:
        x = between(h, *ranges[domain])
    elif domain in ("NONZERO", "KINK0"):
        x = between(h, 5, 32) * np.where(h & U(1), -1.0, 1.0)
    elif domain == "APART":
        x = apart(seed, k, i)
    elif domain == "INTLIKE":
        x = ((h >> U(12)) % U(7)).astype(np.float64) - 3
    elif domain == "BOOLS":
        x = (h >> U(20)) & U(1)
    elif domain == "INDEX":
        x = ((h >> U(12)) % U(bound + 1)).astype(np.float64) - 1
    elif domain == "WHOLE":
        x = ((h >> U(12)) % U(101)).astype(np.float64) - 50
    elif domain in ("SORTED", "RISING"):
        rise = between(h, 1, 8)
        if domain == "SORTED":
            rise[h % U(4) == 0] = 0
        x = np.cumsum(rise.reshape(shape), axis=-1) - 4
    elif domain == "SPD":
        row, column = i // max(width, 1) % max(width, 1), i % max(width, 1)
        first = i - row * width - column
        x = between(bits(seed, k, first + np.minimum(row, column) * width + np.maximum(row, column)), -16, 16)
        x = np.where(row == column, x + width + 1, x)
    elif domain == "EDGES":
        x = np.array(EDGES if dtype == "f64" else WHOLES, dtype=np.float64)[i >> (4 * k) & 15]
    else:
        raise ValueError(domain)
    return np.asarray(x).reshape(shape).astype({"f64": np.float64, "i32": np.int32, "bool": bool}[dtype])


def weights(seed, shape):
    return draw("f64", "NONZERO", seed, WEIGHT, shape)


def digest(x, seed, which, keep):
    """All of a small tensor, else keep - 1 elements and a projection. `which`: 0 the result, 1 + k the gradient of input k."""
    x = np.asarray(x, dtype=np.float64).reshape(-1)
    if len(x) <= keep or not np.isfinite(x).all():
        assert len(x) <= keep or len(x) <= 256, "a large tensor that is not finite"
        return x
    at = bits(seed, 16 + which, np.arange(keep - 1)) % U(len(x))
    h = bits(seed, 32 + which, np.arange(len(x)))
    p = (1 + (h >> U(8)) % U(8)).astype(np.float64) * np.where(h & U(1), -1.0, 1.0)
    return np.append(x[at.astype(np.int64)], math.fsum(p * x))


# ---- rows and cases

ROWS = []


def f(*shape, domain="ANY"):
    return ("f64", domain, list(shape))


def small(*shape):
    return f(*shape, domain="SMALL")


def apart_(*shape):
    return f(*shape, domain="APART")


def ties(*shape):
    return f(*shape, domain="INTLIKE")


def whole(*shape):
    return ("i32", "WHOLE", list(shape))


def few(*shape):
    return ("i32", "INTLIKE", list(shape))


def index(n, *shape):
    return ("i32", "INDEX", list(shape), n)


def flag(*shape):
    return ("bool", "BOOLS", list(shape))


class Row:
    """A row of ops.def, or (with texts) a function of the language. `reference` takes tensors of PyTorch in f64, i32 and bool."""

    def __init__(self, name, reference, floor=1.0, diff=True, text=False, loose=False, forward=None, tolerance=1e-12, seeded=False):
        self.name, self.reference, self.floor, self.diff, self.text, self.loose = name, reference, floor, diff, text, loose
        self.forward, self.tolerance, self.seeded, self.cases, self.values = forward, tolerance, seeded, [], []
        self.counts = [0, 0, 0]
        ROWS.append(self)

    def case(self, *ins, attr=(), dims=(), out=None, text=None, let=None, seeds=7, fd=True, grad=None, use=None, **how):
        """grad: which inputs have one (default: all floats); use: another reference; how: passed to the reference."""
        if any(0 in i[2] for i in ins):
            seeds = min(seeds, 2)
        number = len(self.cases)
        if grad is None:
            grad = [k for k, i in enumerate(ins) if i[0] == "f64"]
        edges = any(i[1] == "EDGES" for i in ins)
        for s in range(seeds):
            seed = 1 + number * 16 + s
            arrays = [draw(i[0], i[1], seed, k, i[2], *i[3:]) for k, i in enumerate(ins)]
            args = [torch.tensor(x) for x in arrays]
            if self.seeded:
                how["seed"] = seed
            r = self.once(args, arrays, grad if self.diff and not edges else [], use or self.reference, how, seed)
        shape = list(r.shape)
        differentiated = bool(self.diff and grad and not edges and r.dtype == np.float64)
        fd = bool(fd and differentiated and np.isfinite(r).all())
        c = {"in": [list(i) for i in ins], "attr": list(attr), "dims": list(dims), "seeds": seeds, "r": [kind(r), shape],
             "grad": grad if differentiated else [], "fd": fd}
        if out:
            c["out"] = out
        if text:
            c["text"], c["let"] = text, let or ""
        self.cases.append(c)
        self.counts = [a + b for a, b in zip(self.counts, [seeds, seeds if differentiated else 0, seeds if fd else 0])]
        return self

    def once(self, args, arrays, grad, reference, how, seed):
        for k in grad:
            args[k].requires_grad_(True)
        if self.forward is not None and not how:
            with np.errstate(all="ignore"):
                r = np.asarray(self.forward(*arrays))
        else:
            r = None
        if r is None or grad:
            t = reference(*args, **how)
            t = t if isinstance(t, torch.Tensor) else torch.tensor(np.asarray(t))
            if r is not None:
                assert np.allclose(r, t.detach().numpy(), rtol=1e-12, atol=1e-13, equal_nan=True), (self.name, r, t)
            else:
                r = t.detach().numpy()
        self.values.append(digest(r, seed, 0, KEEP_RESULT))
        if grad and r.dtype == np.float64:
            if t.requires_grad:
                t.backward(torch.tensor(weights(seed, list(t.shape))))
            for k in grad:
                g = args[k].grad
                self.values.append(digest(np.zeros(args[k].shape) if g is None else g.numpy(), seed, 1 + k, KEEP_GRADIENT))
        return r


def kind(r):
    return {"float64": "f64", "int32": "i32", "int64": "i32", "bool": "bool"}[str(r.dtype)]
