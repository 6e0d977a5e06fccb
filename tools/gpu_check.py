"""The body of gpu_check.sh: runs the programs of a build on this machine's GPU and collects pass or fail with numbers.

Needs only Python's standard library; pynvml, where present, gives the device memory over time. GML_CHECK_DEVICE=cpu tries the script itself.
"""
import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time

SOURCE, BUILD = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PARTS = sys.argv[3:] or ["tests", "parity", "random", "groups", "digits", "loops", "schedule", "peers", "sanitize", "memory"]
DEVICE = os.environ.get("GML_CHECK_DEVICE", "cuda")
MODEL = os.path.join(SOURCE, "models", "digits.gml")
WORK = tempfile.mkdtemp(prefix="gml_check.")
ENV = dict(os.environ, GML_STD=os.path.join(SOURCE, "models", "std"))
rows = []


def row(name, ok, result, want=""):
    rows.append((name, ok, result, want))
    print(f"[{'ok' if ok else 'FAIL'}] {name}: {result}", file=sys.stderr, flush=True)


def program(name):
    return os.path.join(BUILD, "bin", name)


def run(command, limit=120, env=None):
    """Exit code, stdout, stderr, seconds; 124 when it took longer than the limit."""
    start = time.monotonic()
    try:
        p = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=env or ENV, cwd=SOURCE)
        return p.returncode, p.stdout, p.stderr, time.monotonic() - start
    except subprocess.TimeoutExpired:
        return 124, "", f"more than {limit} s", time.monotonic() - start


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1][:160] if lines else ""


class Train:
    """One `gmlrun train` into a folder of its own."""

    count = 0

    def __init__(self, *options, model=MODEL, device=DEVICE, seed=1, limit=120, env=None, prefix=()):
        Train.count += 1
        self.folder = os.path.join(WORK, f"run{Train.count}")
        if device == "cpu":
            options += ("--threads", "1")
        command = [*prefix, program("gmlrun"), "train", model, "--device", device, "--seed", str(seed), "--out", self.folder,
                   "-q", *options]
        self.code, self.out, self.err, self.wall = run(command, limit, env)

    def lines(self):
        path = os.path.join(self.folder, "metrics.jsonl")
        if not os.path.exists(path):
            return []
        with open(path) as f:
            return [json.loads(line) for line in f if line.strip()]

    def summary(self):
        found = [line for line in self.lines() if line["event"] == "summary"]
        return found[-1] if found else {"metrics": {}, "steps": 0, "seconds": 0}

    def losses(self):
        return [line["metrics"]["train.loss"] for line in self.lines() if line["event"] == "step"]

    def weights(self):
        path = os.path.join(self.folder, "weights.safetensors")
        if not os.path.exists(path):
            return None
        with open(path, "rb") as f:
            data = f.read()
        size = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8:8 + size])
        body = data[8 + size:]
        return {k: body[slice(*v["data_offsets"])] for k, v in header.items() if k != "__metadata__"}

    def failed(self, name):
        if self.code != 0:
            row(name, False, f"exit {self.code}: {last_line(self.err)}")
        return self.code != 0


def floats(b):
    return struct.unpack(f"<{len(b) // 4}f", b)


def check_tests():
    found = sorted(glob.glob(program("cuda_test_*")) + glob.glob(program("base_test_p*")))
    for path in found:
        code, out, err, _ = run([path], 60)
        row(f"test {os.path.basename(path)}", code == 0, last_line(out + err))
    if not found:
        row("tests", False, "no test binary in the build")


def check_parity():
    code, out, err, wall = run([program("gpu_parity")], 180)
    print(out, flush=True)
    wanted = ("parity:", "graph against", "fault word")
    for line in out.splitlines():
        if line.startswith(wanted):
            bad = "**" in line or (line.startswith("parity:") and ", 0 differ, 0 operators" not in line)
            row(line.split(":")[0], not bad, line.split(":", 1)[1].strip())
    row("gpu_parity", code == 0, f"exit {code}, {wall:.1f} s {last_line(err)}")


