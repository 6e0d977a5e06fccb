#!/bin/sh
# `file("w.npz", "w")`: constants from files, in layers, initial values, compiled graphs and replicas; what is refused.
. "$(dirname "$0")/common.sh"
cat >make.gml <<'G'
gml 1
phase p {
    let i = f32(reshape(iota(12), [4, 3]))
    output inter = i, turned = transpose(i), ids = iota(4), two = i * 0 + 2
}
run { p }
G
"$bin/gmlrun" predict make.gml --phase p --device cpu -o wiring.npz >/dev/null 2>log || fail "$(cat log)"
"$bin/gmlrun" predict make.gml --phase p --device cpu --output two -o two.npy >/dev/null 2>log || fail "$(cat log)"
cat >m.gml <<'G'
gml 1
import nn
import opt
let mask: f32[4, 3] = file("wiring.npz", "inter")
let ids: i32[4] = file("wiring.npz", "ids")
layer Masked{m}(x: f32[N, 4]) -> f32[N, 3] {
    let own: f32[4, 3] = file("two.npy")
    param w: f32[4, 3] = file("two.npy")
    param v: f32[4, 3] ~ nn.unit(1, 1)
    return x @ (w * m + v * own)
}
let net = Masked{mask}
state s: f32[4, 3] = mask + 1
phase train {
    let x = rand.normal([8, 4])
    minimize loss = mean(net(x) * net(x)) over net using opt.sgd{1e-4}
    metric mask = sum(mask) using last
    metric ids = f32(sum(ids)) using last
    metric s = sum(s) using last
}
phase predict {
    output y = net(eye)
}
run { train for 3 steps }
G
sed 's/net(eye)/mask, z = s/' m.gml >all.gml
run() { # run OUT MODEL ARGUMENTS..
    to=$1
    shift
    "$bin/gmlrun" train "$@" --device cpu -q --out "$to" >log 2>&1 || fail "$*: $(cat log)"
}
run r all.gml --debug-plan
grep -q '"train.mask": 66, "train.ids": 6, "train.s": 78' r/metrics.jsonl || fail "values of the files: $(tail -1 r/metrics.jsonl)"
grep -A3 '"net.own": {' r/run.json | grep -q '"hash": "fnv1a64:' || fail "run.json has no hash of the file"
"$bin/gmlc" all.gml -o all.gmlb || fail "gmlc"
run g all.gmlb
cmp r/weights.safetensors g/weights.safetensors || fail "a compiled graph reads other values"
run p all.gml --replicas 2
cmp r/weights.safetensors p/weights.0.safetensors || fail "a replica reads other values"
cp wiring.npz other.npz
run o all.gml --override mask=two.npy --override ids=other.npz
grep -q '"train.mask": 24, "train.ids": 6, "train.s": 36' o/metrics.jsonl || fail "--override: $(tail -1 o/metrics.jsonl)"
exits 0 "" "$bin/gmlrun" predict all.gml --device cpu --weights r/weights.safetensors --output z -o z.csv
head -2 z.csv | tail -1 | grep -q '^1,2,3$' || fail "an initial value out of a file: $(cat z.csv)"
"$bin/gmlc" --emit=graph all.gml >all.ir || fail "emit"
grep -q 'key="file.net.own" type=f32\[4, 3\] file="two.npy"' all.ir || fail "$(grep 'key="file' all.ir)"
# refuse SED CODE TEXT
refuse() {
    sed "$1" all.gml >e.gml
    exits "$2" "$3" "$bin/gmlrun" train e.gml --device cpu -q --out e
    rm -rf e
}
refuse 's/"inter"/"intr"/' 3 'wiring.npz has no array `intr`; it has `inter`, `turned`'
refuse 's/"inter"/"turned"/' 3 'file `mask`: wiring.npz stores f32[3, 4], the type is f32[4, 3]'
refuse 's/, "inter"//' 3 'wiring.npz holds 4 arrays, one is needed'
refuse 's/"wiring.npz", "ids"/"no.npz"/' 3 'cannot open `no.npz`'
refuse 's/let ids: i32/let ids: bool/; s/f32(sum(ids))/sum(f32(ids))/' 3 'element 2 of wiring.npz, 2, does not fit bool'
refuse 's/let mask: f32\[4, 3\]/let mask/' 1 'file(..) stands behind a name with a type'
refuse 's/output y = mask/output y = 2 * file("two.npy")/' 1 'file(..) stands behind a name with a type'
refuse 's/let mask: f32\[4, 3\]/let mask: (a: f32, b: f32)/' 1 'file(..) reads one array, and this is'
refuse 's/"two.npy"/3/' 1 'the path must be a string'
exits 2 'did you mean `mask`?' "$bin/gmlrun" train all.gml --override msk=two.npy --out e
exit $bad
