#!/usr/bin/env python3
"""gml beside PyTorch and JAX on one GPU, a training step each; prints one markdown table.

    python3 tools/bench/peers.py BUILD [CASE..] [--into FILE]     BUILD is a build folder or what `tools/gpu_check.sh stage` made

First all peers compile, side by side (their caches stay in $PEERS_CACHE, or in a folder that is removed); then every case runs by itself, each program as a process of
its own. f32 parameters, TF32 products allowed on all sides, `wide` in bf16. gml's numbers are those of `gmlrun bench`: the model as shipped, with its metrics, schedule and guard. --into replaces
the table in FILE between two comments.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "models")
# case: model, precision
CASES = {
    "mlp": (os.path.join(MODELS, "mlp.gml"), "tf32"),
    "splines": (os.path.join(MODELS, "splines.gml"), "tf32"),
    "digits": (os.path.join(HERE, "..", "..", "models", "digits.gml"), "tf32"),
    "wide": (os.path.join(MODELS, "wide.gml"), "bf16"),
    "transformer": (os.path.join(MODELS, "transformer.gml"), "tf32"),
}
BEGIN, END = "<!-- peers -->", "<!-- end of peers -->"


def start(command, env):
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def result_of(name, process):
    """The last line of the output as JSON; an empty result, and a word on stderr, when there is none."""
    try:
        out, err = process.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    try:
        return json.loads(out.strip().splitlines()[-1])
    except (IndexError, ValueError):
        print(f"{name}: exit {process.returncode}: {err.strip()[-600:]}", file=sys.stderr)
        return {}


def peer(name, case, env, *more):
    return start(["python3", os.path.join(HERE, f"{name}_peers.py"), case, *more], env)


def gml(build, case, env):
    model, precision = CASES[case]
    command = [os.path.join(build, "bin", "gmlrun"), "bench", model, "--device", "cuda", "--precision", precision, "--json"]
    return result_of(f"gml, {case}", start(command, env))


def number(x, digits=1):
    return "" if x is None else f"{x:.{digits}f}"


def table_row(case, ours, torch, jax):
    us = 1000 * ours["median_ms"] if "median_ms" in ours else None
    others = [x for x in (torch.get("graph"), torch.get("compiled"), jax.get("scan")) if x]
    ratio = us / min(others) if us and others else None
    first = f"{ours['first_step_seconds']:.2f}, {ours['first_step_warm_seconds']:.2f}" if ours else ""
    memory = [number(d[k] / 2**20, 0) if k in d else "" for d, k in ((ours, "peak_bytes"), (torch, "bytes"))]
    cells = [case, number(us), str(ours.get("kernels", "")), number(torch.get("graph")), number(torch.get("compiled")), number(jax.get("scan")),
             number(ratio, 2), *memory, first]
    return "| " + " | ".join(cells) + " |"


def table(build, cases, env):
    for case, pair in [(c, {n: peer(n, c, env, "--warm") for n in ("torch", "jax")}) for c in cases]:  # compilers of all cases at once
        for name, process in pair.items():
            result_of(f"{name}, {case}, warm", process)
    lines = ["| case | gml, us | kernels | PyTorch, CUDA graph | and compiled | JAX, scan | gml / best peer | gml, MiB | PyTorch, MiB | gml to the first step, then again: s |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|"]
    notes, versions = [], set()
    for case in cases:
        ours, found = gml(build, case, env), {}
        for name in ("torch", "jax"):
            found[name] = result_of(f"{name}, {case}", peer(name, case, env))
            versions.add(found[name].get("version", ""))
        lines.append(table_row(case, ours, found["torch"], found["jax"]))
        print(lines[-1], file=sys.stderr, flush=True)
        if "products" in found["torch"] and ours:
            alone = found["torch"]["products"]
            notes.append(f"The products of `{case}` alone, by cuBLAS: {alone:.1f} us, {100 * alone / 1000 / ours['median_ms']:.1f} % of gml's step.")
    return "\n".join(lines + [""] + notes + [f"Peers: {', '.join(sorted(v for v in versions if v))}."])


def main():
    arguments = sys.argv[1:]
    into = None
    if "--into" in arguments:
        at = arguments.index("--into")
        into = arguments[at + 1]
        del arguments[at:at + 2]
    if not arguments or any(c not in CASES for c in arguments[1:]):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as scratch:
        cache = os.environ.get("PEERS_CACHE", scratch)
        env = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=os.path.join(cache, "inductor"), TRITON_CACHE_DIR=os.path.join(cache, "triton"), JAX_CACHE=os.path.join(cache, "jax"))
        env.setdefault("GML_STD", os.path.join(HERE, "..", "..", "models", "std"))
        text = table(arguments[0], arguments[1:] or list(CASES), env)
    print(text)
    if into:
        with open(into) as f:
            old = f.read()
        begin, end = old.index(BEGIN) + len(BEGIN), old.index(END)
        with open(into, "w") as f:
            f.write(old[:begin] + "\n" + text + "\n" + old[end:])


if __name__ == "__main__":
    main()
