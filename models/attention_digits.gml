gml 1
## Digits with a small transformer: the eight rows of a picture are the tokens.
import nn
import opt

config B: dim = 128
config D      = 64                               # width of a token
config depth  = 2
config heads  = 4
config drop   = 0.1
config lr     = 2e-3
config epochs = 40

layer Rows{D: dim, depth: int, heads: int, classes: dim, drop = 0.1}(x: f32[B, T, I]) -> f32[B, classes] {
    let h = x |> inp: nn.Linear{D} |> pos: nn.Positions{T}
    for (n in 0..depth) as blocks {
        h = h |> block: nn.TransformerBlock{heads, 2 * D, drop = drop}
    }
    return mean(h |> norm: nn.LayerNorm{}, axis = 1) |> head: nn.Linear{classes}
}
data digits = "data/digits.npz" {
    split = field("split")
    x: f32[8, 8] = field("images") / 16
    y: i32       = field("labels")
}
let net = Rows{D, depth, heads, classes = 10, drop}

phase train on digits{split = "train", batch = B, shuffle = true} as d {
    let z = net(d.x)
    minimize loss = mean(xent(z, d.y)) over net
        using opt.adamw{lr = opt.cosine(lr, warmup = 40), decay = 0.02, clip = 1.0}
    metric acc = nn.accuracy(z, d.y)
}
phase eval on digits{split = "test", batch = 500} as d {
    metric acc = nn.accuracy(net(d.x), d.y)
}
run {
    repeat (epochs) {
        train for 1 epoch
        eval
        save best eval.acc
    }
}
