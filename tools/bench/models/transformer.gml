gml 1
## Benchmark: a small transformer, one training step on rows that lie on the device. 40 inputs at 128 places, width 64, 4 layers of 4
## heads with a feed-forward part of 256, one label a row, AdamW; attention composed of operators.
import nn
import opt
config B: dim = 64
config D: dim = 64
config depth  = 4
config heads  = 4

layer Net{D: dim, depth: int, heads: int, classes: dim}(x: f32[B, T, I]) -> f32[B, classes] {
    let h = x |> inp: nn.Linear{D} |> pos: nn.Positions{T}
    for (n in 0..depth) as blocks {
        h = h |> block: nn.TransformerBlock{heads, 4 * D}
    }
    return mean(h |> norm: nn.LayerNorm{}, axis = 1) |> head: nn.Linear{classes}
}
let net = Net{D, depth, heads, classes = 3}
state x: f32[B, 128, 40] = rand.normal([B, 128, 40])
state y: i32[B]          = rand.int([B], 3)

phase train {
    minimize loss = mean(xent(net(x), y)) over net using opt.adamw{lr = 1e-3, decay = 0.01}
}
run { train for 1000 steps }
