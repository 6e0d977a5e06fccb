#!/bin/sh
# gmlrun config, dump and inspect; train --phase; names of saved files; what is missing, with its exit code.
. "$GML_SOURCE/tests/e2e/common.sh"
sed 's/^config lr /## Peak of the learning rate.\nconfig lr /' "$GML_SOURCE/models/digits.gml" >digits.gml
mkdir data
cp "$GML_SOURCE/models/data/digits.npz" data
gmlrun=$bin/gmlrun
"$bin/gmlc" digits.gml -o digits.gmlb || fail "gmlc"

# config: defaults and values, from text and compiled
exits 0 "0.002 (default 0.001)" "$gmlrun" config digits.gml --set lr=2e-3
exits 0 "0.002 (default 0.001)" "$gmlrun" config digits.gmlb --set lr=2e-3
exits 0 "widths           list    fixed  [64] (default [256, 128])" "$gmlrun" config digits.gml --set 'widths=[64]'
exits 2 "did you mean \`widths\`?" "$gmlrun" config digits.gml --set width=3
exits 2 "U1002" "$gmlrun" config digits.gmlb --set 'widths=[64]'
"$gmlrun" config digits.gml --set B=64 --json >config.json || fail "config --json"
"$gmlrun" summary digits.gml --set B=32 --json >summary.json || fail "summary --json"
"$gmlrun" dump digits.gml -o graph.json || fail "dump"
"$gmlrun" dump digits.gmlb --stage plan --set B=32 -o plan.json || fail "dump --stage plan"
exits 2 U0003 "$gmlrun" dump digits.gml --stage bytes
exits 2 "add \`--stage plan\`" "$gmlrun" dump digits.gml --target h200
exits 2 U0003 "$gmlrun" dump digits.gml --stage plan --target h100
exits 0 '"target": "cuda"' "$gmlrun" dump digits.gml --stage plan --target h200

# inspect: a run, weights, data, a graph, and what it cannot show
"$gmlrun" train digits.gml --device cpu --steps 20 --out run -q >/dev/null || fail "train"
for what in run run/weights.safetensors data/digits.npz digits.gmlb; do
    "$gmlrun" inspect $what >"text-$(basename $what)" || fail "inspect $what"
    "$gmlrun" inspect $what --json >"json-$(basename $what)" || fail "inspect $what --json"
done
grep -q "^state *ended" text-run || fail "a finished run: $(cat text-run)"
grep -q "net.fc.0.lin.w *f32 *\[64, 256\] *65536" text-weights.safetensors || fail "$(cat text-weights.safetensors)"
exits 2 "is the text of a model" "$gmlrun" inspect digits.gml
exits 3 "holds run.json" "$gmlrun" inspect data
exits 3 F3008 "$gmlrun" inspect run/metrics.jsonl
cp -r run killed
sed '$d' run/metrics.jsonl >killed/metrics.jsonl
printf '{"event": "ste' >>killed/metrics.jsonl
exits 0 "not ended" "$gmlrun" inspect killed
printf '{"model": ' >killed/run.json
exits 3 F5001 "$gmlrun" inspect killed
python3 - <<'P' || bad=1
import json
c = {x["name"]: x for x in json.load(open("config.json"))}
assert list(c) == ["B", "lr", "widths", "epochs"], c
assert c["B"]["default"] == "128" and c["B"]["value"] == "64" and c["B"]["type"] == "dim", c
assert c["lr"]["kind"] == "live" and c["lr"]["type"] == "f32" and c["lr"]["doc"].startswith("Peak of"), c
assert c["widths"]["kind"] == "fixed" and c["widths"]["place"].startswith("digits.gml:"), c
g, p = json.load(open("graph.json")), json.load(open("plan.json"))
by_id = {n["id"]: n for n in g["nodes"]}
assert p["format"] == 1 and p["dims"]["B"] == 32, p["dims"]
bytes_of = {"f32": 4, "i32": 4, "bool": 1, "f64": 8}
for v in p["variants"]:
    for x in v["launches"]:
        assert all(n in by_id for n in x["nodes"]), x
        for o in x["in"] + x["out"]:
            if o["dtype"] == "control":
                continue
            last = sum((n - 1) * s for n, s in zip(o["shape"], o["stride"]))
            assert o["offset"] + (last + 1) * bytes_of[o["dtype"]] <= p["arena"]["bytes"], o
    for b in v["buffers"]:
        assert b["first"] <= b["last"] < max(len(v["launches"]), 1) and b["offset"] + b["bytes"] <= p["arena"]["bytes"], b
groups = [x for v in p["variants"] for x in v["launches"] if x["op"] == "group"]
assert groups and all(x["stop"] and x["why"] and len(x["nodes"]) > 0 for x in groups), groups
for x in groups: # each result is stored once, each operand is named
    lines = x["group"]["program"]
    assert [y.split()[0] for y in lines if y.startswith("out")] == ["out%d" % i for i in range(len(x["out"]))], x
    assert len(x["group"]["domain"]) >= x["group"]["outer"], x
