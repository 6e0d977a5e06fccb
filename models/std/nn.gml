gml 1
## Layers, initialisers, activations, losses and metrics: text over the operators of ops.def.

# ---- initialisers. `param w: T ~ f(a, b)` is `= f(shape of T, a, b)`; layers call init(shape, fan in, fan out).
## Zeros.
fn zero(shape, i, o) = zeros(shape)
## Standard normal.
fn unit(shape, i, o) = rand.normal(shape)
## Uniform between -a and a.
fn uniform(shape, i, o, a = 1.0) = rand.uniform(shape, -a, a)
## Normal with deviation `std`.
fn normal(shape, i, o, std = 0.02) = std * rand.normal(shape)
## Normal with deviation `std`, cut at two deviations: quantiles of uniform numbers. What is left has the deviation 0.8796 std.
fn truncated(shape, i, o, std = 0.02) {
    let within = 0.95449973610364158             # the share within two deviations, erf(sqrt(2))
    return std * sqrt(2.0) * erfinv(rand.uniform(shape, -within, within))
}
## torch.nn.Linear and Conv: uniform within 1 / sqrt(i).
fn fan_in(shape, i, o) = rand.uniform(shape, -1 / sqrt(i), 1 / sqrt(i))
## He et al. 2015, equation 10: variance 2 / i, for relu. `kaiming` is normal.
fn kaiming(shape, i, o) = sqrt(2.0 / i) * rand.normal(shape)
fn kaiming_uniform(shape, i, o) = sqrt(6.0 / i) * rand.uniform(shape, -1, 1)
## Glorot and Bengio 2010, equations 12 and 16: variance 2 / (i + o). `xavier` is uniform.
fn xavier(shape, i, o) = sqrt(6.0 / (i + o)) * rand.uniform(shape, -1, 1)
fn xavier_normal(shape, i, o) = sqrt(2.0 / (i + o)) * rand.normal(shape)
## LeCun et al. 1998, section 4.6: variance 1 / i, for tanh and selu. `lecun` is normal.
fn lecun(shape, i, o) = sqrt(1.0 / i) * rand.normal(shape)
fn lecun_uniform(shape, i, o) = sqrt(3.0 / i) * rand.uniform(shape, -1, 1)
## Nguyen and Salazar 2019, section 2.2: variance 2 / (5 i).
fn small(shape, i, o) = sqrt(2.0 / (5 * i)) * rand.normal(shape)
## Saxe et al. 2014: gain times orthonormal columns, or rows where there are fewer, of the matrix whose last axis is that of the shape.
fn orthogonal(shape, i, o, gain = 1.0) = gain * reshape(orthonormal(flatten(rand.normal(shape), 0, -2)), shape)

# ---- activations, element by element. relu, gelu, silu, elu, sigmoid, tanh, softplus, logsigmoid and log_softmax are operators. Where a
# branch that is not taken could overflow, its argument is made harmless first: its gradient is 0 times its derivative, and 0 times infinity
# is no number.

## gelu by tanh instead of the normal distribution function: Hendrycks and Gimpel 2016, section 2.
fn gelu_tanh(x) = 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
## The operator elu with a scale below 0: Clevert et al. 2016, equation 15.
fn elu(x, a = 1.0) = where(x > 0, x, a * expm1(where(x > 0, 0, x)))
## Scaled so that activations keep mean 0 and variance 1: Klambauer et al. 2017, equations 2 and 14.
fn selu(x) = 1.0507009873554805 * elu(x, 1.6732632423543772)
## x tanh(softplus(x)): Misra 2019, equation 1.
fn mish(x) = x * tanh(softplus(x))
## Maas et al. 2013, section 2.
fn leaky_relu(x, slope = 0.01) = where(x > 0, x, slope * x)
## Howard et al. 2019 (MobileNetV3), section 5.2: relu6(x + 3) / 6, and x times that.
fn hard_sigmoid(x) = clamp(x / 6 + 0.5, 0, 1)
fn hard_swish(x)   = x * hard_sigmoid(x)
## Collobert 2004, section 5.
fn hard_tanh(x, low = -1.0, high = 1.0) = clamp(x, low, high)

