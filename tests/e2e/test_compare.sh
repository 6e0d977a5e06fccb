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
exits 2 U0003 $compare --against gpu
exits 2 U0003 $compare --tolerance -1
exits 2 "no phase \`other\`" $compare --phase other
if "$bin/gmlrun" doctor | grep -q "^cuda *no"; then
    exits 6 "C1002" $compare --against cuda
fi
[ -e runs ] && fail "a comparison left a run folder"
exit $bad
