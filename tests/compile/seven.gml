gml 1
# Seven planted errors of different kinds; the compiler reports these seven and nothing else (seven.txt).
import nn
import opt

config B: dim = 32
config learning_rate = 1e-3

layer Encoder{hidden: dim}(x: f32[..S, I]) -> f32[..S, hidden] {
    param w: f32[hidden, I] ~ nn.kaiming(I, hidden)
    return relu(x @ w)                                        # 1: inner dimensions
}
layer Classifier{hidden: dim, classes: dim}(x: f32[..S, I]) -> f32[..S, classes] {
    return x |> lin: nn.Linear{hidden} |> relu |> head: nn.Linear{classes}
}
layer Shift(x: f32[..S, C]) -> f32[..S, C] {
    return x + iota(C)                                        # 2: element types
}
data digits = "digits.npz" {
    split = field("split")
    x: f32[64]  = field("images") / 16
    label: i32  = field("labels")
}
let encoder = Encoder{16}
let other = Classifier{hiden = 16, classes = 10}              # 3: unknown brace parameter
let net = Classifier{16, 10}
let shift = Shift{}

phase train on digits{split = "train", batch = B, shuffle = true} as d {
    let h = encoder(d.x)
    let moved = shift(d.x)
    let z = net(d.x)
    let rate = learning_rat * 2                               # 4: unknown name
    if (mean(z) > 0) {                                        # 5: condition known only when the model runs
        let factor = 2
    }
    minimize loss = xent(z, d.label) over net using opt.sgd{rate}    # 6: a loss for each row
    metric acc = mean(argmax(other(moved + h)) == d.label)    # follows from 1, 2 and 3: silent
}
phase eval on digits{split = "test", batch = 500} as d {
    metric acc = mean(argmax(net(d.x)) == d.labels)           # 7: unknown field
}
run {
    repeat (3) {
        train for 1 epoch
        eval
        save best eval.acc
    }
}
