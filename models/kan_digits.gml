gml 1
## Digits with a Kolmogorov-Arnold network: learned functions on the edges, whose knots follow the data early in the run.
import kan
import opt

config B: dim = 64
config widths = [64, 32, 10]
config G      = 5                                # intervals of a spline
config k      = 3                                # its degree
config lr     = 2e-3
config l1     = 0.0                              # weight of the sparsity penalty
config epochs = 40

data digits = "data/digits.npz" {
    split = field("split")
    x: f32[64] = field("images") / 8 - 1
    y: i32     = field("labels")
}
let net = kan.KAN{widths, G, k}

phase train on digits{split = "train", batch = B, shuffle = true} as d {
    let z = net(d.x)
    minimize loss = mean(xent(z, d.y)) + l1 * net.penalty() over net
        using opt.adamw{lr = opt.cosine(lr, warmup = 20), decay = 1e-4}
    metric outside = net.layers[0].outside(d.x) using last
}
phase refit on digits{split = "train", batch = 512, shuffle = true} as d {
    net.refit(d.x)
}
phase eval on digits{split = "test", batch = 500} as d {
    metric acc = mean(argmax(net(d.x)) == d.y)
}
run {
    repeat (4) {                                 # a few early moves of the knots, then they stay
        train for 10 steps
        refit for 1 step
    }
    repeat (epochs) {
        train for 1 epoch
        eval
        save best eval.acc
    }
}
