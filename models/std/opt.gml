gml 1
## Optimizers and schedules. An optimizer is a layer applied to two trees, parameters and gradients, that returns the new parameters.
## Arithmetic on trees is leaf by leaf; a reduction without an axis runs over every leaf.

fn norm(g)         = sqrt(sum(g^2))
fn clip_norm(g, c) = if c == none then g else g * min(1, c / (norm(g) + 1e-6))
fn clip_each(g, c) {                                                    # the norm of each leaf on its own
    fn one(x) = clip_norm(x, c)
    return each(one, g)
}
fn weights(p, decay) = where(tagged(p, "no_decay"), 0.0, decay)         # a number for each leaf, settled at compile time
fn project(p)        = where(tagged(p, "nonneg"), max(p, 0), p)

## Stochastic gradient descent as torch.optim.SGD: v = mu v + (g + decay p)
layer sgd{lr, momentum = 0.0, nesterov = false, decay = 0.0, clip = none}(p, g) {
    let h = clip_norm(g, clip) + weights(p, decay) * p
    metric grad_norm = norm(g)
    if (momentum == 0) { return project(p - lr * h) }
    state v: p = 0                                                      # a value's name in type position: the type of that value
    let v1 = momentum * v + h
    next v = v1
    return project(p - lr * (if nesterov then h + momentum * v1 else v1))
}
## Adam with decoupled weight decay; parameters tagged no_decay do not shrink.
layer adamw{lr = 1e-3, b1 = 0.9, b2 = 0.999, eps = 1e-8, decay = 0.01, clip = none}(p, g) {
    state m: p   = 0
    state v: p   = 0
    state n: i32 = 0                                                    # applied updates, not launches: a skipped step does not count
    let h  = clip_norm(g, clip)
    let t  = f32(n + 1)
    let m1 = b1 * m + (1 - b1) * h
    let v1 = b2 * v + (1 - b2) * h^2
    let u  = (m1 / (1 - b1^t)) / (sqrt(v1 / (1 - b2^t)) + eps)
    next m = m1
    next v = v1
    next n = n + 1
    metric grad_norm = norm(g)
    return project(p * (1 - lr * weights(p, decay)) - lr * u)
}
layer adam{lr = 1e-3, b1 = 0.9, b2 = 0.999, eps = 1e-8, clip = none}(p, g) {
    let inner = adamw{lr = lr, b1 = b1, b2 = b2, eps = eps, decay = 0.0, clip = clip}
    return inner(p, g)
}
layer lion{lr = 1e-4, b1 = 0.9, b2 = 0.99, decay = 0.0}(p, g) {
    state m: p = 0
    next m = lerp(g, m, b2)
    return project(p - lr * (sign(lerp(g, m, b1)) + weights(p, decay) * p))
}

## Schedules: scalar expressions over `step` (launches of the phase they are used in) and `steps` (how many `run` plans)
fn warm(peak, n)                     = peak * min(1, (f32(step) + 1) / max(1, n))
fn linear(a, b, n, at = f32(step))   = a + (b - a) * clamp(at / n, 0, 1)
fn cosine(peak, warmup = 0, floor = 0.0, total = steps) {
    let s = f32(step)
    let x = clamp((s - warmup) / max(1, total - warmup), 0, 1)
    return where(s < warmup, warm(peak, warmup), floor + (peak - floor) * 0.5 * (1 + cos(pi * x)))
}