# ---- layers. `..S` stands for any axes in front; what is fixed by the first application is the size of the last axis. Brace arguments
# `init` and `bias` are initialisers, and `bias = none` leaves the bias out.

## x w + b. x: f32[.., I] -> f32[.., O]; w: f32[I, O], b: f32[O]. As torch.nn.Linear, with w transposed.
layer Linear{O: dim, init = fan_in, bias = fan_in}(x: f32[..S, I]) -> f32[..S, O] {
    param w: f32[I, O] ~ init(I, O)
    if (bias == none) { return x @ w }
    param b: f32[O] ~ bias(I, O)  tag no_decay
    return x @ w + b
}
## A table of V rows of D numbers. ids: i32[..] in 0..V -> f32[.., D]; id -1 reads zeros and gets no gradient. `logits` ties the weights of
## an output layer to it: f32[.., D] -> f32[.., V]. As torch.nn.Embedding.
layer Embedding{V: dim, D: dim, init = unit} {
    param w: f32[V, D] ~ init(V, D)  tag no_decay
    fn (ids: i32[..S]) -> f32[..S, D] = w[ids]
    fn logits(h: f32[..S, D]) -> f32[..S, V] = h @ transpose(w)
}
## x normalised over its last axis, times g, plus b. x: f32[.., C]; g, b: f32[C]. Ba et al. 2016; as torch.nn.LayerNorm.
layer LayerNorm{eps = 1e-5, affine = true}(x: f32[..S, C]) -> f32[..S, C] {
    let d = x - mean(x, axis = -1, keep = true)
    let y = d * rsqrt(mean(d^2, axis = -1, keep = true) + eps)
    if (not affine) { return y }
    param g: f32[C] = 1  tag no_decay
    param b: f32[C] = 0  tag no_decay
    return y * g + b
}
## x over the root of the mean of its squares along the last axis, times g. Zhang and Sennrich 2019, equation 4.
layer RMSNorm{eps = 1e-5}(x: f32[..S, C]) -> f32[..S, C] {
    param g: f32[C] = 1  tag no_decay
    return x * rsqrt(mean(x^2, axis = -1, keep = true) + eps) * g
}
## Channels in `groups` of neighbours, each normalised over all positions of a row. x: f32[B, .., C], at least one axis between; C must be
## a multiple of groups, and groups = C is instance normalisation. Wu and He 2018; as torch.nn.GroupNorm, channels last.
layer GroupNorm{groups: int, eps = 1e-5}(x: f32[B, ..S, C]) -> f32[B, ..S, C] {
    param g: f32[C] = 1  tag no_decay
    param b: f32[C] = 0  tag no_decay
    let z = unflatten(flatten(x, 1, -2), -1, [groups, C / groups])      # [B, positions, groups, C / groups]
    let d = z - mean(z, axis = [1, 3], keep = true)
    let y = d * rsqrt(mean(d^2, axis = [1, 3], keep = true) + eps)
    return reshape(y, shape(x)) * g + b
}
## Each channel normalised over everything else: by the batch in training, which also moves the running mean `mu` and variance `s2` by the
## share `momentum`; elsewhere by those. x: f32[.., C], at least one axis in front. Ioffe and Szegedy 2015, algorithms 1 and 2; as
## torch.nn.BatchNorm1d and 2d, channels last.
layer BatchNorm{momentum = 0.1, eps = 1e-5}(x: f32[..S, C]) -> f32[..S, C] {
    param g: f32[C] = 1  tag no_decay
    param b: f32[C] = 0  tag no_decay
    state mu: f32[C] = 0
    state s2: f32[C] = 1
    if (not training) { return (x - mu) * rsqrt(s2 + eps) * g + b }
    let z = flatten(x, 0, -2)
    let m = mean(z, axis = 0)
    let v = mean((z - m)^2, axis = 0)
    let n = f32(len(z))
    next mu = lerp(mu, m, momentum)
    next s2 = lerp(s2, v * (n / max(n - 1, 1)), momentum)
    return (x - m) * rsqrt(v + eps) * g + b
}
## Zeroes each element with probability p while training and scales the others by 1 / (1 - p). Srivastava et al. 2014.
layer dropout{p = 0.5}(x: f32[..S]) -> f32[..S] {
    assert p >= 0 and p <= 1
    if (not training or p == 0) { return x }
    let keep = rand.bernoulli(shape(x), 1 - p)
    return where(keep, x / max(1 - p, 1e-9), 0)  # p = 1 keeps nothing, and has the gradient 0
}
## Two Linear with an activation between: D -> width -> D. Vaswani et al. 2017, section 3.3.
layer FeedForward{width: dim, act = silu}(x: f32[..S, D]) -> f32[..S, D] {
    return x |> up: Linear{width} |> act |> down: Linear{D}
}
## Linear layers of the given widths, each followed by the activation and dropout, then one to O. Keys fc.0.lin.w, .., head.w.
layer MLP{widths: int[], O: dim, act = relu, drop = 0.0}(x: f32[..S, I]) -> f32[..S, O] {
    let h = x
    for (w in widths) as fc {
        h = h |> lin: Linear{w} |> act |> dropout{drop}
    }
    return h |> head: Linear{O}
}
## Half of a Linear to 2 O, times the sigmoid of the other half. Dauphin et al. 2017, equation 1.
layer GLU{O: dim}(x: f32[..S, I]) -> f32[..S, O] {
    let (a, b) = split(x |> lin: Linear{2 * O}, 2)
    return a * sigmoid(b)
}
## (act(x gate) * (x up)) down: D -> width -> D. Shazeer 2020, equation 6; `act = gelu` makes GEGLU, `act = sigmoid` the GLU of the paper.
layer SwiGLU{width: dim, act = silu, bias = none}(x: f32[..S, D]) -> f32[..S, D] {
    let g = x |> gate: Linear{width, bias = bias} |> act
    return g * (x |> up: Linear{width, bias = bias}) |> down: Linear{D, bias = bias}
}

