#!/usr/bin/env python3
"""The peers of the benchmarks in JAX: python3 jax_peers.py CASE [--warm]. peers.py runs this and torch_peers.py beside gml.

One training step is forward, loss, gradient and optax.adamw, jitted; `STEPS` steps are one dispatch (lax.scan), with the state donated, which is JAX's
best case. TF32 products are allowed. Prints one JSON line: microseconds of a step, median of blocks. --warm compiles only.
"""
import json
import os
import statistics
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp
import numpy as np
import optax

jax.config.update("jax_default_matmul_precision", "tensorfloat32")
if os.environ.get("JAX_CACHE"):
    jax.config.update("jax_compilation_cache_dir", os.environ["JAX_CACHE"])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


def linear(key, n_in, n_out):
    return jax.random.normal(key, (n_in, n_out)) * n_in ** -0.5, jnp.zeros(n_out)


def apply(layer, x):
    return x @ layer[0] + layer[1]


def stack(key, widths):
    return [linear(k, a, b) for k, a, b in zip(jax.random.split(key, len(widths)), widths, widths[1:])]


def mlp(layers, x, act):
    for layer in layers[:-1]:
        x = act(apply(layer, x))
    return apply(layers[-1], x)


KNOTS = jnp.arange(-3, 12) * 0.25 - 1


def splines(layers, x):
    for weight, scale in layers:
        z, t = x[..., None], KNOTS
        basis = ((z >= t[:-1]) & (z < t[1:])).astype(x.dtype)
        for k in range(1, 4):
            left = (z - t[:-k - 1]) / (t[k:-1] - t[:-k - 1]) * basis[..., :-1]
            basis = left + (t[k + 1:] - z) / (t[k + 1:] - t[1:-k]) * basis[..., 1:]
        columns = jnp.concatenate([basis, jax.nn.silu(z)], -1).reshape(len(x), -1)
        rows = jnp.concatenate([weight[:, :-1] * scale[:, None], weight[:, -1:]], 1)
        x = columns @ rows.reshape(-1, rows.shape[-1])
    return x


def spline_layers(key):
    return [(jax.random.normal(k, (a, 12, b)) * 0.1, jnp.ones((a, b)))
            for k, (a, b) in zip(jax.random.split(key, 3), ((64, 64), (64, 64), (64, 10)))]


def norm(p, x):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p[0] + p[1]


def transformer_parts(key, width=64, depth=4):
    k = iter(jax.random.split(key, 4 * depth + 3))
    unit = lambda: (jnp.ones(width), jnp.zeros(width))
    block = lambda: {"n1": unit(), "qkv": linear(next(k), width, 3 * width), "o": linear(next(k), width, width), "n2": unit(),
                     "up": linear(next(k), width, 4 * width), "down": linear(next(k), 4 * width, width)}
    return {"inp": linear(next(k), 40, width), "places": jax.random.normal(next(k), (128, width)) * 0.02,
            "blocks": [block() for _ in range(depth)], "norm": unit(), "head": linear(next(k), width, 3)}


def transformer(p, x, heads=4):
    h = apply(p["inp"], x) + p["places"]
    rows, places, width = h.shape
    for b in p["blocks"]:
        q, k, v = jnp.split(apply(b["qkv"], norm(b["n1"], h)).reshape(rows, places, heads, -1), 3, -1)
        score = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5
        h = h + apply(b["o"], jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(score), v).reshape(rows, places, width))
        h = h + apply(b["down"], jax.nn.gelu(apply(b["up"], norm(b["n2"], h)), approximate=False))
    return apply(p["head"], norm(p["norm"], h).mean(1))


def labels(logits, y):
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def labelled(params, shape, classes, forward, key):
    x, y = jax.random.normal(key, shape), jax.random.randint(key, shape[:1], 0, classes)
    return params, lambda p, state: labels(forward(p, x), y)


def wide(key):
    x, y = jax.random.normal(key, (2, 8192, 4096))

    def loss(p, state):
        half = jax.tree.map(lambda w: w.astype(jnp.bfloat16), p)
        return ((mlp(half, x.astype(jnp.bfloat16), jax.nn.relu).astype(jnp.float32) - y) ** 2).mean()
    return stack(key, [4096] * 5), loss


def digits(key):
    """Batches of 128 rows of one permutation, dropout 0.1; the schedule and the metrics of the model are left out."""
    data = np.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models", "data", "digits.npz"))
    train = data["split"] == b"train"
    images, classes = jnp.asarray(data["images"][train] / 16, jnp.float32), jnp.asarray(data["labels"][train], jnp.int32)
    order = jax.random.permutation(key, len(images))

    def loss(p, step):
        rows = order[(step * 128 + jnp.arange(128)) % len(order)]
        h = images[rows]
        for i, layer in enumerate(p[:-1]):
            h = jax.nn.relu(apply(layer, h))
            kept = jax.random.bernoulli(jax.random.fold_in(jax.random.fold_in(key, step), i), 0.9, h.shape)
            h = jnp.where(kept, h / 0.9, 0)
        return labels(apply(p[-1], h), classes[rows])
    return stack(key, [64, 256, 128, 10]), loss


CASES = {
    "mlp": lambda k: labelled(stack(k, [64, 256, 256, 256, 10]), (1024, 64), 10, lambda p, x: mlp(p, x, jax.nn.silu), k),
    "splines": lambda k: labelled(spline_layers(k), (1024, 64), 10, splines, k),
    "digits": digits,
    "wide": wide,
    "transformer": lambda k: labelled(transformer_parts(k), (64, 128, 40), 3, transformer, k),
}


def main():
    case, steps = sys.argv[1], 10 if sys.argv[1] == "wide" else 100
    params, loss = CASES[case](jax.random.PRNGKey(0))
    opt = optax.adamw(1e-3, weight_decay=0.01)

    def step(carry, _):
        p, state, n = carry
        gradient = jax.grad(loss)(p, n)
        update, state = opt.update(gradient, state, p)
        return (optax.apply_updates(p, update), state, n + 1), None

    run = jax.jit(lambda c: jax.lax.scan(step, c, None, steps)[0], donate_argnums=0)
    carry = jax.block_until_ready(run((params, opt.init(params), jnp.int32(0))))
    times = []
    for _ in range(0 if "--warm" in sys.argv else 9):
        start = time.perf_counter()
        carry = jax.block_until_ready(run(carry))
        times.append((time.perf_counter() - start) / steps * 1e6)
    print(json.dumps({"version": f"JAX {jax.__version__}", "scan": statistics.median(times) if times else None}))


if __name__ == "__main__":
    main()