def check_random():
    code, out, err, wall = run([program("gpu_random"), *(["--dry-run"] if DEVICE == "cpu" else [])], 400)
    print(out, err, flush=True)
    line = next((x for x in out.splitlines() if x.startswith("random graphs:")), last_line(err))
    row("random graphs against the CPU", code == 0, f"{line.split(': ', 1)[-1]}; exit {code}, {wall:.0f} s", "300, 0 differ")


def check_groups():
    code, out, err, wall = run([program("gpu_groups")], 300)
    print(out, err, flush=True)
    row("generated kernels against the CPU", code == 0, f"{last_line(out) or last_line(err)}; exit {code}, {wall:.0f} s", "0 differ")


def check_doctor():
    code, out, err, _ = run([program("gmlrun"), "doctor"], 60)
    print(out, flush=True)
    line = next((x for x in out.splitlines() if x.startswith("cuda")), last_line(err))
    row("doctor", code == 0 and (DEVICE == "cpu" or " ok " in line), line)


def check_accuracy():
    scores, first = [], None
    for seed in range(1, 6):
        t = Train(seed=seed)
        if t.failed(f"train seed {seed}"):
            return None
        scores.append(t.summary()["metrics"]["eval.acc"])
        first = first or t
    row("accuracy, seeds 1-5", min(scores) >= 0.97, " ".join(f"{s:.4f}" for s in scores), "last eval.acc >= 0.97 each")
    return first


def check_determinism(first):
    again = Train(seed=1)
    same = again.code == 0 and again.weights() == first.weights() is not None
    row("same seed twice", same, "same bits" if same else "weights differ")


def check_many_steps():
    """Batches of 8, so that an epoch has 179 steps: one alone, two launches of 64, the rest one by one."""
    options = ("--steps", "1790", "--set", "B=8", "--log-every", "100000")
    one, many = Train(*options), Train(*options, "--steps-per-launch", "64")
    if one.failed("1,790 steps") or many.failed("1,790 steps, 64 a launch"):
        return
    same = one.weights() == many.weights() is not None
    took = [1e6 * t.summary()["seconds"] / 1790 for t in (one, many)]
    row("64 steps a launch", same, f"{'same bits' if same else 'weights differ'}; {took[0]:.1f} us a step one by one, {took[1]:.1f} us so",
        "same bits")


def check_initial_weights():
    options = ("--steps", "1", "--set", "lr=0")
    cuda, cpu = Train(*options), Train(*options, device="cpu")
    if cuda.failed("initial weights") or cpu.failed("initial weights, cpu"):
        return
    a, b = cuda.weights(), cpu.weights()
    different = [k for k in b if a.get(k) != b[k]] if a and b else ["no weights"]
    row("initial weights as on the CPU", not different, "same bits" if not different else f"differ: {', '.join(different[:3])}")


def check_first_losses():
    options = ("--steps", "20", "--log-every", "1")
    cuda, cpu = Train(*options), Train(*options, device="cpu")
    if cuda.failed("first losses") or cpu.failed("first losses, cpu"):
        return
    a, b = cuda.losses(), cpu.losses()
    worst = max((abs(x - y) / max(1e-3, abs(y)) for x, y in zip(a, b)), default=float("inf"))
    ok = len(a) == len(b) == 20 and worst < 1e-4
    row("first 20 losses against the CPU", ok, f"{len(a)} of 20, largest relative difference {worst:.2g}", "< 1e-4")


def check_golden():
    """The SiLU run that PyTorch made in f64 (tools/make_golden_silu.py), on this device in f32."""
    golden = os.path.join(SOURCE, "tests", "golden")
    t = Train("--weights", os.path.join(golden, "silu_weights.safetensors"), "--log-every", "1",
              model=os.path.join(golden, "silu.gml"))
    if t.failed("100 losses of PyTorch"):
        return
    with open(os.path.join(golden, "silu_losses.json")) as f:
        want = json.load(f)
    got = t.losses()
    worst = max((abs(a - b) / abs(b) for a, b in zip(got, want)), default=float("inf"))
    row("100 losses of PyTorch", len(got) == len(want) == 100 and worst <= 1e-5, f"largest relative difference {worst:.2g}", "<= 1e-5")


