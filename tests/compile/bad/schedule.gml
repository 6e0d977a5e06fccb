gml 1
## Schedules as people write them first.
import nn
import opt
config rounds = 3
config rate = 0.5
let net = nn.Linear{1}
data d = "d.csv" { x: f32[2] = columns("a", "b"); y: f32 = field("y") }
phase train on d{batch = 4, shuffle = true} as r {
    minimize loss = nn.mse(net(r.x)[:, 0], r.y) over net using opt.sgd{0.1}
}
phase eval on d{batch = 4} as r { metric loss = nn.mse(net(r.x)[:, 0], r.y) }
phase act { output y = net(ones([1, 2])) }
run {
    train for rounds
    train for 3 epoch steps
    train for 0 steps
    train for -1 epochs
    act for 2 epochs
    eval for 2 epochs
    repeat 3 { train }
    repeat (rate) { train }
    repeat (eval.loss) { train }
    let x = eval.loss
    save best train
    save eval.loss
    save best eval.loss > 1
    repeat (2) { stop when loss > 1 }
    repeat (2) { stop eval.loss > 1 }
    repeat (2) { every 2 epochs { eval } }
    repeat (2) { every 2 train eval }
    repeat (2) { stop when net > 1 }
    output x = eval.loss
    trainn
}