doc = open(__import__("os").environ["GML_SOURCE"] + "/docs/dump.md").read()
for keys in g, p, p["arena"], p["variables"][0], p["variants"][0], *(v["launches"][0] for v in p["variants"] if v["launches"]), *(v["buffers"][0] for v in p["variants"] if v["buffers"]), *groups[:1], *(x["group"] for x in groups[:1]), g["nodes"][0]:
    for key in keys:
        assert "`%s`" % key in doc or '"%s"' % key in doc, "docs/dump.md lacks %s" % key
train = [v for v in p["variants"] if v["phase"] == "train"]
assert len(train) == 1 and train[0]["rows"] == 32
parts = [x["part"] for x in train[0]["launches"]]
order = ["forward", "loss", "backward", "optimizer"]
assert parts == sorted(parts, key=order.index) and set(parts) <= set(order), parts
assert {v["name"] for v in p["variables"] if v["kind"] == "param"} == {"net.fc.%d.lin.%s" % (i, k) for i in (0, 1) for k in "wb"} | {"net.head.w", "net.head.b"}
t = json.load(open("summary.json"))
assert t["elements"] == 50826 and len(t["parameters"]) == 6 and t["parameters"][0]["shape"] == [64, 256], t
assert [(q["name"], q["batch"]) for q in t["phases"]] == [("train", 32), ("eval", 360), ("predict", 360)], t["phases"]
r = json.load(open("json-run"))
assert r["kind"] == "run" and r["run"]["model"] == "digits" and r["last"]["steps"] == 20, r
assert "weights.safetensors" in [f["name"] for f in r["files"]], r
w = json.load(open("json-weights.safetensors"))["arrays"]
assert len(w) == 6 and all(x["not_finite"] == 0 and x["min"] < x["mean"] < x["max"] for x in w), w
assert [x["type"] for x in json.load(open("json-digits.npz"))["arrays"]].count("bytes") == 1
assert json.load(open("json-digits.gmlb"))["phases"][0] == "init"
P

# One phase alone: the steps are those of --steps, or of one pass.
exits 0 "7 steps" "$gmlrun" train digits.gml --device cpu --phase train --steps 7 --out alone -q
exits 0 "11 steps" "$gmlrun" train digits.gml --device cpu --phase train --out once -q
"$gmlrun" train digits.gml --device cpu --steps 7 --out seven -q >/dev/null
cmp alone/weights.safetensors seven/weights.safetensors || fail "--phase train is another training"
exits 0 "backward " "$gmlrun" train digits.gml --device cpu --steps 7 --parts --out parts -q
cmp parts/weights.safetensors seven/weights.safetensors || fail "--parts is another training"
tail -n 1 parts/metrics.jsonl | python3 -c '
import json, sys
p = json.load(sys.stdin)["part_ms"]
assert list(p) == ["forward", "loss", "backward", "optimizer"] and all(x > 0 for x in p.values()), p' || bad=1
exits 2 "no phase \`trian\`" "$gmlrun" train digits.gml --device cpu --phase trian --out no
[ -e no ] && fail "a refused run left its folder"

# `save best e` and `save "best"` never share a file.
for name in best ./best best.safetensors best-2; do
    sed "s|        save best eval.acc|&\n        save \"$name\"|" digits.gml >taken.gml
    exits 1 E3110 "$gmlrun" train taken.gml --device cpu --steps 1 --out taken
done
sed 's|        save best eval.acc|&\n        save "../up"|' digits.gml >taken.gml
exits 1 E2023 "$gmlrun" train taken.gml --device cpu --steps 1 --out taken
[ -e taken ] && fail "a refused run left its folder"
sed 's|        save best eval.acc|&\n        save "best-one"|' digits.gml >free.gml
exits 0 "11 steps" "$gmlrun" train free.gml --device cpu --steps 11 -q --out free
[ -s free/ckpt/best-one.safetensors ] && [ -s free/ckpt/best.safetensors ] || fail "best-one is missing: $(ls free/ckpt)"

# What is not there is rejected input (3), not a lack of resources.
exits 3 F0101 "$gmlrun" train digits.gml --device cpu --data digits=gone.npz --out gone
exits 3 F0101 "$gmlrun" eval digits.gml --device cpu --weights gone.safetensors
exits 2 U1003 "$gmlrun" train digit.gml
grep -q "did you mean \`digits.gml\`?" log || fail "no suggestion: $(cat log)"
exits 2 U1003 "$bin/gmlc" none/digits.gml
exits 2 U1003 "$gmlrun" summary digits2.gmlb
exit $bad
