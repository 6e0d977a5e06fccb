#!/bin/sh
# gmlrun compare: equal sides, f32 against f64, a tolerance that cannot be met, a GPU that is not there, --json.
. "$GML_SOURCE/tests/e2e/common.sh"
digits=$GML_SOURCE/models/digits.gml
compare="$bin/gmlrun compare $digits --device cpu"
exits 0 "first beyond the tolerance: none" $compare
grep -q "^ *20  train.loss .* [0-9.e-]*$" log || fail "no line for step 20: $(cat log)"
exits 0 '"same": true, "max_relative": 0, ' $compare --against cpu-f32 --steps 13 --tolerance 0 --json
python3 - <<'P' || bad=1
import json
k = json.load(open("log"))
assert len(k["losses"]) == 13 and all(x["a"] == x["b"] for x in k["losses"]), k
assert len(k["parameters"]) == 6 and all(p["max_error"] == 0 for p in k["parameters"].values()), k
assert k["values"] > 50 and k["first"] is None, k
P
exits 5 N1004 $compare --steps 2 --tolerance 0
grep -q "the first value beyond the tolerance: .*digits.gml:[0-9]*\|<std>/[a-z]*.gml:[0-9]*" log || fail "no value is named: $(cat log)"
"$bin/gmlc" "$digits" -o digits.gmlb
exits 0 "first beyond the tolerance: none" "$bin/gmlrun" compare digits.gmlb --device cpu --steps 2 --set B=32 \
    --data digits="$GML_SOURCE/models/data/digits.npz"
# Lower precision: losses of 50 steps in a band around those of f32: bf16 2e-2 (measured up to 7e-3, where the loss has halved), tf32 5e-4.
for model in digits kan_digits attention_digits; do
    near="$bin/gmlrun compare $GML_SOURCE/models/$model.gml --device cpu --against cpu-f32 --steps 50"
    exits 0 "values of first launches compared" $near --precision bf16 --tolerance 2e-2 --set B=32
done
exits 0 "values of first launches compared" $compare --against cpu-f32 --precision tf32 --tolerance 5e-4
exits 5 N1004 $compare --against cpu-f32 --precision tf32 --tolerance 1e-9
exits 5 N1004 $compare --against cpu-f32 --precision bf16 --tolerance 1e-6
exits 0 "a: cpu" $compare --precision bf16 --steps 2
exits 2 "give the .gml file" "$bin/gmlrun" compare digits.gmlb --device cpu --precision bf16
# What a text pins is f32, its products too.
cat >pin.gml <<'P'
gml 1
import nn
import opt
let net = nn.Linear{4}
phase train {
    let x = rand.normal([8, 16])
    minimize loss = mean((net(f32(x)))^2) over net using opt.sgd{lr = 0.1}
}
run { train for 3 steps }
P
products() {
    "$bin/gmlrun" dump pin.gml --precision bf16 | python3 -c "import json, sys
print(sum(n['op'] == 'matmul' and n['type']['dtype'] == '$1' for n in json.load(sys.stdin)['nodes']))"
}
[ "$(products f32)" = 2 ] && [ "$(products bf16)" = 0 ] || fail "a pinned product is bf16"
sed -i 's/f32(x)/x/' pin.gml
[ "$(products f32)" = 0 ] && [ "$(products bf16)" = 2 ] || fail "a product is not bf16"
for precision in f32 tf32 bf16 f64; do
    exits 0 "3 steps" "$bin/gmlrun" train pin.gml --device cpu --precision $precision --out run.$precision
    grep -q "\"precision\": \"$precision\"" run.$precision/run.json || fail "run.json does not say $precision"
done
rm -r run.*
exits 2 U0003 $compare --against gpu
exits 2 U0003 $compare --tolerance -1
exits 2 "no phase \`other\`" $compare --phase other
if "$bin/gmlrun" doctor | grep -q "^cuda *no"; then
    exits 6 "C1002" $compare --against cuda
fi
[ -e runs ] && fail "a comparison left a run folder"
exit $bad
