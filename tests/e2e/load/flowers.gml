gml 1
import nn
import opt

config B: dim = 4

data flowers = "flowers.csv" {
    split = field("part")
    x: f32[2] = columns("length", "width")
    y: i32    = field("kind")
}
let net = nn.Linear{3}

phase train on flowers{split = "train", batch = B} as d {
    minimize loss = mean(xent(net(d.x), d.y)) over net using opt.sgd{0.1}
}
phase eval on flowers{split = "test", batch = 4} as d {
    metric acc = nn.accuracy(net(d.x), d.y)
}
phase predict on flowers{batch = 4} as d {
    output kind = argmax(net(d.x))
}
run {
    train for 1 epoch
    eval
}
