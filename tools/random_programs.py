"""Random well-typed programs through gmlc and gmlrun: scans in scans, states, records, entry points, several phases and a run block.

    python3 tools/random_programs.py BUILD [N [SEED]]     N programs (100) from SEED (1) on; exit 1 when one fails, its text is printed

Each program is laid out by `gmlc fmt` and compiled again: the graph is the same. Its .gmlb file holds what --emit=json says. A run from
the text, from the .gmlb file, without passes, and without reuse of memory leaves the same weights, and a phase the same outputs: bit by
bit, but without passes to 1e-3, as sums are taken in another order. Every tenth program with a loss goes through gradcheck.
Needs Python's standard library alone.
"""
import array
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

BUILD = os.path.abspath(sys.argv[1])
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 100
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENV = dict(os.environ, GML_STD=os.path.join(SOURCE, "models", "std"))
GRADCHECK_EVERY = 10
TOLERANCE = 1e-3  # of 1 + |value|; what loops and optimizers carry on is kept within some units

# A type is a letter and a shape; "T" is the config.
NAMES = {"f": "f32", "i": "i32", "b": "bool"}
SCALAR, ROW, BLOCK, SERIES, LINE = (), (3,), (2, 3), ("T", 3), ("T",)
TYPES = [("f", s) for s in (SCALAR, ROW, ROW, BLOCK, SERIES, LINE)] + [("i", SCALAR), ("i", ROW)]
TYPES += [("b", s) for s in (SCALAR, ROW, BLOCK)]
HEAD = """gml 1
config T{kind} = {T}
layer descend{{rate}}(p, g) {{ state m: p = 0; let v = 0.5 * m + g / (1 + sqrt(sum(g^2))); next m = v; return p - rate * v }}
layer Cell{{}}(x: f32[..S, 3]) -> f32[..S, 3] {{
    param w: f32[3, 3] = 0.4 * rand.normal([3, 3])
    param b: f32[3] = 0.1 * rand.normal([3])
    return tanh(x @ w + b)
}}
layer Box{{n: dim}} {{
    state at: f32[n] = 0.2
    state count: i32 = 0
    fn push(x: f32[n]) {{ next at = sin(at + x); next count = count + 1; return at * x }}
    fn look() = at * f32(count % 3)
}}
let cell = Cell{{}}
let box = Box{{3}}
"""

# By type: texts with a slot for each operand, and the types of the operands.
ANY_FLOAT = ["{f} + {f}", "{f} * {f}", "{f} - {f}", "tanh({f})", "sin({f})", "sigmoid({f})", "where({b}, {f}, {f})", "f32({i})",
             "max({f}, {f})", "stop_grad({f})", "{f} / (1.5 + abs({f}))", "lerp({f}, {f}, 0.3)", "clamp({f}, -1, 1)"]
