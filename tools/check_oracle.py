#!/usr/bin/python3
"""Trains the drafts of tests/grammar/drafts in two implementations and compares: gmlrun in f64 on the CPU, and a reference
interpreter of the language (eager PyTorch in float64), which is not part of this repository.

    /usr/bin/python3 tools/check_oracle.py INTERPRETER BUILD [DRAFT..]

INTERPRETER: the folder of gi.py, gb.py and gmlparse. BUILD: a build folder. For each draft: five steps of every phase named
below, losses and metrics of each step and all parameters after it; then one step with the optimizer replaced by p - g, which
gives the gradient; then the draft with a short `run` block of all its phases (SCHEDULES), metrics and outputs of each launch or
pass; then programs beside it (COUNTS, CARRIED): numbers of parameters, and that a state carried on gives what one pass over the
whole gives. Draws and the order of rows are made here anew: Philox4x32-10 over the keys of compiler/elab_phase.c.
Prints a row of a table per case; exit 1 where a difference is above 1e-9.
"""
import csv
import datetime
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
DRAFTS = ROOT / "tests/grammar/drafts"
STEPS = 5
LIMIT = 1e-9
M64 = (1 << 64) - 1


# ---- draws: runtime/base/philox.h and portable_math.h in numpy

def mix64(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & M64
    return x ^ (x >> 31)


def fnv1a64(text):
    h = 0xCBF29CE484222325
    for c in text.encode():
        h = (h ^ c) * 0x100000001B3 & M64
    return h


def philox(n, key, iteration, step):
    """n words of 32 bits."""
    low = np.uint64(0xFFFFFFFF)
    c = [np.arange((n + 3) // 4, dtype=np.uint64), np.uint64(iteration), np.uint64(step & 0xFFFFFFFF), np.uint64(step >> 32)]
    c = [np.broadcast_to(x, c[0].shape).copy() for x in c]
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), p1 & low, (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), p0 & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c, axis=1).reshape(-1)[:n]


def portable_log(x):
    m, e = np.frexp(x)
    m, e = m * 2, e - 1
    big = m > 1.4142135623730951
    m, e = np.where(big, m * 0.5, m), e + big
    s = (m - 1) / (m + 1)
    q, p = s * s, 1.0 / 15.0
    for d in (13, 11, 9, 7, 5, 3):
        p = p * q + 1.0 / d
    return e * 0.6931471805599453 + 2.0 * s * (p * q + 1.0)


def normal_quantile(p):
    q = p - 0.5
    r = 0.180625 - q * q
    over = ((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179
    under = ((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1.0
    middle = q * over / under
    r = np.sqrt(-portable_log(np.where(q < 0, p, 1 - p))) - 1.6
    over = ((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777
    under = (0.12021132975 * r + 0.73700164250) * r + 1.0
    return np.where(np.abs(q) <= 0.425, middle, np.where(q < 0, -over / under, over / under))


def permute_index(i, n, key, epoch):
    if n < 2:
        return 0
    half = 1
    while half < 16 and 1 << 2 * half < n:
        half += 1
    mask, few = (1 << half) - 1, half <= 4
    k = mix64(key ^ mix64((epoch + 0x9E3779B97F4A7C15) & M64))
    while True:
        left, right = i >> half, i & mask
        for r in range(16 if few else 8):
            f = (mix64((k + r * 0x9E3779B97F4A7C15 + right) & M64) >> 40) & mask
            left, right = right, left ^ f
        i = left << half | right
        if i < n:
            return i ^ (mix64(~k & M64) & 1) if few and i < 2 else i


# ---- the interpreter with these draws

def open_world(gi, path, sets, seed):
    """A World of the interpreter whose draws are keyed by phase, instance path and number, as those of the compiler are."""
    class World(gi.World):
        def __init__(w):
            w.at, w.loops, w.numbers, w.control = [""], [], {}, mix64(seed)
            w.initial, w.history = None, []
            super().__init__(str(path), sets, seed)
            replace_draws(gi, w)
            # what the file level made before the draws were replaced is made again
            w.root.params, w.root.states, w.root.subs, w.mods, w.numbers = {}, {}, {}, {}, {}
            old, gi.LAYERS = w.builtins, None
            w.main = w.load(str(path), "main")
            w.builtins = old

        def op_key(w):
            phase, place = ("init", w.initial) if w.initial else (w.phase or "init", w.at[-1])
            own, source = place if isinstance(place, tuple) else (place, place)
            k = w.numbers.get((phase, own), 0)
            w.numbers[(phase, own)] = k + 1
            return w.control ^ fnv1a64(f"{phase}/{source}#{k}")

        def words(w, shape):
            n = int(np.prod(shape)) if len(shape) else 1
            i = 0
            for t, count, walked in [] if w.initial else w.loops:
                if not any((w.at[-1] + ".").startswith(p + ".") for p in walked):  # such an instance has draws of its own
                    i = i * count + t
            step = 0 if w.initial or not w.phase else w.counts[w.phase]
            return philox(n, w.op_key(), i, step).reshape([int(x) for x in shape])

        def apply(w, f, args, kw, what):
            inst = f.env.inst
            w.at.append(inst.path.replace("~", "") if inst is not None and inst is not w.root else w.at[-1])
            try:
                return super().apply(f, args, kw, what)
            finally:
                w.at.pop()

        def ready(w, i):
            w.at.append(i.path.replace("~", ""))
            try:
                super().ready(i)
            finally:
                w.at.pop()

        def init(w, ini, t, env, i, key):
            own, old = f"{i.path}.{key}" if i.path else key, w.initial
            source = (i.src.path if i.frozen and i.src else i.path)
            w.initial = (own, f"{source}.{key}" if source else key)
            try:
                return super().init(ini, t, env, i, key)
            finally:
                w.initial = old

        def scan(w, a, env):
            before, after = dict(w.numbers), {}
            block = w.block
            mark = len(w.loops)
            w.loops.append((0, 1, []))
            steps, lists = w.scan_steps(a, env)
            order = iter(steps)

            def body(b, e):
                if b is a[4] and len(w.loops) == mark + 1:
                    after.update(w.numbers)
                    w.numbers.clear()
                    w.numbers.update(before)
                    t = next(order)
                    w.loops[mark] = (t, len(steps), [v[t].path for v in lists if isinstance(v[0], gi.Inst)])
                return block(b, e)
            w.block = body
            try:
                return super().scan(a, env)
            finally:
                w.block, w.numbers = block, {**after, **w.numbers}
                w.loops.pop()

        def scan_steps(w, a, env):
            n, reverse, axis, lists = None, False, 0, []
            for it in a[2]:
                if it[0] == "opt" and it[2] == "reverse":
                    reverse = w.ev(it[3], env)
                if it[0] == "opt" and it[2] == "axis":
                    axis = w.ev(it[3], env)
            before = dict(w.numbers)
            for it in a[2]:
                if it[0] == "range":
                    n = w.ev(it[4], env) - w.ev(it[3], env)
                elif it[0] != "opt":
                    v = w.ev(it[3], env)
                    lists += [v] if isinstance(v, list) and v else []
                    if v is not None:
                        n = len(v) if isinstance(v, list) else next(x for _, x in gi.leaves(v)).shape[axis]
            w.numbers.clear()
            w.numbers.update(before)
            return (list(range(n))[::-1] if reverse else list(range(n))), lists

        def launch(w, name, batch=None):
            w.numbers = {k: v for k, v in w.numbers.items() if k[0] == "init"}
            with torch.set_grad_enabled(w.has_min(w.phases[name][4])):
                super().launch(name, batch)
            if w.has_min(w.phases[name][4]):
                w.history.append((name, {k: float(v) for k, v in w.metrics[name].items()}))

        def order(w, name):
            """Rows of the launches of one pass, a list of arrays."""
            ph, (ds, kw) = w.phases[name], w.onopts(w.phases[name])
            d = w.data[ds][kw.get("split", "all")]
            rows, batch, epoch = len(next(iter(d.values()))), kw.get("batch", 1), w.epochs.get(name, 0)
            train, lanes = w.has_min(ph[4]), kw.get("lanes", False)
            if lanes:
                return [np.array([c + i * (rows // batch) for i in range(batch)]) for c in range(rows // batch)]
            at = range(rows)
            if kw.get("shuffle", False):
                key = w.control ^ fnv1a64(f"{name}/{ds}.rows#0")
                at = [permute_index(i, rows, key, epoch) for i in range(rows)]
            n = rows // batch if train else -(-rows // batch)
            return [np.array(at[k * batch:(k + 1) * batch]) for k in range(n)]

        def go(w, name, n=1, unit="steps"):
            ph = w.phases[name]
            w.agg.pop(name, None)
            if ph[3] is None:
                for _ in range(n):
                    w.launch(name)
                w.together(name)
                return
            ds, kw = w.onopts(ph)
            d = w.data[ds][kw.get("split", "all")]
            whole = not w.has_min(ph[4]) and unit == "steps" and n == 1
            left = list(w.cursor.get(name) or [])
            if unit.startswith("epoch"):
                n *= len(w.order(name))
            done = 0
            while done < n or whole:
                if not left:
                    if whole and done:
                        break
                    left = w.order(name)
                ix = left.pop(0)
                batch = gi.Rec({k: v[torch.tensor(ix)] for k, v in d.items()})
                if kw.get("lanes", False) and "fresh" in batch.d:
                    batch.d["fresh"] = torch.full([len(ix)], len(left) + 1 == len(w.order(name)))
                w.launch(name, batch)
                done += 1
                if not left and not whole:
                    w.epochs[name] = w.epochs.get(name, 0) + 1
            w.cursor[name] = left
            w.together(name)

        def together(w, name):
            """What the launches of one place of the schedule gave: the product says it of phases without a `minimize`."""
            if not w.has_min(w.phases[name][4]):
                w.history.append((name, {k: float(w.aggregate(name, k)) for k in w.agg.get(name, {})}))
    return World()


def replace_draws(gi, w):
    r = w.builtins["rand"].env.v

    def put(name, f):
        r[name] = gi.Builtin(f, "rand." + name)

    def unit(shape):
        return torch.from_numpy((w.words(shape) >> np.uint64(8)).astype(np.float64) / 16777216.0)

    def normal(shape):
        p = ((w.words(shape) >> np.uint64(8)).astype(np.float64) + 0.5) / 16777216.0
        return torch.from_numpy(normal_quantile(p).astype(np.float32).astype(np.float64))

    def whole(shape, n):
        return torch.from_numpy((w.words(shape) * np.uint64(int(n)) >> np.uint64(32)).astype(np.int64))

    def categorical(z):
        c = torch.cumsum(torch.exp(z.detach() - z.detach().amax(-1, keepdim=True)), -1)
        return torch.clamp((c <= (unit(list(z.shape[:-1])) * c[..., -1])[..., None]).sum(-1), max=z.shape[-1] - 1)

    def permute(i, n, epoch):
        key = w.op_key()
        return torch.tensor([permute_index(int(x), int(n), key, int(epoch) & M64) for x in i.reshape(-1)]).reshape(i.shape)

    def orthogonal(shape, gain=1.0):
        m = normal(shape)
        q, t = torch.linalg.qr(m if shape[0] >= shape[1] else m.T)
        q = q * torch.sign(torch.diagonal(t))
        return gain * (q if shape[0] >= shape[1] else q.T).contiguous()
    put("uniform", lambda s, lo=0.0, hi=1.0: lo + (hi - lo) * unit(s))
    put("normal", normal)
    put("bernoulli", lambda s, p: unit(s) < p)
    put("int", whole)
    put("categorical", categorical)
    put("permute", permute)
    w.builtins["orthogonal"] = gi.Builtin(orthogonal, "orthogonal")


# ---- data, as the drafts describe it

def fractions(n, **parts):
    out, at, total = {}, 0, 0.0
    for name, f in parts.items():
        total += f
        out[name] = (at, int(np.floor(n * total + 1e-9)))
        at = out[name][1]
    return out


def f64(x):
    return torch.from_numpy(np.ascontiguousarray(x).astype(np.float64))


def i64(x):
    return torch.from_numpy(np.ascontiguousarray(x).astype(np.int64))


def standardize(x, train):
    x = np.asarray(x, dtype=np.float64)
    mean, std = x[train].mean(0), x[train].std(0)
    return (x - mean) / np.where(std == 0, 1, std)


def windows(part, n, stride=1):
    return [np.arange(s, s + n) for s in range(part[0], part[1] - n + 1, stride)]


def cut(x, part, n, stride=1):
    return np.stack([x[r] for r in windows(part, n, stride)])


def data_digits(folder):
    z = np.load(ROOT / "models/data/digits.npz")
    s = fractions(len(z["labels"]), train=0.8, test=0.2)
    return {k: {"x": f64(z["images"][a:b]) / 16, "y": i64(z["labels"][a:b])} for k, (a, b) in s.items()}, ROOT / "models/data/digits.npz"


def data_gan(folder):
    d, path = data_digits(folder)
    return {k: {"x": v["x"] * 2 - 1} for k, v in d.items()}, path


def data_power(folder):
    z = np.load(folder / "irregular.npz")
    s = fractions(len(z["values"]), train=0.7, val=0.1, test=0.2)
    x = standardize(z["values"], slice(*s["train"]))
    return {k: {"x": f64(cut(x, p, 96)), "dt": f64(cut(z["elapsed"], p, 96)), "fresh": torch.zeros(p[1] - p[0] - 95, dtype=torch.bool)}
            for k, p in s.items()}, folder / "irregular.npz"


def data_text(ctx, most=None):
    def read(folder):
        path = ROOT / "models/data/tinyshakespeare.txt"
        if most:
            (folder / "short.txt").write_bytes(path.read_bytes()[:most])
            path = folder / "short.txt"
        b = np.frombuffer(path.read_bytes(), dtype=np.uint8)
        s = fractions(len(b), train=0.9, val=0.1)
        return {k: {"ids": i64(cut(b, p, ctx + 1, ctx))} for k, p in s.items()}, path
    return read


def data_prompt(folder):
    b = np.frombuffer((folder / "prompt.txt").read_bytes(), dtype=np.uint8)
    return {"all": {"ids": i64(cut(b, (0, len(b)), 64))}}, folder / "prompt.txt"


def read_series(folder):
    rows = list(csv.reader(open(folder / "series.csv")))[1:]
    when = [datetime.datetime.fromisoformat(r[0]) for r in rows]
    seconds = np.array([int((t - when[0]).total_seconds()) for t in when])
    return seconds, np.array([[float(v) for v in r[1:]] for r in rows])


def data_lstm(folder):
    _, x = read_series(folder)
    s = fractions(len(x), train=0.6, val=0.2, test=0.2)
    x = standardize(x, slice(*s["train"]))
    return {k: {"x": f64(cut(x, p, 97))} for k, p in s.items()}, folder / "series.csv"


def data_tft(n):
    def read(folder):
        t, x = read_series(folder)
        s = fractions(len(x), train=0.6, val=0.2, test=0.2)
        x = standardize(x, slice(*s["train"]))
        return {k: {"y": f64(cut(x, p, n)), "hour": i64(cut(t // 3600 % 24, p, n)), "day": i64(cut(t // 86400 % 7, p, n))}
                for k, p in s.items()}, folder / "series.csv"
    return read


def data_book(folder):
    z = np.load(folder / "book.npz")
    end = int((z["day"] == 8).sum())
    s = {"train": (0, end), "val": (end, len(z["day"]))}
    x = standardize(z["book"], slice(0, end))
    return {k: {"x": f64(cut(x, p, 128)), "y": i64(z["label"][p[0] + 127:p[1]])} for k, p in s.items()}, folder / "book.npz"


def data_images(make):
    def read(folder):
        z = np.load(folder / "images.npz")
        return {k: {"x": f64(make(z["images"][z[k]].astype(np.float64))), "y": i64(z["labels"][z[k]])} for k in ("train", "test")}, folder / "images.npz"
    return read


# ---- gmlrun

def read_weights(path):
    b = path.read_bytes()
    n = struct.unpack("<Q", b[:8])[0]
    out = {}
    for k, v in json.loads(b[8:8 + n]).items():
        if k != "__metadata__":
            kind = {"F64": np.float64, "F32": np.float32, "I32": np.int32, "BOOL": np.bool_}[v["dtype"]]
            out[k] = np.frombuffer(b[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]], dtype=kind).reshape(v["shape"])
    return out


def settings(sets, files):
    text = {k: f'"{v}"' if isinstance(v, str) else json.dumps(v) for k, v in sets.items()}
    return [f"--set={k}={v}" for k, v in text.items()] + [f"--data={k}={v}" for k, v in files.items()]


def train(gmlrun, model, phase, steps, sets, data, out, whole=None):
    """Metrics of each step, and the parameters after the last."""
    command = [gmlrun, "train", model, "--device=cpu", "--precision=f64", "-q", "--log-every=1", f"--out={out}"]
    command += [f"--phase={phase}"] if whole is None else []
    command += [f"--steps={steps}"] if whole is None else []
    command += settings(sets, data)
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{r.stderr}")
    lines = [json.loads(x) for x in (pathlib.Path(out) / "metrics.jsonl").read_text().splitlines()]
    return [x["metrics"] for x in lines if x["event"] == "step"], read_weights(pathlib.Path(out) / "weights.safetensors")


def all_params(gi, w):
    """By key; those of frozen copies too, once they exist."""
    out = {}

    def walk(i):
        for k, v in i.params.items():
            out[f"{i.path}.{k}"] = v.detach().numpy()
        for s in i.subs.values():
            walk(s)
    walk(w.root)
    return out


def apart(a, b):
    """Largest difference, relative to the largest value."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.shape != b.shape:
        return np.inf
    if not a.size:
        return 0.0
    d = np.abs(a - b).max() / max(np.abs(b).max(), 1e-3)
    return float(d) if np.isfinite(d) else np.inf


# ---- cases: the draft, its phase, configs, data sets

CASES = {
    "digits": ("train", {"B": 32}, {"digits": data_digits}),
    "gan": ("train", {"B": 16}, {"digits": data_gan}),
    "charlm": ("train", {"B": 4, "ctx": 24}, {"text": data_text(24)}),
    "mamba2": ("train", {"B": 2, "T": 24}, {"text": data_text(24), "prompt": data_prompt}),
    "lstm": ("train", {"B": 4, "H": 16}, {"ett": data_lstm}),
    "cfc": ("train", {"B": 4, "H": 16}, {"power": data_power}),
    "cfc mixed": ("train", {"B": 4, "H": 16, "mixed": True}, {"power": data_power}),
    "cfc pure": ("train", {"B": 4, "H": 16, "mode": "pure"}, {"power": data_power}),
    "tft": ("train", {"B": 2, "H": 16, "heads": 2, "Te": 24, "Td": 6}, {"ett": data_tft(30)}),
    "tlob": ("train", {"B": 2}, {"book": data_book}),
    "kan": ("train", {"B": 16}, {"fashion": data_images(lambda x: x.reshape(len(x), -1) / 127.5 - 1)}),
    "diffusion": ("train", {"B": 2, "dim0": 8, "mults": [1, 2], "steps_T": 20, "S": 5},
                  {"fashion": data_images(lambda x: np.pad(x, [(0, 0), (2, 2), (2, 2)])[..., None] / 127.5 - 1)}),
    "xlstm": ("train", {"B": 8}, {}),
    "ppo_cartpole": ("update", {"rounds": 2, "epochs": 1, "M": 64}, {}, True),
    "ppo_lstm": ("update", {"rounds": 2}, {}, True),
    "dqn": ("learn", {"rounds": 5, "warm": 20, "rows": 128, "M": 16, "every_": 3}, {}, True),
    "dqn noisy": ("learn", {"rounds": 5, "warm": 20, "rows": 128, "M": 16, "noisy": True}, {}, True),
}


# phases that are compared after the training by `gmlrun eval` and `predict`, with its weights
OTHERS = {"digits": ["eval"], "gan": ["show"], "lstm": ["eval"], "cfc": ["eval"]}
# `run` blocks in place of those of the drafts: every phase, and what it leaves to the next
SCHEDULES = {
    "digits": "train for 3 steps; eval; train for 2 steps; eval",
    "gan": "train for 3 steps; show; show",
    "charlm": "train for 3 steps; eval; write; write; write for 4 steps",
    "mamba2": "train for 3 steps; eval; read; write; write; write for 4 steps",
    "lstm": "train for 3 steps; eval",
    "cfc": "train for 3 steps; eval",
    "tft": "train for 3 steps; eval; predict",
    "tlob": "train for 2 steps; eval; adapt; train for 2 steps; eval; adapt; adapt",
    "kan": "train for 3 steps; refit for 1 step; train for 2 steps; refit for 1 step; train for 1 step; eval",
    "diffusion": "train for 3 steps; eval; ddpm; ddim",
    "xlstm": "train for 2 steps; eval",
    "ppo_cartpole": "repeat (2) { collect; update for 3 steps }; eval",
    "ppo_lstm": "repeat (2) { collect; update for 3 steps }",
    "dqn": "act for 40 steps; repeat (3) { act; learn; track }; copy; check; learn for 2 steps; check; eval",
    "dqn noisy": "act for 40 steps; repeat (3) { act; learn; track }; copy; check; learn for 2 steps; check; eval",
}
# where a phase takes an interpreter long: other configs, other data, other text
SMALLER = {
    "charlm": ({}, {"text": data_text(24, 20000)}, []),
    "mamba2": ({}, {"text": data_text(24, 20000)}, []),
    "tft": ({"B": 32}, {}, []),
    "tlob": ({"B": 32}, {}, []),
    "xlstm": ({}, {}, [("parity(512, 256, 40)", "parity(64, 48, 20)")]),
    "diffusion": ({}, {}, [("iota(100)", "iota(4)"), ("[100, size", "[4, size")]),
}
# Parameters of models of known sizes: a layer of a draft, what it is applied to, and their number. Two have less than in their
# description, where nothing uses these: the TFT no third product in the selection of static variables, H * H, the TLOB no embedding of
# order types, 3.
COUNTS = {
    "kan": [("KAN{[784, 64, 10], 5, 3}", "ones([2, 784])", 508160)],
    "tft tiny": [("TFT{H = 16, n = 2, Te = 24, Td = 6, Q = 3, s_cards = [7], k_cards = [], k_reals = 2, o_reals = 0, drop = 0.0}",
                  "iota(5)[:, _], k = ones([5, 30, 2]), y = ones([5, 30, 1])", 24415 - 16 * 16)],
    "tft small": [("TFT{H = 64, n = 4, Te = 24, Td = 6, Q = 3, s_cards = [7], k_cards = [], k_reals = 3, o_reals = 0, drop = 0.0}",
                   "iota(5)[:, _], k = ones([5, 30, 3]), y = ones([5, 30, 1])", 402601 - 64 * 64)],
    "tlob": [("TLOB{40, 4}", "ones([2, 128, 40])", 1135974 - 3)],
    "mamba2": [("Block{N = 128, P = 64, G = 1, depth = 24}", "ones([1, 4, 768])", 3765320)],
    "xlstm": [("LM{3, 64, 2, [0, 1], 1}", "iota(9)[_, :] % 3", 116672), ("LM{3, 64, 2, [1], 1}", "iota(9)[_, :] % 3", 86402)],
    "diffusion": [("UNet{16, [1, 2], 1}", "ones([1, 16, 16, 1]), iota(1)", 240401),
                  ("UNet{32, [1, 2, 4], 1}", "ones([1, 16, 16, 1]), iota(1)", 2607681)],
}
# One pass over the whole, then the same in pieces with the state carried on.
PIECES = """
phase first { metric off = max(abs(probe(ids[:, 0:5], carry = true) - kept[:, 0:5])) }
phase second { metric off = max(abs(probe(ids[:, 5:6], carry = true) - kept[:, 5:6])) }
phase third { metric off = max(abs(probe(ids[:, 6:9], carry = true) - kept[:, 6:9])) }
run { whole; first; second; third }
"""
CARRIED = {
    "charlm": ("LM{64, 32, 2, 4, 16}", 64, """
state at: i32 = 0
phase one {
    metric off = max(abs(probe(ids[:, at][:, _], at)[:, 0] - kept[:, at]))
    next at = at + 1
}
run { whole; one for 9 steps }
"""),
    "mamba2": ("LM{V = 64, D = 32, layers = 2, N = 16, P = 8, G = 1}", 64, PIECES),
    "xlstm": ("LM{3, 32, 2, [], 1}", 3, PIECES),
    "xlstm slstm": ("LM{3, 32, 2, [1], 1}", 3, PIECES),
}
EPOCHS = {"digits": 20, "gan": 100, "charlm": 10, "mamba2": 20, "lstm": 5}


def planned(text):
    """Launches of phase train that `run` plans, for drafts without data: repeat (a) { train for b steps }."""
    m = re.search(r"repeat \((\d+)\) \{\s*train for (\d+) steps", text.read_text())
    return int(m[1]) * int(m[2]) if m else STEPS


def compare(gi, gmlrun, name, folder):
    phase, sets, sources = CASES[name][:3]
    whole = CASES[name][3] if len(CASES[name]) > 3 else None
    text = DRAFTS / f"{name.split()[0]}.gml"
    data = {k: f(folder) for k, f in sources.items()}
    files = {k: v[1] for k, v in data.items()}

    def world(path):
        w = open_world(gi, path, sets, 1)
        w.data = {k: v[0] for k, v in data.items()}
        ds, kw = w.onopts(w.phases[phase]) if w.phases[phase][3] else (None, {})
        rows = len(next(iter(w.data[ds][kw["split"]].values()))) if ds else 0
        w.steps = {phase: EPOCHS.get(name, 1) * (rows // kw["batch"]) if ds else planned(text)}
        return w
    w = world(text)
    worst = {"losses": 0.0, "parameters": 0.0}
    steps, weights = train(gmlrun, text, phase, STEPS, sets, files, folder / "out", whole)
    if whole is None:
        w.go(phase, STEPS)
    else:
        w.run()
    history = [m for p, m in w.history if p == phase]
    if len(history) != len(steps):
        sys.exit(f"{name}: {len(steps)} training steps, {len(history)} in the interpreter")
    for k, metrics in enumerate(history):
        if os.environ.get("VERBOSE"):
            print(k, {m: (steps[k].get(f"{phase}.{m}"), v) for m, v in metrics.items()})
        for m, v in metrics.items():
            if f"{phase}.{m}" in steps[k]:
                worst["losses"] = max(worst["losses"], apart(steps[k][f"{phase}.{m}"], v))
    have = all_params(gi, w)
    missing = {k for k in set(weights) ^ set(have) if not k.endswith((".mean", ".std"))}
    for p in sorted(set(weights) & set(have)):
        d = apart(weights[p], have[p])
        if d > LIMIT and os.environ.get("VERBOSE"):
            print("   ", p, d)
        worst["parameters"] = max(worst["parameters"], d)
    for other in OTHERS.get(name, []):
        worst[other] = other_phase(gmlrun, w, other, text, sets, files, folder)
    subprocess.run(["rm", "-rf", str(folder / "out")], check=True)
    if whole is None:
        worst["gradients"] = gradients(gi, gmlrun, text, world, phase, sets, files, folder)
    return worst, missing


def other_phase(gmlrun, w, phase, text, sets, files, folder):
    """Metrics of a pass, or outputs of one launch, with the weights after the training above. States that are not weights are at
    their first values on both sides."""
    is_eval = not any(s[0] == "output" for s in w.phases[phase][4])
    command = [gmlrun, "eval" if is_eval else "predict", text, "--device=cpu", "--precision=f64", f"--phase={phase}", f"--weights={folder / 'out/weights.safetensors'}"]
    command += ["--json"] if is_eval else ["-o", folder / "out.npz"]
    command += settings(sets, files)
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{r.stderr}")
    w.outputs.pop(phase, None)
    w.go(phase)
    if is_eval:
        got = json.loads(r.stdout)["metrics"]
        pairs = [(got[f"{phase}.{m}"], float(w.aggregate(phase, m))) for m in w.agg[phase]]
    else:
        got = np.load(folder / "out.npz")
        pairs = [(got[k], torch.cat(v, 0) if v[0].dim() else torch.stack(v)) for k, v in w.outputs[phase].items()]
    if os.environ.get("VERBOSE"):
        print("   ", phase, pairs if is_eval else [(np.shape(a), b.shape) for a, b in pairs])
    return max([apart(a, b) for a, b in pairs]) if pairs else np.inf


def copy_drafts(gi, folder):
    folder.mkdir(exist_ok=True)
    for f in DRAFTS.glob("*.gml"):
        (folder / f.name).write_text(f.read_text())
    gi.LIB[0] = str(folder)


PROBE = """
fn probe(x) {
    let y = flatten(f32(x), 0, len(shape(x)) - 1)
    return sum(y * cos(f32(iota(len(y))))) / f32(len(y))
}
"""


def scheduled(text, schedule):
    """The draft with another `run` block, and a metric in the place of each output: a projection of its elements."""
    def metrics(m):
        parts, depth = [""], 0
        for c in m[2] + ",":
            depth += (c in "([") - (c in ")]")
            if c == "," and not depth:
                parts.append("")
            else:
                parts[-1] += c
        pairs = [p.split("=", 1) for p in parts if p]
        return "".join(f"{m[1]}metric out_{n.strip()} = probe({x.strip()})\n" for n, x in pairs)
    text = re.sub(r"^( *)output (.*)\n", metrics, text, flags=re.M)
    return text[:re.search(r"^run \{", text, flags=re.M).start()] + PROBE + "run { " + schedule + " }\n"


def launches(schedule, phase):
    flat = re.sub(r"repeat \((\d+)\) \{([^}]*)\}", lambda m: ";".join([m[2]] * int(m[1])), schedule)
    found = [re.fullmatch(rf"{phase}(?: for (\d+) steps?)?", x.strip()) for x in flat.split(";")]
    return sum(int(m[1] or 1) for m in found if m)


def events(out):
    """Launches of phases with a `minimize`, places of others in the schedule, in their order."""
    lines = [json.loads(x) for x in (pathlib.Path(out) / "metrics.jsonl").read_text().splitlines()]
    return [(x["phase"], {k.split(".", 1)[1]: v for k, v in x["metrics"].items()}) for x in lines if x["event"] in ("step", "eval") and x["metrics"]]


def other_metrics(name, got, history):
    worst = {}
    history = [h for h in history if h[1]]
    if [p for p, _ in got] != [p for p, _ in history]:
        sys.exit(f"{name}: the phases {[p for p, _ in got]}, in the interpreter {[p for p, _ in history]}")
    for (phase, a), (_, b) in zip(got, history):
        if os.environ.get("VERBOSE"):
            print("   ", phase, {m: (a.get(m), v) for m, v in b.items()})
        for m, v in b.items():
            if m in a:
                worst[phase] = max(worst.get(phase, 0.0), apart(a[m], v))
    return worst


def schedule(gi, gmlrun, name, folder):
    phase, sets, sources = CASES[name][:3]
    more, other, words = SMALLER.get(name, ({}, {}, []))
    sets, sources = {**sets, **more}, {**sources, **other}
    copy_drafts(gi, folder / "scheduled")
    text = folder / "scheduled" / f"{name.split()[0]}.gml"
    source = text.read_text()
    for old, new in words:
        source = source.replace(old, new)
    text.write_text(scheduled(source, SCHEDULES[name]))
    data = {k: f(folder) for k, f in sources.items()}
    w = open_world(gi, text, sets, 1)
    w.data = {k: v[0] for k, v in data.items()}
    w.steps = {p: launches(SCHEDULES[name], p) for p in w.phases}
    out = folder / "scheduled_out"
    _, weights = train(gmlrun, text, phase, 0, sets, {k: v[1] for k, v in data.items()}, out, True)
    w.run()
    worst = other_metrics(name, events(out), w.history)
    have = all_params(gi, w)
    worst["parameters"] = max(apart(weights[p], have[p]) for p in set(weights) & set(have))
    subprocess.run(["rm", "-rf", str(out)], check=True)
    gi.LIB[0] = str(DRAFTS)
    return worst


def beside(gi, gmlrun, name, text, folder):
    """A program beside the drafts, in both."""
    copy_drafts(gi, folder / "beside")
    for f in (folder / "beside").glob("*.gml"):  # configs do not cross an import, constants do
        f.write_text(re.sub(r"^config (\w+)(?:: \w+)?( *= .*)$", r"let \1\2", f.read_text(), flags=re.M))
    path = folder / "beside" / "program.gml"
    path.write_text(f'gml 1\nimport {name.split()[0]} as m\n' + text)
    w = open_world(gi, path, {}, 1)
    out = folder / "beside_out"
    _, weights = train(gmlrun, path, None, 0, {}, {}, out, True)
    got = events(out)
    subprocess.run(["rm", "-rf", str(out)], check=True)
    w.run()
    gi.LIB[0] = str(DRAFTS)
    return w, weights, got


def count(gi, gmlrun, name, layer, to, want, folder):
    w, weights, _ = beside(gi, gmlrun, name, f"let probe = m.{layer}\nphase p {{ let y = probe({to}) }}\nrun {{ p }}\n", folder)
    ours, theirs = sum(v.size for v in weights.values()), w.nparams(w.lookup("probe", w.main.env))
    return f"{name:12s} {'ok' if ours == theirs == want else 'BAD'} {layer.split('{')[0]}: {ours} parameters, in the interpreter {theirs}, expected {want}"


def carried(gi, gmlrun, name, folder):
    layer, most, rest = CARRIED[name]
    text = f"let probe = m.{layer}\nlet ids = iota(9)[_, :] * 7 % {most}\nstate kept: f32[1, 9, {most}] = 0\nphase whole {{ next kept = probe(ids) }}\n{rest}"
    w, _, got = beside(gi, gmlrun, name, text, folder)
    ours, theirs = [max(m["off"] for p, m in h if "off" in m) for h in (got, w.history)]
    return f"{name:12s} {'ok' if max(ours, theirs) <= LIMIT else 'BAD'} carried on against the whole: {ours:.1e}, in the interpreter {theirs:.1e}"


def gradients(gi, gmlrun, text, world, phase, sets, files, folder):
    """One step of p - g: the interpreter's gradient against what the parameters lost."""
    plain = folder / "plain" / text.name
    plain.parent.mkdir(exist_ok=True)
    for f in DRAFTS.glob("*.gml"):
        (plain.parent / f.name).write_text(f.read_text())
    (plain.parent / "plain.gml").write_text("gml 1\nlayer step{}(p, g) { return p - g }\n")
    replaced = re.sub(r"using opt\.\w+\{.*\}( when .*)?$", "using plain.step{}", text.read_text().replace("gml 1\n", "gml 1\nimport plain\n", 1), flags=re.M)
    plain.write_text(replaced)
    gi.LIB.insert(0, str(plain.parent))
    w = world(plain)
    w.go(phase)
    _, after = train(gmlrun, plain, phase, 1, sets, files, folder / "plain_out")
    gi.LIB.pop(0)
    after0 = all_params(gi, w)
    worst = 0.0
    keys = [k for k in after0 if k in after]
    scale = max(float(v.abs().max()) for g in w.grads.values() for _, v in gi.leaves(g))
    for k in keys:
        worst = max(worst, float(np.abs(after[k] - after0[k]).max()) / scale)
    subprocess.run(["rm", "-rf", str(folder / "plain_out")])
    return worst


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    interpreter, gmlrun = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve() / "bin/gmlrun"
    sys.path.insert(0, str(interpreter))
    import gi
    gi.LIB[:] = [str(DRAFTS)]
    torch.set_num_threads(1)  # with two, gradients of convolutions of PyTorch 1.13 differ from run to run
    torch.manual_seed(0)
    bad = 0
    with tempfile.TemporaryDirectory() as f:
        folder = pathlib.Path(f)
        subprocess.run([sys.executable, ROOT / "tools/make_sample_data.py", folder], check=True)
        named = sys.argv[3:]
        for name in [n for n in named or CASES if n in CASES]:
            worst, missing = compare(gi, gmlrun, name, folder)
            ok = max(worst.values()) <= LIMIT
            bad += not ok
            print(f"{name:12s} {'ok' if ok else 'BAD'} " + "  ".join(f"{k} {v:.1e}" for k, v in worst.items()), f"  not in both: {sorted(missing)}" if missing else "", flush=True)
        for name in [n for n in named or SCHEDULES if n in SCHEDULES]:
            worst = schedule(gi, gmlrun, name, folder)
            ok = max(worst.values()) <= LIMIT
            bad += not ok
            print(f"{name:12s} {'ok' if ok else 'BAD'} {SCHEDULES[name]}: " + "  ".join(f"{k} {v:.1e}" for k, v in worst.items()), flush=True)
        lines = [count(gi, gmlrun, n, *c, folder) for n in named or COUNTS for c in COUNTS.get(n, [])]
        lines += [carried(gi, gmlrun, n, folder) for n in named or CARRIED if n in CARRIED]
        print("\n".join(lines))
        bad += sum(" BAD " in x for x in lines)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
