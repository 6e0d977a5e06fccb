#!/bin/sh
# The run block: `every`, `stop when` and nested `repeat`, counted by states; what is planned; what is refused at load.
set -u
gmlrun="$1/bin/gmlrun"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
cat >counts.gml <<'G'
gml 1
config often = 3
state a: i32 = 0
state b: i32 = 0
state c: i32 = 0
state s: i32 = 0
phase act { next a = a + 1 }
phase learn {
    next b = b + 1
    metric x = f32(b + 1) using last
}
phase copy { next c = c + 1 }
phase sub { next s = s + 1 }
phase show {
    metric act = f32(a) using last
    metric learn = f32(b) using last
    metric copy = f32(c) using last
    metric sub = f32(s) using last
    metric planned = f32(learn.steps) using last
}
run {
    act for 3 steps
    repeat (10) {
        act
        repeat (4) {
            learn
            stop when learn.x == 7          # leaves the inner repeat only, in the second round
            every often learn { copy }
        }
        every 2 rounds { sub; save best -f32(act.step); save }
        stop when s >= 3 and act.step > 7   # a state and a counter
    }
    show
}
G
# counts WHAT ARGUMENTS..: the last line of metrics.jsonl must hold WHAT
counts() {
    want=$1
    shift
    rm -rf r
    "$gmlrun" train counts.gml --device cpu -q --out r "$@" >/dev/null 2>log || { cat log; exit 1; }
    tail -1 r/metrics.jsonl | grep -q "$want" || { echo "$*: not $want: $(tail -1 r/metrics.jsonl)"; exit 1; }
}
# by hand: 3 + 6 of act; 4, 3, 4, 4, 4, 4 of learn; copy at learn 3, 6, 9, .., 21 (at 7 nobody asks); sub in rounds 2, 4, 6
counts '"show.act": 9, "show.learn": 23, "show.copy": 7, "show.sub": 3, "show.planned": 40'
[ -f r/ckpt/best.safetensors ] || { echo "nothing saved as best"; exit 1; }
# with 5: asked behind learn 1 to 6 and 8 to 23, multiples passed at 5, 10, 15, 20
counts '"show.copy": 4,' --set often=5
# metrics made of metrics: of what the pass has gathered, for lines, for `save best` and for other phases
cat >made.gml <<'G'
gml 1
config scale = 2.0
data s = "s.csv" { x: f32 = field("x") }
state seen: f32 = 0
phase eval on s{batch = 4} as d {
    metric square = mean(d.x ^ 2)
    metric n = len(d.x) using sum
    metric root = sqrt(eval.square) * scale
    metric more = eval.root - eval.n + f32(eval.step)
}
phase look {
    next seen = eval.root
    metric seen = seen using last
}
run {
    repeat (5) { eval; save best eval.more; stop when eval.more > 5 }
    look for 2 steps
}
G
printf 'x\n3\n4\n3\n4\n5\n0\n' >s.csv
rm -rf r
"$gmlrun" train made.gml --device cpu -q --out r --set scale=0.5 >/dev/null 2>log || { cat log; exit 1; }
# root = sqrt(75 / 6) / 2 = 1.767767; more = 1.767767 - 6 + 2, 4, .., 10: above 5 in the fifth round
tail -1 r/metrics.jsonl | grep -q '"eval.n": 6, "eval.root": 1.767767, "eval.more": 5.767767, "look.seen": 1.767767' ||
    { echo "metrics of metrics: $(tail -1 r/metrics.jsonl)"; exit 1; }
"$gmlrun" eval made.gml --device cpu --weights r/ckpt/best.safetensors --json --set scale=1 2>log | grep -q '"eval.root": 3.53553' ||
    { echo "metrics of metrics in eval: $(cat log)"; exit 1; }
"$1/bin/gmlc" counts.gml -o counts.gmlb || exit 1
"$gmlrun" train counts.gmlb --device cpu -q --out zero --set often=0 >/dev/null 2>log
[ $? -eq 1 ] || { echo "every 0: $(cat log)"; exit 1; }
grep -q E3111 log || { echo "every 0: $(cat log)"; exit 1; }

