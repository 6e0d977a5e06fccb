gml 1
## The twin of tools/make_golden_silu.py: same weights, same order, same optimizer; losses agree step by step.
import nn
import opt

config B: dim = 128
config lr     = 1e-3

layer Net{widths: int[], classes: dim}(x: f32[..S, I]) -> f32[..S, classes] {
    let h = x
    for (w in widths) as fc {
        h = h |> lin: nn.Linear{w} |> silu
    }
    return h |> head: nn.Linear{classes}
}
data digits = "../../models/data/digits.npz" {
    split = field("split")
    x: f32[64] = field("images") / 16
    y: i32     = field("labels")
}
let net = Net{[48, 32], classes = 10}

phase train on digits{split = "train", batch = B} as d {
    minimize loss = mean(xent(net(d.x), d.y)) over net
        using opt.adamw{lr = opt.cosine(lr, warmup = 20), decay = 0.01}
}
run {
    train for 100 steps
}