def check_peers():
    code, out, err, _ = run([program("gmlrun"), "bench", MODEL, "--device", DEVICE, "--json"], 120)
    ours = json.loads(out.strip().splitlines()[-1])["median_ms"] * 1000 if code == 0 else float("nan")
    script = os.path.join(SOURCE, "tools", "bench", "torch_digits.py")
    code, out, err, _ = run(["python3", script, os.path.join(SOURCE, "models", "data", "digits.npz")], 300)
    if code != 0:
        row("peers", False, f"exit {code}: {last_line(err)}")
        return
    peers = json.loads(out.strip().splitlines()[-1])
    version = peers.pop("torch")
    text = ", ".join(f"{name[:-3]} {us:.1f} us ({us / ours:.2f}x)" for name, us in peers.items())
    row("peers", True, f"gml {ours:.1f} us a step; PyTorch {version}: {text}")


def check_speed():
    for device in (DEVICE, "cpu"):
        code, out, err, _ = run([program("gmlrun"), "bench", MODEL, "--device", device, "--json"], 120)
        if code != 0:
            row(f"bench {device}", False, f"exit {code}: {last_line(err)}")
            continue
        b = json.loads(out.strip().splitlines()[-1])
        row(f"bench {device}", True, f"{b['median_ms'] * 1000:.1f} us a step (median), best {b['best_ms'] * 1000:.1f} us, "
            f"{b['steps_per_second']:.0f} steps/s")
    code, out, err, _ = run([program("gmlrun"), "bench", MODEL, "--device", DEVICE, "--json", "--parts"], 120)
    parts = json.loads(out.strip().splitlines()[-1])["part_ms"] if code == 0 else {}
    took = {name: ms for name, ms in parts.items() if ms > 0}
    row("bench --parts", len(parts) == 4 and len(took) >= 3, ", ".join(f"{name} {1000 * ms:.1f} us" for name, ms in took.items()) or
        f"exit {code}: {last_line(err)}")


def audit(*options, model=MODEL):
    """Driver calls of a run."""
    path = os.path.join(WORK, f"audit{Train.count}.txt")
    env = dict(ENV, CUDA_INJECTION64_PATH=os.path.join(BUILD, "lib", "libgml_audit.so"), GML_AUDIT=path)
    t = Train(*options, "--log-every", "1000", model=model, env=env)
    if t.code != 0 or not os.path.exists(path):
        return t, None
    with open(path) as f:
        return t, {name: int(n) for n, name in (line.split() for line in f)}


def extra_calls(name, few, many, model=MODEL):
    """What a longer run calls more often than a short one: launches of graphs, others but for polls, all as a text; or None."""
    if not os.path.exists(os.path.join(BUILD, "lib", "libgml_audit.so")):
        row(name, False, "libgml_audit.so is not in the build")
        return None
    (t, a), (_, b) = audit(*few, model=model), audit(*many, model=model)
    if a is None or b is None:
        row(name, False, f"no counts: exit {t.code}: {last_line(t.err)}")
        return None
    extra = {k: b.get(k, 0) - a.get(k, 0) for k in sorted(set(a) | set(b)) if b.get(k, 0) != a.get(k, 0)}
    polls = ("cuStreamQuery", "cuGetProcAddress", "cuCtxGetCurrent", "cuInit")
    launches = sum(n for k, n in extra.items() if k.startswith("cuGraphLaunch"))
    other = {k: n for k, n in extra.items() if not k.startswith("cuGraphLaunch") and not k.startswith(polls)}
    if not any(k.startswith("cuGraphLaunch") for k in b):
        row(name, False, "no launch was counted")
        return None
    return launches, other, ", ".join(f"{n} {k}" for k, n in extra.items()) or "none"


