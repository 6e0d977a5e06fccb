"""References and cases for the rows of kernels/ops.def."""
import math

import numpy as np
import scipy.special
import torch
import torch.nn.functional as F

from golden_ops.samples import *


# ---- elementwise rows

UNARY = [(), (1,), (31,), (32,), (33,), (127,), (13, 7), (5, 1, 11), (0,), (3, 0)]
BINARY = [((), ()), ((1,), (1,)), ((31,), (31,)), ((32,), ()), ((33,), (1,)), ((127,), (127,)), ((13, 7), (7,)),
          ((5, 1), (1, 11)), ((), (2, 3, 5)), ((0,), (0,)), ((3, 0), ())]


def elementwise(name, reference, forward, domain, n, types, **more):
    """types: of the inputs; `f` f64, `i` i32, `b` bool."""
    row = Row(name, reference, floor=0.0, forward=forward, **more)
    for t in types:
        make = {"f": lambda *s: f(*s, domain=domain), "i": lambda *s: whole(*s) if domain != "INTLIKE" else few(*s), "b": flag}[t]
        few_shapes = t != types[0]
        for shapes in ([(s,) for s in UNARY] if n == 1 else BINARY):
            if not few_shapes or shapes[0] in ((33,), (127,), (0,), (5, 1)):
                row.case(*[make(*s) for s in shapes])
        if t != "b":
            row.case(*[({"f": "f64", "i": "i32"}[t], "EDGES", [16**n])] * n, seeds=1)
    return row


def gelu(x):
    return x * scipy.special.ndtr(x)


def floor_divide(x, y):
    return torch.tensor(np.floor_divide(x.numpy(), y.numpy()))


def silu(x):
    return x / (1 + np.exp(-x))


def np_sign(x):
    return np.sign(x)


def elementwise_rows():
    e = elementwise
    e("add", torch.add, np.add, "ANY", 2, "fi")
    e("sub", torch.sub, np.subtract, "ANY", 2, "fi")
    e("mul", torch.mul, np.multiply, "ANY", 2, "fi")
    e("div", torch.div, np.divide, "NONZERO", 2, "f")
    e("neg", torch.neg, np.negative, "ANY", 1, "fi")
    e("pow", torch.pow, np.power, "POSITIVE", 2, "f")
    e("floordiv", floor_divide, np.floor_divide, "NONZERO", 2, "fi", diff=False)
    e("mod", torch.remainder, np.mod, "NONZERO", 2, "fi")
    for name, t, n in (("max", torch.maximum, np.maximum), ("min", torch.minimum, np.minimum)):
        r = e(name, t, n, "APART", 2, "fi")
        r.case(ties(127), ties(127), fd=False)  # a tie splits the gradient
    e("abs", torch.abs, np.abs, "KINK0", 1, "fi").case(ties(33), fd=False)
    e("sign", torch.sign, np_sign, "KINK0", 1, "fi", diff=False)
    e("floor", torch.floor, np.floor, "ANY", 1, "f", diff=False)
    e("ceil", torch.ceil, np.ceil, "ANY", 1, "f", diff=False)
    e("trunc", torch.trunc, np.trunc, "ANY", 1, "f", diff=False)
    e("round", torch.round, np.rint, "ANY", 1, "f", diff=False)
    sp = scipy.special
    e("exp", torch.exp, np.exp, "SMALL", 1, "f")
    e("log", torch.log, np.log, "POSITIVE", 1, "f")
    e("expm1", torch.expm1, np.expm1, "SMALL", 1, "f")
    e("log1p", torch.log1p, np.log1p, "POSITIVE", 1, "f")
    e("sqrt", torch.sqrt, np.sqrt, "POSITIVE", 1, "f")
    e("rsqrt", torch.rsqrt, lambda x: 1 / np.sqrt(x), "POSITIVE", 1, "f")
    e("sin", torch.sin, np.sin, "SMALL", 1, "f")
    e("cos", torch.cos, np.cos, "SMALL", 1, "f")
    e("tan", torch.tan, np.tan, "UNIT", 1, "f")
    e("atan2", torch.atan2, np.arctan2, "NONZERO", 2, "f")
    e("tanh", torch.tanh, np.tanh, "SMALL", 1, "f")
    e("sigmoid", torch.sigmoid, sp.expit, "SMALL", 1, "f")
    e("relu", torch.relu, lambda x: np.maximum(x, 0), "KINK0", 1, "f").case(ties(33), fd=False)
    e("silu", F.silu, silu, "SMALL", 1, "f")
    e("softplus", lambda x: torch.logaddexp(x, torch.zeros_like(x)), lambda x: np.logaddexp(x, 0), "SMALL", 1, "f")
    e("logsigmoid", F.logsigmoid, lambda x: -np.logaddexp(-x, 0), "SMALL", 1, "f")
    e("elu", F.elu, lambda x: np.where(x > 0, x, np.expm1(x)), "KINK0", 1, "f")
    e("erf", torch.erf, sp.erf, "SMALL", 1, "f")
    e("erfinv", torch.erfinv, sp.erfinv, "UNIT", 1, "f")
    e("gelu", F.gelu, gelu, "SMALL", 1, "f")
    for name, t, n in (("eq", torch.eq, np.equal), ("ne", torch.ne, np.not_equal)):
        e(name, t, n, "INTLIKE", 2, "fib", diff=False)
    for name, t, n in (("lt", torch.lt, np.less), ("le", torch.le, np.less_equal), ("gt", torch.gt, np.greater), ("ge", torch.ge, np.greater_equal)):
        e(name, t, n, "INTLIKE", 2, "fi", diff=False)
    e("land", torch.logical_and, np.logical_and, "BOOLS", 2, "b", diff=False)
    e("lor", torch.logical_or, np.logical_or, "BOOLS", 2, "b", diff=False)
    e("lnot", torch.logical_not, np.logical_not, "BOOLS", 1, "b", diff=False)
    e("isfinite", torch.isfinite, np.isfinite, "ANY", 1, "f", diff=False)
    where, shapes = Row("where", torch.where, floor=0.0), BINARY + [((2, 1), (1, 3))]
    for k, (x, y) in enumerate(shapes):
        z = x if k % 2 else y
        where.case(flag(*x), f(*y), f(*z))
    for t in (whole, flag):
        where.case(flag(33), t(33), t(33)).case(flag(0), t(0), t(0))
    cast()
    bitcast()


