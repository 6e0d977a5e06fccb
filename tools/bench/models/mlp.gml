gml 1
## Benchmark: a small network, one training step on rows that lie on the device. 64 - 256 - 256 - 256 - 10, SiLU, cross entropy, AdamW.
import nn
import opt
config B: dim = 1024

let net = nn.MLP{[256, 256, 256], 10, act = silu}
state x: f32[B, 64] = rand.normal([B, 64])
state y: i32[B]     = rand.int([B], 10)

phase train {
    minimize loss = mean(xent(net(x), y)) over net using opt.adamw{lr = 1e-3, decay = 0.01}
}
run { train for 1000 steps }
