gml 1
## The twin of tools/make_golden_predict.py: a convolution, attention over its rows, layer norm, GELU. Same weights, same
## probabilities.
import nn

layer Net{C: dim, D: dim, classes: dim}(x: f32[N, 8, 8]) -> f32[N, classes] {
    param k: f32[3, 3, 1, C] = 0.3 * rand.normal([3, 3, 1, C])
    param kb: f32[C] = 0
    let h = relu(conv2d(x[:, :, :, _], k, pad = 1) + kb)
    let t = reshape(h, [N, 8, 8 * C]) |> embed: nn.Linear{D} |> norm: nn.LayerNorm{}
    let q = t |> q: nn.Linear{D}
    let a = t + (attention(q, t |> k: nn.Linear{D}, t |> v: nn.Linear{D}) |> o: nn.Linear{D})
    let m = a + (a |> up: nn.Linear{2 * D} |> gelu |> down: nn.Linear{D})
    return mean(m, axis = 1) |> head: nn.Linear{classes}
}
data digits = "../../models/data/digits.npz" {
    split = field("split")
    x: f32[8, 8] = field("images") / 16
}
let net = Net{C = 4, D = 16, classes = 10}

phase predict on digits{split = "test", batch = 100} as d {
    output probs = softmax(net(d.x))
}
