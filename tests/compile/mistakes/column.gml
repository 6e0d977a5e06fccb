gml 1
import nn
import opt
config B: dim = 32
config lr = 1e-3
layer Net{}(x: f32[N, I]) {
    return x |> head: nn.Linear{1}
}
data houses = "houses.npz" {
    split = field("split")
    x: f32[8] = field("features")
    price: f32 = field("price")
}
let net = Net{}
phase train on houses{split = "train", batch = B} as d {
    minimize loss = nn.mse(net(d.x), d.price) over net using opt.adamw{lr}
}
run { train for 3 epochs }