def to_i32(x):
    x = np.where(np.isnan(x), 0, np.clip(np.trunc(x), -2.0**31, 2.0**31 - 1))
    return torch.tensor(x.astype(np.int64).astype(np.int32))


def cast():
    row = Row("cast", None, floor=0.0)
    for s in UNARY:
        row.case(f(*s), attr=["f64"], use=lambda x: x * 1)
    for s in ((33,), (127,), (0,)):
        row.case(whole(*s), attr=["f64"], use=lambda x: x.double()).case(whole(*s), attr=["bool"], use=lambda x: x != 0)
        row.case(flag(*s), attr=["f64"], use=lambda x: x.double()).case(flag(*s), attr=["i32"], use=lambda x: x.int())
        row.case(f(*s), attr=["i32"], use=lambda x: to_i32(x.detach().numpy())).case(ties(*s), attr=["bool"], use=lambda x: x != 0)
    edge = ("f64", "EDGES", [16])
    row.case(edge, attr=["i32"], seeds=1, use=lambda x: to_i32(x.numpy())).case(edge, attr=["bool"], seeds=1, use=lambda x: x != 0)


def to_bits(x):
    with np.errstate(over="ignore", under="ignore"):
        return torch.tensor(x.detach().numpy().astype(np.float32).view(np.int32))


def of_bits(i):
    return torch.tensor(i.numpy().view(np.float32).astype(np.float64))


def bitcast():
    row = Row("bitcast", None, floor=0.0, diff=False)
    for s in UNARY:
        row.case(f(*s), attr=["i32"], use=to_bits, seeds=4).case(whole(*s), attr=["f64"], use=of_bits, seeds=4)
    row.case(("f64", "EDGES", [16]), attr=["i32"], seeds=1, use=to_bits).case(("i32", "EDGES", [16]), attr=["f64"], seeds=1, use=of_bits)


