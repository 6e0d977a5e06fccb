"""References and cases for the functions of the language, as texts."""
import math

import numpy as np
import torch
import torch.nn.functional as F

from golden_ops.samples import *
from golden_ops.rows import *


def fn(name, reference, text, sets, let=None, seeds=None, **more):
    """One text for several sets of inputs; `more`: of the row."""
    row = Row(name, reference, text=True, **more)
    return also(row, text, sets, let=let, seeds=seeds)


def also(row, text, sets, let=None, seeds=None, **how):
    for ins in sets:
        row.case(*ins, text=text, let=let, seeds=seeds or 7, **how)
    return row


VECTORS = [(1,), (31,), (32,), (33,), (127,), (13, 7), (0,)]


def last(x, y):
    return torch.cat([x.reshape(-1), y.reshape(-1)])


def joined(*names):
    """Several results as one vector."""
    return "concat(" + ", ".join(f"flatten({n}, 0, -1)" for n in names) + ")"


def conv(x, w, stride=1, pad=0, dilation=1, groups=1, causal=False):
    axes = x.dim() - 2
    if x.shape[1] == 0:
        return (x.sum() + w.sum()) * torch.zeros(tuple(x.shape[:-1]) + (w.shape[-1],))
    x = x.movedim(-1, 1)
    w = w.movedim(-1, 0).movedim(-1, 1)
    if causal:
        x = F.pad(x, ((w.shape[-1] - 1) * dilation, 0))
    r = (F.conv1d, F.conv2d)[axes - 1](x.contiguous(), w.contiguous(), stride=stride, padding=pad, dilation=dilation, groups=groups)
    return r.movedim(1, -1)


def runs(ids):
    """The number of the run of equal ids that a place is in."""
    n = torch.zeros(ids.shape, dtype=torch.long)
    n[..., 1:] = (ids[..., 1:] != ids[..., :-1]).long().cumsum(-1)
    return n


def causal_segments(x, w, b, past, ids):
    """Tap by tap: what is of another run is not seen; the past is of the first run."""
    k, t = w.shape[1], x.shape[-2]
    both, run = torch.cat([past, x], -2), runs(ids)
    of = torch.cat([torch.zeros(tuple(run.shape[:-1]) + (k - 1,), dtype=torch.long), run], -1)
    y = b
    for j in range(k):
        same = (of[..., j:j + t] == run)[..., None].double()
        y = y + both[..., j:j + t, :] * same * w[:, j]
    same = (of[..., t:] == of[..., -1:])[..., None].double()
    return last(y, both[..., t:, :] * same)


def causal_conv(x, w, b=None, past=None):
    k = w.shape[1]
    past = torch.zeros(tuple(x.shape[:-2]) + (k - 1, x.shape[-1])) if past is None else past
    both = torch.cat([past, x], -2)
    flat_ = both.reshape((-1,) + tuple(both.shape[-2:])).movedim(-1, -2).contiguous()
    y = F.conv1d(flat_, w[:, None], b, groups=w.shape[0]).movedim(-1, -2).reshape(x.shape)
    return last(y, both[..., both.shape[-2] - (k - 1):, :])


def attention(q, k, v, mask=None, causal=False, scale=None):
    s = torch.matmul(q, k.transpose(-1, -2)) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    t, n = s.shape[-2:]
    seen = torch.ones(t, n, dtype=torch.bool)
    if causal:
        seen = torch.tril(seen, n - t)
    if mask is not None:
        seen = seen & mask
    seen = seen.expand(s.shape)
    if n == 0:
        return q.sum() * 0 + torch.zeros(tuple(q.shape[:-1]) + (v.shape[-1],))
    p = torch.softmax(s.masked_fill(~seen, -1e30), -1) * seen
    return torch.matmul(p * seen.any(-1, keepdim=True), v)