def check_audit():
    name = "driver calls of 150 more steps"
    alone = ("--set", "B=8", "--steps-per-launch", "1")
    found = extra_calls(name, ("--steps", "20", *alone), ("--steps", "170", *alone))
    if found:
        row(name, found[0] == 150 and not found[1], found[2], "150 cuGraphLaunch, nothing else")


# Model, sets; config that says how long it goes on, its short and its long value, rounds of the outermost repeat between them, and whether
# those save what is best, which copies.
SCHEDULES = (("ppo_cartpole", (), "rounds", 8, 24, 16, False), ("ppo_cartpole", ("target_kl=0.002",), "rounds", 8, 24, 16, False),
             ("dqn_cartpole", ("warm=30",), "rounds", 200, 600, 400, False), ("ddpm_points", (), "steps_", 1000, 3000, 4, False),
             ("gan_points", (), "steps_", 1000, 3000, 4, False), ("kan_digits", (), "epochs", 3, 9, 6, True), ("digits", (), "epochs", 3, 9, 6, True))


def check_schedule():
    """Rounds of the `run` block as one launch: the bits and lines of single launches. Where the number is given, a launch a round or less, nothing copied."""
    for name, sets, length, short, long, rounds, saves in SCHEDULES:
        model, label = os.path.join(SOURCE, "models", name + ".gml"), " ".join((name, *sets))
        options = [x for s in sets for x in ("--set", s)]
        few, many = (*options, "--set", f"{length}={short}"), (*options, "--set", f"{length}={long}")
        runs = [Train(*many, "--log-every", "1", *more, model=model) for more in (("--steps-per-launch", "1"), (), ("--steps-per-launch", "64"))]
        if any(t.failed(label) for t in runs):
            continue
        said = [[{k: v for k, v in line.items() if k != "seconds"} for line in t.lines()] for t in runs]
        same = all(t.weights() == runs[0].weights() is not None for t in runs) and said.count(said[0]) == len(said)
        took = ", ".join(f"{t.summary()['seconds']:.3f} s" for t in runs)
        row(f"{label}: one step a launch, default, 64", same and len(said[0]) > 8,
            f"{len(said[0])} lines, {'the same, same bits' if same else 'lines or weights differ'}; {took}", "same bits")
        most = ("--steps-per-launch", "1024")
        found = extra_calls(f"{label}: launches", (*few, *most), (*many, *most), model) if DEVICE != "cpu" else None
        if found:
            row(f"{label}: driver calls of {rounds} more rounds", 0 <= found[0] <= rounds and (saves or not found[1]), found[2],
                f"at most {rounds} cuGraphLaunch" + ("" if saves else ", nothing else"))


def check_digits():
    check_doctor()
    first = check_accuracy()
    if first is None:
        return
    s = first.summary()
    row("digits run", True, f"{s['steps']} steps in {s['seconds']:.2f} s on {s.get('device')}; whole command {first.wall:.2f} s")
    check_determinism(first)
    check_many_steps()
    check_initial_weights()
    check_first_losses()
    check_golden()
    check_speed()
    check_audit()


def check_loops():
    """Models with scans, forwards and backwards: WHILE nodes against the CPU, and against kernel by kernel."""
    for name, metric, steps in (("cfc_xor", "train.loss", 20), ("lstm_text", "train.nll", 5)):
        model = os.path.join(SOURCE, "models", name + ".gml")
        options = ("--steps", str(steps), "--log-every", "1")
        cuda, cpu = Train(*options, model=model), Train(*options, model=model, device="cpu")
        debug = Train(*options, "--debug-plan", model=model, limit=300)
        if cuda.failed(name) or cpu.failed(f"{name}, cpu") or debug.failed(f"{name}, --debug-plan"):
            continue
        a, b = ([line["metrics"][metric] for line in t.lines() if line["event"] == "step"] for t in (cuda, cpu))
        worst = max((abs(x - y) / max(1e-3, abs(y)) for x, y in zip(a, b)), default=float("inf"))
        row(f"{name}: losses against the CPU", len(a) == len(b) == steps and worst < 1e-3,
            f"{len(a)} of {steps}, largest relative difference {worst:.2g}", "< 1e-3")
        same = cuda.weights() == debug.weights() is not None
        row(f"{name}: graph against kernel by kernel, poisoned", same, "same bits" if same else "weights differ")
        code, out, err, _ = run([program("gmlrun"), "bench", model, "--device", DEVICE, "--json"], 120)
        ours = json.loads(out.strip().splitlines()[-1]) if code == 0 else None
        row(f"{name}: bench", code == 0, f"{ours['median_ms'] * 1000:.0f} us a step" if ours else f"exit {code}: {last_line(err)}")


