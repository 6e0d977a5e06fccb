gml 1
## Mamba-2 language model: ssd_scan is an operator, everything around it is text.
import nn
import opt

config B: dim   = 16
config T: dim   = 256
config D        = 64
config layers   = 2
config N        = 64
config P        = 32
config G        = 1
config V        = 256
config lr       = 1e-3

## o = w * rsqrt(mean over the group of w^2) * gamma, w = y silu(z), in groups of E / groups channels
layer GatedNorm{groups: int, eps = 1e-5}(y: f32[..S, E], z: f32[..S, E]) -> f32[..S, E] {
    param g: f32[E] = 1  tag no_decay
    let w = unflatten(y * silu(z), -1, [groups, E / groups])
    return flatten(w * rsqrt(mean(w^2, axis = -1, keep = true) + eps), -2, -1) * g
}
fn dt_bias(shape) {                                          # inverse softplus of a log-uniform draw in [1e-3, 1e-1]
    let dt = max(exp(rand.uniform(shape, log(1e-3), log(1e-1))), 1e-4)
    return dt + log(-expm1(-dt))
}
layer Mixer{N: dim, P: dim, G: int = 1, K: int = 4, grow: int = 2, depth: int = 1, lo = 0.0, hi = inf}(u: f32[B, T, D], carry: bool = false) -> f32[B, T, D] {
    let E = grow * D
    let H = E / P
    let C = E + 2 * G * N
    fn scaled(shape, i, o) = nn.fan_in(shape, i, o) / sqrt(depth)
    param dtb:   f32[H] ~ dt_bias()                         tag no_decay
    param a_log: f32[H] = log(rand.uniform([H], 1, 16))     tag no_decay
    param skip:  f32[H] = 1                                 tag no_decay

    let (z, xbc, dtr) = split(u |> in_proj: nn.Linear{E + C + H, bias = none}, [E, C, H])
    let (x, bm, cm)   = split(xbc |> conv: nn.CausalConv{K}(carry), [E, G * N, G * N])
    let xh = unflatten(x, -1, [H, P])
    let dt = clamp(softplus(dtr + dtb), lo, hi)
    let s0 = none
    if (carry) {
        state ssm: f32[B, H, P, N] = 0                       # exists only where `carry` is used: training allocates nothing
        s0 = ssm
    }
    let r = ssd_scan(xh, dt, -exp(a_log), unflatten(bm, -1, [G, N]), unflatten(cm, -1, [G, N]), s0)
    if (carry) { next ssm = r.s }
    let y = flatten(r.y + skip[:, _] * xh, -2, -1)
    return y |> norm: GatedNorm{G}(z) |> out_proj: nn.Linear{D, init = scaled, bias = none}
}
layer Block{N: dim, P: dim, G: int, depth: int}(x: f32[B, T, D], carry: bool = false) -> f32[B, T, D] {
    return x + (x |> norm: nn.RMSNorm{} |> mixer: Mixer{N, P, G, depth = depth}(carry))
}
layer LM{V: dim, D: dim, layers: int, N: dim, P: dim, G: int}(ids: i32[B, T], carry: bool = false) -> f32[B, T, V] {
    fn init(shape, i, o) = 0.02 * rand.normal(shape)
    let emb    = nn.Embedding{V, D, init}
    let blocks = Block{N, P, G, layers}[layers]              # an array of instances: blocks.0.norm.g ...
    let x = emb(ids)
    for (b in blocks) { x = b(x, carry) }                    # or: scan (b in blocks; x = x) { next x = b(x, carry) }, one body, stacked weights
    return x |> norm: nn.RMSNorm{} |> emb.logits
}
data text = "data/tinyshakespeare.txt" {
    split = (train = 0.9, val = 0.1)
    ids: i32[T + 1] = window(bytes(), T + 1, stride = T)
}
data prompt = "prompt.txt" {
    ids: i32[64] = window(bytes(), 64)
}
let net = LM{V, D, layers, N, P, G}

phase train on text{split = "train", batch = B, shuffle = true} as d {
    let z = net(d.ids[:, :-1])
    minimize loss = mean(xent(z, d.ids[:, 1:])) over net using opt.adamw{lr = opt.cosine(lr, warmup = 100), b2 = 0.95, decay = 0.1, clip = 1.0}
}
phase eval on text{split = "val", batch = B} as d {
    metric nll = mean(xent(net(d.ids[:, :-1]), d.ids[:, 1:]))
    metric ppl = exp(eval.nll)
}
state tok: i32[1] = 10
phase read on prompt{batch = 1} as d {                       # the prompt in one launch: the chunked scan fills the state
    let z = net(d.ids, carry = true)
    next tok = rand.categorical(z[:, -1])
}
phase write {                                                # one token a launch; T = 1 through the same layers
    let z = net(tok[:, _], carry = true)[:, 0]
    next tok = rand.categorical(z / 0.8)
    output byte = tok
}
run {
    repeat (20) {
        train for 1 epoch
        eval
        save best -eval.nll
    }
    read
    write for 500 steps
}
