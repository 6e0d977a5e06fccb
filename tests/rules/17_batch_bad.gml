gml 1
import nn
import opt
config B: dim = 32
data d = "d.npz" {
    split = (train = 0.5, test = 0.5)
    x: f32[64] = field("x")
    y: i32     = field("y")
}
let net = nn.Linear{10}
state carried: f32[B, 10] = 0
phase train on d{split = "train", batch = B} as d {
    let h = net(d.x) + carried
    next carried = h
    minimize loss = mean(xent(h, d.y)) over net using opt.sgd{0.1}
}
phase eval on d{split = "test", batch = B} as d {
    let h = net(d.x)
    output e1 = h + carried
    output e2 = h * ones([B])[:, _]
    output e3 = select(d.y > 3, h, carried)
    next carried = h
    output e4 = reshape(h, [B * 10])
    output e5 = transpose(h) @ carried
    output e6 = concat(h, carried)
    output e7 = same(h, carried)
    output e8 = h[iota(B)]
    output fine = h * ones([len(d.x)])[:, _]
}
fn same(x: f32[N, 10], y: f32[N, 10]) = x + y
