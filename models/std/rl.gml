gml 1
## Reinforcement learning as library text: environments side by side, distributions, advantages, losses, replay. A transition says how it ended
## in two bools that are never merged: `terminated` - the episode is over, nothing comes after - and `truncated` - it was cut off, and its
## value goes on in `final_obs`, the observation before the reset.

# ---- environments

## n copies of the environment `core` (see envs) with its time limit and restart. `env.obs()` is what they see now: f32[n, O]; `env(a)` takes
## one step in each and returns, a row for each: reward, terminated, truncated, final_obs (before any restart), done = one of the two, and
## total = the return of the episode so far, this step included. Every line is row by row, so that a rollout may be one kernel.
layer Vector{core, n: dim} {
    state s = core.start(n)
    state k: i32[n] = 0
    state ret: f32[n] = 0
    fn obs() = core.obs(s)
    fn (a) {
        let r    = core.move(s, a)
        let late = k + 1 >= core.limit and not r.terminated             # both at once: termination wins
        let done = r.terminated or late
        let g    = ret + r.reward
        next s = select(done, core.start(n), r.s)
        next k = where(done, 0, k + 1)
        next ret = where(done, 0.0, g)
        return (reward = r.reward, terminated = r.terminated, truncated = late, final_obs = core.obs(r.s), done = done, total = g)
    }
}
## The mean return of the last `window` finished episodes. `note(e)` takes what env(a) returned, [N] or stacked [T, N], in the order of time;
## it mixes rows, so it stays out of the rollout.
layer Returns{window: int = 100} {
    state recent: f32[window] = 0
    state ends: i32           = 0
    fn note(e) {
        let d = flatten(e.done, 0, -1)
        let at = where(d, (ends + cumsum(i32(d)) - 1) % window, -1)     # -1: no write
        next recent = put(recent, at, flatten(e.total, 0, -1))
        next ends = ends + sum(i32(d))
    }
    fn mean_return() = sum(recent) / max(1, f32(min(ends, window)))
}
## Running mean and variance of the columns of x: f32[.., D]; applied, it is x normalised and kept within `limit`. `learn` adds rows f32[N, D] after
## a rollout. Chan, Golub and LeVeque 1979, equation 2.1.
layer Running{D: dim, limit = 10.0} {
    state mu: f32[D] = 0
    state s2: f32[D] = 1
    state n: f32     = 1e-4
    fn (x: f32[..S, D]) -> f32[..S, D] = clamp((x - mu) / sqrt(s2 + 1e-8), -limit, limit)
    fn learn(x: f32[N, D]) {
        let k = f32(len(x))
        let t = n + k
        let m = mean(x, axis = 0)
        let d = m - mu
        next mu = mu + d * (k / t)
        next s2 = (s2 * n + mean((x - m)^2, axis = 0) * k + d^2 * (n * k / t)) / t
        next n = t
    }
}

# ---- distributions over actions: `sample`, `mode`, `logprob` and `entropy` of what the policy says

## One of K choices by logits z: f32[.., K]; actions i32[..].
layer Categorical{} {
    fn sample(z)     = rand.categorical(z)
    fn mode(z)       = argmax(z)
    fn logprob(z, a) = pick(log_softmax(z), a)
    fn entropy(z)    = -sum(softmax(z) * max(log_softmax(z), -1e30), axis = -1)
}
## D independent choices by logits z: f32[.., D, K]; actions i32[.., D].
layer Heads{} {
    fn sample(z)     = rand.categorical(z)
    fn mode(z)       = argmax(z)
    fn logprob(z, a) = sum(pick(log_softmax(z), a), axis = -1)
    fn entropy(z)    = -sum(softmax(z) * max(log_softmax(z), -1e30), axis = [-2, -1])
}
## A numbers by mean m: f32[.., A] and a learned log deviation that does not depend on the observation.
layer Gaussian{A: dim} {
    param log_std: f32[A] = 0
    fn sample(m)     = m + exp(log_std) * rand.normal(shape(m))
    fn mode(m)       = m
    fn logprob(m, a) = -0.5 * sum(((a - m) / exp(log_std))^2 + 2 * log_std + log(2 * pi), axis = -1)
    fn entropy(m)    = expand(sum(log_std + 0.5 * log(2 * pi) + 0.5), shape(m)[0:-1])
}
## Greedy, but with probability eps any of the K choices. q: f32[.., K] -> i32[..].
fn egreedy(q, eps) {
    let u = rand.uniform(shape(q)[0:-1])
    return where(u < eps, rand.int(shape(q)[0:-1], shape(q)[-1]), argmax(q))
}

