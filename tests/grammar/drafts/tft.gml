gml 1
## Temporal Fusion Transformer (NVIDIA numerics, eps 1e-3). ETTh1: 7 channels = 7 series with a static id.
import nn
import opt

config B: dim   = 64
config H        = 64
config heads    = 4
config Te       = 168
config Td       = 24
config drop     = 0.1
config q        = [0.1, 0.5, 0.9]
config lr       = 1e-3

layer Gate{O: dim, drop = 0.0}(z: f32[..S, I], skip: f32[..S, O]) -> f32[..S, O] {        # LN(GLU(z) + skip)
    return (z |> nn.dropout{drop} |> glu: nn.GLU{O}) + skip |> norm: nn.LayerNorm{eps = 1e-3}
}
layer GRN{H: dim, O = none, drop = 0.0}(a: f32[..S, I], c: f32[..R, H] = none) {
    let o = if O == none then H else O
    let u = a |> lin1: nn.Linear{H}
    if (c != none) { u = u + (c |> lin3: nn.Linear{H, bias = none}) }                     # c comes with the rank of a, length 1 where it repeats
    let z    = u |> elu |> lin2: nn.Linear{H} |> nn.dropout{drop}
    let skip = if O == none then a else (a |> skip: nn.Linear{o})
    let y    = (z |> glu: nn.GLU{o}) + skip
    return if o == 1 then y else (y |> norm: nn.LayerNorm{eps = 1e-3})
}
## Variable selection over e[.., V, H]: V networks with own weights are an array of instances, applied by a scan without carry (a map)
layer VSN{V: int, H: dim, drop = 0.0}(e: f32[..S, V, H], c: f32[..R, H] = none) -> f32[..S, H] {
    let own = GRN{H, drop = drop}[V]
    let w   = softmax(flatten(e, -2, -1) |> joint: GRN{H, V}(c))                           # [.., V]
    let xi  = scan (ev in e, g in own, axis = -2) { yield x = g(ev) }
    return sum(w[.., _] * xi.x, axis = -2)
}
## x[.., n] reals and ids[.., m] categories -> [.., m + n, H]; categories first
layer Inputs{cards: int[], reals: int, H: dim}(ids: i32[..S, m] = none, x: f32[..S, n] = none) {
    let parts = []
    for (i in 0..len(cards)) as cat {
        let table = nn.Embedding{cards[i], H}
        parts = append(parts, table(ids[.., i])[.., _, :])
    }
    if (reals > 0) {
        param a: f32[reals, H] ~ nn.xavier_normal(H, reals)
        param c: f32[reals, H] = 0
        parts = append(parts, x[.., _] * a + c)
    }
    return concat(parts, axis = -2)
}
## Interpretable attention: n heads of queries and keys, one shared value head, the mean of the probabilities taken before V
layer Interpretable{n: int, drop = 0.0}(x: f32[B, T, H], rows: int, mask: bool[B, T] = none) {
    let d = H / n
    let k = x |> k: nn.Linear{H, bias = none} |> nn.heads(n)
    let q = x[:, -rows:] |> q: nn.Linear{H, bias = none} |> nn.heads(n)                     # only the rows that reach the loss
    let v = x |> v: nn.Linear{d, bias = none}
    let seen = iota(T)[_, :] <= (T - rows + iota(rows))[:, _]                               # [rows, T], causal with self
    let m = if mask == none then seen else seen[_, _, :, :] and mask[:, _, _, :]
    let p = mean(softmax(q @ transpose(k) / sqrt(d), mask = m), axis = 1)                   # [B, rows, T]; an empty row is 0
    return (y = p @ v |> o: nn.Linear{H, bias = none} |> nn.dropout{drop}, p = p)
}
layer TFT{H: dim, n: int, Te: int, Td: int, Q: dim, s_cards: int[], k_cards: int[], k_reals: int, o_reals: int, drop = 0.1}(
        s_cat: i32[B, ns], k_cat: i32[B, T, nk] = none, k: f32[B, T, kr] = none, o: f32[B, T, nr] = none, y: f32[B, T, 1], mask: bool[B, T] = none) {
    let es = s_cat |> static_in: Inputs{s_cards, 0, H}                      # [B, Vs, H]
    let ek = k_cat |> known: Inputs{k_cards, k_reals, H}(k)                 # [B, T, Vk, H]
    let ey = none |> target: Inputs{[], 1, H}(y)
    let eh = if o_reals > 0 then concat(none |> observed: Inputs{[], o_reals, H}(o), ek, ey, axis = -2) else concat(ek, ey, axis = -2)

    let sv = es |> static: VSN{len(s_cards), H, drop}
    let cs = (sv |> c_select: GRN{H, drop = drop})[:, _, :]
    let ce = (sv |> c_enrich: GRN{H, drop = drop})[:, _, :]
    let h0 = sv |> c_h: GRN{H, drop = drop}
    let c0 = sv |> c_c: GRN{H, drop = drop}

    let xh = eh[:, :Te] |> hist: VSN{o_reals + len(k_cards) + k_reals + 1, H, drop}(cs)
    let xf = ek[:, Te:] |> fut: VSN{len(k_cards) + k_reals, H, drop}(cs)
    let enc = xh |> enc: nn.LSTM{H}((h = h0, c = c0))
    let dec = xf |> dec: nn.LSTM{H}(enc.s)
    let phi = concat(enc.y, dec.y, axis = 1) |> gate1: Gate{H}(concat(xh, xf, axis = 1))
    let theta = phi |> enrich: GRN{H, drop = drop}(ce)
    let att = theta |> attn: Interpretable{n, drop}(Td, mask)
    let delta = att.y |> gate2: Gate{H}(theta[:, -Td:])
    let psi = delta |> ff: GRN{H, drop = drop}
    let out = psi |> gate3: Gate{H}(phi[:, -Td:])
    return (y = out |> head: nn.Linear{Q}, attention = att.p)
}
## loss = sum over q of the mean; with a mask the mean is over kept steps, and nothing kept gives 0
fn quantile(y: f32[B, T], yh: f32[B, T, Q], qs, mask: bool[B, T] = none) {
    let e = y[.., _] - yh
    let l = relu(e) * qs + relu(-e) * (1 - qs)                              # subgradient 0 at e = 0
    return sum(if mask == none then mean(l, axis = [0, 1]) else mean(l, axis = [0, 1], where = mask[.., _]))
}

