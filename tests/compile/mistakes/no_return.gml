gml 1
import nn
import opt
config B: dim = 32
config lr = 1e-3
layer Net{}(x: f32[N, I]) -> f32[N, 10] {
    let z = x |> head: nn.Linear{10}
}
data digits = "digits.npz" {
    split = field("split")
    x: f32[64] = field("images") / 16
    y: i32 = field("labels")
}
let net = Net{}
phase train on digits{split = "train", batch = B, shuffle = true} as d {
    minimize loss = mean(xent(net(d.x), d.y)) over net using opt.adamw{lr}
}
run { train for 3 epochs }