# ---- reductions

REDUCED = [((1,), (0,)), ((31,), (0,)), ((32,), (0,)), ((33, 3), (0,)), ((33, 3), (1,)), ((3, 127), (1,)), ((127,), (0,)),
           ((5, 7, 11), (0, 2)), ((5, 7, 11), (1,)), ((5, 7, 11), (0, 1, 2)), ((2, 13, 1), (2,)), ((2, 3, 5, 2), (1, 2)),
           ((0,), (0,)), ((3, 0), (1,)), ((3, 0), (0,))]


def by_torch(name):
    """Reductions of PyTorch over any axes, of nothing too."""
    def reduce(x, axes):
        if name in ("all", "any"):
            x = x.bool()
        for a in reversed(axes):
            if name == "prod":
                x = torch.prod(x, a, dtype=x.dtype)
            elif name in ("all", "any"):
                x = getattr(torch, name)(x, a)
            else:
                x = x.sum(a, dtype=x.dtype)
        return x
    return reduce


def extreme(name):
    def reduce(x, axes):
        if x.numel() == 0:
            low = {torch.float64: INF, torch.int32: 2147483647}[x.dtype] * 1
            shape = [n for k, n in enumerate(x.shape) if k not in axes]
            fill = (-low if x.dtype == torch.float64 else -2147483648) if name == "amax" else low
            return torch.full(shape, fill, dtype=x.dtype)
        return getattr(torch, name)(x, tuple(axes))
    return reduce


def mean(x, axes):
    n = int(np.prod([x.shape[a] for a in axes]))
    return by_torch("sum")(x, axes) / n if n else torch.full([d for k, d in enumerate(x.shape) if k not in axes], NAN, dtype=x.dtype)


def by_numpy(name, x, axis):
    with np.errstate(all="ignore"):
        return torch.tensor(getattr(np, name)(x.numpy(), axis=axis))


def reductions():
    plans = [("sum", by_torch("sum"), f, [whole], 1), ("mean", mean, f, [], 1), ("prod", by_torch("prod"), f, [few], 0),
             ("amax", extreme("amax"), apart_, [whole], 0), ("amin", extreme("amin"), apart_, [whole], 0)]
    for name, reference, make, others, floor in plans:
        row = Row(name, reference, floor=float(floor))
        for shape, axes in REDUCED:
            empty = name == "mean" and shape == (3, 0) and axes == (1,) or name == "mean" and shape == (0,)
            row.case(make(*shape), attr=axes, axes=list(axes), seeds=5, fd=not empty, grad=[] if empty else None)
        row.case(f(9001), attr=[0], axes=[0], seeds=1, fd=name in ("sum", "mean"))
        for other in others:
            for shape, axes in REDUCED[3:8] + REDUCED[-3:]:
                row.case(other(*shape), attr=axes, axes=list(axes), seeds=3)
        for edges in ([16], [16, 16]) if name in ("sum", "mean") else ([16], [4, 4], [16, 16]):  # no matter in which order
            axis = len(edges) - 1
            row.case(("f64", "EDGES", edges), attr=[axis], seeds=1, use=lambda x, a=axis, n=name: by_numpy(n, x, a))
        if name in ("prod", "amax", "amin"):  # zeros; ties
            row.case(ties(3, 13), attr=[1], axes=[1], fd=name == "prod")
            row.case(ties(7), attr=[0], axes=[0], fd=name == "prod")
    for name in ("all", "any"):
        row = Row(name, by_torch(name), floor=0.0, diff=False)
        for shape, axes in REDUCED:
            row.case(flag(*shape), attr=axes, axes=list(axes), seeds=5)


# ---- views

def steps(x, start, step, size):
    for axis, (a, s, n) in enumerate(zip(start, step, size)):
        x = x.index_select(axis, torch.tensor([a + s * k for k in range(n)], dtype=torch.long))
    return x


