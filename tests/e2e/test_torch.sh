#!/bin/sh
# Predictions with weights that PyTorch made: probabilities of 360 rows by a convolution, attention, layer norm and GELU equal
# PyTorch's to 1e-6 (golden files: tools/make_golden_predict.py), whatever the batch and in whichever format they are written.
set -u
golden="$GML_SOURCE/tests/golden"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
for end in npy npz csv safetensors; do
    "$1/bin/gmlrun" predict "$golden/predict.gml" --device cpu --weights "$golden/predict_weights.safetensors" -q \
        -o probs.$end || exit 1
done
python3 - "$golden/predict_probs.npy" <<'P'
import json, struct, sys, zipfile
def npy(b):
    n = struct.unpack("<H", b[8:10])[0]
    head = b[10:10 + n].decode()
    assert "'<f4'" in head and "False" in head and "(360, 10)" in head, head
    return struct.unpack("<3600f", b[10 + n:])
want = npy(open(sys.argv[1], "rb").read())
assert max(want) > 0.5 and min(want) < 0.01
bits = open("probs.npy", "rb").read()
got = {"npy": npy(bits), "npz": npy(zipfile.ZipFile("probs.npz").read("probs.npy"))}
lines = open("probs.csv").read().splitlines()
got["csv"] = [float(x) for line in lines[1:] for x in line.split(",")]
b = open("probs.safetensors", "rb").read()
n = struct.unpack("<Q", b[:8])[0]
assert json.loads(b[8:8 + n])["probs"] == {"dtype": "F32", "shape": [360, 10], "data_offsets": [0, 14400]}
got["safetensors"] = struct.unpack("<3600f", b[8 + n:])
for name, p in got.items():
    worst = max(abs(x - y) for x, y in zip(p, want))
    if len(p) != 3600 or worst > 1e-6:
        raise SystemExit("%s: %d probabilities, largest difference from PyTorch %g" % (name, len(p), worst))
print("largest difference from PyTorch %.2g" % worst)
P