# ---- convolutions and pooling: channels last

## x: f32[B, T, C] -> f32[B, T', O], w: f32[k, C / groups, O], T' = (T + 2 pad - dilation (k - 1) - 1) // stride + 1. As torch.nn.Conv1d.
layer Conv1d{O: dim, k: int = 3, stride = 1, pad = 0, dilation = 1, groups: int = 1, init = fan_in, bias = fan_in}(x: f32[B, T, C]) {
    let i = k * (C / groups)
    param w: f32[k, C / groups, O] ~ init(i, k * O)
    let y = conv1d(x, w, stride = stride, pad = pad, dilation = dilation, groups = groups)
    if (bias == none) { return y }
    param b: f32[O] ~ bias(i, k * O)  tag no_decay
    return y + b
}
## x: f32[B, H, W, C] -> f32[B, H', W', O], w: f32[k, k, C / groups, O]; sizes as for Conv1d. As torch.nn.Conv2d.
layer Conv2d{O: dim, k: int = 3, stride = 1, pad = 0, dilation = 1, groups: int = 1, init = fan_in, bias = fan_in}(x: f32[B, H, W, C]) {
    let i = k * k * (C / groups)
    param w: f32[k, k, C / groups, O] ~ init(i, k * k * O)
    let y = conv2d(x, w, stride = stride, pad = pad, dilation = dilation, groups = groups)
    if (bias == none) { return y }
    param b: f32[O] ~ bias(i, k * k * O)  tag no_decay
    return y + b
}
## Depthwise over time, each row seeing itself and the K - 1 before it, then the activation. x: f32[B, T, C]; w: f32[C, K]. With `carry`
## the last K - 1 rows are kept between launches, so that a sequence may come in pieces.
layer CausalConv{K: int = 4, act = silu}(x: f32[B, T, C], carry: bool = false) -> f32[B, T, C] {
    param w: f32[C, K] ~ fan_in(K, K)
    param b: f32[C]    ~ fan_in(K, K)  tag no_decay
    if (not carry) {
        let (y, rest) = causal_conv1d(x, w, b)
        return act(y)
    }
    state past: f32[B, K - 1, C] = 0
    let (y, last) = causal_conv1d(x, w, b, past)
    next past = last
    return act(y)
}
## f over windows of k places of axis 1, one every s places.
fn windows(x, k, s, f) {
    let n = (shape(x)[1] - k) // s + 1
    let r = x[:, 0:(n - 1) * s + 1:s]
    for (i in 1..k) {
        r = f(r, x[:, i:i + (n - 1) * s + 1:s])
    }
    return r
}
fn windows2d(x, k, s, f) = transpose(windows(transpose(windows(x, k, s, f), 1, 2), k, s, f), 1, 2)
fn stride_of(k, stride)  = if stride == none then k else stride
## The largest of each window. x: f32[B, T, C]; every k places, or every `stride`. As torch.nn.MaxPool1d.
fn max_pool1d(x, k, stride = none) = windows(x, k, stride_of(k, stride), max)
## The mean of each window. As torch.nn.AvgPool1d.
fn avg_pool1d(x, k, stride = none) {
    fn add(a, b) = a + b
    return windows(x, k, stride_of(k, stride), add) / k
}
## The largest of each k x k window. x: f32[B, H, W, C]. As torch.nn.MaxPool2d.
fn max_pool2d(x, k, stride = none) = windows2d(x, k, stride_of(k, stride), max)
## The mean of each k x k window. As torch.nn.AvgPool2d; over everything it is mean(x, axis = [1, 2]).
fn avg_pool2d(x, k, stride = none) {
    fn add(a, b) = a + b
    return windows2d(x, k, stride_of(k, stride), add) / (k * k)
}
## Each place n x n times. x: f32[B, H, W, C] -> f32[B, n H, n W, C]. As torch.nn.UpsamplingNearest2d.
fn upsample2d(x, n) {
    let (b, h, w, c) = shape(x)
    return reshape(expand(x[:, :, _, :, _, :], [b, h, n, w, n, c]), [b, h * n, w * n, c])
}

