#!/bin/sh
# gmlrun bench, profile and train --audit on the CPU: every number is there and fits the others. The models of tools/bench compile.
. "$GML_SOURCE/tests/e2e/common.sh"
digits=$GML_SOURCE/models/digits.gml
exits 0 "to the first step" "$bin/gmlrun" bench "$digits" --device cpu --threads 1
exits 0 "median_ms" "$bin/gmlrun" bench "$digits" --device cpu --threads 1 --set B=16 --json --precision tf32
python3 - <<'P' || bad=1
import json
b = json.load(open("log"))
assert b["p5_ms"] <= b["median_ms"] <= b["p95_ms"] and b["best_ms"] <= b["p5_ms"], b
assert b["rows"] == 16 and b["precision"] == "tf32" and b["launches"] == 1 and 0 < b["kernels"] <= b["nodes"] + 1, b
assert b["flops"] > 3 * 2 * 16 * (64 * 256 + 256 * 128 + 128 * 10) * 0.6 and b["bytes"] > 4 * 50000 * 4, b
assert b["planned_bytes"] >= b["bound_bytes"] > 0 and b["peak_bytes"] > b["arena_bytes"] > b["planned_bytes"], b
assert 0 < b["first_step_warm_seconds"] and 0 < b["first_step_seconds"] and b["context_seconds"] == 0, b
P
exits 0 "of peak" "$bin/gmlrun" profile "$digits" --device cpu --threads 1 --trace trace.json
grep -q "matmul .*nn.gml:62 net.fc.1.lin" log || fail "no line of a product: $(head -20 log)"
"$bin/gmlrun" profile "$GML_SOURCE/models/lstm_text.gml" --device cpu --threads 1 --set B=4 --json >log 2>err || fail "$(cat err)"
python3 - <<'P' || bad=1
import json
p = json.load(open("log"))
rows = p["launches"]
assert abs(sum(r["us"] * r["times"] for r in rows) - p["us"]) < 1e-3 * p["us"], p["us"]
assert all(a["us"] * a["times"] >= b["us"] * b["times"] for a, b in zip(rows, rows[1:]))
assert max(r["times"] for r in rows) > 1 and min(r["times"] for r in rows) == 1
product = max((r for r in rows if r["op"] == "matmul"), key=lambda r: r["flops"])
assert product["flops"] > 0 and product["bytes"] > 0 and product["place"], product
events = json.load(open("trace.json"))["traceEvents"]
assert len(events) > 15 and all(e["ph"] == "X" and e["dur"] >= 0 for e in events)
assert all(abs(a["ts"] + a["dur"] - b["ts"]) < 0.01 for a, b in zip(events, events[1:]))
P
exits 0 "bytes to the host 0, to the device 0" "$bin/gmlrun" train "$digits" --device cpu --audit --steps 30 --out run
python3 - <<'P' || bad=1
import json
audit = json.loads(open("run/metrics.jsonl").readlines()[-1])["audit"]
names = ["launches_per_step", "bytes_d2h", "bytes_h2d", "bytes_stream", "syncs", "allocations", "graph_updates", "source"]
assert list(audit) == names and audit["launches_per_step"] == 1 and audit["source"] == "cpu", audit
assert all(audit[n] == 0 for n in names[1:7]), audit
P
for model in "$GML_SOURCE"/tools/bench/models/*.gml; do
    "$bin/gmlc" --check "$model" || fail "$model"
done
exits 2 "is no option" "$bin/gmlrun" bench "$digits" --audit
exit $bad