def views():
    row = Row("reshape", lambda x, to: x.reshape(to))
    for x, to in [((1,), ()), ((), (1, 1)), ((31,), (31, 1)), ((32,), (2, 4, 4)), ((3, 11), (33,)), ((127,), (1, 127)), ((6, 35), (7, 30)), ((0, 3), (5, 0)), ((2, 3, 5), (30,))]:
        row.case(f(*x), out=["f64", list(to)], to=list(to))
    row.case(whole(6, 7), out=["i32", [2, 21]], to=[2, 21]).case(flag(6, 7), out=["bool", [42]], to=[42])
    row = Row("permute", lambda x, p: x.permute(p))
    for x, p in [((1, 3), (1, 0)), ((31, 2), (1, 0)), ((32, 5, 2), (2, 0, 1)), ((33, 7), (1, 0)), ((2, 3, 5, 7), (3, 1, 0, 2)), ((2, 127), (1, 0)), ((0, 3), (1, 0)), ((13,), (0,)), ((2, 3, 5), (0, 2, 1))]:
        row.case(f(*x), attr=p, p=list(p))
    row.case(whole(33, 2), attr=[1, 0], p=[1, 0]).case(flag(3, 7), attr=[1, 0], p=[1, 0])
    row = Row("slice", steps)
    for x, start, step, size in [((1,), [0], [1], [1]), ((31,), [30], [-1], [31]), ((32,), [1], [3], [10]), ((33, 5), [32, 1], [-2, 2], [17, 2]), ((127,), [100], [1], [27]),
                                 ((7, 5, 3), [1, 4, 0], [2, -1, 1], [3, 5, 2]), ((13, 2), [3, 0], [1, 1], [0, 2]), ((0, 3), [0, 1], [1, 1], [0, 2]), ((17, 3), [16, 2], [-4, -2], [5, 2])]:
        row.case(f(*x), attr=step, dims=start, out=["f64", size], start=start, step=step, size=size)
    row.case(whole(33), attr=[-1], dims=[32], out=["i32", [33]], start=[32], step=[-1], size=[33]).case(flag(7), attr=[2], dims=[0], out=["bool", [4]], start=[0], step=[2], size=[4])
    row = Row("expand", lambda x, to: x.expand(to))
    for x, to in [((1,), (31,)), ((1, 3), (32, 3)), ((33, 1), (33, 2)), ((1, 1), (3, 127)), ((7, 1, 1), (7, 5, 2)), ((1,), (1,)), ((1,), (0,)), ((13,), (13,)), ((0, 1), (0, 3)), ((2, 1, 3), (2, 5, 3))]:
        row.case(f(*x), out=["f64", list(to)], to=list(to))
    row.case(whole(1, 3), out=["i32", [5, 3]], to=[5, 3]).case(flag(1, 3), out=["bool", [5, 3]], to=[5, 3])


# ---- trees: a flat block holds the leaves in order, each padded with zeros to a multiple of 64

def flat(*leaves):
    return torch.cat([F.pad(x.reshape(-1), (0, -x.numel() % 64)) for x in leaves])


def ranges_of(leaves, default, v):
    """The value of the last leaf at its elements, the default elsewhere: in the padding too."""
    r = torch.cat([torch.full((x.numel() + -x.numel() % 64,), default) for x in leaves])
    n, padded = leaves[-1].numel(), leaves[-1].numel() + -leaves[-1].numel() % 64
    r[len(r) - padded:len(r) - padded + n] = v
    return r


LEAVES = [((1,),), ((31,),), ((32, 1), (5,)), ((33,), (127,)), ((3, 7), (), (2, 2, 2)), ((64,), (65,)), ((13,), (1,)), ((127,), (7, 11)), ((0,), (3,))]


def trees():
    leaf, pack = Row("leaf", lambda *x, at: x[at] * 1), Row("pack", flat)
    tree, ranges = Row("tree", flat), Row("ranges", None, diff=False)
    for k, shapes in enumerate(LEAVES):
        ins = [f(*s) for s in shapes]
        leaf.case(*ins, attr=[k % len(ins)], at=k % len(ins))
        pack.case(*ins, attr=[0])
        tree.case(*ins, attr=[0])
        last = len(ins) - 1
        for value in (-1.5, 0.25, 3.0, 1e-3, 0.0, 7.0):
            ranges.case(*ins, attr=[0, 0.5, last, value], seeds=1,
                        use=lambda *x, v=value: ranges_of(x, 0.5, v))


