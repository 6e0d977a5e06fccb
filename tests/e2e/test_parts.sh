#!/bin/sh
# Minimizes over parts of each other's parameters and more, and over parameters of several types: the same as one for each part.
. "$(dirname "$0")/common.sh"
cat >both.gml <<'G'
gml 1
import nn
import opt
let a = nn.Linear{2}
let b = nn.Linear{3}
let c = nn.Linear{4}
let x = reshape(f32(iota(4)), [2, 2]) / 4
phase one {
    minimize l = mean((x |> a |> b) ^ 2) over a, b using opt.adam{0.1}
}
phase two {
    minimize l = mean((x |> a |> b |> c) ^ 2) over b, c using opt.sgd{0.1}
}
run {
    repeat (3) {
        one
        two
    }
}
G
sed 's/^    minimize l = \(.*\) over b, c \(.*\)/    minimize l = \1 over b \2\n    minimize k = \1 over c \2/
     s/^    minimize l = \(.*\) over a, b \(.*\)/    minimize l = \1 over a \2\n    minimize k = \1 over b \2/' both.gml >apart.gml
for m in both apart; do
    cp $m.gml m.gml # the name of the model is part of the file
    exits 0 one.l "$bin/gmlrun" train m.gml --device cpu -q --precision f64 --debug-plan --out $m
done
cmp both/weights.safetensors apart/weights.safetensors || fail "other weights than with one minimize for each part"
exits 0 "0 wrong" "$bin/gmlrun" gradcheck both.gml
cat >types.gml <<'G'
gml 1
import nn
import opt
layer Two{}(x: f32[N, 4]) -> f32[N, 4] {
    param w: f32[4] ~ nn.unit(1, 1)
    param half: bf16[4] = 0.75 tag no_decay
    param wide: f64[4] = 1.5
    param b: f32[4] = 0 tag no_decay
    return x * w * f32(half) * f32(wide) + b
}
let net = Two{}
let more = Two{}
let copy = frozen(net)
layer Apart{}(x) {
    param b: bf16[4] = 1
    return x + f32(b)
}
let alone = Apart{}
phase one {
    minimize l = mean((more(net(ones([3, 4]))) - copy(alone(ones([3, 4])))) ^ 2) over net, more using opt.sgd{0.01, momentum = 0.5, decay = 0.25}
}
phase two {
    next copy = net
}
phase three {
    minimize l = mean(net(ones([3, 4])) ^ 2) over net using opt.adamw{0.1, clip = 1.0}
}
run {
    repeat (3) {
        one
        two
        three
    }
}
G
split() {
    for k in net more; do
        for l in w half wide b; do
            printf '    minimize %s_%s = mean((more(net(ones([3, 4]))) - copy(alone(ones([3, 4])))) ^ 2) over %s.%s using opt.sgd{0.01, momentum = 0.5, decay = %s}\n' \
                $k $l $k $l "$([ $l = w ] || [ $l = wide ] && echo 0.25 || echo 0.0)"
        done
    done
}
split >split
sed -e '/over net, more/{r split' -e 'd;}' types.gml >single.gml
for m in types single; do
    cp $m.gml m.gml
    exits 0 one. "$bin/gmlrun" train m.gml --device cpu -q --debug-plan --out $m
done
for x in types single; do # parameters: the optimizers have other names
    "$bin/gmlrun" inspect $x/weights.safetensors >$x.txt || fail "inspect"
    grep '^ *\(net\|more\|copy\|alone\)\.' $x.txt >$x.own
done
cmp types.own single.own || fail "other parameters than with one minimize for each type: $(diff types.own single.own)"
[ -s types.own ] || fail "nothing compared: $(cat types.txt)"
exits 0 "0 wrong" "$bin/gmlrun" gradcheck types.gml
[ "$(grep -c '^one.l = ' log)" = 1 ] || fail "a loss is named once: $(cat log)"
# Three optimizers in optimizers: each reports its norm under a name of its own.
cat >three.gml <<'G'
gml 1
import nn
import opt
let a = nn.Linear{2}
let b = nn.Linear{2}
let c = nn.Linear{2}
let d = frozen(a)
let e = frozen(b)
let f = frozen(c)
phase p {
    minimize l = mean(a(ones([2, 2])) ^ 2) over a using opt.averaged{opt.adam{0.1}, d, 0.9}
    minimize m = mean(b(ones([2, 2])) ^ 2) over b using opt.averaged{opt.adam{0.1}, e, 0.9}
    minimize n = mean(c(ones([2, 2])) ^ 2) over c using opt.averaged{opt.adam{0.1}, f, 0.9}
}
run { p for 2 steps }
G
exits 0 "p.l" "$bin/gmlrun" train three.gml --device cpu -q --out three
grep -q '"p.l.grad_norm": .*"p.m.grad_norm": .*"p.n.grad_norm": ' three/metrics.jsonl || fail "$(cat three/metrics.jsonl)"
exit $bad