def ssd(x, dt, a, b, c, s0=None, ids=None):
    n, t, h, p = x.shape
    run = None if ids is None else runs(ids)
    groups = b.shape[2]
    s = torch.zeros(n, h, p, b.shape[3]) if s0 is None else s0
    ys = []
    for k in range(t):
        if run is not None and k:
            s = s * (run[:, k] == run[:, k - 1]).double()[:, None, None, None]
        bk, ck = (m[:, k].repeat_interleave(h // groups, 1) for m in (b, c))
        s = torch.exp(dt[:, k] * a)[..., None, None] * s + (dt[:, k, :, None] * x[:, k])[..., None] * bk[:, :, None]
        ys.append((s * ck[:, :, None]).sum(-1))
    return last(torch.stack(ys, 1) if ys else x, s)


def mlstm(q, k, v, i, g, c=None, n=None, m=None):
    """Beck et al. 2024, equations 19 to 27, stabilised; m has no gradient, and 1e-6 keeps the denominator from 0."""
    size = q.shape[:2] + (q.shape[3],)
    c = torch.zeros(size + (v.shape[3],)) if c is None else c
    n = torch.zeros(size) if n is None else n
    m = torch.zeros(q.shape[:2]) if m is None else m
    ys = []
    for t in range(q.shape[2]):
        lf = F.logsigmoid(g[:, :, t])
        top = torch.maximum(lf + m, i[:, :, t]).detach()
        fade, write = torch.exp(lf + m - top), torch.exp(i[:, :, t] - top)
        m = top
        n = fade[..., None] * n + write[..., None] * k[:, :, t]
        c = fade[..., None, None] * c + write[..., None, None] * k[:, :, t, :, None] * v[:, :, t, None, :]
        query = q[:, :, t] / math.sqrt(q.shape[3])
        dot = (query * n).sum(-1).abs()
        ys.append((query[..., None] * c).sum(-2) / (torch.maximum(dot, torch.exp(-m)) + 1e-6)[..., None])
    return torch.cat([torch.stack(ys, 2).reshape(-1) if ys else v.reshape(-1), c.reshape(-1), n.reshape(-1), m.reshape(-1)])


def bspline(x, knots, degree):
    knots = knots.detach()
    m = knots.shape[1]

    def basis(j, k):
        if k == 0:
            return ((knots[:, j] <= x) & (x < knots[:, j + 1])).double()
        up, down = knots[:, j + k] - knots[:, j], knots[:, j + k + 1] - knots[:, j + 1]
        left = torch.where(up == 0, torch.zeros(()), (x - knots[:, j]) / torch.where(up == 0, torch.ones(()), up)) * basis(j, k - 1)
        right = torch.where(down == 0, torch.zeros(()), (knots[:, j + k + 1] - x) / torch.where(down == 0, torch.ones(()), down)) * basis(j + 1, k - 1)
        return left + right
    return torch.stack([basis(j, degree) for j in range(m - degree - 1)], -1)


def sequences():
    row = Row("conv1d", conv, text=True)
    for n, l, c, o, k, how in [(1, 1, 1, 1, 1, {}), (2, 31, 1, 2, 3, {}), (1, 32, 2, 3, 2, {"stride": 2}), (2, 33, 3, 1, 5, {"pad": 2}), (1, 127, 2, 2, 3, {"dilation": 3, "pad": 1}), (0, 7, 2, 3, 3, {}), (2, 0, 2, 3, 3, {"pad": 1}),
                               (3, 13, 4, 6, 3, {"groups": 2}), (2, 11, 5, 5, 3, {"groups": 5, "causal": True}), (1, 7, 2, 3, 4, {"causal": True, "dilation": 2})]:
        more = "".join(f", {a} = {str(b).lower()}" for a, b in how.items())
        row.case(f(n, l, c), f(k, c // how.get("groups", 1), o), text=f"conv1d(a, b{more})", **how)
    row = Row("conv2d", conv, text=True)
    for n, h, w, c, o, k, l, how in [(1, 1, 1, 1, 1, 1, 1, {}), (1, 31, 3, 1, 2, 3, 2, {}), (1, 3, 32, 2, 1, 2, 3, {"stride": 2}), (1, 33, 2, 1, 1, 3, 1, {"pad": 1}), (1, 2, 127, 1, 1, 1, 3, {}), (0, 5, 5, 2, 3, 3, 3, {}),
                                     (2, 7, 5, 4, 6, 3, 2, {"groups": 2, "pad": 1}), (2, 7, 11, 3, 3, 3, 3, {"groups": 3, "stride": 2, "pad": 1}), (1, 13, 7, 2, 3, 3, 2, {"dilation": 2, "pad": 2})]:
        more = "".join(f", {a} = {b}" for a, b in how.items())
        row.case(f(n, h, w, c), f(k, l, c // how.get("groups", 1), o), text=f"conv2d(a, b{more})", **how)
    row = Row("causal_conv1d", causal_conv, text=True)
    both = joined("y", "s")
    for lead, t, c, k in [((1,), 1, 1, 1), ((2,), 31, 2, 3), ((1,), 32, 3, 2), ((3,), 33, 1, 4), ((), 127, 2, 4), ((2, 2), 7, 5, 3), ((0,), 5, 2, 3), ((2,), 2, 13, 4)]:
        row.case(f(*lead, t, c), f(c, k), f(c), f(*lead, k - 1, c), let="    let (y, s) = causal_conv1d(a, b, c, d)\n", text=both, seeds=5)
        row.case(f(*lead, t, c), f(c, k), let="    let (y, s) = causal_conv1d(a, b)\n", text=both, seeds=3)
        row.case(f(*lead, t, c), f(c, k), f(c), f(*lead, k - 1, c), index(2, *lead, t), let="    let (y, s) = causal_conv1d(a, b, c, d, e)\n", text=both, seeds=3, use=causal_segments)
    row = Row("attention", attention, text=True)
    for lead, t, s, d, e in [((1, 1), 1, 1, 1, 1), ((1, 2), 31, 31, 3, 2), ((2,), 32, 33, 5, 1), ((), 127, 127, 2, 2), ((2, 2), 3, 7, 4, 5), ((0, 2), 3, 3, 2, 2), ((2,), 0, 3, 2, 2), ((2,), 3, 0, 2, 2), ((1, 1), 13, 11, 2, 3)]:
        ins = [f(*lead, t, d), f(*lead, s, d), f(*lead, s, e)]
        row.case(*ins, text="attention(a, b, c)", seeds=3)
        row.case(*ins, text="attention(a, b, c, causal = true, scale = 0.3)", seeds=3, causal=True, scale=0.3)
        row.case(*ins, flag(t, s), text="attention(a, b, c, mask = d)", seeds=3)
        row.case(*ins, flag(*lead, 1, s), text="attention(a, b, c, causal = true, mask = d)", seeds=3, causal=True)
    row = Row("ssd_scan", ssd, text=True)
    both = joined("y", "s")
    for n, t, h, p, g, s in [(1, 1, 1, 1, 1, 1), (1, 31, 2, 3, 1, 2), (2, 32, 2, 1, 2, 3), (1, 33, 3, 2, 1, 1), (1, 127, 1, 2, 1, 2), (2, 7, 4, 3, 2, 5), (0, 3, 2, 2, 1, 2), (2, 0, 2, 3, 1, 2), (3, 13, 2, 2, 2, 1)]:
        ins = [f(n, t, h, p), f(n, t, h, domain="POSITIVE"), f(h), f(n, t, g, s), f(n, t, g, s)]
        negative = "    let (y, s) = ssd_scan(a, b, -exp(c), d, e{})\n"
        minus = lambda x, dt, a, b, c, s0=None: ssd(x, dt, -torch.exp(a), b, c, s0)
        row.case(*ins, let=negative.format(""), text=both, use=minus, seeds=4)
        row.case(*ins, f(n, h, p, s), let=negative.format(", f"), text=both, use=minus, seeds=4)
        row.case(*ins, f(n, h, p, s), index(1, n, t), let=negative.format(", f, g"), text=both, use=lambda x, dt, a, *more: ssd(x, dt, -torch.exp(a), *more), seeds=3)
    row = Row("mlstm", mlstm, text=True, loose=True)
    for b, h, t, d, e in [(1, 1, 1, 1, 1), (1, 2, 31, 3, 2), (1, 1, 32, 2, 1), (2, 1, 33, 1, 2), (1, 1, 127, 2, 2), (2, 2, 7, 5, 3), (0, 2, 3, 2, 2), (2, 1, 0, 2, 3), (3, 2, 13, 2, 2)]:
        ins = [f(b, h, t, d), f(b, h, t, d), f(b, h, t, e), small(b, h, t), small(b, h, t)]
        row.case(*ins, let="    let y = mlstm(a, b, c, d, e)\n", text=joined("y.y", "y.s.c", "y.s.n", "y.s.m"), fd=False, seeds=5)
        row.case(*ins, text="mlstm(a, b, c, d, e).y", use=lambda *x: mlstm(*x)[:x[2].numel()].reshape(x[2].shape), seeds=7)
        row.case(*ins, f(b, h, d, e), f(b, h, d), let=f"    let y = mlstm(a, b, c, d, e, (c = f, n = g, m = 0.25 + zeros([{b}, {h}])))\n",
                 text=joined("y.y", "y.s.c", "y.s.n", "y.s.m"), use=lambda *x: mlstm(*x, torch.full(x[0].shape[:2], 0.25)), fd=False, seeds=3)
    row = Row("bspline", bspline, text=True)
    for lead, i, m, k in [((), 1, 2, 0), ((31,), 1, 5, 1), ((32,), 2, 6, 2), ((33,), 3, 8, 3), ((127,), 1, 9, 3), ((2, 7), 5, 7, 2), ((0,), 2, 5, 1), ((13,), 2, 11, 5)]:
        row.case(small(*lead, i), f(i, m, domain="RISING"), text=f"bspline(a, b, {k})", degree=k, grad=[0])
    row.case(small(13, 2), f(2, 11, domain="SORTED"), text="bspline(a, b, 3)", degree=3, grad=[0])
    row = Row("solve_spd", lambda a, b: solve(a @ a.transpose(-1, -2) + torch.eye(a.shape[-1]), b), text=True)
    for lead, m, o in [((), 1, 1), ((2,), 31, 1), ((), 32, 2), ((), 33, 3), ((), 127, 1), ((2, 3), 7, 5), ((0,), 3, 2), ((13,), 2, 1)]:
        row.case(f(*lead, m, m), f(*lead, m, o), text=f"solve_spd(a @ transpose(a) + eye({m}){'[' + '_, ' * len(lead) + ':, :]' if lead else ''}, b)")
    row = Row("block_linear", lambda x, w: torch.einsum("...np,npq->...nq", x.reshape(x.shape[:-1] + w.shape[:2]), w).flatten(-2), text=True)
    for lead, n, p, q in [((), 1, 1, 1), ((31,), 2, 3, 2), ((3,), 2, 32, 1), ((2,), 33, 4, 4), ((2, 3), 2, 9, 5), ((127,), 1, 2, 3), ((0,), 2, 4, 4), ((2,), 3, 0, 2), ((13,), 4, 4, 7)]:
        row.case(f(*lead, n * p), f(n, p, q), text="block_linear(a, b)")
    row = Row("scale_grad", lambda x, s: x.detach() * (1 - s) + x * s, text=True)
    for s in VECTORS + [()]:
        row.case(f(*s), text="scale_grad(a, 0.25)", s=0.25, fd=False)


# reductions

def over(kind_, x, axis=None, keep=False, ddof=0, m=None):
    dims = list(range(x.dim())) if axis is None else axis
    keep_ = torch.ones(x.shape, dtype=torch.bool) if m is None else m.expand(x.shape)
    n = keep_.sum(dims, keepdim=True)
    if kind_ in ("max", "min") and x.numel() == 0:
        r = x.sum(dims, keepdim=True)
    elif kind_ in ("max", "min"):
        far = -1e300 if kind_ == "max" else 1e300
        r = getattr(torch, "amax" if kind_ == "max" else "amin")(torch.where(keep_, x, torch.full_like(x, far)), dims, keepdim=True)
        r = torch.where(n > 0, r, torch.zeros_like(r))
    elif kind_ == "prod":
        r = torch.where(keep_, x, torch.ones_like(x))
        for d in dims:
            r = torch.prod(r, d, keepdim=True)
    else:
        r = torch.where(keep_, x, torch.zeros_like(x)).sum(dims, keepdim=True)
        if kind_ != "sum":
            mean_ = r / (n.clamp(min=1) if m is not None else n)
            r = mean_
        if kind_ in ("var", "std"):
            d = torch.where(keep_, x - mean_, torch.zeros_like(x))
            less = n - ddof
            r = (d * d).sum(dims, keepdim=True) / (less.clamp(min=1) if m is not None else less)
            r = torch.sqrt(r) if kind_ == "std" else r
    return r if keep else r.reshape([s for k, s in enumerate(x.shape) if k not in dims])


REDUCE_SETS = [((31,), None), ((32, 2), [0]), ((3, 33), [1]), ((127,), [0]), ((7, 13), None), ((2, 5, 3), [0, 2]), ((1, 7), [1])]


def masked():
    for name in ("sum", "mean", "prod", "max", "min", "var", "std"):
        row = Row(name, lambda *x, kind_=None, **how: over(kind_, x[0], m=x[1] if len(x) > 1 else None, **how), text=True, floor=0.0 if name == "prod" else 1.0)
        make = apart_ if name in ("max", "min") else f
        for shape, axis in REDUCE_SETS:
            given = "" if axis is None else f", axis = {axis}"
            row.case(make(*shape), text=f"{name}(a{given}, keep = true)", kind_=name, axis=axis, keep=True, seeds=4)
            smooth = name != "std" or shape not in ((2, 5, 3), (1, 7))  # a mask may leave one element
            row.case(make(*shape), flag(*shape), text=f"{name}(a{given}, where = b)", kind_=name, axis=axis, seeds=5, fd=smooth)
            if name in ("var", "std") and shape != (1, 7):
                row.case(make(*shape), text=f"{name}(a{given}, ddof = 1)", kind_=name, axis=axis, ddof=1, seeds=3)
        row.case(make(0), flag(0), text=f"{name}(a, where = b)", kind_=name, fd=False, grad=[] if name == "std" else None)
        row.case(f(3, 5), flag(1, 5), text=f"{name}(a, axis = 1, where = b)", kind_=name, axis=[1], seeds=3, fd=False, grad=None if name != "std" else [])
    for name, joins in (("all", lambda x, m: (x | ~m).all(-1) & m.any(-1)), ("any", lambda x, m: (x & m).any(-1))):
        fn(name, joins, f"{name}(a, axis = -1, where = b)", [(flag(*s), flag(*s)) for s in VECTORS + [(3, 5), (2, 2)]], floor=0.0, diff=False)
    for name, t in (("argmax", argmax), ("argmin", lambda x: argmax(-x))):
        row = fn(name, t, f"{name}(a)", [(f(*s),) for s in VECTORS if 0 not in s] + [(ties(5, 13),), (whole(33),), (f(0, 3),)], floor=0.0, diff=False)
        also(row, f"{name}(a, axis = 0)", [(f(5, 7),), (f(33, 2),)], use=lambda x, t=t: t(x.transpose(0, 1)))
    soft = [((5, 1), 1), ((31,), 0), ((3, 32), 1), ((33, 2), 0), ((127,), 0), ((2, 7, 3), 1), ((0, 3), 1)]
    for name, g in (("softmax", soft_masked), ("log_softmax", log_soft_masked), ("logsumexp", logsumexp_masked)):
        row = Row(name, g, text=True)
        for s, axis in soft:
            row.case(small(*s), text=f"{name}(a, axis = {axis})", axis=axis, seeds=4)
            if name == "logsumexp":
                continue
            row.case(small(*s), flag(*s), text=f"{name}(a, axis = {axis}, mask = b)", axis=axis, seeds=5, **({"use": finite_log_soft} if name == "log_softmax" else {}),
                     let=None) if name == "softmax" else row.case(small(*s), flag(*s), text=f"where(b, log_softmax(a, axis = {axis}, mask = b), 0.0)", axis=axis, seeds=5, use=finite_log_soft)
        if name == "logsumexp":
            for s, axis in soft[1:]:
                row.case(small(*s), flag(*s), text=f"logsumexp(a, axis = {axis}, mask = b)", axis=axis, seeds=5, use=logsumexp_masked)


def soft_masked(x, m=None, axis=-1):
    if m is None:
        return torch.softmax(x, axis)
    e = torch.exp(x - x.detach().max() if x.numel() else x) * m
    total = e.sum(axis, keepdim=True)
    return torch.where(total > 0, e / torch.where(total > 0, total, torch.ones_like(total)), torch.zeros_like(e))


def log_soft_masked(x, m=None, axis=-1):
    return torch.log_softmax(x, axis)


def finite_log_soft(x, m, axis):
    """Where the mask holds; 0 elsewhere."""
    p = soft_masked(x, m, axis)
    return torch.where(m, torch.log(torch.where(m, p, torch.ones_like(p))), torch.zeros_like(p))


def logsumexp_masked(x, m=None, axis=-1):
    if m is not None:
        x = torch.where(m, x, torch.full_like(x, -1e4))
    r = torch.logsumexp(x, axis)
    return r if m is None else torch.where(m.any(axis), r, torch.zeros_like(r))


# order, places, shapes

def sorted_(x, axis=-1, descending=0):
    at = order(x.detach().movedim(axis, -1), descending)
    return torch.gather(x.movedim(axis, -1), -1, torch.tensor(at).long()).movedim(-1, axis)


def topk(x, k, axis=-1):
    v = torch.topk(x.movedim(axis, -1), k, -1)
    return last(v.values, torch.tensor(order(x.detach().movedim(axis, -1), 1)[..., :k]).double())


def tri(n, k, lower):
    m = torch.ones(n, n, dtype=torch.bool)
    return torch.tril(m, k) if lower else torch.triu(m, k)


def moves():
    row = fn("sort", sorted_, "sort(a)", [(apart_(*s),) for s in VECTORS])
    also(row, "sort(a, axis = 0, descending = true)", [(apart_(7, 5),), (apart_(33, 2),)], axis=0, descending=1)
    also(row, "sort(a)", [(whole(33),), (few(3, 7),)])
    row = fn("argsort", order, "argsort(a)", [(f(*s),) for s in VECTORS] + [(ties(3, 7),), (few(33),)], diff=False, floor=0.0)

    also(row, "argsort(a, descending = true)", [(f(13, 2),)], use=lambda x: order(x, 1))

    row = Row("topk", topk, text=True)
    for s, k, axis in [((1,), 1, 0), ((31,), 5, 0), ((3, 32), 7, 1), ((33,), 33, 0), ((127,), 3, 0), ((5, 13), 2, 0), ((0, 3), 2, 1), ((2, 7), 0, 1)]:
        row.case(apart_(*s), text=f"concat(flatten(v, 0, -1), f32(flatten(i, 0, -1)))", let=f"    let (v, i) = topk(a, {k}, axis = {axis})\n", k=k, axis=axis, use=lambda x, k, axis: topk_back(x, k, axis))
    row = Row("search", search, text=True, diff=False, floor=0.0)
    for c, u in [((1,), (5,)), ((31,), (7, 3)), ((32,), (33,)), ((127,), (13,)), ((33,), ()), ((5,), (0,))]:
        row.case(f(*c, domain="SORTED"), small(*u), text="search(a, b)", use=lambda c, u: search(c, u.reshape(-1)).reshape(tuple(u.shape)))
    row.case(f(3, 13, domain="SORTED"), small(3), text="search(a, b)", use=lambda c, u: search(c, u[:, None])[:, 0])
    row.case(f(3, 13, domain="SORTED"), small(3, 5), text="search(a, b)")
    for name, g in (("cumsum", lambda x, a: torch.cumsum(x, a)), ("cumprod", lambda x, a: torch.cumprod(x, a))):
        row = Row(name, running(g), text=True, floor=0.0 if name == "cumprod" else 1.0)
        for s, axis in SCANS[:-1]:
            for rev in (0, 1):
                row.case(f(*s), text=f"{name}(a, axis = {axis}, reverse = {'true' if rev else 'false'}, exclusive = true)", axis=axis, reverse=rev, seeds=4, use=exclusive(name))
    row = Row("cummax", running(cummax), text=True, floor=0.0)
    for s, axis in SCANS[:-1]:
        row.case(apart_(*s), text=f"cummax(a, axis = {axis}, reverse = true)", axis=axis, reverse=1, seeds=7)
    row = fn("pick", lambda x, i: take(x, i[..., None])[..., 0], "pick(a, b)", [(f(*s), index(s[-1], *s[:-1])) for s in [(1,), (31,), (3, 32), (33, 5), (2, 127), (5, 1), (2, 3, 7), (0, 3)]])
    row = Row("one_hot", None, text=True, diff=False, floor=0.0)
    for s, n in [((), 1), ((31,), 5), ((32,), 1), ((33,), 7), ((2, 3), 127), ((13,), 2), ((0,), 3), ((5,), 11)]:
        row.case(index(n, *s), text=f"one_hot(a, {n})", use=lambda i, n=n: (i[..., None] == torch.arange(n)).double())
    for name, how, make in (("put", lambda old, new: new, f), ("put_add", torch.add, f), ("put_max", None, apart_)):
        g = put_with(how) if how else put_max
        row = fn(name, g, f"{name}(a, b, c)", [(make(*x), index(x[0], *i), make(*i, *x[1:])) for x, i in PLACES if 0 not in x])
        also(row, f"{name}(a, [b, c], d)", [(make(5, 7), index(5, 11), index(7, 11), make(11)), (make(3, 2, 5), index(3, 4), index(2, 4), make(4, 5))], use=two_axes(g))
    row = Row("segment_sum", None, text=True)
    for v, i, n in [((1,), 1, 1), ((31, 2), 1, 7), ((32,), 1, 33), ((33, 3), 1, 5), ((127,), 1, 11), ((3, 5, 2), 2, 4), ((0, 2), 1, 3), ((13,), 1, 2)]:
        row.case(f(*v), index(n, *v[:i]), text=f"segment_sum(a, b, {n})", use=lambda v, i, n=n: put_with(torch.add)(torch.zeros((n,) + tuple(v.shape[i.dim():])), i, v))
    row = fn("index", lambda x, i: gather(x, i), "a[b]", [(f(*x), index(x[0], *i)) for x, i in PLACES if 0 not in x])
    also(row, "a[:, b]", [(f(3, 7), index(7, 5)), (f(2, 5, 3), index(5, 2, 2)), (f(0, 3), index(3, 5))], use=lambda x, i: gather(x.movedim(1, 0), i).movedim(list(range(i.dim())), list(range(1, 1 + i.dim()))))
    also(row, "a[b, c]", [(f(5, 7), index(5, 11), index(7, 11)), (f(3, 2, 4), index(3, 5), index(2, 5))], use=lambda x, i, j: torch.where(((i >= 0) & (j >= 0)).reshape((-1,) + (1,) * (x.dim() - 2)), x[i.long().clamp(min=0), j.long().clamp(min=0)], torch.zeros(())))
    also(row, "a[1:, .., 1]", [(f(5, 3),), (f(33, 2, 2),)], use=lambda x: x[1:, ..., 1])
    row = fn("concat", lambda a, b: torch.cat([a, b, a], -1), "concat(a, b, a)", [(f(*s), f(*s)) for s in VECTORS if s != (13, 7)] + [(f(3, 5), f(3, 2)), (f(2, 1, 3), f(2, 1, 7))])
    row = fn("stack", lambda a, b: torch.stack([a, b, a]), "stack([a, b, a])", [(f(*s), f(*s)) for s in VECTORS + [()]])
    also(row, "stack([a, b], axis = -1)", [(f(3, 5), f(3, 5))], use=lambda a, b: torch.stack([a, b], -1))
    row = fn("split", lambda x: last(x[..., :1] * 2, x[..., 1:]), joined("b * 2", "c"), [(f(*s),) for s in [(3, 4)]], let="    let (b, c) = split(a, [1, 3])\n")
    for s in [(31,), (32, 2), (33,), (127,), (7, 5), (2, 0), (1,), (13, 2)]:
        n, axis = s[0], 0
        k = n // 3
        row.case(f(*s), text=joined("b * 2", "c"), let=f"    let (b, c) = split(a, [{k}, {n - k}], axis = 0)\n", use=lambda x, k=k: last(x[:k] * 2, x[k:]))
    row = fn("flip", lambda x: x.flip(0), "flip(a)", [(f(*s),) for s in VECTORS])
    also(row, "flip(a, axis = 1)", [(f(5, 7),), (f(2, 33),)], use=lambda x: x.flip(1))
    row = fn("pad", lambda x: F.pad(x, (2, 2, 2, 2)), "pad(a, 2)", [(f(*s),) for s in [(1, 1), (31, 2), (2, 32), (3, 33), (127, 1), (2, 5, 7), (0, 3)]], seeds=6)
    also(row, "pad(a, 3)", [(f(13),), (f(0),)], use=lambda x: F.pad(x, (3, 3)))
    also(row, "pad(a, [[1, 0], 2, [0, 3]], -1.5)", [(f(2, 3, 5),)], use=lambda x: F.pad(x, (0, 3, 2, 2, 1, 0), value=-1.5))
    also(row, "pad(a, [[0, 4]], inf)", [(f(2, 7),)], use=lambda x: F.pad(x, (0, 4), value=math.inf), grad=[])
    also(row, "pad(a, [[2, 0]], true)", [(flag(11),)], use=lambda x: F.pad(x, (2, 0), value=True))
    row = fn("tile", lambda x: x.repeat(3), "tile(a, 3)", [(f(*s),) for s in VECTORS if len(s) == 1], seeds=7)
    also(row, "tile(a, [2, 5])", [(f(3, 7),), (f(1, 13),), (f(0, 2),)], use=lambda x: x.repeat(2, 5))
    row = fn("flatten", lambda x: x.flatten(0, 1), "flatten(a, 0, 1)", [(f(*s),) for s in [(1, 1), (31, 2), (32, 3), (33, 1), (127, 2), (7, 5, 3), (0, 3), (2, 13)]])
    row = fn("unflatten", lambda x: x.reshape((2, x.shape[0] // 2) + tuple(x.shape[1:])), None, [])
    for s in [(2,), (62,), (64, 3), (66,), (254,), (14, 5), (26, 31), (4, 0), (2, 33), (2, 127), (32, 32)]:
        row.case(f(*s), text=f"unflatten(a, 0, [2, {s[0] // 2}])")
    row = fn("transpose", lambda x: x.transpose(-1, -2), "transpose(a)", [(f(*s),) for s in [(1, 1), (31, 2), (3, 32), (33, 5), (127, 2), (2, 3, 7), (0, 3), (13, 11)]])
    also(row, "transpose(a, 0, 2)", [(f(2, 3, 5),)], use=lambda x: x.transpose(0, 2))
    row = fn("permute", lambda x: x.permute(2, 0, 1), "permute(a, [2, 0, 1])", [(f(*s),) for s in [(1, 1, 1), (31, 2, 3), (3, 32, 2), (5, 2, 33), (1, 127, 2), (2, 3, 7), (0, 3, 2), (13, 11, 2)]])
    row = fn("reshape", lambda x: x.reshape(x.shape[::-1]), None, [])
    row2 = fn("expand", lambda x, n: x.expand(n, *x.shape), None, [])
    for s in [(1, 3), (31, 2), (3, 32), (33, 5), (127, 2), (2, 3, 7), (0, 3), (13, 11)]:
        row.case(f(*s), text=f"reshape(a, {list(s[::-1])})")
        row2.case(f(*s), text=f"expand(a, {[2, *s]})", n=2)
    row = fn("clamp", lambda x: torch.clamp(x, -0.75, 1.25), "clamp(a, -0.75, 1.25)", [(f(*s),) for s in VECTORS + [()]])
    row = fn("lerp", torch.lerp, "lerp(a, b, c)", [(f(*s), f(*s), f(*s)) for s in VECTORS + [()]])
    row = fn("select", lambda c, a, b: torch.where(c.reshape(tuple(c.shape) + (1,) * (a.dim() - c.dim())), a, b), "select(a, b, c)",
             [(flag(*s), f(*s), f(*s)) for s in VECTORS if len(s) == 1] + [(flag(5), f(5, 3), f(5, 3)), (flag(2, 3), f(2, 3, 7), f(2, 3, 7))])
    row = fn("stop_grad", lambda a, b: a.detach() * b + a, "stop_grad(a) * b + a", [(f(*s), f(*s)) for s in VECTORS + [()]], )
    for c in row.cases:
        c["fd"] = False
    row.counts[2] = 0
    row = fn("f32", lambda x: x.double() * 1, "f32(a)", [(f(*s),) for s in VECTORS + [(), (5, 1)]] + [(flag(13),), (whole(7),)])
    row = fn("f64", lambda x: x * 1, "f32(f64(a))", [(f(*s),) for s in VECTORS + [(), (5, 1)]])
    row = Row("bf16", lambda x: x.float().bfloat16().double(), text=True, floor=0.0)
    for s in VECTORS + [(), (5, 1)]:
        row.case(f(*s), text="f32(bf16(a))", fd=False)
    row = fn("i32", lambda x: to_i32(x.double().numpy()), "i32(a)", [(f(*s),) for s in VECTORS if s != (13, 7)] + [(flag(13),), (whole(7),)], diff=False, floor=0.0)
    row = fn("bitcast", to_bits, "bitcast(a)", [(f(*s),) for s in VECTORS + [(), (5, 1)]], diff=False, floor=0.0)
    also(row, "bitcast(a)", [(whole(7),), (("i32", "EDGES", [16]),)], use=of_bits)
    row = fn("bool", lambda x: x != 0, "bool(a)", [(ties(*s),) for s in VECTORS if s != (13, 7)] + [(flag(13),), (few(7),)], diff=False, floor=0.0)
    row = fn("xent", xent, "xent(a, b)", [(small(*s), index(s[-1], *s[:-1])) for s in [(1,), (31,), (3, 32), (33, 5), (2, 127), (5, 2), (2, 3, 7), (0, 3)]])
    row = fn("matmul", torch.matmul, "a @ b", [(f(*x), f(*w)) for x, w in MATMUL[:-1]])
    also(row, "a @ b", [(f(2, 3, 5), f(5, 7)), (f(2, 2, 3, 4), f(4, 1))])


def exclusive(name):
    def scan(x, axis, reverse):
        x = x.flip(axis) if reverse else x
        r = torch.cumsum(x, axis) if name == "cumsum" else torch.cumprod(x, axis)
        if x.shape[axis]:
            first = (torch.zeros if name == "cumsum" else torch.ones)(r.narrow(axis, 0, 1).shape)
            r = torch.cat([first, r.narrow(axis, 0, x.shape[axis] - 1)], axis)
        return r.flip(axis) if reverse else r
    return scan


def topk_back(x, k, axis):
    at = torch.tensor(order(x.detach().movedim(axis, -1), 1)[..., :k]).long()
    v = torch.gather(x.movedim(axis, -1), -1, at).movedim(-1, axis)
    return last(v, at.movedim(-1, axis).double())


def two_axes(put):
    def run(x, i, j, v):
        n, m = x.shape[:2]
        at = torch.where((i >= 0) & (j >= 0), i * m + j, torch.full_like(i, -1))
        return put(x.reshape((n * m,) + tuple(x.shape[2:])), at, v).reshape(x.shape)
    return run


def constants():
    eye, lower, upper, line = (Row(n, None, text=True, diff=False, floor=0.0) for n in ("eye", "tril", "triu", "linspace"))
    nested = Row("tensor", None, text=True, diff=False, floor=0.0)
    zeros, ones, full, iota = (Row(n, None, text=True, diff=False, floor=0.0) for n in ("zeros", "ones", "full", "iota"))
    for n in [0, 1, 31, 32, 33, 127, *range(2, 31), *range(34, 49)]:
        k = n % 5 - 2
        eye.case(text=f"eye({n})", seeds=1, use=lambda n=n: torch.eye(n))
        lower.case(text=f"tril({n}, {k})", seeds=1, use=lambda n=n, k=k: tri(n, k, True))
        upper.case(text=f"triu({n}, {k})", seeds=1, use=lambda n=n, k=k: tri(n, k, False))
        line.case(text=f"linspace({k - 0.5}, {n}.25, {n})", seeds=1, use=lambda n=n, k=k: torch.tensor(np.linspace(k - 0.5, n + 0.25, n)))
        numbers = [float((7 * i + k) % 13) - 6 for i in range(n)]
        nested.case(text=f"tensor({numbers})", seeds=1, use=lambda x=numbers: torch.tensor(x, dtype=torch.float64))
        zeros.case(text=f"zeros([{n}, 2])", seeds=1, use=lambda n=n: torch.zeros(n, 2))
        ones.case(text=f"ones([2, {n}])", seeds=1, use=lambda n=n: torch.ones(2, n))
        full.case(text=f"full([{n}], {k}.5)", seeds=1, use=lambda n=n, k=k: torch.full((n,), math.copysign(abs(k) + 0.5, k)))
        iota.case(text=f"iota({n})", seeds=1, use=lambda n=n: torch.arange(n, dtype=torch.int32))
    nested.case(text="tensor([[1, 2.5], [3, -4]])", seeds=1, use=lambda: torch.tensor([[1, 2.5], [3, -4]]))
    nested.case(text="tensor([[true], [false]])", seeds=1, use=lambda: torch.tensor([[True], [False]]))
    nested.case(text="tensor(7)", seeds=1, use=lambda: torch.tensor(7, dtype=torch.int32))
    nested.case(f(3), text="tensor([a, 2 * a])", seeds=1, use=lambda x: torch.stack([x, 2 * x]))


def all_functions():
    sequences()
    masked()
    moves()
    constants()