# A metric of metrics: from the aggregates of the pass, in text before and behind its phase, in `run`, in another metric.
cat >made.gml <<'G'
gml 1
config by = 2.0
state n: i32 = 0
state seen: f32 = 0
phase before { next seen = eval.root }
phase eval {
    next n = n + 1
    metric square = f32(n) * f32(n)
    metric most = f32(n) using max
    metric root = sqrt(eval.square) * by
    metric both = eval.root + eval.most + f32(eval.step)
}
phase show {
    metric seen = seen using last
    metric root = eval.root using last
}
run {
    repeat (5) {
        eval for 3 steps
        before
        stop when eval.root > 8
    }
    show
}
G
# n = 0, 1, 2: root = 2 sqrt(5 / 3); n = 3, 4, 5: 2 sqrt(50 / 3) = 8.16497 leaves; both = root + 5 + 6
rm -rf r
"$gmlrun" train made.gml --device cpu -q --out r >/dev/null 2>log || { cat log; exit 1; }
for want in '"eval.root": 8.16496' '"eval.both": 19.1649' '"show.seen": 8.16496' '"show.root": 8.16496' '"eval.square": 16.66'; do
    tail -1 r/metrics.jsonl | grep -q "$want" || { echo "not $want: $(tail -1 r/metrics.jsonl)"; exit 1; }
done
grep -q '"eval.root": 2.58198' r/metrics.jsonl || { echo "first pass: $(cat r/metrics.jsonl)"; exit 1; }
"$1/bin/gmlc" made.gml -o made.gmlb || exit 1
"$gmlrun" train made.gmlb --device cpu -q --out b >/dev/null 2>log || { cat log; exit 1; }
tail -1 b/metrics.jsonl | grep -q '"eval.both": 19.1649' || { echo "gmlb: $(tail -1 b/metrics.jsonl)"; exit 1; }
"$gmlrun" eval made.gml --phase eval --device cpu --weights b/weights.safetensors >log 2>&1 || { cat log; exit 1; }
grep -q 'eval.root' log || { echo "eval: $(cat log)"; exit 1; }

# Steps of the run block in one launch or in many: the same lines and the same weights.
lines() {
    sed 's/"seconds": [0-9.e+-]*//' "$1/metrics.jsonl"
    cksum <"$1/weights.safetensors"
}
same() {
    rm -rf one
    "$gmlrun" train "$@" --device cpu -q --out one --log-every 1 --steps-per-launch 1 >/dev/null 2>log || { cat log; exit 1; }
    for k in 2 7 300; do
        rm -rf many
        "$gmlrun" train "$@" --device cpu -q --out many --log-every 1 --steps-per-launch "$k" >/dev/null 2>log || { cat log; exit 1; }
        lines one >one.txt
        lines many >many.txt
        cmp -s one.txt many.txt || { echo "$* --steps-per-launch $k:"; diff one.txt many.txt | head; exit 1; }
    done
}
same counts.gml
same made.gml
same "$GML_SOURCE/models/ppo_cartpole.gml" --set rounds=3 --threads 1
same "$GML_SOURCE/models/ppo_cartpole.gml" --set rounds=3 --set target_kl=1e-5 --steps 23 --threads 1
same "$GML_SOURCE/models/dqn_cartpole.gml" --set rounds=60 --set warm=30 --threads 1

# `when` drops the update, `stop when` leaves: of four updates two are launched and one is applied, in each round
cat >early.gml <<'G'
gml 1
import opt
layer W() {
    param w: f32[] = 0
    return w
}
let net = W{}
state from: f32 = 0
phase collect { next from = net.w }
phase update {
    let moved = abs(net() - from)
    minimize loss = -net() over net using opt.sgd{1.0} when moved < 0.5
    metric moved = moved using last
}
phase show { metric w = net.w using last }
run {
    repeat (3) {
        collect
        repeat (4) { update; stop when update.moved >= 0.5 }
    }
    show
}
G
rm -rf early
"$gmlrun" train early.gml --device cpu --log-every 1 -q --out early >/dev/null 2>log || { cat log; exit 1; }
grep -q '"show.w": 3}, "steps": 6,' early/metrics.jsonl || { echo "when and stop when: $(cat early/metrics.jsonl)"; exit 1; }
# A round of 1 + 20 steps, `stop when` inside, is one launch; so is the evaluation behind the rounds.
rm -rf many
"$gmlrun" train "$GML_SOURCE/models/ppo_cartpole.gml" --device cpu -q --out many --set rounds=3 --steps-per-launch 21 --audit >/dev/null 2>log || { cat log; exit 1; }
grep -q '"launches_per_step": 0.0625,' many/metrics.jsonl || { echo "4 launches of 64 steps: $(tail -1 many/metrics.jsonl)"; exit 1; }
