gml 1
## Benchmark: products that fill the chip, one training step on rows that lie on the device. Four layers of 4096, ReLU between, MSE,
## AdamW. Meant for --precision bf16.
import nn
import opt
config B: dim = 8192
config D = 4096

let net = nn.MLP{[D, D, D], D}
state x: f32[B, D] = rand.normal([B, D])
state y: f32[B, D] = rand.normal([B, D])

phase train {
    minimize loss = nn.mse(net(x), y) over net using opt.adamw{lr = 1e-4, decay = 0.01}
}
run { train for 200 steps }
