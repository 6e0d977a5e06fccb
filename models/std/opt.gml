gml 1
## Optimizers and schedules. An optimizer is a layer applied to two trees, parameters and gradients, that returns the new parameters.
## Arithmetic on trees is leaf by leaf; a reduction without an axis runs over every leaf. Parameters tagged `no_decay` do not shrink, and
## those tagged `nonneg` are kept from becoming negative.
##
## `clip` limits the gradient: none, or the number that the fn `by` takes: clip_norm, clip_each, clip_value, or one of the model's own.

# ---- on gradients and parameters

## The root of the sum of the squares of all elements of all leaves.
fn norm(g) = sqrt(sum(g^2))
## The whole gradient scaled to a norm of at most c, as torch.nn.utils.clip_grad_norm_: Pascanu et al. 2013, algorithm 1.
fn clip_norm(g, c) = g * min(1, c / (norm(g) + 1e-6))
## The same for each leaf on its own.
fn clip_each(g, c) {
    fn one(x) = clip_norm(x, c)
    return each(one, g)
}
## Each element kept between -c and c.
fn clip_value(g, c) = clamp(g, -c, c)
## What `clip` and `by` of an optimizer mean.
fn clipped(g, c, by) = if c == none then g else by(g, c)
## The decay of each leaf, 0 for those tagged `no_decay`: settled while compiling.
fn weights(p, decay) = where(tagged(p, "no_decay"), 0.0, decay)
## Leaves tagged `nonneg` kept from becoming negative.
fn project(p) = where(tagged(p, "nonneg"), max(p, 0), p)

# ---- optimizers

## Stochastic gradient descent as torch.optim.SGD: v = mu v + (g + decay p), p = p - lr v; Polyak 1964, and with `nesterov`
## p = p - lr (g + mu v): Sutskever et al. 2013, equations 3 and 4.
layer sgd{lr, momentum = 0.0, nesterov = false, decay = 0.0, clip = none, by = clip_norm}(p, g) {
    let h = clipped(g, clip, by) + weights(p, decay) * p
    metric grad_norm = norm(g)
    if (momentum == 0) { return project(p - lr * h) }
    state v: p = 0                               # a value's name in type position: the type of that value
    let v1 = momentum * v + h
    next v = v1
    return project(p - lr * (if nesterov then h + momentum * v1 else v1))
}
## The gradient over the root of a running average of its squares: Tieleman and Hinton 2012, slide 29; `centered` takes their variance
## instead: Graves 2013, equations 38 to 45. As torch.optim.RMSprop.
layer rmsprop{lr = 1e-2, rate = 0.99, eps = 1e-8, momentum = 0.0, centered = false, decay = 0.0, clip = none, by = clip_norm}(p, g) {
    state s: p = 0
    let h  = clipped(g, clip, by) + weights(p, decay) * p
    let s1 = rate * s + (1 - rate) * h^2
    let spread = s1
    next s = s1
    metric grad_norm = norm(g)
    if (centered) {
        state m: p = 0
        let m1 = rate * m + (1 - rate) * h
        next m = m1
        spread = max(s1 - m1^2, 0)               # rounding must not make it negative
    }
    let u = h / (sqrt(spread) + eps)
    if (momentum == 0) { return project(p - lr * u) }
    state v: p = 0
    let v1 = momentum * v + u
    next v = v1
    return project(p - lr * v1)
}
## 1 - b^t, without the digits that f32 would lose at the first steps.
fn rest(b, t) = -expm1(t * log(b))
## The direction of Adam at its t-th update out of the averages m and v of the gradient and its square: Kingma and Ba 2015, algorithm 1.
fn adapted(m, v, t, b1, b2, eps) = (m / rest(b1, t)) / (sqrt(v / rest(b2, t)) + eps)
## Adam as torch.optim.Adam: decay is added to the gradient.
layer adam{lr = 1e-3, b1 = 0.9, b2 = 0.999, eps = 1e-8, decay = 0.0, clip = none, by = clip_norm}(p, g) {
    state m: p   = 0
    state v: p   = 0
    state n: i32 = 0                             # applied updates, not launches: a skipped step does not count
    let h  = clipped(g, clip, by) + weights(p, decay) * p
    let m1 = b1 * m + (1 - b1) * h
    let v1 = b2 * v + (1 - b2) * h^2
    next m = m1
    next v = v1
    next n = n + 1
    metric grad_norm = norm(g)
    return project(p - lr * adapted(m1, v1, f32(n + 1), b1, b2, eps))
}
## Adam with decoupled decay: Loshchilov and Hutter 2019, algorithm 2, with the decay times lr as torch.optim.AdamW.
layer adamw{lr = 1e-3, b1 = 0.9, b2 = 0.999, eps = 1e-8, decay = 0.01, clip = none, by = clip_norm}(p, g) {
    state m: p   = 0
    state v: p   = 0
    state n: i32 = 0
    let h  = clipped(g, clip, by)
    let m1 = b1 * m + (1 - b1) * h
    let v1 = b2 * v + (1 - b2) * h^2
    next m = m1
    next v = v1
    next n = n + 1
    metric grad_norm = norm(g)
    return project(p * (1 - lr * weights(p, decay)) - lr * adapted(m1, v1, f32(n + 1), b1, b2, eps))
}
## The sign of an average of gradient and momentum: Chen et al. 2023, algorithm 2.
layer lion{lr = 1e-4, b1 = 0.9, b2 = 0.99, decay = 0.0, clip = none, by = clip_norm}(p, g) {
    state m: p = 0
    let h = clipped(g, clip, by)
    next m = lerp(h, m, b2)
    metric grad_norm = norm(g)
    return project(p - lr * (sign(lerp(h, m, b1)) + weights(p, decay) * p))
}
## Adam for large batches: the step of each leaf is scaled to the norm of the leaf. You et al. 2020, algorithm 2, with phi(x) = x, and the
## factor 1 where one of the two norms is 0.
layer lamb{lr = 1e-3, b1 = 0.9, b2 = 0.999, eps = 1e-6, decay = 0.01, clip = none, by = clip_norm}(p, g) {
    fn scaled(x, u) {
        let along = norm(u)
        let usable = along > 0 and norm(x) > 0
        return u * where(usable, norm(x) / where(usable, along, 1), 1)
    }
    state m: p   = 0
    state v: p   = 0
    state n: i32 = 0
    let h  = clipped(g, clip, by)
    let m1 = b1 * m + (1 - b1) * h
    let v1 = b2 * v + (1 - b2) * h^2
    next m = m1
    next v = v1
    next n = n + 1
    metric grad_norm = norm(g)
    return project(p - lr * each(scaled, p, adapted(m1, v1, f32(n + 1), b1, b2, eps) + weights(p, decay) * p))
}

