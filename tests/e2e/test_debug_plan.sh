#!/bin/sh
# --debug-plan where rows are written in place: put, put_add and put_max on states, locals, carries of scans and with gradients give the numbers that they give without, with and without groups
. "$GML_SOURCE/tests/e2e/common.sh"
cat >rows.gml <<'M'
gml 1
import nn
import opt
state ring: (o: f32[5], a: i32, flag: bool)[40, 6] = 0
state head: i32 = 0
state sums: f32[300, 7] = 0
state tops: f32[300] = -9
state best: i32[64] = 0
layer Net{} {
    param w: f32[30, 8] ~ nn.normal(30, 8)
    fn () {
        let i = rand.int([12], 30)
        let x = w
        x[i] = 0.5 * tanh(w[i])
        x[3:7, 2] = 0.25
        let y = put_add(x, i, w[i] ^ 2)
        let z = put_max(y, i, w[i] * 3)
        return mean(z ^ 2) + mean(put(z, i, zeros([12, 8])))
    }
}
let net = Net{}
phase train {
    let i = rand.int([9], 300)
    let j = where(rand.bernoulli([9], 0.3), -1, i)
    next ring[head] = (o = rand.normal([6, 5]), a = rand.int([6], 4), flag = rand.bernoulli([6], 0.5))
    next head = (head + 1) % 40
    next sums = put_add(sums, j, rand.normal([9, 7]))
    next tops = put_max(tops, j, rand.normal([9]))
    let r = scan (t in 0..5; c = zeros([20, 3])) {
        next best[rand.int([3], 64)] = t
        next c = put(c, rand.int([4], 20), rand.normal([4, 3]) + f32(t))
        yield top = max(c)
    }
    let s = scan (x in expand(tops[_, :4], [6, 4]); c = zeros([4])) { # six parts that lie at one place
        next c = sin(c + x)
    }
    minimize loss = net() over net using opt.adam{0.01}
    metric ring = mean(ring.o) + mean(f32(ring.a)) + mean(f32(ring.flag)) using last
    metric sums = sum(sums ^ 2) using last
    metric tops = sum(tops) using last
    metric best = f32(sum(best)) using last
    metric top = sum(r.top) + sum(r.c) + sum(s.c) using last
}
run { train for 100 steps }
M
# same MODEL OPTIONS..: every line of the run, and the weights, are those without --debug-plan
same() {
    model=$1
    shift
    rm -rf plain poisoned
    exits 0 "" "$bin/gmlrun" train "$model" --device cpu --threads 2 -q --log-every 1 --out plain "$@"
    exits 0 "" "$bin/gmlrun" train "$model" --device cpu --threads 2 -q --log-every 1 --out poisoned "$@" --debug-plan
    for folder in plain poisoned; do
        sed 's/"seconds": [0-9.]*//; s/"time": [^,]*//' $folder/metrics.jsonl >$folder.lines
    done
    [ "$(wc -l <plain.lines)" -gt 10 ] || fail "nothing to compare: $(cat plain.lines)"
    cmp plain.lines poisoned.lines || fail "$model $*: other numbers with --debug-plan"
    cat plain/weights*.safetensors >plain.weights
    cat poisoned/weights*.safetensors >poisoned.weights
    cmp plain.weights poisoned.weights || fail "$model $*: other weights with --debug-plan"
}
same rows.gml
same rows.gml --no-fuse
same rows.gml --replicas 2
same "$GML_SOURCE/models/dqn_cartpole.gml" --steps 12 --set H=16
exit $bad