# ---- rows of the last axis

ROWS_OF = [(1,), (31,), (3, 32), (33,), (2, 127), (5, 1), (13, 11), (2, 3, 7), (0, 3), (1, 257)]


def argmax(x):
    """The lowest place of the largest; NaN counts as largest."""
    x = x.numpy()
    return np.argmax(x, axis=-1).astype(np.int32)


def order(x, descending=0):
    x = x.numpy()
    rows = x.reshape(-1, x.shape[-1]) if x.size else np.zeros((0, x.shape[-1]))
    sign = -1 if descending else 1
    r = [sorted(range(len(row)), key=lambda i: (0 if math.isnan(row[i]) == bool(descending) else 1, 0 if math.isnan(row[i]) else sign * float(row[i]))) for row in rows]
    return np.array(r, dtype=np.int32).reshape(x.shape)


def search(c, u):
    c, u = c.numpy(), u.numpy()
    r = np.zeros(u.shape, dtype=np.int32)
    for lead in np.ndindex(*u.shape[:-1]):
        row = c[lead]
        for j, value in enumerate(u[lead]):
            above = [i for i in range(len(row)) if row[i] > value]
            rising = [i for i in range(1, len(row)) if row[i] > row[i - 1]]
            r[lead + (j,)] = above[0] if above else rising[-1] if rising else 0
    return r


def xent(z, y):
    k = z.shape[-1]
    r = F.cross_entropy(z.reshape(-1, k), y.long().reshape(-1), ignore_index=-1, reduction="none")
    return r.reshape(y.shape)


def logsumexp(x):
    if x.shape[-1] == 0:
        return torch.full(x.shape[:-1], -INF, dtype=x.dtype)
    return torch.logsumexp(x, -1)


def rows_of_classes():
    row = Row("argmax", argmax, diff=False)
    for s in ROWS_OF:
        row.case(f(*s))
    row.case(ties(3, 33)).case(few(3, 33)).case(whole(127)).case(("f64", "EDGES", [16]), seeds=1).case(("f64", "EDGES", [16, 16]), seeds=1)
    row = Row("softmax", lambda x: torch.softmax(x, -1))
    for s in ROWS_OF:
        row.case(small(*s))
    row.case(f(3, 0))
    row = Row("logsumexp", logsumexp)
    for s in ROWS_OF:
        row.case(small(*s))
    row.case(f(3, 0), grad=[])
    row = Row("xent", xent)
    for s in ROWS_OF:
        row.case(small(*s), index(s[-1], *s[:-1]))
    row = Row("argsort", order, diff=False)
    for k, s in enumerate(ROWS_OF):
        row.case(f(*s), attr=[k % 2], descending=k % 2, seeds=4)
        row.case(ties(*s), attr=[k % 2], descending=k % 2, seeds=2)
    row.case(few(3, 33), attr=[1], descending=1).case(whole(127), attr=[0], descending=0).case(f(3, 0), attr=[0], descending=0)
    for k in (0, 1):
        row.case(("f64", "EDGES", [16]), attr=[k], descending=k, seeds=1).case(("f64", "EDGES", [2, 16]), attr=[k], descending=k, seeds=1)
    row = Row("search", search, diff=False)
    for c, u in [((1,), (5,)), ((31,), (7,)), ((2, 32), (2, 3)), ((33,), (33,)), ((127,), (31,)), ((3, 13), (3, 1)), ((2, 3, 7), (2, 3, 5)), ((5,), (0,)), ((0, 3), (0, 2))]:
        row.case(f(*c, domain="SORTED"), f(*u, domain="SMALL"))
    row.case(f(1, domain="SORTED"), f(5, domain="SORTED")).case(f(127, domain="SORTED"), f(127, domain="SORTED"))


# ---- products

MATMUL = [((1, 1), (1, 1)), ((31, 3), (3, 2)), ((32, 33), (33, 5)), ((2, 127), (127, 3)), ((7, 13), (13, 11)), ((2, 3, 5), (2, 5, 7)), ((3, 1, 31), (3, 31, 1)),
          ((2, 2, 3, 4), (2, 2, 4, 5)), ((0, 3), (3, 2)), ((3, 0), (0, 2)), ((5, 3), (3, 0)), ((65, 64), (64, 33))]


