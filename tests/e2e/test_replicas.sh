#!/bin/sh
# --replicas: each is the run it would be by itself, with seed S + r and its own live values, to the bit of its weights; what
# stops, what is saved, what is refused.
. "$(dirname "$0")/common.sh"
models=$(cd "$(dirname "$0")/../../models" && pwd)
# same MODEL SEEDS "VALUES OF SET" ARGUMENTS..: R replicas and R single runs
same() {
    model=$1 seeds=$2 name=$3 values=$4
    shift 4
    rm -rf all one
    list=$(echo "$values" | tr ' ' ,)
    r=$(echo "$seeds" | wc -w)
    "$bin/gmlrun" train "$model" --device cpu -q --log-every 1 --seed "${seeds%% *}" --replicas "$r" ${name:+--set "$name=$list"} \
        --out all "$@" >log 2>&1 || { fail "$model: $(cat log)"; return; }
    k=0
    for seed in $seeds; do
        value=$(echo "$values" | cut -d' ' -f$((k + 1)))
        rm -rf one
        "$bin/gmlrun" train "$model" --device cpu -q --log-every 1 --seed "$seed" ${name:+--set "$name=$value"} --out one "$@" \
            >log 2>&1 || { fail "$model, seed $seed: $(cat log)"; return; }
        for f in $(cd one && find . -name '*.safetensors'); do
            cmp "one/$f" "all/${f%.safetensors}.$k.safetensors" || fail "$model: replica $k, $f"
        done
        # every number that the run alone has stands in the same line of all, as element k of its list
        "$bin/gmlrun" inspect one --json >/dev/null || fail "inspect"
        lines one/metrics.jsonl 1 >want
        lines all/metrics.jsonl $((k + 1)) >got
        cmp want got || fail "$model: metrics of replica $k: $(diff want got | head -4)"
        k=$((k + 1))
    done
    [ -f "all/weights.$r.safetensors" ] && fail "more replicas than asked for"
}
# lines FILE K: the numbers of each line's metrics, of lists the K-th
lines() {
    sed 's/.*"metrics": {//; s/}.*//' "$1" | awk -v k="$2" '{
        while (match($0, /"[^"]*": (\[[^]]*\]|[^,]*)/)) {
            m = substr($0, RSTART, RLENGTH)
            $0 = substr($0, RSTART + RLENGTH)
            name = m; sub(/: .*/, "", name)
            value = m; sub(/^"[^"]*": /, "", value)
            if (value ~ /^\[/) { gsub(/[][]/, "", value); split(value, v, ", "); value = v[k] }
            print name, value
        }
    }'
}
# dropout, shuffled rows, a schedule over a live rate, evaluation over rows in order
same "$models/digits.gml" "5 6 7" lr "1e-3 3e-2 1e-4" --steps 12
# rings, tables of their own, draws from them, a copy of the network that follows it; gradients through scans
same "$models/dqn_cartpole.gml" "1 2" "" "" --steps 12
same "$models/lstm_text.gml" "3 4" "" "" --steps 2

cat >stop.gml <<'G'
gml 1
import nn
import opt
config lr   = 0.05
config keep = 0.9
layer Line{}(x: f32[N, 3]) -> f32[N] {
    return x |> lin: nn.Linear{1} |> flatten(0, 1)
}
let net = Line{}
state seen: f32[4, 3] = 0
state head: i32 = 0
phase train {
    let x    = rand.normal([8, 3])
    let hit  = rand.bernoulli([8], keep)
    let t    = x[:, 0] - 2.0 * x[:, 1] + 0.5
    let far  = sum(abs(seen[rand.int([2], head + 1)]))
    let loss = mean(select(hit, (net(x) - t) * (net(x) - t), zeros([8])))
    minimize fit = loss over net using opt.adam{lr}
    metric error = loss using last
    metric root = sqrt(train.error)
    metric far = far using last
    next seen[head] = x[0]
    next head = (head + 1) % 4
}
run {
    repeat (40) {
        train
        stop when train.error < 0.3
        every 3 train {
            save best -train.error
        }
    }
    save "end"
}
G
# replicas that stopped keep what they stopped with while the others go on
rm -rf all
"$bin/gmlrun" train stop.gml --device cpu -q --replicas 4 --set keep=0.9,1,0.8,0.9 --debug-plan --out all >log 2>&1 || fail "$(cat log)"
k=0
for keep in 0.9 1 0.8 0.9; do
    rm -rf one
    "$bin/gmlrun" train stop.gml --device cpu -q --seed $((k + 1)) --set keep=$keep --out one >log 2>&1 || fail "$(cat log)"
    grep -o '^[0-9]* steps' log >>steps
    for f in weights ckpt/end ckpt/best; do
        [ ! -f one/$f.safetensors ] || cmp one/$f.safetensors all/$f.$k.safetensors || fail "stopped replica $k: $f"
    done
    for m in error root far; do
        grep "^train.$m " log | awk '{print $2}' >>want.$m
    done
    k=$((k + 1))
