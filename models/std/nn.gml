gml 1
## Layers, initialisers, activations, losses and metrics: text over the operators of ops.def.

# ---- initialisers. `param w: T ~ f(a, b)` is `= f(shape of T, a, b)`; layers call init(shape, fan in, fan out).
fn zero(shape, i, o) = zeros(shape)
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
    assert p >= 0 and p <= 1
    if (not training or p == 0) { return x }
    let keep = rand.bernoulli(shape(x), 1 - p)
    return where(keep, x / max(1 - p, 1e-9), 0)  # p = 1 keeps nothing, and has the gradient 0
}
layer FeedForward{width: dim, act = silu}(x: f32[..S, D]) -> f32[..S, D] {
    return x |> up: Linear{width} |> act |> down: Linear{D}
}
layer GLU{O: dim}(x: f32[..S, I]) -> f32[..S, O] {
    let (a, b) = split(x |> lin: Linear{2 * O}, 2)
    return a * sigmoid(b)
}

# ---- losses: equal shapes only. mse, mae and cross_entropy are means; the others give a number for each element or row, and the caller
# reduces: mean(nn.huber(y - t)). The operator `xent` gives one for each row and 0 where the label is -1.
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
fn masked_mean(x, m) = mean(x, where = m)        # sum of the kept ones / max(1, how many)

# ---- how good is it: numbers between 0 and 1 for `metric`. Labels -1 do not count.
fn accuracy(z, y) = mean(argmax(z) == y, where = y != -1)
## Whether the label is among the k largest logits of its row; ties count for it.
fn top(z, y, k) {
    let its = sum(where(iota(shape(z)[-1]) == y[.., _], z, 0), axis = -1, keep = true)
    return mean(sum(z > its, axis = -1) < k, where = y != -1)
}
## Logits z against targets 0 and 1.
fn binary_accuracy(z, t) = mean((z > 0) == (t > 0.5))
