#!/bin/sh
# Rules 17 to 19 on data: which rows a launch has, what a metric weighs, which rows a split has, what `field` reads. The
# digits have 1437 rows to train and 360 to test.
set -u
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
cp "$GML_SOURCE/models/data/digits.npz" digits.npz
bad=0
cat >rows.gml <<'G'
gml 1
config B: dim = 128
data whole = "digits.npz" {
    split = field("split")
    x: f32[64] = field("images") / 16
    y: i32     = field("labels")
    next_y: i32 = field("labels") + 1
    square: f32[8, 8] = field("images")
}
data parts = "digits.npz" {
    split = (first = 0.5, second = 0.25, third = 0.25)
    y: i32 = field("labels")
}
data few = "digits.npz" {
    split = rows(train = [0, 10], test = [10, 17])
    y: i32 = field("labels")
}
layer W() {
    param w: f32[] = 0
    return w
}
layer keep(p, g) {
    return p
}
let net = W{}
state seen: f32[B] = 0
phase train on whole{split = "train", batch = B, shuffle = true} as d {
    next seen = seen + f32(d.y) * 0 + 1
    minimize loss = net() + mean(d.x) over net using keep{}
    metric rows = len(d.x) using sum
    metric full = all(len(d.x) == B)
    metric ticks = mean(seen) using last
}
phase eval on whole{split = "test", batch = B} as d {
    metric rows = len(d.x) using sum
    metric weighted = len(d.x)
    metric smallest = len(d.x) using min
    metric share = mean(d.y == 3)
    metric threes = sum(d.y == 3) using sum
    metric whole_number = 2
    metric high = max(d.x) using max
    metric low = min(d.x) using min
    metric text = mean(f32(d.next_y - d.y))
    metric shape = sum(abs(flatten(d.square, 1, 2) - 16 * d.x)) using max
}
phase first on parts{split = "first", batch = 500} as d { metric rows = len(d.y) using sum }
phase second on parts{split = "second", batch = 500} as d { metric rows = len(d.y) using sum }
phase third on parts{split = "third", batch = 500} as d { metric rows = len(d.y) using sum }
phase small on few{split = "test", batch = 4} as d {
    metric rows = len(d.y) using sum
    metric least = len(d.y) using min
}
phase alone on few{batch = 1} as d { metric rows = len(d.y) using sum }
run {
    train for 1 epoch
    eval
    first
    second
    third
    small
    alone
}
G
"$1/bin/gmlrun" train rows.gml --device cpu --threads 1 -q --json --out run >log 2>&1 || {
    cat log
    exit 1
}
# 11 launches of 128; 128 + 128 + 104; (2 * 128^2 + 104^2) / 360
python3 - <<'P' || bad=1
import json
m = json.loads(open("run/metrics.jsonl").read().splitlines()[-1])["metrics"]
want = {"train.rows": 11 * 128, "train.full": 1, "train.ticks": 10, "eval.rows": 360,
        "eval.weighted": (2 * 128**2 + 104**2) / 360, "eval.smallest": 104, "eval.whole_number": 2,
        "eval.high": 1, "eval.low": 0, "eval.text": 1, "eval.shape": 0, "eval.share": m["eval.threes"] / 360,
        "small.rows": 7, "small.least": 3, "alone.rows": 1797}
for name, x in want.items():
    if abs(m[name] - x) > 1e-5 * abs(x):
        raise SystemExit(f"{name} is {m[name]}, not {x}")
parts = [m[p + ".rows"] for p in ("first", "second", "third")]
if sum(parts) != 1797 or abs(parts[0] - 898) > 1 or abs(parts[1] - 449) > 1:
    raise SystemExit(f"the parts have {parts} rows")
if not 0 < m["eval.threes"] < 360:
    raise SystemExit("nothing was counted")
P
# More rows than there are: refused before the first step.
"$1/bin/gmlrun" train rows.gml --device cpu -q --set B=1438 --out none >log 2>&1
{ [ $? -eq 1 ] && grep -q E3103 log; } || {
    cat log
    bad=1
}
exit $bad
