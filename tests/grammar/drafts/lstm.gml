gml 1
## LSTM forecaster with layer_norm, dropout and multi-head attention over the hidden states; gradients through the scan.
import nn
import opt

config B: dim = 64
config L      = 96
config H      = 64
config lr     = 1e-3

layer Forecaster{H: dim, n: int, drop = 0.1}(x: f32[B, T, F]) -> f32[B, T, F] {
    let h = (x |> rnn: nn.LSTM{H}).y |> norm: nn.LayerNorm{} |> drop: nn.dropout{drop}
    return h + (h |> attn: nn.MultiHead{n, causal = true}) |> head: nn.Linear{F}
}
data ett = "data/ETTh1.csv" {
    split = (train = 0.6, val = 0.2, test = 0.2)
    x: f32[L + 1, 7] = window(columns("HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"), L + 1) |> standardize
}
let net = Forecaster{H, 4}

phase train on ett{split = "train", batch = B, shuffle = true} as d {
    minimize loss = nn.mse(net(d.x[:, :-1]), d.x[:, 1:]) over net
        using opt.sgd{lr = opt.linear(lr, 0.0, f32(steps)), momentum = 0.9, nesterov = true, decay = 1e-4, clip = 1.0}
}
phase eval on ett{split = "val", batch = B} as d {
    metric mse = nn.mse(net(d.x[:, :-1]), d.x[:, 1:])
    metric mae = mean(abs(net(d.x[:, :-1]) - d.x[:, 1:]))
}
run {
    repeat (5) {
        train for 1 epoch
        eval
    }
    save
}
