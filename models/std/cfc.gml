gml 1
## Closed-form continuous-time networks. Hasani et al. 2022, https://doi.org/10.1038/s42256-022-00556-7; numerics as in its
## reference implementation for PyTorch (ncps).
import nn

## 0.666, not 2/3: the constant of the reference.
fn lecun_tanh(x) = 1.7159 * tanh(0.666 * x)

## x @ (w * mask) + b; mask: a constant [I, O] of 0 and 1, or 1 for all.
layer Masked{O: dim, mask}(x: f32[..S, I]) -> f32[..S, O] {
    param w: f32[I, O] ~ nn.xavier(I, O)
    param b: f32[O]    ~ nn.fan_in(I, O)  tag no_decay
    return x @ (w * mask) + b
}
## One step after the time dt. mode: "default" mixes two heads by a gate that depends on time, "no_gate" adds them, "pure" is the
## closed form itself.
layer Cell{H: dim, units: dim = 128, depth: int = 1, mode = "default", act = lecun_tanh, mask = 1.0}(x: f32[B, I], h: f32[B, H], dt: f32[B, 1]) -> f32[B, H] {
    let z = concat(x, h)
    for (n in 0..depth) as bb { z = z |> lin: nn.Linear{units, init = nn.xavier} |> act }
    let f1 = z |> ff1: Masked{H, mask}
    if (mode == "pure") {
        param a: f32[1, H]   ~ nn.xavier(1, H)
        param tau: f32[1, H] ~ nn.xavier(1, H)
        return a - a * exp(-dt * (abs(tau) + abs(f1))) * f1
    }
    let f2 = z |> ff2: Masked{H, mask}
    let ta = z |> ta: nn.Linear{H, init = nn.xavier}
    let tb = z |> tb: nn.Linear{H, init = nn.xavier}
    let s  = sigmoid(ta * dt + tb)
    return if mode == "no_gate" then tanh(f1) + s * tanh(f2) else tanh(f1) * (1 - s) + s * tanh(f2)
}
## The memory of the mixed form: an LSTM step whose forget gate leans on keeping.
layer Memory{H: dim}(x: f32[B, I], s: (h: f32[B, H], c: f32[B, H])) -> (h: f32[B, H], c: f32[B, H]) {
    param w: f32[I, 4 * H] ~ nn.xavier(I, 4 * H)
    param b: f32[4 * H]    ~ nn.uniform(4 * H, 4 * H, 0.1)  tag no_decay
    param r: f32[H, 4 * H] ~ nn.orthogonal(H, 4 * H)
    let (i, ig, fg, og) = split(x @ w + b + s.h @ r, 4)
    let c = s.c * sigmoid(fg + 1) + tanh(i) * sigmoid(ig)
    return (h = tanh(c) * sigmoid(og), c = c)
}
## Over x: f32[B, T, I] with the time dt: f32[B, T, 1] that each input took, from s: rows where `mask` is false leave the state.
## Returns y: f32[B, T, H] and the state s = (h, c).
layer CfC{H: dim, units: dim = 128, depth: int = 1, mode = "default", mixed = false, act = lecun_tanh}(x: f32[B, T, I], dt: f32[B, T, 1], s = none, mask: bool[B, T] = none) {
    let cell = Cell{H, units, depth, mode, act}
    let mem  = Memory{H}
    let first = if s == none then (h = zeros([B, H]), c = zeros([B, H])) else s
    let r = scan (xt in x, dtt in dt, mt in mask, axis = 1; s = first) {
        let u = if mixed then mem(xt, s) else s
        let v = (h = cell(xt, u.h, dtt), c = u.c)
        next s = if mask == none then v else select(mt, v, s)
        yield y = v.h
    }
    return (y = r.y, s = r.s)
}