def solve(a, b):
    return torch.linalg.solve((a + a.transpose(-1, -2)) / 2, b)


def products():
    row = Row("matmul", torch.matmul)
    for x, w in MATMUL:
        row.case(f(*x), f(*w), seeds=6)
    row = Row("solve_spd", solve)
    for lead, m, o in [((), 1, 1), ((), 2, 3), ((3,), 5, 1), ((), 31, 2), ((), 32, 1), ((), 33, 1), ((2, 2), 7, 2), ((1,), 127, 1), ((), 3, 0), ((0,), 3, 2), ((2,), 13, 31)]:
        row.case(f(*lead, m, m, domain="SPD"), f(*lead, m, o), seeds=6)
    row = Row("orthonormal", orthonormal, diff=False, tolerance=1e-11)
    for s in MATRICES:
        row.case(f(*s), seeds=5)
    row = Row("pinv", lambda x: torch.tensor(np.linalg.pinv(x.numpy(), rcond=1e-13) if x.numel() else np.zeros(x.shape).swapaxes(-1, -2)), diff=False, tolerance=1e-11)
    for s in MATRICES:
        row.case(f(*s), seeds=5)
    row.case(ties(3, 31, 2)).case(f(5, 1, 7), seeds=3)


MATRICES = [(1, 1), (31, 3), (3, 32), (33, 5), (2, 127), (127, 7), (5, 7, 2), (2, 3, 4, 4), (13, 1), (1, 11), (0, 3), (3, 0), (0, 5, 2)]


def orthonormal(x):
    x = x.numpy()
    if x.size == 0:
        return torch.tensor(x)
    wide = x.shape[-2] < x.shape[-1]
    q, r = np.linalg.qr(x.swapaxes(-1, -2) if wide else x)
    q = q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[..., None, :]
    return torch.tensor(np.ascontiguousarray(q.swapaxes(-1, -2) if wide else q))


# ---- places

def gather(x, i):
    i = i.long()
    if x.shape[0] == 0:
        return torch.zeros(tuple(i.shape) + tuple(x.shape[1:]), dtype=x.dtype)
    r = x[i.clamp(min=0)]
    keep = (i >= 0).reshape(tuple(i.shape) + (1,) * (x.dim() - 1)).expand(r.shape)
    return torch.where(keep, r, torch.zeros_like(r))


def put_with(how):
    def put(x, i, v):
        rows = list(x.unbind(0))
        v = v.reshape((-1,) + tuple(x.shape[1:])) if v.numel() else []
        for at, value in zip(i.reshape(-1).tolist(), v):
            if at >= 0:
                rows[at] = how(rows[at], value)
        return torch.stack(rows) if rows else x * 1
    return put


def put_max(x, i, v):
    """The largest of a row and all values for it; equal ones share the gradient: amax of each column."""
    rows = [[r] for r in x.unbind(0)]
    v = v.reshape((-1,) + tuple(x.shape[1:])) if v.numel() else []
    for at, value in zip(i.reshape(-1).tolist(), v):
        if at >= 0:
            rows[at].append(value)
    return torch.stack([torch.stack(r).amax(0) for r in rows]) if rows else x * 1


def take(x, i):
    i = i.long()
    r = torch.gather(x, -1, i.clamp(min=0)) if x.shape[-1] else torch.zeros(i.shape, dtype=x.dtype)
    return torch.where(i >= 0, r, torch.zeros_like(r))


def spread(v, i, n):
    r = torch.zeros(tuple(v.shape[:-1]) + (n + 1,), dtype=v.dtype)
    at = torch.where(i >= 0, i.long(), torch.full_like(i.long(), n))
    return r.scatter_add(-1, at, v)[..., :n]


PLACES = [((1,), (5,)), ((31, 2), (7,)), ((32,), (33,)), ((33, 3), (2, 3)), ((127,), (31,)), ((5, 3, 2), (11,)), ((7, 1), ()), ((3, 2), (0,)), ((13, 0), (5,)), ((2, 5), (127,))]


