gml 1
## Character transformer: tied embedding, validation perplexity, top-k generation with a key-value cache.
import nn
import opt

config B: dim  = 32
config ctx     = 128
config D       = 64
config layers  = 4
config n       = 4
config V       = 256
config lr      = 1e-3
config topk_   = 20
config heat    = 0.8

layer Attention{n: int, ctx: int}(x: f32[B, T, D], pos = none) -> f32[B, T, D] {
    let q = x |> q: nn.Linear{D, bias = none} |> nn.heads(n)
    let k = x |> k: nn.Linear{D, bias = none} |> nn.heads(n)
    let v = x |> v: nn.Linear{D, bias = none} |> nn.heads(n)
    let y = none
    if (pos == none) {
        y = attention(q, k, v, causal = true)
    } else {                                                             # T = 1: write at pos, look at 0..pos
        state kc: f32[B, n, ctx, D / n] = 0
        state vc: f32[B, n, ctx, D / n] = 0
        let k1 = kc
        let v1 = vc
        k1[:, :, pos] = k[:, :, 0]
        v1[:, :, pos] = v[:, :, 0]
        next kc = k1
        next vc = v1
        y = attention(q, k1, v1, mask = iota(ctx) <= pos)
    }
    return y |> nn.unheads |> o: nn.Linear{D, bias = none}
}
layer Block{n: int, ctx: int}(x: f32[B, T, D], pos = none) -> f32[B, T, D] {
    x = x + (x |> n1: nn.LayerNorm{} |> attn: Attention{n, ctx}(pos))
    return x + (x |> n2: nn.LayerNorm{} |> ff: nn.FeedForward{4 * D})
}
layer LM{V: dim, D: dim, layers: int, n: int, ctx: int}(ids: i32[B, T], pos = none) -> f32[B, T, V] {
    fn init(shape, i, o) = 0.02 * rand.normal(shape)
    let emb = nn.Embedding{V, D, init}
    param place: f32[ctx, D] ~ init(ctx, D)
    let blocks = Block{n, ctx}[layers]
    let x = emb(ids) + (if pos == none then place[:T] else place[pos])
    for (b in blocks) { x = b(x, pos) }
    return x |> norm: nn.LayerNorm{} |> emb.logits                       # tied: the same storage, two entry points
}
data text = "data/tinyshakespeare.txt" {
    split = (train = 0.9, val = 0.1)
    ids: i32[ctx + 1] = window(bytes(), ctx + 1, stride = ctx)
}
let net = LM{V, D, layers, n, ctx}

phase train on text{split = "train", batch = B, shuffle = true} as d {
    minimize loss = mean(xent(net(d.ids[:, :-1]), d.ids[:, 1:])) over net
        using opt.adamw{lr = opt.cosine(lr, warmup = 100, floor = 1e-4), b2 = 0.95, decay = 0.1, clip = 1.0}
}
phase eval on text{split = "val", batch = B} as d {
    metric nll = mean(xent(net(d.ids[:, :-1]), d.ids[:, 1:]))
    metric ppl = exp(eval.nll)
}
state tok: i32[1] = 10
state pos: i32 = 0
phase write {
    let z = net(tok[:, _], pos)[:, 0]
    let (top, which) = topk(z / heat, topk_)
    let t = pick(which, rand.categorical(top))
    next tok = t
    next pos = pos + 1
    assert pos < ctx
    output byte = t
}
run {
    repeat (10) {
        train for 1 epoch
        eval
        save best -eval.nll
    }
    write for 100 steps
}