# ---- attention and positions

## f32[B, T, D] -> f32[B, n, T, D / n] and back.
fn heads(x, n) = transpose(unflatten(x, -1, [n, shape(x)[-1] / n]), 1, 2)
fn unheads(x)  = flatten(transpose(x, 1, 2), -2, -1)
## n heads of attention over x itself, or over kv: f32[B, S, E]. x: f32[B, T, D] -> same; D must be a multiple of n. mask: bool[B, S], true
## where a row of kv may be seen; `causal` hides what comes later. Vaswani et al. 2017, section 3.2; as torch.nn.MultiheadAttention with
## batch_first, with its mask inverted.
layer MultiHead{n: int, causal = false, drop = 0.0, init = xavier, bias = zero}(
    x: f32[B, T, D], kv: f32[B, S, E] = none, mask: bool[B, S] = none
) -> f32[B, T, D] {
    let src = if kv == none then x else kv
    let q = x |> q: Linear{D, init = init, bias = bias} |> heads(n)
    let k = src |> k: Linear{D, init = init, bias = bias} |> heads(n)
    let v = src |> v: Linear{D, init = init, bias = bias} |> heads(n)
    let m = if mask == none then none else mask[:, _, _, :]             # [B, 1, 1, S]
    let y = attention(q, k, v, causal = causal, mask = m, drop = if training then drop else 0.0)
    return unheads(y) |> o: Linear{D, init = init, bias = bias}
}
## x + attention(norm(x)), then x + feed(norm(x)). x: f32[B, T, D]. Xiong et al. 2020, figure 1 (b); as torch.nn.TransformerEncoderLayer
## with norm_first.
layer TransformerBlock{n: int, width: dim, causal = false, drop = 0.0, act = gelu}(x: f32[B, T, D], mask: bool[B, T] = none) -> f32[B, T, D] {
    let h = x + (x |> norm1: LayerNorm{} |> attn: MultiHead{n, causal = causal, drop = drop}(none, mask) |> dropout{drop})
    let y = h |> norm2: LayerNorm{} |> up: Linear{width} |> act |> dropout{drop} |> down: Linear{D} |> dropout{drop}
    return h + y
}
## A constant f32[n, D], D even: sines in the even and cosines in the odd columns. Vaswani et al. 2017, section 3.5.
fn sinusoid(n, D) {
    let f = f32(iota(n))[:, _] * exp(-log(10000.0) * 2 * f32(iota(D / 2)) / D)
    return flatten(stack([sin(f), cos(f)], axis = -1), -2, -1)
}
## x plus a learned row for each place. x: f32[B, T, D], T at most n; w: f32[n, D].
layer Positions{n: dim, init = normal}(x: f32[B, T, D]) -> f32[B, T, D] {
    param w: f32[n, D] ~ init(n, D)  tag no_decay
    return x + w[0:T]
}
## Pairs (j, j + D / 2) of the last axis turned by t base^(-2 j / D), t the place along the axis before it, from `first` on. x: f32[.., T, D],
## D even. Su et al. 2021, equation 34, with the halves for the pairs as in GPT-NeoX and Llama.
fn rotary(x, base = 10000.0, first = 0) {
    let D = shape(x)[-1]
    let f = f32(iota(shape(x)[-2]) + first)[:, _] * exp(-log(base) * 2 * f32(iota(D / 2)) / D)
    let (a, b) = split(x, 2)
    return concat(a * cos(f) - b * sin(f), a * sin(f) + b * cos(f))
}