# ---- advantages and losses of policy gradients

## Generalized advantage estimates f32[T, N]: Schulman et al. 2016, equation 16. r: reward, terminated, truncated, final_obs, each [T, N, ..]; v:
## values of the observations acted on; `value` is applied to observations; last: the observation after the last step. A termination
## bootstraps nothing, a truncation from final_obs; where both hold, termination wins.
fn gae(v: f32[T, N], r, value, last, gamma, lam) {
    let late  = where(any(r.truncated), value(r.final_obs), v)          # a scalar condition: the other side need not run
    let after = concat(v[1:], value(last)[_, :], axis = 0)
    return advantages(r.reward, r.terminated, r.truncated, v, where(r.truncated, late, after), gamma, lam)
}
## The same from `after`, the values of the true successors.
fn advantages(reward: f32[T, N], terminated, truncated, v, after, gamma, lam) {
    let delta = reward + gamma * where(terminated, 0.0, after) - v
    let keep  = gamma * lam * (1 - f32(terminated or truncated))
    let g = scan (d in delta, k in keep, reverse = true; a = zeros([N])) {
        next a = d + k * a
        yield adv = d + k * a
    }
    return g.adv
}
## Mean 0 and deviation 1, by n - 1.
fn standardize(x) = (x - mean(x)) / (std(x, ddof = 1) + 1e-8)
## Rows of the k-th minibatch of m: i32[m]. A new permutation of 0..n every n / m minibatches.
fn minibatch(n, m, k) = rand.permute((k % (n // m)) * m + iota(m), n, k // (n // m))
## The clipped objective with its sign turned, of advantages and log ratios of new to old probabilities. Schulman et al. 2017, equation 7.
fn clipped_loss(adv, logratio, clip = 0.2) {
    let rho = exp(logratio)
    return mean(max(-adv * rho, -adv * clamp(rho, 1 - clip, 1 + clip)))
}
## Half the mean of the larger squared error, of v and of v kept within `clip` of the old value.
fn clipped_value(v, old, target, clip = 0.2) = 0.5 * mean(max((v - target)^2, (old + clamp(v - old, -clip, clip) - target)^2))
## An estimate of KL(old, new) that is never negative, of log ratios: mean(rho - 1 - log rho).
fn kl(logratio) = mean(expm1(logratio) - logratio)
## The share of ratios outside of the clipping.
fn clip_fraction(logratio, clip = 0.2) = mean(abs(expm1(logratio)) > clip)

# ---- values of actions

## Values of actions out of the value of the state, f32[..], and advantages f32[.., K]: Wang et al. 2016, equation 9.
fn dueling(v, a) = v[.., _] + a - mean(a, axis = -1, keep = true)
## The value by one network of the action that another prefers: van Hasselt et al. 2016, equation 4. Both f32[.., K].
fn double_value(chooses, values) = pick(values, argmax(chooses))
## One target for all D branches: R + G times the mean of double_value over them. Both f32[M, D, K]; R, G: f32[M]. Tavakoli et al. 2018,
## equation 6.
fn branch_target(R, G, chooses, values) = R + G * mean(double_value(chooses, values), axis = -1)

# ---- replay

## The last `rows` steps of n environments; `row` is the record type of one transition. `push(x)` writes a step, x with fields [n, ..];
## `at(t, c)` reads rows t, taken modulo rows, of environments c: i32[K] each. `head` is the row written next, `fill` how many are written.
layer Ring{row, rows: dim, n: dim} {
    state buf: row[rows, n] = 0
    state head: i32 = 0
    state fill: i32 = 0
    fn push(x) {
        next buf[head] = x
        next head = (head + 1) % rows
        next fill = min(fill + 1, rows)
    }
    fn at(t, c) = buf[t % rows, c]
}
## m-step returns from the rows (t, c) of a ring: o and a of the first step, R = the discounted rewards up to the first end in the window,
## next = the true successor of the last step that counts, G = gamma^(steps that count), 0 after a termination. R + G * value(next) is the
## target.
fn nstep(ring, t: i32[K], c: i32[K], m, gamma) {
    let first = ring.at(t, c)
    let R     = first.reward
    let live  = 1 - f32(first.terminated or first.truncated)
    let G     = ones([K])
    let last  = first
    for (j in 1..m) {
        let e = ring.at(t + j, c)
        R    = R + live * gamma^j * e.reward
        last = select(live > 0, e, last)
        G    = where(live > 0, G * gamma, G)
        live = live * (1 - f32(e.terminated or e.truncated))
    }
    return (o = first.o, a = first.a, R = R, G = gamma * G * (1 - f32(last.terminated)), next = last.final_obs)
}
## Priorities for the rows * n places of a ring, place = row * n + environment: drawn in proportion to (|td| + eps)^alpha. Leaves lie in blocks
## whose sums are computed anew from the leaves, so that nothing drifts; rows * n must be a multiple of `block`. Schaul et al. 2016.
##
## `pushed(row, m)` after a push: places of this row are not ready, those m - 1 rows before are, with the largest priority so far, once they were
## written.
## `sample(K)` draws K places, one from each K-th of the mass: (ix: i32[K], p = their probabilities). `update(ix, td)` sets priorities.
layer Priority{rows: dim, n: dim, alpha = 0.6, eps = 1e-6, block: int = 1024} {
    state leaf: f32[rows * n / block, block] = 0
    state mid: f32[rows * n / block]         = 0
    state top: f32                           = 1
    state steps: i32                         = 0                        # written so far, at most `rows`
    fn written(p, ix) {
        let l = put(leaf, [ix // block, ix % block], p)
        return (leaf = l, mid = put(mid, ix // block, sum(l[ix // block], axis = -1)))
    }
    fn of(ix) = leaf[ix // block, ix % block]
    fn pushed(row, m) {
        let ready = where(steps >= m - 1, (row - (m - 1)) % rows * n + iota(n), -1)  # -1: none was written that long ago
        next steps = min(steps + 1, rows)
        let u = written(concat(zeros([n]), expand(top, [n])), concat(row * n + iota(n), ready))
        next leaf = u.leaf
        next mid = u.mid
    }
    fn update(ix: i32[K], td: f32[K]) {
        let p = where(isfinite(td), (abs(td) + eps)^alpha, of(ix))      # no number must not become the largest
        let u = written(p, ix)
        next leaf = u.leaf
        next mid = u.mid
        next top = max(top, max(p))
    }
    ## The first place whose cumulated mass is above u in [0, 1).
    fn draw(u: f32[K]) {
        let c = cumsum(mid)
        let x = u * c[-1]
        let b = search(c, x)
        let j = search(cumsum(leaf[b], axis = -1), (x - (c[b] - mid[b]))[:, _])[:, 0]
        let i = b * block + j
        return (ix = i, p = of(i) / c[-1])
    }
    fn sample(k) = draw((f32(iota(k)) + rand.uniform([k])) / k)
}
## Weights (valid p)^-beta of draws of probabilities p among `valid` places, over the largest of them.
fn importance(p, valid, beta) {
    let w = (valid * p)^(-beta)
    return w / max(w)
}