ANY_INT = ["{i} + {i}", "{i} % 5", "{i} // 2", "where({b}, {i}, {i})", "i32({b})", "max({i}, {i})"]
ANY_BOOL = ["{f} > {f}", "{i} == {i}", "not {b}", "{b} or {b}", "{b} and {b}"]
SPECIAL = {
    ("f", SCALAR): ["mean({f23}, where = {b23})", "sum({f3})", "sum(tanh({fT3}))", "({f3})[({i}) % 3]", "({f23})[1, 2]"],
    ("f", ROW): ["softmax({f3})", "cumsum({f3})", "sum({f23}, axis = 0)", "sum({fT3}, axis = 0)", "({f3} + {f})", "flip({f3})",
                 "({f23})[({i}) % 2]", "sort({f3})", "put_add({f3}, tensor([2, -1]), tensor([{f}, 1.0]))"],
    ("f", BLOCK): ["softmax({f23}, mask = {b23})", "stack({f3}, {f3})", "cell({f23})", "cumsum({f23}, axis = 0)", "put({f23}, [1], {f3})"],
    ("f", SERIES): ["cell({fT3})", "cumsum({fT3}, axis = 0, reverse = true)", "({fT3} * ({fT})[:, _])"],
    ("f", LINE): ["sum({fT3}, axis = 1)", "({fT3})[:, 1]"],
    ("i", SCALAR): ["argmax({f3})", "sum({i3})"],
    ("i", ROW): ["argsort({f3})", "cumsum({i3})"],
}


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.n = 0
        self.trains = self.r.random() < 0.7
        self.states = {}
        self.used = set()  # states with a `next` in this phase, and instances that were applied
        head = HEAD.format(kind=self.r.choice(["", ": dim"]), T=self.r.choice([0, 1, 2, 3, 5, 7]))
        self.lines = [line for line in head.splitlines()]
        for _ in range(self.r.randrange(4)):
            t, name = self.r.choice(TYPES), self.name("s")
            self.states[name] = t
            first = {"f": "0.3", "i": "1", "b": "true"}[t[0]]
            self.lines.append(f"state {name}: {NAMES[t[0]]}{list_of(t[1]) if t[1] else ''} = {first}")
        self.phase("look", False)
        if self.trains:
            self.phase("learn", True)
            self.run()

    def name(self, letter):
        self.n += 1
        return f"{letter}_{self.n}"

    def constant(self, t):
        value = {"f": round(self.r.uniform(-1, 1), 2), "i": self.r.randrange(-2, 4), "b": self.r.choice(["true", "false"])}[t[0]]
        text = f"full({list_of(t[1])}, {value})"
        return f"i32({text})" if t[0] == "i" else text

    def pick(self, scope, t):
        names = [n for n, of in scope if of == t]
        return self.r.choice(names) if names and self.r.random() < 0.9 else self.constant(t)

    def value(self, scope, t, depth):
        if depth == 0 or self.r.random() < 0.15:
            return self.pick(scope, t)
        texts = {"f": ANY_FLOAT, "i": ANY_INT, "b": ANY_BOOL}[t[0]] + 2 * SPECIAL.get(t, [])

        def operand(m):
            shape = tuple(c if c == "T" else int(c) for c in m.group(2)) or (t[1] if m.group(0) in text_any else SCALAR)
            return self.value(scope, (m.group(1), shape), depth - 1)

        text = self.r.choice(texts)
        text_any = () if text in SPECIAL.get(t, []) else ("{f}", "{i}", "{b}")
        return f"({re.sub('{([fib])([T0-9]*)}', operand, text)})"

    def bounded(self, scope, t, depth=2):
        text = self.value(scope, t, depth)
        return {"f": f"sin({text})", "i": f"{text} % 7", "b": text}[t[0]]

    def write(self, depth, text):
        self.lines.append("    " * depth + text)

    def inputs(self, scope, inside):
        out, over = [], "T" if self.r.random() < 0.75 else str(self.r.randrange(5))
        walked = [(n, t) for n, t in scope if t[1][:1] == ("T",)] if over == "T" else []
        for n, t in self.r.sample(walked, min(len(walked), self.r.randrange(3))):
            out.append(f"{self.name('x')} in {n}")
            inside.append((out[-1].split()[0], (t[0], t[1][1:])))
        if not out or self.r.random() < 0.5:
            out.append(f"{self.name('t')} in 0..{over}")
            inside.append((out[-1].split()[0], ("i", SCALAR)))
        if self.r.random() < 0.3:
            out.append("reverse = true")
        return out, over

    def carries(self, scope, inside):
        """Names with (field, type) pairs; a plain carry has the field ""."""
        out = []
        for _ in range(self.r.choice([0, 1, 1, 2, 3])):
            fields = [".a", ".b"] if self.r.random() < 0.2 else [""]
            out.append((self.name("c"), [(f, self.r.choice(TYPES)) for f in fields]))
            inside += [(out[-1][0] + f, t) for f, t in out[-1][1]]
        return out

    def record(self, fields, make):
        parts = [make(t) for f, t in fields]
        return parts[0] if len(parts) == 1 else "(" + ", ".join(f"{f[1:]} = {p}" for (f, t), p in zip(fields, parts)) + ")"

    def body(self, inside, depth, states):
        for _ in range(self.r.choice([1, 2, 3])):
            kind = self.r.random()
            if kind < 0.2 and depth < 3:
                inside += self.scan(inside, depth + 1, states)
            elif kind < 0.3:
                shape, name = self.r.choice([SCALAR, ROW, BLOCK]), self.name("d")
                self.write(depth + 1, f"let {name} = rand.normal({list_of(shape)})")
                inside.append((name, ("f", shape)))
            elif kind < 0.4 and states and "box" not in self.used:
                self.used.add("box")
                name = self.name("p")
                self.write(depth + 1, f"let {name} = box.push({self.value(inside, ('f', ROW), 2)})")
                inside.append((name, ("f", ROW)))
            else:
                t, name = self.r.choice(TYPES), self.name("v")
                self.write(depth + 1, f"let {name} = {self.value(inside, t, self.r.choice([1, 2, 3]))}")
                inside.append((name, t))

    def scan(self, scope, depth, states):
        result, inside = self.name("r"), list(scope)
        inputs, over = self.inputs(scope, inside)
        carries = self.carries(scope, inside)
        first = ", ".join(f"{n} = {self.record(f, lambda t: self.value(scope, t, 1))}" for n, f in carries)
        self.write(depth, f"let {result} = scan ({', '.join(inputs)}{'; ' + first if first else ''}) {{")
        self.body(inside, depth, states)
        for n, t in self.states.items():
            if states and n not in self.used and self.r.random() < 0.25:
                self.used.add(n)
                self.write(depth + 1, f"next {n} = {self.bounded(inside, t)}")
        for n, fields in carries:
            if self.r.random() < 0.9:
                same = [m for m, f in carries if [t for _, t in f] == [t for _, t in fields]]
                swap = self.r.random() < 0.2
                self.write(depth + 1, f"next {n} = {self.r.choice(same) if swap else self.record(fields, lambda t: self.bounded(inside, t))}")
        left = [(f"{result}.{n}{f}", t) for n, fields in carries for f, t in fields]
        for _ in range(self.r.randrange(3) if carries else 1):
            t = self.r.choice([t for t in TYPES if len(t[1]) < 2 and "T" not in t[1]])
            name = self.name("y")
            self.write(depth + 1, f"yield {name} = {self.value(inside, t, self.r.randrange(3))}")
            if over == "T":
                left.append((f"{result}.{name}", (t[0], ("T",) + t[1])))
        self.write(depth, "}")
        return left

    def phase(self, name, trains):
        self.used.clear()
        self.write(0, f"phase {name} {{")
        scope = list(self.states.items()) + ([] if trains else [("box.at", ("f", ROW)), ("box.count", ("i", SCALAR))])
        if not trains:
            self.write(1, "let seen = box.look()")
            scope.append(("seen", ("f", ROW)))
        for shape in (BLOCK, SERIES):
            scope.append((self.name("i"), ("f", shape)))
            self.write(1, f"let {scope[-1][0]} = rand.normal({list_of(shape)})")
        self.write(1, f"let z = cell({scope[-1][0]})")
        scope.append(("z", ("f", SERIES)))
        for _ in range(self.r.choice([1, 2, 3])):
            scope += self.scan(scope, 1, not trains)
        if trains:
            floats = [n for n, t in scope if t[0] == "f" and n not in self.states][-6:]
            loss = " + ".join(f"sum(tanh({n}))" for n in floats)
            self.write(1, f"minimize loss = {loss} + sum(cell(ones([1, 3]))) over cell using descend{{0.05}}")
        else:
            made = [n for n, t in scope if n not in ("z", "seen")]
            self.write(1, "output " + ", ".join(f"o{k} = {n}" for k, n in enumerate(made)))
        self.write(0, "}")

    def run(self):
        steps = self.r.choice([1, 2, 3])
        self.lines += ["run {", f"    repeat ({self.r.choice([1, 2])}) {{", f"        learn for {steps} steps",
                       "        every 2 learn { look }", "        stop when learn.loss > 1e9", "    }", "}"]

    def text(self):
        return "\n".join(self.lines) + "\n"


