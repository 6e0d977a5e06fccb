gml 1
## A classifier of 8x8 pictures of digits: a small network with dropout, AdamW and a cosine schedule.
import nn
import opt

config B: dim = 128
config lr     = 1e-3                             # live: changes without a new plan
config widths = [256, 128]
config epochs = 60

layer MLP{widths: int[], classes: dim, drop = 0.1}(x: f32[..S, I]) -> f32[..S, classes] {
    let h = x
    for (w in widths) as fc {                    # unrolled; scopes fc.0, fc.1
        h = h |> lin: nn.Linear{w} |> relu |> nn.dropout{drop}
    }
    return h |> head: nn.Linear{classes}
}

data digits = "data/digits.npz" {                # types of one sample; the phase adds the batch dimension
    split = field("split")
    x: f32[64] = field("images") / 16
    y: i32     = field("labels")
}

let net = MLP{widths, classes = 10}              # owns net.fc.0.lin.w, ... net.head.b

phase train on digits{split = "train", batch = B, shuffle = true} as d {
    let logits = net(d.x)
    minimize loss = mean(xent(logits, d.y)) over net
        using opt.adamw{lr = opt.cosine(lr, warmup = 20), decay = 0.01}
    metric acc = mean(argmax(logits) == d.y)
}
phase eval on digits{split = "test", batch = 500} as d {
    metric acc = mean(argmax(net(d.x)) == d.y)
}
phase predict on digits{split = "test", batch = 500} as d {
    let logits = net(d.x)
    output probs = softmax(logits), label = argmax(logits)
}
run {
    repeat (epochs) {
        train for 1 epoch
        eval
        save best eval.acc
    }
}
