#!/bin/sh
# Exit codes of the programs for one malformed file of each kind: models 1, data, weights and graphs 3, what cannot be read 4.
# Messages and all other files are in test_malformed.c, which calls the readers.
set -u
bin=$1/bin
files=$GML_SOURCE/tests/malformed/files
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
bad=0
exits() { # exits CODE TEXT COMMAND..
    want=$1 text=$2
    shift 2
    timeout 60 "$@" >log 2>&1
    got=$?
    { [ $got -eq "$want" ] && grep -qF -- "$text" log; } || { echo "exit $got, want $want with '$text': $*: $(cat log)"; bad=1; }
}
cat >model.gml <<'G'
gml 1
layer Line(x: f32[B]) -> f32[B] {
    param w: f32 = 2
    return w * x
}
data d = "good.csv" {
    x: f32 = field("b")
}
let line = Line{}
phase apply on d{batch = 2} as s {
    output y = line(s.x)
}
phase plain on d{batch = 2} as s {
    output y = s.x
}
G
printf 'a,b\n1,2\n3,4\n' >good.csv
sed '/^layer/,/^}/d; /^let/d; /^phase apply/,/^}/d' model.gml >free.gml
plain="$bin/gmlrun predict free.gml --device cpu"
exits 0 "4" $plain
for file in 23-cut-off.npy:F3007 23-npz-crc.npz:F3013 17-wraps.safetensors:F2002 23-idx-cut-off-ubyte:F3402 24-ragged.csv:F4002 24-empty-cell.csv:F4005 \
    25-unknown.bin:F3008; do
    exits 3 "${file#*:}" $plain --data d="$files/${file%:*}"
done
gzip -c "$files/23-idx-tail-ubyte" | head -c 20 >cut.gz
exits 3 F34 $plain --data d=cut.gz
exits 3 F0101 $plain --data d=missing.csv
exits 4 R1001 $plain --data d=.

# Weights: a file that is wrong, one that does not fit, one that does.
weights="$bin/gmlrun predict model.gml --device cpu --phase apply --weights"
exits 3 F2001 $weights "$files/20-cut-off.safetensors"
python3 - <<'P'
import json, struct
h = json.dumps({"line.w": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}}).encode()
for name, value in ("w", 3), ("nan", float("nan")):
    open(name + ".safetensors", "wb").write(struct.pack("<Q", len(h)) + h + struct.pack("<f", value))
P
exits 0 "12" $weights w.safetensors
exits 3 "F2202]: nan.safetensors: 1 tensor with NaN" $weights nan.safetensors
exits 3 "line.w: 1 of 1 numbers, the first is element 0: nan" $weights nan.safetensors
exits 0 "nan" $weights nan.safetensors --allow-nonfinite
exits 3 F2010 $weights "$files/20-overlap.safetensors"

# Models and graphs.
for file in 03-string:E0103 05-cycle-a:E0106 09-matmul:E2012 11-overflow:E0105; do
    exits 1 "${file#*:}" "$bin/gmlc" --check "$files/${file%:*}.gml"
    exits 1 "${file#*:}" "$bin/gmlrun" summary "$files/${file%:*}.gml"
done
exits 2 U1003 "$bin/gmlc" missing.gml
"$bin/gmlc" free.gml -o model.gmlb || bad=1
exits 0 "4" "$bin/gmlrun" predict model.gmlb --device cpu
head -c 100 model.gmlb >cut.gmlb
exits 3 F1004 "$bin/gmlrun" predict cut.gmlb --device cpu
{ cat model.gmlb && printf 'x'; } >tail.gmlb
exits 3 F1005 "$bin/gmlrun" summary tail.gmlb
printf 'not a graph' >text.gmlb
exits 3 F1001 "$bin/gmlrun" summary text.gmlb

# Cycles of imports by way of links: the same file under another name, a link to itself, a folder that contains itself.
printf 'gml 1\nimport "b.gml" as b\nfn f() = 1\n' >a.gml
ln -s a.gml b.gml
exits 1 E0106 "$bin/gmlc" --check a.gml
ln -s loop.gml loop.gml
printf 'gml 1\nimport "loop.gml" as l\n' >c.gml
exits 4 R1001 "$bin/gmlc" --check loop.gml
exits 1 E0113 "$bin/gmlc" --check c.gml
ln -s . here
printf 'gml 1\nimport "here/d.gml" as d\nfn f() = 1\n' >d.gml
exits 1 E0106 "$bin/gmlc" --check d.gml
exit $bad
