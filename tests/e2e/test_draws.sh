#!/bin/sh
# A scan over an array of instances draws what `for` draws, which writes the text out for each of them: in front of the
# scan, where the body makes the probability, in scans around it, inside, and over arrays in arrays.
. "$(dirname "$0")/common.sh"
cat >m.gml <<'G'
gml 1
import nn
import opt
layer Noisy{}(x: f32[N, 4]) -> f32[N, 4] {
    param w: f32[4] ~ nn.unit(1, 1)
    let z = rand.normal([N, 4])
    let keep = rand.bernoulli([N, 4], 0.5)
    let more = rand.bernoulli([N, 4], clamp(sum(x) * 0.01, 0, 1))
    let r = scan (t in 0..5; a = zeros([N, 4])) {
        next a = a * 0.5 + rand.normal([N, 4])
    }
    return x * w + z + where(keep, 1.0, 0.0) + where(more, 1.0, 0.0) + f32(rand.categorical(x * 0)[:, _]) + r.a
}
layer Group{}(x) {
    let blocks = Noisy{}[2]
    let out = x
    for (b in blocks) as q {
        out = b(out)
    }
    return out
}
let groups = Group{}[3]
phase train {
    let x = ones([2, 4])
    for (k in 0..2) as again {
        for (g in groups) as q {
            x = g(x)
        }
    }
    minimize l = mean(x ^ 2) over groups using opt.sgd{1e-5}
}
run { train for 3 steps }
G
train() { # train OUT: the model keeps its name, which is part of the file
    exits 0 "train.l" "$bin/gmlrun" train m.gml --device cpu -q --precision f64 --debug-plan --out "$1"
}
train for
awk '/^    for \(b in/ { print "    let q = scan (b in blocks; y = x) {\n        next y = b(y)\n    }\n    return q.y"; skip = 4 } skip-- > 0 { next } { print }' m.gml >inner.gml
awk '/for \(g in/ { print "        let r = scan (g in groups; y = x) {\n            next y = g(y)\n        }\n        x = r.y"; skip = 3 } skip-- > 0 { next } { print }' inner.gml >outer.gml
cp inner.gml m.gml
train inner
cp outer.gml m.gml
train outer
grep -c 'scan (' m.gml | grep -q '^3$' || fail "not the text that is meant: $(cat m.gml)"
cmp for/weights.safetensors inner/weights.safetensors || fail "a scan over an array draws other numbers than for"
cmp for/weights.safetensors outer/weights.safetensors || fail "a scan over arrays in an array draws other numbers than for"
exit $bad