def check_poison():
    """A kernel that reads what was not written, or what is dead, meets NaN or -1 under --debug-plan: other bits, or a broken red zone."""
    plain, debug = Train("--steps", "40"), Train("--steps", "40", "--debug-plan")
    if plain.failed("40 steps") or debug.failed("40 steps of --debug-plan"):
        return
    same = plain.weights() == debug.weights() is not None
    row("40 steps poisoned, without reuse, red zones read back", same, "same bits as plain" if same else "weights differ")


def check_planted(tool):
    """Each tool must report the faults that are its own, and nothing in the same program without a fault."""
    for kind, faults in (("memcheck", ("write", "late")), ("initcheck", ("early",)), ("racecheck", ("race",)), ("synccheck", ("barrier",))):
        seen = {}
        for fault in ("nothing", *faults):
            code, out, err, _ = run([tool, "--tool", kind, "--error-exitcode", "86", program("gpu_planted"), fault], 60)
            seen[fault] = "found" if code == 86 else "clean" if code == 0 else f"exit {code}: {last_line(out + err)}"
        ok = seen["nothing"] == "clean" and all(seen[fault] == "found" for fault in faults)
        row(f"{kind}, planted faults", ok, ", ".join(f"{fault}: {what}" for fault, what in seen.items()))


def library_kernels(tool):
    """Options that keep a tool away from the kernels of cuBLASLt, which are not gml's: tools/sanitizer_exclude.txt."""
    text = run([tool, "--help"])
    option = next((o for o in ("--kernel-regex-exclude", "--kernel-name-exclude", "--exclude") if o in text[1] + text[2]), None)
    with open(os.path.join(SOURCE, "tools", "sanitizer_exclude.txt")) as f:
        names = [line.split()[0] for line in f if line.strip() and not line.startswith("#")]
    return [word for name in names for word in (option, f"kns={name}")] if option else []


def check_sanitized_loops(tool):
    """Graphs with loops: kernel by kernel with declared values, then as WHILE nodes."""
    for kind in ("memcheck", "initcheck", "racecheck", "synccheck"):
        declared = kind in ("memcheck", "initcheck")
        left_out = [] if declared else library_kernels(tool)
        code, out, err, wall = run([tool, "--tool", kind, "--error-exitcode", "86", *left_out, program("gpu_random"), "--loops", "12",
                                    *(["debug"] if declared else [])], 200)
        row(f"{kind}, loops", code == 0, f"exit {code}, {wall:.0f} s: {last_line(out + err)}", "12 graphs")


def check_sanitized_models(tool):
    """Every model with a launch for each step; why not with the default: docs/reliability.md."""
    few = {name: [*(x for s in sets for x in ("--set", s)), "--set", f"{length}={short}"] for name, sets, length, short, _, _, _ in SCHEDULES}
    for path in sorted(glob.glob(os.path.join(SOURCE, "models", "*.gml"))):
        name = os.path.basename(path)[:-len(".gml")]
        t = Train(*few.get(name, ["--steps", "5"]), "--steps-per-launch", "1", model=path, limit=300,
                  prefix=(tool, "--tool", "memcheck", "--error-exitcode", "86"))
        row(f"memcheck, {name}, one step a launch", t.code == 0, f"exit {t.code}, {t.wall:.0f} s: {last_line(t.out + t.err)}")


