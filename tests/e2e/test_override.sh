#!/bin/sh
# --override: named draws from files, by their keys; what is refused, with which exit code.
set -u
gmlrun="$1/bin/gmlrun"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
cat >o.gml <<'G'
gml 1
import nn
import opt
config B: dim = 2
let net = nn.Linear{1}
let drop = nn.dropout{0.5}
phase train {
    let eps = rand.normal([B, 3])
    let t = rand.int([B], 10)
    let twice = drop(eps) + drop(eps)
    minimize loss = mean(net(eps)) over net using opt.sgd{0.1}
    metric eps = sum(eps) using last
    metric t = f32(sum(t)) using last
    metric twice = sum(twice) using last
}
phase make {
    output eps = f32(reshape(iota(6), [2, 3])), t = iota(2) + 3, all = ones([2, 3]), none = zeros([2, 3]), long = iota(7)
}
run { train for 3 steps }
G
sed '/net/d;/drop/d;/^phase train/,/^}/d;s/run .*/run { make }/' o.gml >make.gml
for x in eps t all none long; do
    "$gmlrun" predict make.gml --phase make --output $x --device cpu -o $x.npy >/dev/null 2>log || { cat log; exit 1; }
done
# metrics WHAT ARGUMENTS..: the last line of a training holds WHAT
metrics() {
    want=$1
    shift
    rm -rf r
    "$gmlrun" train o.gml --device cpu -q --out r "$@" >/dev/null 2>log || { cat log; exit 1; }
    tail -1 r/metrics.jsonl | grep -q "$want" || { echo "$*: not $want: $(tail -1 r/metrics.jsonl)"; exit 1; }
}
# 0 + 1 + .. + 5; dropout keeps all of the first application (times 2) and nothing of the second
metrics '"train.eps": 15, "train.t": 7, "train.twice": 30' --override train.eps=eps.npy --override train.t=t.npy \
    --override train.drop.keep=all.npy --override 'train.drop.keep#1=none.npy'
metrics '"train.eps": 15,' --override train.eps=eps.npy
tail -1 r/metrics.jsonl | grep -q '"train.t": 7, "train.twice": 30' && { echo "draws without a file changed too"; exit 1; }
# other draws are those of a run without files
metrics '"train.t"'
grep -o '"train.t": [0-9]*' r/metrics.jsonl >want
metrics '"train.t"' --override train.eps=eps.npy
grep -o '"train.t": [0-9]*' r/metrics.jsonl >got
cmp -s want got || { echo "--override of one draw changed another"; exit 1; }
# in a scan the file has an axis of its iterations in front
cat >scan.gml <<'G'
gml 1
phase train {
    let r = scan (t in 0..2, axis = 0, reverse = true; h = zeros([2])) {
        let s = scan (k in 0..3; g = 0.0) {
            let u = rand.uniform([], 0, 1)
            next g = 10 * g + u
        }
        let v = rand.uniform([2], 0, 1)
        next h = 100 * h + v
        yield g = s.g
    }
    metric first = r.h[0] using last
    metric second = r.h[1] using last
    metric g0 = r.g[0] using last
    metric g1 = r.g[1] using last
}
run { train for 2 steps }
G
cat >square.gml <<'G'
gml 1
phase make { output v = f32(reshape(iota(4), [2, 2])), u = f32(reshape(iota(6), [2, 3])) }
run { make }
G
for x in u v; do
    "$gmlrun" predict square.gml --phase make --output $x --device cpu -o $x.npy >/dev/null 2>log || { cat log; exit 1; }
done
rm -rf r
"$gmlrun" train scan.gml --device cpu -q --out r --override train.u=u.npy --override train.v=v.npy >/dev/null 2>log ||
    { cat log; exit 1; }
# the last row [2, 3] comes first; u: 0 1 2 and 3 4 5
tail -1 r/metrics.jsonl | grep -q '"train.first": 200, "train.second": 301, "train.g0": 12, "train.g1": 345' ||
    { echo "draws of scans: $(tail -1 r/metrics.jsonl)"; exit 1; }
# over an array of instances: one draw, that of the first
cat >array.gml <<'G'
gml 1
layer Noisy(x: f32[B, I]) -> f32[B, I] {
    param w: f32[I] = 1
    let keep = rand.uniform([2], 0, 1)
    return x * w + sum(keep)
}
layer Stack(x: f32[B, I]) -> f32[B, I] {
    let own = Noisy{}[2]
    let r = scan (g in own; x = x) { next x = g(x) }
    return r.x
}
let net = Stack{}
phase train { metric x = mean(net(zeros([1, 3]))) using last }
run { train }
G
rm -rf r
"$gmlrun" train array.gml --device cpu -q --out r --override train.net.own.0.keep=v.npy >/dev/null 2>log ||
    { cat log; exit 1; }
tail -1 r/metrics.jsonl | grep -q '"train.x": 6' || { echo "draws of an array: $(tail -1 r/metrics.jsonl)"; exit 1; }
# a value of the file has one key, also where it is made anew since a scan moved on what it is made of
cat >file.gml <<'G'
gml 1
state k: f32 = 0
fn pair() {
    let u = rand.uniform([2, 2], 0, 1)
    let v = rand.uniform([2, 2], 0, 1)
    return u + 100 * v
}
let w = pair() + k
phase train {
    metric before = sum(w) using last
    let r = scan (t in 0..2) {
        next k = k + 1
        yield y = w
    }
    metric inside = sum(r.y) using last
    metric after = sum(w) using last
}
run { train }
G
rm -rf r
"$gmlrun" train file.gml --device cpu -q --out r --override train.u=v.npy --override train.v=v.npy >/dev/null 2>log ||
    { cat log; exit 1; }
tail -1 r/metrics.jsonl | grep -q '"train.before": 606, "train.inside": 1216, "train.after": 614' || { echo "draws of the file: $(tail -1 r/metrics.jsonl)"; exit 1; }
# refused CODE EXIT ARGUMENTS..
refused() {
    code=$1 exit=$2
    shift 2
    "$gmlrun" train "$@" --device cpu -q --out none >/dev/null 2>log
    got=$?
    [ $got -eq "$exit" ] && grep -q "^error\[$code\]" log || { echo "$*: exit $got: $(cat log)"; exit 1; }
}
refused U1002 2 o.gml --override train.ep=eps.npy
grep -q "did you mean .train.eps" log || { cat log; exit 1; }
refused F3103 3 o.gml --override train.eps=t.npy
refused F3104 3 o.gml --override train.drop.keep=eps.npy
refused F0101 3 o.gml --override train.eps=nothing.npy
"$gmlrun" predict make.gml --phase make --device cpu -o many.npz >/dev/null 2>log || { cat log; exit 1; }
refused U1002 2 array.gml --override train.net.own.1.keep=v.npy
refused F3101 3 o.gml --override train.eps=many.npz
"$1/bin/gmlc" o.gml -o o.gmlb || exit 1
refused U1002 2 o.gmlb --override train.eps=eps.npy
