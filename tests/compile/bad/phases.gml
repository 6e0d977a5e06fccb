gml 1
import nn
import opt
config B: dim = 32
data digits = "digits.npz" {
    split = (train = 0.8, test = 0.2)
    x: f32[64] = field("images") / 16
    y: i32 = field("labels") + 0.5
    z: f32[2] = zeros([2])
    normalize = true
}
let net = nn.Linear{10}
phase train on digits{split = "trian", batch = B} as d {
    let z = net(d.x)
    minimize loss = mean(z) over net using opt.sgd
    minimize again = mean(z) over net using opt.sgd{0.1}
    minimize third = mean(z) over B using opt.sgd{0.1}
    metric m = z
    metric m2 = mean(z) using average
    metric loss2 = mean(z)
    metric loss2 = sum(z)
}
phase eval on digits{split = "test", bach = 10} as d {
    metric acc = mean(net(d.x))
}
phase lanes on digits{split = "test", batch = 10, lanes = true, shuffle = true} as d {
    metric acc = mean(net(d.x))
}
run {
    trian for 1 epoch
    train for 1 epochh
    repeat (1.5) { train for 2 steps }
    every 3 train { eval }
    save best eval.ac
    stop when eval.acc > 1
}
