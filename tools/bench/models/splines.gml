gml 1
## Benchmark: a Kolmogorov-Arnold network, one training step on rows that lie on the device. 64 - 64 - 64 - 10, grid 8, degree 3,
## cross entropy, AdamW; splines composed of operators.
import kan
import opt
config B: dim = 1024

let net = kan.KAN{[64, 64, 64, 10], 8, 3}
state x: f32[B, 64] = rand.uniform([B, 64], -1, 1)
state y: i32[B]     = rand.int([B], 10)

phase train {
    minimize loss = mean(xent(net(x), y)) over net using opt.adamw{lr = 1e-3, decay = 0.01}
}
run { train for 1000 steps }