# ---- recurrence. A cell is one step; parameters are drawn as in torch, uniform within 1 / sqrt(H), and have two biases as there. The scanned
# forms take x: f32[B, T, I], the state to begin with (zeros if none) and a mask: bool[B, T] whose false rows leave the state alone; they
# return (y = f32[B, T, H], s = the last state).

## h' = act(x wi + bi + h wh + bh). Elman 1990; as torch.nn.RNNCell.
layer RNNCell{H: dim, act = tanh}(x: f32[B, I], h: f32[B, H]) -> f32[B, H] {
    param wi: f32[I, H] ~ fan_in(H, H)
    param wh: f32[H, H] ~ fan_in(H, H)
    param bi: f32[H]    ~ fan_in(H, H)  tag no_decay
    param bh: f32[H]    ~ fan_in(H, H)  tag no_decay
    return act(x @ wi + bi + h @ wh + bh)
}
## Gates in the order r z n; h' = (1 - z) n + z h. Cho et al. 2014, with the reset inside as in torch.nn.GRUCell.
layer GRUCell{H: dim}(x: f32[B, I], h: f32[B, H]) -> f32[B, H] {
    param wi: f32[I, 3 * H] ~ fan_in(H, H)
    param wh: f32[H, 3 * H] ~ fan_in(H, H)
    param bi: f32[3 * H]    ~ fan_in(H, H)  tag no_decay
    param bh: f32[3 * H]    ~ fan_in(H, H)  tag no_decay
    let (ri, zi, ni) = split(x @ wi + bi, 3)
    let (rh, zh, nh) = split(h @ wh + bh, 3)
    let n = tanh(ni + sigmoid(ri + rh) * nh)
    return n + sigmoid(zi + zh) * (h - n)
}
## Gates in the order i f g o; the state is (h, c). Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000; as
## torch.nn.LSTMCell.
layer LSTMCell{H: dim}(x: f32[B, I], s: (h: f32[B, H], c: f32[B, H])) -> (h: f32[B, H], c: f32[B, H]) {
    param wi: f32[I, 4 * H] ~ fan_in(H, H)
    param wh: f32[H, 4 * H] ~ fan_in(H, H)
    param bi: f32[4 * H]    ~ fan_in(H, H)  tag no_decay
    param bh: f32[4 * H]    ~ fan_in(H, H)  tag no_decay
    let (i, f, g, o) = split(x @ wi + bi + s.h @ wh + bh, 4)
    let c = sigmoid(f) * s.c + sigmoid(i) * tanh(g)
    return (h = sigmoid(o) * tanh(c), c = c)
}
## LSTMCell over time; the state is (h, c). As torch.nn.LSTM with batch_first.
layer LSTM{H: dim, reverse = false}(x: f32[B, T, I], s = none, mask: bool[B, T] = none) {
    let cell = LSTMCell{H}
    let s0 = if s == none then (h = zeros([B, H]), c = zeros([B, H])) else s
    let r = scan (xt in x, mt in mask, axis = 1, reverse = reverse; s = s0) {
        let n = cell(xt, s)
        next s = if mask == none then n else select(mt, n, s)
        yield y = n.h
    }
    return (y = r.y, s = r.s)
}
## GRUCell over time; the state is h. As torch.nn.GRU with batch_first.
layer GRU{H: dim, reverse = false}(x: f32[B, T, I], s = none, mask: bool[B, T] = none) {
    let cell = GRUCell{H}
    let r = scan (xt in x, mt in mask, axis = 1, reverse = reverse; h = if s == none then zeros([B, H]) else s) {
        let n = cell(xt, h)
        next h = if mask == none then n else select(mt, n, h)
        yield y = n
    }
    return (y = r.y, s = r.h)
}
## RNNCell over time; the state is h. As torch.nn.RNN with batch_first.
layer RNN{H: dim, act = tanh, reverse = false}(x: f32[B, T, I], s = none, mask: bool[B, T] = none) {
    let cell = RNNCell{H, act}
    let r = scan (xt in x, mt in mask, axis = 1, reverse = reverse; h = if s == none then zeros([B, H]) else s) {
        let n = cell(xt, h)
        next h = if mask == none then n else select(mt, n, h)
        yield y = n
    }
    return (y = r.y, s = r.h)
}