def places():
    row = Row("gather", gather)
    for x, i in PLACES + [((0, 2), (3,))]:
        row.case(f(*x), index(x[0], *i))
    row.case(whole(33, 2), index(33, 7)).case(flag(33), index(33, 7))
    for name, reference, make in (("put_add", put_with(torch.add), f), ("put", put_with(lambda old, new: new), f), ("put_max", put_max, apart_)):
        row = Row(name, reference)
        for x, i in PLACES:
            row.case(make(*x), index(x[0], *i), make(*i, *x[1:]))
        row.case(whole(33, 2), index(33, 7), whole(7, 2))
        if name == "put_max":
            row.case(ties(5, 3), index(5, 31), ties(31, 3), fd=False)
        if name == "put":
            row.case(flag(33), index(33, 7), flag(7))
    row, back = Row("take", take), Row("spread", spread)
    for lead, k, m in [((), 1, 3), ((), 31, 5), ((2,), 32, 33), ((3,), 33, 1), ((2, 3), 7, 5), ((), 127, 127), ((5,), 3, 0), ((0,), 3, 2), ((13,), 2, 11)]:
        row.case(f(*lead, k), index(k, *lead, m))
        back.case(f(*lead, m), index(k, *lead, m), out=["f64", [*lead, k]], n=k)
    row.case(whole(3, 33), index(33, 3, 7)).case(flag(3, 33), index(33, 3, 7))
    back.case(whole(3, 7), index(33, 3, 7), out=["i32", [3, 33]], n=33)
    row = Row("concat", lambda *x, axis: torch.cat(x, axis))
    for parts, axis in [([(1,)], 0), ([(31,), (1,)], 0), ([(2, 32), (2, 33)], 1), ([(33, 2), (1, 2), (5, 2)], 0), ([(127,), (0,), (3,)], 0), ([(2, 3, 5), (2, 7, 5)], 1), ([(0, 3), (0, 3)], 0), ([(7, 13), (7, 11), (7, 1), (7, 2)], 1), ([(2, 1, 3), (2, 1, 3)], 2)]:
        row.case(*[f(*p) for p in parts], attr=[axis], axis=axis)
    row.case(whole(3, 5), whole(3, 2), attr=[1], axis=1).case(flag(3), flag(5), attr=[0], axis=0)

    def pad(x, start, step, size):
        r = torch.zeros(size, dtype=x.dtype)
        at = torch.meshgrid(*[torch.tensor([a + s * k for k in range(n)], dtype=torch.long) for a, s, n in zip(start, step, x.shape)], indexing="ij")
        return r.index_put(tuple(at), x)
    row = Row("pad", pad)
    for x, start, step, size in [((1,), [0], [1], [1]), ((31,), [1], [1], [33]), ((2, 3), [1, 6], [3, -2], [5, 7]), ((32,), [31], [-1], [32]), ((33, 2), [0, 1], [2, 1], [65, 3]), ((127,), [100], [1], [227]),
                                 ((0, 3), [0, 0], [1, 1], [2, 3]), ((3, 5, 7), [1, 0, 2], [1, 2, 1], [5, 9, 11]), ((13,), [12], [-1], [31])]:
        row.case(f(*x), attr=step, dims=start, out=["f64", size], start=start, step=step, size=size)
    row.case(whole(7), attr=[2], dims=[1], out=["i32", [15]], start=[1], step=[2], size=[15]).case(flag(3), attr=[1], dims=[1], out=["bool", [5]], start=[1], step=[1], size=[5])
    row = Row("copy", lambda x: x * 1)
    for s in UNARY:
        row.case(f(*s))
    row.case(whole(33), use=lambda x: x.clone()).case(flag(33), use=lambda x: x.clone())
    row = Row("stop_grad", lambda x: x.detach(), diff=False)
    for s in UNARY:
        row.case(f(*s))
    row.case(whole(33)).case(flag(33))


# ---- running

SCANS = [((1,), 0), ((31,), 0), ((32, 2), 0), ((2, 33), 1), ((127,), 0), ((3, 7, 5), 1), ((5, 13), 0), ((0,), 0), ((3, 0), 1), ((0, 3), 1), ((2, 11, 1), 1)]


