#!/bin/sh
# Evaluation and prediction take every row exactly once, whatever the batch; files of every format; weights under other names.
. "$GML_SOURCE/tests/e2e/common.sh"
sed 's/^config epochs.*/&\nconfig E: dim = 500/; s/batch = 500/batch = E/; s/label = argmax(logits)/label = argmax(logits), truth = d.y/' \
    "$GML_SOURCE/models/digits.gml" >digits.gml
mkdir data
cp "$GML_SOURCE/models/data/digits.npz" data
"$bin/gmlrun" train digits.gml --device cpu --steps 60 --out run -q >/dev/null || fail "training failed"
w=run/weights.safetensors
predict="$bin/gmlrun predict digits.gml --device cpu --weights $w"
for batch in 1 7 128 360 1000; do
    "$bin/gmlrun" eval digits.gml --device cpu --weights $w --set E=$batch --json >eval-$batch.json || fail "eval, batch $batch"
    $predict --set E=$batch -q -o batch-$batch.npz || fail "predict, batch $batch"
done
for end in npz safetensors csv; do
    exits 0 "3 outputs in out.$end" $predict --set E=100 -o out.$end
done
$predict --set E=100 >stdout.csv 2>log || fail "predict to stdout: $(cat log)"
cmp stdout.csv out.csv || fail "stdout differs from the file"
exits 0 "1 output in label.npy" $predict --output label --out label.npy
exits 3 F3004 $predict --out all.npy
exits 2 U0003 $predict --out predictions.txt
exits 2 "did you mean \`label\`?" $predict --output labell
exits 2 "needs --weights" "$bin/gmlrun" predict digits.gml --device cpu
exits 2 "phase \`train\` trains" $predict --phase train
exits 2 "phase \`eval\` has no \`output\`" $predict --phase eval

# Rows of the test split of the file, in its order; accuracy and predictions agree with each other and for all batches.
python3 - <<'P' || bad=1
import json, re, struct, zipfile
def npz(path):
    out = {}
    with zipfile.ZipFile(path) as z:
        for name in z.namelist():
            b = z.read(name)
            n = struct.unpack("<H", b[8:10])[0]
            head = b[10:10 + n].decode()
            kind = re.search("'descr': '(.[a-zA-Z]\\d+)'", head).group(1)
            shape = tuple(int(x) for x in re.search(r"\(([\d, ]*)\)", head).group(1).replace(" ", "").split(",") if x)
            count = 1
            for x in shape:
                count *= x
            if kind[1] in "SU":
                size = int(kind[2:]) * (4 if kind[1] == "U" else 1)
                code = "utf-32-le" if kind[1] == "U" else "utf-8"
                values = [b[10 + n + i * size:10 + n + (i + 1) * size].decode(code).rstrip("\0") for i in range(count)]
            else:
                code = {"<f4": "f", "<i4": "i", "|u1": "B", "<i8": "q", "<u4": "I", "|i1": "b", "<f8": "d", "|b1": "?"}[kind]
                values = struct.unpack("<%d%s" % (count, code), b[10 + n:])
            out[name[:-4]] = (shape, values)
    return out
data = npz("data/digits.npz")
split = data["split"][1]
test = [i for i, s in enumerate(split) if s == "test"]
labels = [data["labels"][1][i] for i in test]
n = len(test)
first = npz("batch-1.npz")
acc = None
for batch in (1, 7, 128, 360, 1000):
    p = npz("batch-%d.npz" % batch)
    assert p["probs"][0] == (n, 10) and p["label"][0] == (n,), p["probs"][0]
    assert list(p["truth"][1]) == labels, batch
    assert p["label"][1] == first["label"][1], batch
    assert max(abs(a - b) for a, b in zip(p["probs"][1], first["probs"][1])) < 1e-6, batch
    right = sum(a == b for a, b in zip(p["label"][1], labels)) / n
    e = json.load(open("eval-%d.json" % batch))["metrics"]["eval.acc"]
    assert abs(e - right) < 1e-7, (batch, e, right)
    acc = acc or e
    assert abs(acc - e) < 1e-7, batch  # means of launches are f32
lines = open("out.csv").read().splitlines()
assert len(lines) == n + 1 and lines[0].split(",")[0] == "probs.0" and lines[0].split(",")[-2:] == ["label", "truth"]
assert [int(x.split(",")[-2]) for x in lines[1:]] == list(first["label"][1])
b = open("out.safetensors", "rb").read()
h = json.loads(b[8:8 + struct.unpack("<Q", b[:8])[0]])
assert h["probs"]["shape"] == [n, 10] and h["label"]["dtype"] == "I32", h