def check_sanitize():
    check_poison()
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.path.exists(tool):
        row("compute-sanitizer", False, "not found")
        return
    check_planted(tool)
    for kind in ("memcheck", "initcheck"):
        prefix = (tool, "--tool", kind, "--error-exitcode", "86")
        t = Train("--steps", "20", "--debug-plan", prefix=prefix, limit=120)
        row(f"{kind}, 20 steps of --debug-plan", t.code == 0, f"exit {t.code}, {t.wall:.0f} s: {last_line(t.out + t.err)}")
    for kind in ("memcheck", "initcheck", "racecheck", "synccheck"):
        left_out = library_kernels(tool) if kind in ("racecheck", "synccheck") else []
        code, out, err, wall = run([tool, "--tool", kind, "--error-exitcode", "86", *left_out, program("gpu_parity"), "--quick",
                                    *(["--declared"] if kind in ("memcheck", "initcheck") else [])], 300)
        row(f"{kind}, all operators", code == 0, f"exit {code}, {wall:.0f} s: {last_line(out + err)}")
        code, out, err, wall = run([tool, "--tool", kind, "--error-exitcode", "86", program("gpu_groups"), "--quick"], 300)
        row(f"{kind}, generated kernels", code == 0, f"exit {code}, {wall:.0f} s: {last_line(out + err)}")
    check_sanitized_loops(tool)
    check_sanitized_models(tool)


def memory_reader():
    """A function that gives the used bytes of the device, or None."""
    try:
        import pynvml
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        return lambda: pynvml.nvmlDeviceGetMemoryInfo(handle).used
    except Exception:
        return None


def check_memory():
    used = memory_reader()
    if not used:
        row("device memory", False, "pynvml is not there")
        return
    before = used()
    folder = os.path.join(WORK, "memory")
    p = subprocess.Popen([program("gmlrun"), "train", MODEL, "--device", DEVICE, "--out", folder, "-q", "--set", "epochs=4000",
                          "--steps", "40000", "--log-every", "10"], env=ENV, cwd=SOURCE, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    path, at, step, seen = os.path.join(folder, "metrics.jsonl"), {}, 0, ""
    f = None
    while p.poll() is None:
        if f is None and os.path.exists(path):
            f = open(path)
        seen += f.read() if f else ""
        *lines, seen = seen.split("\n")
        for line in lines:
            step = max(step, json.loads(line).get("step", 0)) if line else step
        for mark in (10, 2000, 20000):
            if step >= mark and mark not in at:
                at[mark] = (step, used() - before)
        time.sleep(0.001)
    if p.returncode != 0:
        row("device memory", False, f"exit {p.returncode}: {last_line(p.stderr.read())}")
        return
    text = ", ".join(f"{b / 2**20:.0f} MiB at step {s}" for s, b in at.values())
    flat = 10 in at and 2000 in at and len({b for _, b in at.values()}) == 1
    row("device memory", flat, text, "the same at step 10 and 2,000")


def main():
    checks = {"tests": check_tests, "parity": check_parity, "random": check_random, "groups": check_groups, "digits": check_digits, "loops": check_loops,
              "schedule": check_schedule, "sanitize": check_sanitize,
              "memory": check_memory, "peers": check_peers}
    start = time.monotonic()
    for part in PARTS:
        try:
            checks[part]()
        except Exception as error:  # the table must come in every case
            row(part, False, f"{type(error).__name__}: {error}")
    shutil.rmtree(WORK, ignore_errors=True)
    print("\n| check | result | numbers | expected |\n|---|---|---|---|")
    for name, ok, result, want in rows:
        print(f"| {name} | {'pass' if ok else '**FAIL**'} | {result.replace('|', '/')} | {want} |")
    bad = sum(not ok for _, ok, _, _ in rows)
    print(f"\n{len(rows)} checks, {bad} failed, {time.monotonic() - start:.0f} s")
    return bad != 0


sys.exit(main())