def list_of(shape):
    return "[" + ", ".join(map(str, shape)) + "]"


# -- files

def floats_of(kind, data):
    if kind in ("?", "|b1", "BOOL"):
        return [float(x) for x in data]
    a = array.array({"<f4": "f", "F32": "f", "<i4": "i", "I32": "i"}[kind])
    a.frombytes(data)
    return [float(x) for x in a]


def npz(path):
    out = {}
    with zipfile.ZipFile(path) as z:
        for name in z.namelist():
            data = z.read(name)
            n, = struct.unpack("<H", data[8:10])
            head = data[10:10 + n].decode()
            out[name] = (head, floats_of(re.search("'descr': *'([^']*)'", head).group(1), data[10 + n:]))
    return out


def weights(path):
    with open(path, "rb") as f:
        data = f.read()
    n, = struct.unpack("<Q", data[:8])
    head = json.loads(data[8:8 + n])
    head.pop("__metadata__", None)
    return {k: (str(v["shape"]), floats_of(v["dtype"], data[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]]))
            for k, v in head.items()}


def differ(a, b, tolerance):
    """The first array that differs, or None. NaN equals NaN."""
    for k in sorted(a.keys() | b.keys()):
        if k not in a or k not in b or a[k][0] != b[k][0]:
            return f"{k}: not the same arrays"
        for x, y in zip(a[k][1], b[k][1]):
            if x != y and (x == x or y == y) and not abs(x - y) <= tolerance * (1 + abs(x)):
                return f"{k}: {x} and {y}"
    return None