# ---- noise on weights

## sign(e) sqrt(|e|).
fn squash(e) = sign(e) * sqrt(abs(e))
## The part of the noise in x w + b: deviations sw, sb times the products of the squashed draws ei, eo; no matrix of noise is made.
fn noise_part(x, sw, sb, ei, eo) = ((x * ei) @ sw + sb) * eo
## Linear with factorised Gaussian noise of the learned deviations sw and sb on its weights, drawn anew in each launch; `noise = false`
## takes the means. x: f32[B, I] -> f32[B, O]. Fortunato et al. 2018, equations 10 and 11.
layer NoisyLinear{O: dim, s0 = 0.5}(x: f32[B, I], noise: bool = true) -> f32[B, O] {
    param w: f32[I, O] ~ fan_in(I, O)
    param b: f32[O]    ~ fan_in(I, O)  tag no_decay
    param sw: f32[I, O] = s0 / sqrt(I)
    param sb: f32[O]    = s0 / sqrt(I)  tag no_decay
    if (not noise) { return x @ w + b }
    return x @ w + b + noise_part(x, sw, sb, squash(rand.normal([I])), squash(rand.normal([O])))
}

# ---- losses: equal shapes only. mse, mae and cross_entropy are means; the others give a number for each element or row, and the caller
# reduces: mean(nn.huber(y - t)). The operator `xent` gives one for each row and 0 where the label is -1.
## Mean squared error, mean absolute error, and the root of the first: of predictions y and targets t of one shape.
fn mse(y, t)  = mean((y - t)^2)
fn mae(y, t)  = mean(abs(y - t))
fn rmse(y, t) = sqrt(mse(y, t))
## Of the error e: quadratic within d, linear outside. Huber 1964, section 4.
fn huber(e, d = 1.0) = where(abs(e) <= d, 0.5 * e^2, d * (abs(e) - 0.5 * d))
## The loss whose minimum is the q-quantile of the targets t: Koenker and Bassett 1978, equation 1.1.
fn quantile(y, t, q) = max(q * (t - y), (q - 1) * (t - y))
## -t log(sigmoid(z)) - (1 - t) log(1 - sigmoid(z)) of logits z without overflow; `positive` weighs the first term.
fn bce_with_logits(z, t, positive = 1.0) = (1 - t) * z + (1 + (positive - 1) * t) * softplus(-z)
## -log density of t under a normal distribution, without the constant log(2 pi) / 2: Nix and Weigend 1994, equation 4. The variance counts
## as no less than eps.
fn gaussian_nll(mu, variance, t, eps = 1e-6) {
    let v = max(variance, eps)
    return 0.5 * (log(v) + (t - mu)^2 / v)
}
## Kullback-Leibler divergence of softmax(w) from softmax(z) for each row: sum of P log(P / Q), P = softmax(z), Q = softmax(w).
fn kl(z, w) = sum(softmax(z) * (log_softmax(z) - log_softmax(w)), axis = -1)
## The same of N(mu, e^logvar) from N(0, 1), for each element: Kingma and Welling 2014, appendix B.
fn kl_normal(mu, logvar) = 0.5 * (mu^2 + exp(logvar) - logvar - 1)
## xent against (1 - smooth) one-hot + smooth / K, for each row; 0 where the label is -1. Szegedy et al. 2016, section 7.
fn smooth_xent(z, y, smooth = 0.1) =
    where(y == -1, 0, (1 - smooth) * xent(z, y) + smooth * (logsumexp(z) - mean(z, axis = -1)))