done
[ "$(sort -u steps | wc -l)" -gt 1 ] || fail "all stopped at the same step: $(cat steps)"
tail -1 all/metrics.jsonl >last
for m in error root; do
    sed "s/.*\"train.$m\": \[\([^]]*\)\].*/\1/" last | tr -d ' ' | tr , '\n' | xargs -n1 printf '%.5g\n' >got
    xargs -n1 printf '%.5g\n' <want.$m | cmp - got || fail "last $m: $(cat want.$m) and $(cat got)"
done
grep -q '"replicas": 4' all/run.json || fail "run.json has no replicas"
# eight replicas have the launches of one, but for the one that packs their gradients, and numbers that one replica computes in passing
launches() {
    "$bin/gmlrun" dump "$models/digits.gml" --stage plan "$@" | sed -n '/"phase": "train"/,/"phase": "eval"/p' | grep -c '"part"'
}
one=$(launches) eight=$(launches --replicas 8)
[ "$eight" -gt 0 ] && [ "$eight" -le $((one + 3)) ] || fail "$eight launches for eight replicas, $one for one"
# a file of one replica is a file of weights like any other
exits 0 eval.acc "$bin/gmlrun" train "$models/digits.gml" --device cpu -q --replicas 2 --steps 11 --out d
exits 0 eval.acc "$bin/gmlrun" eval "$models/digits.gml" --device cpu --weights d/weights.1.safetensors
# the same from a compiled graph
"$bin/gmlc" stop.gml -o stop.gmlb || fail "gmlc"
rm -rf b
exits 0 train.fit "$bin/gmlrun" train stop.gmlb --device cpu -q --replicas 4 --set keep=0.9,1,0.8,0.9 --out b
cmp b/weights.2.safetensors all/weights.2.safetensors || fail "a compiled graph gives other weights"
# one replica with an index out of range, in words of its own table
cat >far.gml <<'G'
gml 1
state table: f32[5] = 1
config at = 2
phase p {
    metric x = table[at + 0 * p.step] using last
    next table = table + 1
}
run { p }
G
exits 0 p.x "$bin/gmlrun" train far.gml --device cpu -q --replicas 2 --set at=2,-1 --out f1
exits 3 'index 7 is out of range: the axis has 5 entries' "$bin/gmlrun" train far.gml --device cpu -q --replicas 2 --set at=7,2 --out f2
exits 3 'index -4 is out of range: the axis has 5 entries' "$bin/gmlrun" train far.gml --device cpu -q --replicas 2 --set at=2,-4 --out f3
exits 2 'takes 1 .. 256' "$bin/gmlrun" train stop.gml --replicas 0 --out x
exits 2 'has 2 values for 1 replica' "$bin/gmlrun" train stop.gml --set lr=1,2 --out x
exits 2 'has 2 values for 3 replicas' "$bin/gmlrun" train stop.gml --replicas 3 --set lr=1,2 --out x
exits 2 'cannot differ between replicas: it decides a size' "$bin/gmlrun" train "$models/digits.gml" --replicas 2 --set B=8,16 --out x
exits 2 'it decides what is compiled' "$bin/gmlrun" train "$models/digits.gml" --replicas 2 --set 'widths=[8],[9]' --out x
exits 2 '`fast` is no value for `lr`' "$bin/gmlrun" train stop.gml --replicas 2 --set lr=1,fast --out x
exits 2 'is no option of' "$bin/gmlrun" eval stop.gml --replicas 2
exit $bad
