#!/bin/sh
# gmlrun gradcheck: right gradients, values under stop_grad, kinks, a gradient that is not finite, states that other phases fill; exit codes, --json.
. "$GML_SOURCE/tests/e2e/common.sh"
model() { # model LOSS: one parameter w of 4 elements, all 0.5, and v, all 0
    cat <<M
gml 1
layer Two() -> f32 {
    param w: f32[4] = 0.5
    param v: f32[4] = 0
    return $1
}
layer descent(p, g) {
    return p - 0.1 * g
}
let two = Two{}
phase train {
    minimize loss = two() over two using descent{}
}
run { train for 3 steps }
M
}
digits=$GML_SOURCE/models/digits.gml
exits 0 "48 elements checked, 0 on kinks, 0 wrong" "$bin/gmlrun" gradcheck "$digits"
cp log first
"$bin/gmlrun" gradcheck "$digits" --threads 1 >log 2>&1
cmp first log || fail "two checks of the same model differ"
exits 0 '"checked": 18, "kinks": 0, "wrong": 0, "losses": {"train.loss": ' \
    "$bin/gmlrun" gradcheck "$digits" --samples 3 --set B=16 --json
python3 -c "import json; d = json.load(open('log')); assert len(d['parameters']) == 6, d" || bad=1

model "sum(w ^ 3 * sin(v) + w * stop_grad(w ^ 2)) + mean(stop_grad(v) * w)" >stop.gml
exits 0 "8 elements checked, 0 on kinks, 0 wrong" "$bin/gmlrun" gradcheck stop.gml
model "sum(f32(bf16(w * 1.1)) ^ 2) + sum(v * w)" >narrow.gml # f64 throughout, whatever the text says
exits 0 "8 elements checked, 0 on kinks, 0 wrong" "$bin/gmlrun" gradcheck narrow.gml
sed 's/param v: f32\[4\] = 0/param v: bf16[4] = 0/; s/sum(v \* w)/sum(f32(v) * w)/' narrow.gml >bf16.gml
exits 0 "4 elements checked, 0 on kinks, 0 wrong" "$bin/gmlrun" gradcheck bf16.gml --phase train --samples 2
model "sum(w ^ 2) + sum(relu(v)) + sum(abs(v))" >kink.gml
exits 0 "8 elements checked, 4 on kinks, 0 wrong" "$bin/gmlrun" gradcheck kink.gml
grep -q "two.v .* only kinks" log || fail "kinks are not told: $(cat log)"
model "sum(w ^ 2) + sum(sqrt(v ^ 2))" >nan.gml
exits 5 "N1003" "$bin/gmlrun" gradcheck nan.gml
grep -q "for .two.v., element \[0\]: -\?nan as compiled" log || fail "the wrong element is not named: $(cat log)"
grep -q "two.w .* ok" log || fail "w is right: $(cat log)"
model "sum(log(v))" >infinite.gml
exits 5 "it has no gradient to check" "$bin/gmlrun" gradcheck infinite.gml
grep -q "NaN at the start\|infinite at the start" log || fail "not where: $(cat log)"

# Where `run` comes to the phase: another phase fills what the loss is made of. A phase that `run` does not name begins
# with the model; one that comes after too many launches is checked where the walk ended.
cat >fill.gml <<'M'
gml 1
import opt
layer W() {
    param w: f32[3] = 0.5
    return w
}
let net = W{}
state seen: f32 = 0
phase fill { next seen = seen + 1 }
phase learn {
    minimize loss = sum(log(seen) * net() + net()^2) over net using opt.sgd{0.1}
}
phase never {
    minimize loss = sum(seen + net()) over net using opt.sgd{0.1}
}
run {
    fill for 2 steps
    repeat (3) { fill; learn; fill }
}
M
exits 0 "6 elements checked, 0 on kinks, 0 wrong" "$bin/gmlrun" gradcheck fill.gml
grep -q "^learn.loss = 2.39791843$" log || fail "not with seen = 3: $(cat log)" # 3 (0.5 log 3 + 0.25)
grep -q "^never.loss = 1.5$" log || fail "not as the model begins: $(cat log)"
exits 0 "3 elements checked, 0 on kinks, 0 wrong" "$bin/gmlrun" gradcheck fill.gml --phase learn
sed 's/fill for 2 steps/fill for 5000 steps/' fill.gml >late.gml
exits 0 "6 elements checked" "$bin/gmlrun" gradcheck late.gml
grep -q "^learn.loss = 11.1116329$" log || fail "not with seen = 1000: $(cat log)"
sed 's/log(seen)/log(seen - 3)/' fill.gml >early.gml
exits 5 "infinite after 3 launches of" "$bin/gmlrun" gradcheck early.gml
exits 0 "learn of fill on cpu" "$bin/gmlrun" bench fill.gml --device cpu --threads 1
exits 0 "learn on cpu" "$bin/gmlrun" profile fill.gml --device cpu --threads 1
exits 5 "N1001" "$bin/gmlrun" bench early.gml --device cpu --threads 1

"$bin/gmlc" stop.gml -o stop.gmlb
exits 2 "needs the .gml file" "$bin/gmlrun" gradcheck stop.gmlb
exits 2 "no phase \`other\` with a \`minimize\`" "$bin/gmlrun" gradcheck stop.gml --phase other
exits 2 U0003 "$bin/gmlrun" gradcheck stop.gml --samples 0
exit $bad
