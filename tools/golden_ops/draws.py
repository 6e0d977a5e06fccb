"""References and cases for random rows and functions, by an independent Philox."""

import numpy as np
import scipy.special
import torch

from golden_ops.samples import *
from golden_ops.rows import UNARY, search


# ---- draws: Salmon et al. 2011, Philox4x32-10, with key mix64(seed) xor op id and counter (element / 4, 0, step)


def fnv1a64(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & (2**64 - 1)
    return h


def mix(x):
    return int(mix64(np.array([x & (2**64 - 1)], dtype=U))[0])


def philox(seed, op, n):
    """32 bits for each of n elements."""
    key, step, low = mix(seed) ^ op, mix(seed + 1) >> 20, U(0xFFFFFFFF)
    blocks = (n + 3) // 4
    c = [np.arange(blocks, dtype=U), np.zeros(blocks, U), np.full(blocks, step & 0xFFFFFFFF, U), np.full(blocks, step >> 32, U)]
    k = [U(key & 0xFFFFFFFF), U(key >> 32)]
    for _ in range(10):
        a, b = U(0xD2511F53) * c[0], U(0xCD9E8D57) * c[2]
        c = [(b >> U(32)) ^ c[1] ^ k[0], b & low, (a >> U(32)) ^ c[3] ^ k[1], a & low]
        k = [(k[0] + U(0x9E3779B9)) & low, (k[1] + U(0xBB67AE85)) & low]
    return np.stack(c, 1).reshape(-1)[:n]


def uniform(shape, op, seed):
    """24 bits each."""
    n = int(np.prod(shape, dtype=np.int64))
    return torch.tensor((philox(seed, op, n) >> U(8)).astype(np.float64) * 2.0**-24).reshape(shape)


def normal(shape, op, seed):
    return torch.tensor(scipy.special.ndtri((uniform(shape, op, seed).numpy() + 2.0**-25)))


def randint(n, shape, op, seed):
    size = int(np.prod(shape, dtype=np.int64))
    return torch.tensor([(int(b) * int(n) >> 32) if n > 0 else -1 for b in philox(seed, op, size)], dtype=torch.int32).reshape(shape)


def place(i, n, key, epoch):
    """A Feistel network over the smallest even number of bits that holds n, walked until the result is below n."""
    if n < 2:
        return 0
    half = next(h for h in range(1, 17) if h == 16 or 4**h >= n)
    k = mix(key ^ mix(epoch + 0x9E3779B97F4A7C15))
    while True:
        left, right = i >> half, i & (2**half - 1)
        for r in range(16 if half <= 4 else 8):
            left, right = right, left ^ (mix(k + r * 0x9E3779B97F4A7C15 + right) >> 40 & (2**half - 1))
        i = left << half | right
        if i < n:
            return i ^ (mix(~k) & 1) if half <= 4 and i < 2 else i


def permute(i, epoch, n, op, seed):
    key = mix(seed) ^ op
    return torch.tensor([place(int(v), n, key, int(epoch)) if 0 <= v < n else -1 for v in i.reshape(-1)], dtype=torch.int32).reshape(i.shape)


def categorical(z, op, seed):
    e = np.cumsum(np.exp(z.numpy() - z.numpy().max(-1, keepdims=True)), -1)
    u = uniform(list(z.shape[:-1]), op, seed).numpy() * e[..., -1]
    return search(torch.tensor(e), torch.tensor(u[..., None]))[..., 0]


def draws():
    op = {n: fnv1a64("op " + n) for n in ("uniform", "normal", "bernoulli", "randint", "shuffle")}
    signed = {n: v - 2**64 if v >= 2**63 else v for n, v in op.items()}
    exact = dict(floor=0.0, diff=False, seeded=True)
    first, bell, coin, dice, deck = Row("uniform", uniform, **exact), Row("normal", normal, tolerance=1e-6, **exact), Row("bernoulli", None, **exact), Row("randint", randint, **exact), Row("shuffle", permute, **exact)
    chance = lambda p, shape, op, seed: uniform(shape, op, seed) < p
    for shape in UNARY + [(4097,)]:
        s = list(shape)
        first.case(attr=[signed["uniform"], 1], out=["f64", s], shape=s, op=op["uniform"])
        bell.case(attr=[signed["normal"], 1], out=["f64", s], shape=s, op=op["normal"])
        coin.case(f(domain="UNIT"), attr=[signed["bernoulli"], 1], out=["bool", s], shape=s, op=op["bernoulli"], use=chance)
        dice.case(index(2147483647) if len(s) % 2 else whole(), attr=[signed["randint"], 1], out=["i32", s], shape=s, op=op["randint"])
    for n, shape in [(1, (1,)), (2, (5,)), (3, (7,)), (31, (31,)), (32, (33,)), (33, (5, 7)), (127, (127,)), (256, (13,)), (257, (32,)), (65537, ()), (2147483647, (11,)), (5, (0,))]:
        deck.case(index(n, *shape), whole(), attr=[signed["shuffle"]], dims=[n], n=n, op=op["shuffle"], seeds=5)
    texts = {n: Row("rand." + n, r, text=True, **dict(exact, tolerance=t)) for n, r, t in
             (("uniform", uniform, 1e-12), ("normal", normal, 1e-6), ("bernoulli", chance, 0), ("int", randint, 0), ("categorical", categorical, 0), ("permute", permute, 0))}
    here = fnv1a64("p/#0")
    for shape in UNARY:
        s = list(shape)
        texts["uniform"].case(text=f"rand.uniform({s}, -1.5, 2)", shape=s, use=lambda shape, seed: uniform(shape, here, seed) * 3.5 - 1.5)
        texts["normal"].case(text=f"rand.normal({s})", shape=s, op=here)
        texts["bernoulli"].case(f(domain="UNIT"), text=f"rand.bernoulli({s}, a)", shape=s, op=here)
        texts["int"].case(index(2147483647), text=f"rand.int({s}, a)", shape=s, op=here)
        texts["categorical"].case(small(*s, 5), text="rand.categorical(a)", op=here)
        texts["permute"].case(index(33, *s), whole(), text="rand.permute(a, 33, b)", n=33, op=here)