data ett = "data/ETTh1.csv" {
    split = (train = 0.6, val = 0.2, test = 0.2)
    y:    f32[Te + Td, 7] = window(columns("HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"), Te + Td) |> standardize
    hour: i32[Te + Td]    = window(timestamp("date") // 3600 % 24, Te + Td)
    day:  i32[Te + Td]    = window(timestamp("date") // 86400 % 7, Te + Td)
}
let net = TFT{H, heads, Te, Td, Q = len(q), s_cards = [7], k_cards = [24, 7], k_reals = 0, o_reals = 0, drop = drop}

fn series(x) = flatten(transpose(x, 1, 2), 0, 1)                           # [B, T, 7] -> [7B, T]: every channel a sample
fn inputs(d) {
    let (b, t, c) = shape(d.y)
    let cal = stack([d.hour, d.day], axis = -1)                             # [B, T, 2]
    return (id = flatten(expand(iota(c)[_, :, _], [b, c, 1]), 0, 1), cal = flatten(expand(cal[:, _], [b, c, t, 2]), 0, 1), y = series(d.y))
}
fn forecast(d) {
    let i = inputs(d)
    return (q = net(i.id, i.cal, y = i.y[.., _]), y = i.y[:, Te:])
}
phase train on ett{split = "train", batch = B, shuffle = true} as d {
    let f = forecast(d)
    minimize loss = quantile(f.y, f.q.y, tensor(q)) over net using opt.adam{lr, clip = 0.01}
}
phase eval on ett{split = "val", batch = B} as d {
    let f = forecast(d)
    let e = f.y[.., _] - f.q.y
    let l = max(tensor(q) * e, (tensor(q) - 1) * e)
    metric num   = sum(l[.., 1]) using sum
    metric den   = sum(abs(f.y)) using sum
    metric p50   = 2 * eval.num / eval.den
    metric cross = mean(f.q.y[.., 0] > f.q.y[.., 2])
}
phase predict on ett{split = "test", batch = B} as d {
    let f = forecast(d)
    output quantiles = f.q.y, attention = f.q.attention
}
run {
    repeat (100) {
        train for 1 epoch
        eval
        save best -eval.p50
    }
}
