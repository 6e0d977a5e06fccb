gml 1
import nn
import opt
config B: dim = 8
data d = "d.npz" {
    split = (train = 0.8, test = 0.2)
    x: f32[4] = field("x") / 16
    y: i32 = field("y")
}
layer Net{H = 8}(x: f32[B, I]) -> f32[B, 3] {
    return x |> a: nn.Linear{H} |> nn.relu |> b: nn.Linear{3}
}
let net = Net{}
phase train on d.train{batch = B, shuffle = true} as s {
    loss = nn.cross_entropy(net(s.x), s.y)
    minimize loss over net with opt.AdamW{lr = 0.01}
    metric loss = loss
}
phase test on d.test{batch = 4} as s { metric m = mean(net(s.x)) }
run { repeat { train for 1 epoch
 test } until epoch 2 }