# -- checks

class Failed(Exception):
    pass


def call(*command):
    p = subprocess.run(command, capture_output=True, text=True, env=ENV, timeout=120)
    if p.returncode:
        raise Failed(f"{' '.join(command)}: exit {p.returncode}\n{p.stderr}")
    return p.stdout


def gmlc(*args):
    return call(os.path.join(BUILD, "bin", "gmlc"), *args)


def gmlrun(*args):
    return call(os.path.join(BUILD, "bin", "gmlrun"), *args)


def graph(path):
    return re.sub(r" at=\d+:\d+\+\d+", "", gmlc(path, "--emit=graph"))


def check_text():
    before = graph("p.gml")
    gmlc("fmt", "p.gml")
    gmlc("fmt", "--check", "p.gml")
    if graph("p.gml") != before:
        raise Failed("laid out, the text has another graph")
    gmlc("p.gml", "--verify", "-o", "p.gmlb")
    gmlc("p.gml", "--verify", "--no-passes", "-o", "plain.gmlb")
    if gmlc("p.gml", "--emit=json") != gmlrun("dump", "p.gmlb"):
        raise Failed("the .gmlb file holds another graph")


def check_runs(trains):
    """Trains and predicts in four ways; all are compared with the first."""
    ways = [("text", "p.gml", [], 0), ("gmlb", "p.gmlb", [], 0), ("plain", "plain.gmlb", [], TOLERANCE),
            ("debug", "p.gmlb", ["--debug-plan"], 0)]
    first = {}
    for name, file, options, tolerance in ways:
        common = [file, "--device=cpu", "--threads=1", "-q", *options]
        got = {}
        if trains:
            gmlrun("train", *common, "--out", f"{name}")
            got["weights"] = weights(f"{name}/weights.safetensors")
        # the same weights for all, so that a difference is one of the phase itself
        start = [f"--weights=start.safetensors"]
        if name == "text":
            gmlrun("train", "p.gml", "--device=cpu", "-q", "--phase=look", "--steps=1", "--out", "start")
            shutil.copy(f"{'text' if trains else 'start'}/weights.safetensors", "start.safetensors")
        gmlrun("predict", *common, "--phase=look", *start, "-o", f"{name}.npz")
        got["outputs"] = npz(f"{name}.npz")
        first = first or got
        for k in got:
            d = differ(first[k], got[k], tolerance)
            if d:
                raise Failed(f"{k} of {name}: {d}")


def check(seed):
    """None, or what is wrong; whether its gradient was checked."""
    p, checked = Program(seed), False
    folder = tempfile.mkdtemp(prefix="gml_program.")
    os.chdir(folder)  # names of files are part of a graph
    try:
        with open("p.gml", "w") as f:
            f.write(p.text())
        check_text()
        check_runs(p.trains)
        if p.trains and seed % GRADCHECK_EVERY == 0:
            gmlrun("gradcheck", "p.gml", "--phase=learn")
            checked = True
    except (Failed, subprocess.TimeoutExpired) as e:
        return f"{e}\n{p.text()}", checked
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    return None, checked


def main():
    bad = gradients = 0
    for seed in range(SEED, SEED + COUNT):
        wrong, checked = check(seed)
        gradients += checked
        if wrong:
            bad += 1
            print(f"seed {seed}: {wrong}", flush=True)
    print(f"{COUNT} programs from seed {SEED}, {gradients} of them with gradcheck: {bad} fail")
    return bad > 0


sys.exit(main())