# A new file: five rows, without labels and splits, as npz, npy and CSV.
rows = [data["images"][1][64 * i:64 * i + 64] for i in test[:5]]
def npy(shape, values):
    head = ("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % shape).encode()
    head += b" " * (117 - len(head)) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack("<%df" % len(values), *values)
flat = [x for r in rows for x in r]
with zipfile.ZipFile("new.npz", "w") as z:
    z.writestr("images.npy", npy((5, 64), flat))
open("new.npy", "wb").write(npy((5, 64), flat))
P
$predict --set E=5 --output label --output probs | head -6 >five.csv # the same bits: launches of 5 rows too
for new in new.npz new.npy; do
    $predict --output label --output probs --data digits=$new >new.csv 2>log || fail "$new: $(cat log)"
    [ "$(wc -l <new.csv)" = 6 ] || fail "$new: not 5 rows: $(cat new.csv)"
    cmp five.csv new.csv || fail "$new: other predictions"
done
exits 3 "has no member \`labels\`" $predict --data digits=new.npz --output truth
# Its own file is no new data: the rows of the split, as without the option.
$predict --output label >own.csv 2>log || fail "$(cat log)"
$predict --output label --data digits=data/digits.npz >named.csv 2>log || fail "$(cat log)"
cmp own.csv named.csv || fail "--data with the file of the model takes other rows"
exits 3 "F0101" $predict --data digits=none.npz
exits 3 "F0101" "$bin/gmlrun" predict digits.gml --device cpu --weights none.safetensors

# Weights under other names: refused with a table, taken with --map.
sed 's/^let net/let model/; s/net(/model(/g; s/over net/over model/' digits.gml >renamed.gml
grep -q "^let model" renamed.gml || fail "nothing was renamed"
eval="$bin/gmlrun eval renamed.gml --device cpu --weights $w"
exits 3 "12 differences" $eval
grep -q "missing     model.fc.0.lin.w: the model has f32\[64, 256\]" log || fail "no table of keys: $(cat log)"
grep -q "unexpected  net.head.b" log || fail "no table of keys: $(cat log)"
exits 0 "eval.acc" $eval --map 'net.*=model.*'
exits 0 "eval.acc" $eval --map 'net.*.b=model.*.b' --map 'net.*.w=model.*.w'
exits 2 "no tensor \`nat.*\`" $eval --map 'nat.*=model.*'
exits 2 "same number of" $eval --map 'net.*=model.x'
exits 3 "leads two tensors" $eval --map 'net.fc.*.lin.*=model.*.*' --map 'net.head.*=model.0.*'

# Two data sets, of which one is not there; outputs without rows; a phase without data; small and empty files.
cat >two.gml <<'M'
gml 1
config E: dim = 3
layer Line() -> f32 {
    param w: f32 = 2
    return w
}
layer descent(p, g) {
    return p - 0.1 * g
}
data big = "none.npz" {
    x: f32 = field("x")
    y: f32 = field("y")
}
data small = "small.csv" {
    x: f32 = field("x")
}
let line = Line{}
phase train on big{batch = 100} as d {
    minimize loss = mean((line() * d.x - d.y)^2) over line using descent{}
}
phase apply on small{batch = E} as d {
    output y = line() * d.x, w = line()
}
phase twice on small{batch = E} as d {
    let y = line() * d.x
    output y = flatten(stack([y, -y], axis = 1), 0, 1)
}
phase mixed on small{batch = E, shuffle = true} as d {
    state seen: i32 = 0
    next seen = seen + 1
    output y = line() * d.x, n = seen
}
phase sample {
    output z = line() * rand.normal([4, 2])
}
run { train for 3 steps }
M
printf 'x,label\n1,a\n2,b\n3,c\n4,d\n5,e\n6,f\n7,g\n' >small.csv
printf 'x\n' >empty.csv
printf 'x\n1.5\n' >one.csv
python3 - <<'P'
import json, struct
h = json.dumps({"line.w": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}}).encode()
open("w.safetensors", "wb").write(struct.pack("<Q", len(h)) + h + struct.pack("<f", 3))
P
predict="$bin/gmlrun predict two.gml --device cpu --weights w.safetensors"
printf 'y\n3\n6\n9\n12\n15\n18\n21\n' >wanted
for phase in apply mixed; do # shuffled or not: the order of the file
    $predict --phase $phase --output y >got 2>log || fail "$phase: $(cat log)"
    cmp wanted got || fail "$phase: $(cat got)"
done
printf 'y\n3\n-3\n6\n-6\n9\n-9\n12\n-12\n15\n-15\n18\n-18\n21\n-21\n' >wanted
for batch in 2 3 7 100; do # two rows of the output for each of the file
    $predict --phase twice --set E=$batch >got 2>log || fail "twice, batch $batch: $(cat log)"
    cmp wanted got || fail "twice, batch $batch: $(cat got)"
done
exits 3 "F4010" $predict --phase apply
exits 0 "2 outputs" $predict --phase apply -o apply.npz
exits 1 "E3109" $predict --phase mixed -o mixed.npz
[ -e mixed.npz ] && fail "a refused prediction left its file"
# bf16, which NumPy does not have
printf 'gml 1\nphase predict { output y = bf16(f32(iota(4)) / 3) }\n' >narrow.gml
for python in python3 /usr/bin/python3 none; do
    "$python" -c "import numpy" 2>/dev/null && break
done
[ $python != none ] || fail "no python3 with NumPy: sh tools/setup.sh tests"
for file in narrow.npz narrow.npy; do
    exits 0 "1 output" "$bin/gmlrun" predict narrow.gml --device cpu -o $file
    "$python" -c "
import numpy as np
y = np.load('$file')
y = y if '$file'.endswith('npy') else y['y']
assert y.dtype == np.float32 and y.tolist() == [0, 0.333984375, 0.66796875, 1], y" || fail "$file"
done
exits 0 "z.0,z.1" $predict --phase sample
[ "$(wc -l <log)" = 5 ] || fail "four samples: $(cat log)"
exits 2 "has no phase \`predict\`" $predict
printf 'gml 1\nphase predict {\n    output n = 1.5 * rand.uniform([2])\n}\n' >free.gml
exits 0 "n" "$bin/gmlrun" predict free.gml --device cpu # the only phase that has outputs, and no parameters
exits 3 "F3106" $predict --phase apply --data small=empty.csv
exits 0 "4.5" $predict --phase apply --data small=one.csv --output y
exits 4 "R1003" $predict --phase apply -o nowhere/apply.npz
exit $bad