## The mean over the rows that have a label, as torch.nn.CrossEntropyLoss with ignore_index = -1; 0 if none has.
fn cross_entropy(z, y, smooth = 0.0) {
    let rows = if smooth == 0 then xent(z, y) else smooth_xent(z, y, smooth)
    return masked_mean(rows, y != -1)
}
## The mean of x where m holds: their sum / max(1, how many).
fn masked_mean(x, m) = mean(x, where = m)

# ---- how good is it: numbers between 0 and 1 for `metric`. Labels -1 do not count.
## Whether the largest of the logits z: f32[.., K] is the label y: i32[..].
fn accuracy(z, y) = mean(argmax(z) == y, where = y != -1)
## Whether the label is among the k largest logits of its row; ties count for it.
fn top(z, y, k) {
    let its = sum(where(iota(shape(z)[-1]) == y[.., _], z, 0), axis = -1, keep = true)
    return mean(sum(z > its, axis = -1) < k, where = y != -1)
}
## Logits z against targets 0 and 1.
fn binary_accuracy(z, t) = mean((z > 0) == (t > 0.5))
## How far predictions explain the variance of targets, f32[N] or f32[N, O]: 1 is all of it, 0 as the mean would do; the mean over columns.
## Of the rows of one launch. As sklearn.metrics.r2_score.
fn r2(y, t) {
    let d = t - mean(t, axis = 0, keep = true)
    return mean(1 - sum((t - y)^2, axis = 0) / sum(d^2, axis = 0))
}
## e to the mean cross entropy: as if that many tokens were equally likely.
fn perplexity(nll) = exp(nll)
## Area under the ROC curve: how often a target 1 has a larger logit than a target 0. Of the rows of one launch, from a histogram of
## sigmoid(z); two in one bin count half. Half if there is one class only.
fn auc(z, t, bins = 1024) {
    let at = min(i32(sigmoid(z) * bins), bins - 1)
    return area(segment_sum(t, at, bins), segment_sum(1 - t, at, bins))
}
## The same from histograms of the targets 1 and 0 over ascending scores.
fn area(ones, zeros) {
    let pairs = sum(ones) * sum(zeros)
    let won = sum(ones * (cumsum(zeros, exclusive = true) + 0.5 * zeros))
    return where(pairs > 0, won / max(pairs, 1), 0.5)
}
## The same over many launches: `note` adds rows, `value` is the area so far, `clear` forgets (in a phase of its own).
layer AUC{bins: int = 1024} {
    state ones: f32[bins]  = 0
    state zeros: f32[bins] = 0
    fn note(z, t) {
        let at = min(i32(sigmoid(z) * bins), bins - 1)
        next ones = put_add(ones, at, t)
        next zeros = put_add(zeros, at, 1 - t)
    }
    fn value() = area(ones, zeros)
    fn clear() {
        next ones = 0 * ones
        next zeros = 0 * zeros
    }
}