def running(g):
    def scan(*x, axis, reverse):
        if reverse:
            x = [v.flip(axis) for v in x]
        r = g(*x, axis)
        return r.flip(axis) if reverse else r
    return scan


def cummax(x, axis):
    """PyTorch gives the gradient to the last of equal elements, gml to the first: built from first places."""
    if x.shape[axis] == 0:
        return x * 1
    v = x.detach().movedim(axis, -1).numpy()
    at = np.zeros(v.shape, dtype=np.int64)
    for lead in np.ndindex(*v.shape[:-1]):
        best = 0
        for i in range(v.shape[-1]):
            best = i if v[lead][i] > v[lead][best] or (math.isnan(v[lead][i]) and not math.isnan(v[lead][best])) else best
            at[lead + (i,)] = best
    return torch.gather(x.movedim(axis, -1), -1, torch.tensor(at)).movedim(-1, axis)


def cumprod(x, axis):
    return torch.cumprod(x, axis, dtype=x.dtype)


def linear(a, b, axis):
    a, b = a.unbind(axis), b.unbind(axis)
    h = []
    for k in range(len(a)):
        h.append(b[0] if k == 0 else a[k] * h[-1] + b[k])
    return torch.stack(h, axis)


def scans():
    for name, g, make, other, floor in (("cumsum", lambda x, axis: torch.cumsum(x, axis, dtype=x.dtype), f, whole, 1), ("cumprod", cumprod, f, few, 0), ("cummax", cummax, apart_, whole, 0)):
        row = Row(name, running(g), floor=float(floor))
        for k, (s, axis) in enumerate(SCANS):
            for reverse in (0, 1):
                row.case(make(*s), attr=[axis, reverse], axis=axis, reverse=reverse, seeds=4)
        row.case(other(3, 13), attr=[1, 0], axis=1, reverse=0, seeds=3).case(other(5), attr=[0, 1], axis=0, reverse=1, seeds=3)
        row.case(ties(3, 7), attr=[1, 0], axis=1, reverse=0, fd=name == "cumprod")
        row.case(ties(5, 3), attr=[0, 1], axis=0, reverse=1, fd=name == "cumprod")
        if name == "cummax":
            row.case(("f64", "EDGES", [16]), attr=[0, 0], axis=0, reverse=0, seeds=1)
    row = Row("linear_scan", running(linear))
    for s, axis in SCANS:
        for reverse in (0, 1):
            if s[axis]:
                row.case(f(*s), f(*s), attr=[axis, reverse], axis=axis, reverse=reverse, seeds=4)
    row.case(f(0), f(0), attr=[0, 0], use=lambda a, b: a * b)


# ---- sources

def sources():
    row = Row("iota", None, diff=False)
    for n in [0, 1, 31, 32, 33, 127, *range(2, 31), *range(34, 47), 257, 9001]:
        row.case(out=["i32", [n]], seeds=1, use=lambda n=n: torch.arange(n, dtype=torch.int32))
    row = Row("const", None, diff=False)
    for v in EDGES + [x * 0.37 for x in range(-20, 20)]:
        row.case(attr=[float(v)] if math.isfinite(v) else [str(v)], out=["f64", []], seeds=1, use=lambda v=v: torch.tensor(float(v), dtype=torch.float64))
    row.case(attr=[-2147483648.0], out=["i32", []], seeds=1, use=lambda: torch.tensor(-2147483648, dtype=torch.int32))
    row.case(attr=[1.0], out=["bool", []], seeds=1, use=lambda: torch.tensor(True))
    row = Row("dimval", None, diff=False)
    for n in [0, 1, 31, 32, 33, 127, *range(2, 31), 2147483647, 65537]:
        for t, kind_ in (("i32", torch.int32), ("f64", torch.float64)):
            row.case(dims=[n], out=[t, []], seeds=1, use=lambda n=n, k=kind_: torch.tensor(n, dtype=k))


def all_rows():
    elementwise_rows()
    reductions()
    views()
    trees()
    rows_of_classes()
    products()
    places()
    scans()
    sources()
