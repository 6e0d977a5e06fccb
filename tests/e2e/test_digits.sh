#!/bin/sh
# models/digits.gml, as a user trains it: accuracy, determinism, another seed, evaluation from saved weights, .gmlb = .gml.
set -eu
bin=$1/bin
model=$GML_SOURCE/models/digits.gml
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
metric() { # metric RUN NAME: last value in the summary line
    tail -n 1 "$1/metrics.jsonl" | sed -n "s/.*\"$2\": *\([-0-9.eE+]*\).*/\1/p"
}
at_least() {
    awk "BEGIN { exit !($1 >= $2) }" || { echo "$3: $1, at least $2 wanted"; exit 1; }
}
for seed in 1 2; do
    "$bin/gmlrun" train "$model" --device cpu --seed $seed --out "$out/s$seed" -q
    acc=$(metric "$out/s$seed" eval.acc)
    at_least "$acc" 0.97 "accuracy with seed $seed"
    echo "seed $seed: accuracy $acc"
done
"$bin/gmlrun" train "$model" --device cpu --seed 1 --threads 1 --steps-per-launch 8 --out "$out/again" -q
cmp "$out/s1/weights.safetensors" "$out/again/weights.safetensors"
if cmp -s "$out/s1/weights.safetensors" "$out/s2/weights.safetensors"; then
    echo "two seeds gave the same weights"
    exit 1
fi
strip() { sed 's/"seconds": *[0-9.eE+-]*//g' "$1"; }
strip "$out/s1/metrics.jsonl" >"$out/a"
strip "$out/again/metrics.jsonl" >"$out/b"
cmp "$out/a" "$out/b"

"$bin/gmlc" "$model" -o "$out/one.gmlb"
"$bin/gmlc" "$model" -o "$out/two.gmlb"
cmp "$out/one.gmlb" "$out/two.gmlb"
"$bin/gmlrun" eval "$model" --device cpu --weights "$out/s1/weights.safetensors" >"$out/eval"
grep -q acc "$out/eval"

# The parts of a step are timed, and together they are no longer than steps (within noise).
"$bin/gmlrun" bench "$model" --device cpu --threads 1 --parts --json >"$out/bench"
python3 - "$out/bench" <<'P'
import json, sys
bench = json.load(open(sys.argv[1]))
part = bench["part_ms"]
assert list(part) == ["forward", "loss", "backward", "optimizer"], part
assert all(ms > 0 for ms in part.values()), part
assert sum(part.values()) < 2 * bench["median_ms"], bench
P
