gml 1
## Diffusion in the plane: a network learns the noise in noisy points of two spirals; its running average draws new ones, with
## the noisy sampler (DDPM) and with a short one without noise (DDIM).
## Ho et al. 2020, https://arxiv.org/abs/2006.11239; Song et al. 2021, https://arxiv.org/abs/2010.02502.
import nn
import opt
import points

config B: dim = 512
config N      = 100                              # noise levels
config S      = 20                               # steps of the short sampler
config H      = 128
config lr     = 2e-3
config steps_ = 4000

## How much of the data is left at each level: the cosine schedule of Nichol and Dhariwal 2021, equation 17. f32[n]
fn cosine_abar(n) {
    let f = cos((f32(iota(n + 1)) / n + 0.008) / 1.008 * pi / 2)^2
    let beta = clamp(1 - f[1:] / f[:-1], 0, 0.999)
    return cumprod(1 - beta)
}
## The noise in x at level t. Coordinates enter as waves of four lengths too: a small network alone is too smooth for thin arms.
layer Noise{H: dim}(x: f32[B, 2], t: i32[B]) -> f32[B, 2] {
    let w  = exp(f32(iota(16)) * (-log(1000.0) / 15))
    let at = f32(t)[:, _] * w
    let te = concat(sin(at), cos(at)) |> time: nn.Linear{H} |> silu
    let xw = flatten(x[.., _] * 2^f32(iota(4)), 1, 2)
    let h  = concat(x, sin(xw), cos(xw)) |> inp: nn.Linear{H}
    for (n in 0..3) as blocks {
        h = h + (silu(h + (te |> shift: nn.Linear{H})) |> lin: nn.Linear{H} |> silu)
    }
    return h |> out: nn.Linear{2}
}
let abar = cosine_abar(N)
let net  = Noise{H}
let ema  = frozen(net)

fn noisy(x, t, eps) = sqrt(abar[t])[:, _] * x + sqrt(1 - abar[t])[:, _] * eps

phase train {
    let x   = points.spirals(B)
    let t   = rand.int([B], N)
    let eps = rand.normal([B, 2])
    minimize loss = nn.mse(net(noisy(x, t, eps), t), eps) over net using opt.adam{opt.cosine(lr, warmup = 100), clip = 1.0}
}
phase average { next ema = lerp(ema, net, where(average.step < 200, 0.1, 0.01)) }

## The point that a noisy one comes from, kept near the data, and the noise that goes with it; a is what is left of the data.
fn clean(x, e, a) {
    let x0 = clamp((x - sqrt(1 - a) * e) / sqrt(a), -4, 4)
    return (x0 = x0, e = (x - sqrt(a) * x0) / sqrt(1 - a))
}
## n points by all levels.
fn ddpm(n) {
    let r = scan (t in 0..N, reverse = true; x = rand.normal([n, 2])) {
        let a  = abar[t]
        let p  = where(t > 0, abar[max(t - 1, 0)], 1.0)
        let b  = 1 - a / p
        let h  = clean(x, ema(x, expand(t, [n])), a)
        let mu = sqrt(p) * b / (1 - a) * h.x0 + sqrt(a / p) * (1 - p) / (1 - a) * x
        let z  = rand.normal([n, 2])
        next x = where(t > 0, mu + sqrt(b * (1 - p) / (1 - a)) * z, mu)
    }
    return r.x
}
## n points in S steps without noise.
fn ddim(n) {
    let ts = i32(linspace(-1, N - 1, S + 1))     # -1 = the data
    let r = scan (i in 0..S, reverse = true; x = rand.normal([n, 2])) {
        let a  = abar[ts[i + 1]]
        let p  = where(ts[i] < 0, 1.0, abar[max(ts[i], 0)])
        let h  = clean(x, ema(x, expand(ts[i + 1], [n])), a)
        next x = sqrt(p) * h.x0 + sqrt(1 - p) * h.e
    }
    return r.x
}
phase eval {
    let real = points.spirals(1024)
    metric ddpm  = points.energy(ddpm(1024), real)
    metric ddim  = points.energy(ddim(1024), real)
    metric truth = points.energy(points.spirals(1024), real)            # what two samples of the truth have
}
phase sample { output ddpm = ddpm(1024), ddim = ddim(1024), real = points.spirals(1024) }
run {
    repeat (steps_ // 500) {
        repeat (500) {
            train
            average
        }
        eval
    }
    save
}
