gml 1
## Layers, initialisers and losses: text over the operators of ops.def.

# ---- initialisers. `param w: T ~ f(a, b)` is `= f(shape of T, a, b)`. Linear calls init(fan in, fan out).
fn zero(shape, i, o)   = zeros(shape)
fn unit(shape, i, o)   = rand.normal(shape)
fn fan_in(shape, i, o) = rand.uniform(shape, -1 / sqrt(i), 1 / sqrt(i))          # torch Linear and Conv
fn kaiming(shape, i, o) = sqrt(2.0 / i) * rand.normal(shape)
fn xavier(shape, i, o)  = sqrt(6.0 / (i + o)) * rand.uniform(shape, -1, 1)
fn xavier_normal(shape, i, o) = sqrt(2.0 / (i + o)) * rand.normal(shape)
fn small(shape, i, o)   = sqrt(2.0 / (5 * i)) * rand.normal(shape)

# ---- layers
layer Linear{O: dim, init = fan_in, bias = fan_in}(x: f32[..S, I]) -> f32[..S, O] {
    param w: f32[I, O] ~ init(I, O)
    if (bias == none) { return x @ w }
    param b: f32[O] ~ bias(I, O)  tag no_decay
    return x @ w + b
}
layer Embedding{V: dim, D: dim, init = unit} {
    param w: f32[V, D] ~ init(V, D)  tag no_decay
    fn (ids: i32[..S]) -> f32[..S, D] = w[ids]                          # id -1 reads zeros and gets no gradient
    fn logits(h: f32[..S, D]) -> f32[..S, V] = h @ transpose(w)         # weight tying is a second entry point
}
layer LayerNorm{eps = 1e-5, affine = true}(x: f32[..S, C]) -> f32[..S, C] {
    let d = x - mean(x, axis = -1, keep = true)
    let y = d * rsqrt(mean(d^2, axis = -1, keep = true) + eps)
    if (not affine) { return y }
    param g: f32[C] = 1  tag no_decay
    param b: f32[C] = 0  tag no_decay
    return y * g + b
}
layer RMSNorm{eps = 1e-5}(x: f32[..S, C]) -> f32[..S, C] {
    param g: f32[C] = 1  tag no_decay
    return x * rsqrt(mean(x^2, axis = -1, keep = true) + eps) * g
}
layer dropout{p = 0.5}(x: f32[..S]) -> f32[..S] {
    if (not training or p == 0) { return x }
    let keep = rand.bernoulli(shape(x), 1 - p)
    return where(keep, x / (1 - p), 0)
}
layer FeedForward{width: dim, act = silu}(x: f32[..S, D]) -> f32[..S, D] {
    return x |> up: Linear{width} |> act |> down: Linear{D}
}
layer GLU{O: dim}(x: f32[..S, I]) -> f32[..S, O] {
    let (a, b) = split(x |> lin: Linear{2 * O}, 2)
    return a * sigmoid(b)
}

# ---- losses: equal shapes only; label -1 is ignored by xent
fn mse(y, t)         = mean((y - t)^2)
fn mae(y, t)         = mean(abs(y - t))
fn huber(e, d = 1.0) = where(abs(e) <= d, 0.5 * e^2, d * (abs(e) - 0.5 * d))
fn masked_mean(x, m) = mean(x, where = m)                               # sum of the kept ones / max(1, how many)
fn accuracy(z, y)    = mean(argmax(z) == y)