## Any optimizer, and a running average `into` of the parameters it returns: into = lerp(into, p, rate), with `into` a frozen copy of what is
## trained. Polyak and Juditsky 1992, with the average of torch.optim.swa_utils' exponential form.
layer averaged{inner, into, rate}(p, g) {
    let q = inner(p, g)
    next into = lerp(into, q, rate)
    return q
}

# ---- schedules: scalar expressions over `step` (launches of the phase they are used in, from 0) and `steps` (how many `run` plans)

## Up to the peak in n steps, then constant.
fn warm(peak, n)              = peak * min(1, (f32(step) + 1) / max(1, n))
fn constant(peak, warmup = 0) = warm(peak, warmup)
## From a to b in n steps, then constant.
fn linear(a, b, n, at = f32(step)) = a + (b - a) * clamp(at / max(1e-9, n), 0, 1)
## Times `rate` after every n steps, as torch.optim.lr_scheduler.StepLR.
fn stairs(peak, n, rate = 0.1) = peak * rate^floor(f32(step) / max(1e-9, n))
## Times `rate` within n steps.
fn exponential(peak, n, rate = 0.1) = peak * rate^(f32(step) / max(1e-9, n))
## Warm-up, then with the inverse root of the step: Vaswani et al. 2017, section 5.3, with the peak given.
fn inverse_root(peak, warmup) = peak * min((f32(step) + 1) / max(1, warmup), sqrt(max(1, warmup) / (f32(step) + 1)))
## Half a cosine from a at x = 0 to b at x = 1: Loshchilov and Hutter 2017, equation 5.
fn half_cosine(a, b, x) = b + (a - b) * 0.5 * (1 + cos(pi * x))
## Warm-up, then half a cosine down to `floor` at step `total`.
fn cosine(peak, warmup = 0, floor = 0.0, total = steps) {
    let s = f32(step)
    return where(s < warmup, warm(peak, warmup), half_cosine(peak, floor, clamp((s - warmup) / max(1, total - warmup), 0, 1)))
}
## From peak / start up to the peak within the share `up` of the steps, then down to peak / start / end: Smith and Topin 2018, in the form of
## torch.optim.lr_scheduler.OneCycleLR.
fn one_cycle(peak, total = steps, up = 0.3, start = 25.0, end = 1e4) {
    let s   = f32(step)
    let top = up * total - 1                     # the step with the peak
    let low = peak / start
    return where(s <= top, half_cosine(low, peak, s / max(1e-9, top)),
                 half_cosine(peak, low / end, clamp((s - top) / max(1e-9, total - 1 - top), 0, 1)))
}
