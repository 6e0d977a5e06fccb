gml 1
## Every construct once; statements.ast is its tree.

import nn
import lib.util as u
import "other/helper.gml"
import "x.gml" as x
## Rows of a batch,
## bound at load.
config B: dim = 1_000
config widths: int[] = [256, 128]; config lr = 1e-3
layer Plain{H: dim, drop = 0.1,} { state n: i32 = 0 }
layer Entry(x: f32[..S, I], y: f32[.., _] = none) -> f32[..S] { return x }
layer Both{
    ## width
    H: dim
}(x: (a: f32[2], b: i32)) -> (a: f32[2], b: i32) {
    param w: f32[I, H] ~ kaiming(I) tag no_decay, tied
    param b: f32[H] = 0
    state v: nn.tree ~ rand.normal()
    state s = 0
    fn (x) = x
    fn push(x, n: int = 3) -> f32 { return x |> f }
    next v = lerp(v, x, 0.5)
    next buf[head, ..] = x
    for (i in 0..3, w in widths, axis = 1) as fc { h = h + w }
    for (l in layers) { l(x) }
    if (drop > 0) { y = 1 } else if (drop == 0) { y = 2 } else { y = 3 }
    let (a, b) = split(x, 2)
    let c: f32[2] = if a < b and not b >= c or a != 1 then a else -b^2^c
    let r = scan (xt in x, t in 0..T, reverse = true; h = h0, g = 1) {
        next h = xt
        yield y = h, z = t
    }
    scan (e in env) { e.step() }
    let z = x |> lin: nn.Linear{4 * H, bias = none}(c) |> relu
    let m = x[1, -1, :, 1:, :n, 1:n:2, .., _] @ w // 3 % 2
    let rec = (a = 1, b = "two\n\"\\", c = true)
    let ty = (a: f32, b: i32[3])
    let li = [1, 2.5, []]
    x[i] = false
    r.next = r.in
    assert x == y
    metric loss = mean(x) using sum
    output p = x, q = y
    return (x)
}
data d = "d.npz" {
    split = (train = 0.8)
    ## pixels
    x: f32[64] = field("x") / 16
}
data e { y: i32 = bytes() }
fn twice(x) = 2 * x
let net = Both{3}[4]
state shared: i32 = 0
phase train on d{split = "train", batch = B} as d {
    minimize loss = mean(net(d.x)) over net, head using opt.sgd{lr} when kl < 0.1
    metric acc = mean(x)
}
phase roll { minimize l = x over net using opt.sgd{0.1} }
run {
    train
    train for 3 steps
    repeat (10) { train for 1 epoch; every 2 rounds { save } }
    save "final"
    save best -eval.loss
    stop when train.loss < 0.1
}
