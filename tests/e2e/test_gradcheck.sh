#!/bin/sh
# gmlrun gradcheck: right gradients, values under stop_grad, kinks, a gradient that is not finite; exit codes, --json.
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

"$bin/gmlc" stop.gml -o stop.gmlb
exits 2 "needs the .gml file" "$bin/gmlrun" gradcheck stop.gmlb
exits 2 "no phase \`other\` with a \`minimize\`" "$bin/gmlrun" gradcheck stop.gml --phase other
exits 2 U0003 "$bin/gmlrun" gradcheck stop.gml --samples 0
exit $bad
