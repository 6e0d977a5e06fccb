#!/bin/sh
# gmlrun at the edges: what it refuses, with which exit code; what it leaves behind when a run ends early.
. "$GML_SOURCE/tests/e2e/common.sh"
"$1/bin/gmlc" explain U0004 >/dev/null || fail "gmlc does not work"
cp "$GML_SOURCE/models/digits.gml" digits.gml
mkdir data
cp "$GML_SOURCE/models/data/digits.npz" data
train="$bin/gmlrun train digits.gml --device cpu --threads 1 -q"

# Options are taken or refused, never half.
exits 2 U0003 $train --steps 1 --out ""
exits 2 U0003 $train --steps 1 --log-every 0
exits 2 U0003 $train --steps 1 --max-skips 0
exits 2 U0004 $train --steps 1 --set lr=1 --set lr=2
exits 2 U0004 $train --steps 1 --data digits=a --data digits=b
"$bin/gmlc" digits.gml -o digits.gmlb
for set in lr=nan lr=inf lr=1e400 lr=0x10 "lr= 1" lr= B=1.5 B=-1 B=1e30 epochs=3.5; do
    exits 2 E1009 "$bin/gmlrun" train digits.gmlb --device cpu --steps 1 --set "$set" --out refused
done
exits 2 U0005 "$bin/gmlrun" summary digits.gmlb -I .
[ -e refused ] && fail "a refused run left its folder"

# Batches: one row, a ragged last evaluation, exactly all rows, one too many.
exits 0 "2 steps" $train --steps 2 --set B=1 --out one
exits 0 eval.acc $train --steps 2 --set B=1437 --out all
exits 1 E3103 $train --steps 2 --set B=1438 --out more

# The same run from .gml and .gmlb, with and without reuse of memory, from another folder.
exits 0 "12 steps" $train --steps 12 --out plain
exits 0 "12 steps" "$bin/gmlrun" train digits.gmlb --device cpu --threads 3 -q --steps 12 --debug-plan --out loaded
cmp plain/weights.safetensors loaded/weights.safetensors || fail ".gml and .gmlb --debug-plan differ"
mkdir "with space"
(cd "with space" && env -u HOME "$bin/gmlrun" train ../digits.gml --device cpu -q --steps 12 --out "a b" >log 2>&1)
cmp plain/weights.safetensors "with space/a b/weights.safetensors" || fail "another folder, other weights"

# Gradients that are not finite: 8 skips end the run, the weights of the start are saved, no loss looks perfect.
python3 - <<'P'
import json, struct, zipfile
with zipfile.ZipFile("data/digits.npz") as z, zipfile.ZipFile("nan.npz", "w") as out:
    for name in z.namelist():
        b = z.read(name)
        if name == "images.npy":
            head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1797, 64), }"
            head += b" " * (117 - len(head)) + b"\n"
            b = b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + b"\0\0\xc0\x7f" * (1797 * 64)
        out.writestr(name, b)
P
exits 0 "0 steps" "$bin/gmlrun" train digits.gml --device cpu --threads 1 --steps 0 --out start
exits 5 N1001 $train --data digits=nan.npz --out nan
cmp start/weights.safetensors nan/weights.safetensors || fail "steps without finite gradients changed weights"
[ "$(grep -c N1001 log)" = 1 ] || fail "told twice: $(cat log)"
tail -n 1 nan/metrics.jsonl | grep -q '"train.loss": null.*"steps": 8, "skipped": 8' || fail "$(tail -n 1 nan/metrics.jsonl)"

# Every phase that trains has its step lines, also when two take turns.
cat >turns.gml <<'M'
gml 1
layer Bowl() -> f32 {
    param w: f32[4] = rand.normal([4])
    return sum(w ^ 2)
}
layer descent(p, g) {
    return p - 0.1 * g
}
let a = Bowl{}
let b = Bowl{}
phase first {
    minimize loss = a() over a using descent{}
}
phase second {
    minimize loss = b() over b using descent{}
}
run {
    repeat (8) {
        first
        second
    }
    save "some/where/name"
}
M
exits 0 "16 steps" "$bin/gmlrun" train turns.gml --device cpu --log-every 4 --out turns
cmp turns/weights.safetensors turns/ckpt/some/where/name.safetensors || fail "save has other weights"
for phase in first second; do
    n=$(grep -c "\"step\", \"phase\": \"$phase\"" turns/metrics.jsonl)
    [ "$n" -ge 3 ] && [ "$n" -le 4 ] || fail "phase $phase has $n step lines of 16 steps with --log-every 4"
done

# A data-free phase has one line for a launch, from the first on.
cat >free.gml <<'M'
gml 1
phase count {
    state n: f32 = 0
    next n = n + 1
    metric n = n
}
run {
    repeat (3) { count }
}
M
exits 0 "3 steps" "$bin/gmlrun" train free.gml --device cpu --out free
[ "$(wc -l <free/metrics.jsonl)" = 4 ] || fail "3 launches: $(cat free/metrics.jsonl)"
[ "$(grep -c "^count .*step" log)" = 3 ] || fail "3 launches: $(cat log)"

# Signals: the first keeps the weights (75), the second ends at once (130). Every line is JSON.
"$bin/gmlrun" train digits.gml --device cpu -q --set epochs=100000 --out stopped >log 2>&1 &
pid=$!
i=0
while [ $i -lt 300 ] && [ ! -s stopped/metrics.jsonl ]; do
    sleep 0.1
    i=$((i + 1))
done
kill -TERM $pid
wait $pid
[ $? = 75 ] || fail "SIGTERM: not exit 75: $(cat log)"
[ -s stopped/weights.safetensors ] || fail "SIGTERM: no weights"
"$bin/gmlrun" train digits.gml --device cpu -q --set epochs=100000 --out forced >log 2>&1 &
pid=$!
i=0
while [ $i -lt 300 ] && [ ! -s forced/metrics.jsonl ]; do
    sleep 0.1
    i=$((i + 1))
done
kill -STOP $pid # so that both wait for it
kill -TERM $pid
kill -INT $pid
kill -CONT $pid
wait $pid
[ $? = 130 ] || fail "two signals: not exit 130: $(cat log)"
python3 - <<'P' || bad=1
import json
for run in "plain", "nan", "turns", "stopped":
    lines = [json.loads(s) for s in open(run + "/metrics.jsonl")]
    last = lines[-1]
    assert last["event"] == "summary" and all(x["event"] != "summary" for x in lines[:-1]), run
    assert {"metrics", "steps", "seconds", "device"} <= set(last), last
    assert [x["step"] for x in lines[:-1]] == sorted(x["step"] for x in lines[:-1]), run
    json.load(open(run + "/run.json"))
assert json.loads(open("stopped/metrics.jsonl").read().splitlines()[-1])["status"] == "stopped"
P
exit $bad
