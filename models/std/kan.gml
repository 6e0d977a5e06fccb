gml 1
## Kolmogorov-Arnold networks: a learned function on every edge, a SiLU branch and a B-spline each.
## Liu et al. 2024, https://arxiv.org/abs/2404.19756; numerics as in the "efficient" form, where the basis is evaluated once
## for all outputs.
import nn

## [..S, I] to [..S, O]: out = sum over i of base(i, o) silu(x_i) + scale(i, o) spline(i, o)(x_i). G intervals on [lo, hi],
## degree k; the knots are a state that `refit` moves.
layer Layer{I: dim, O: dim, G: int = 5, k: int = 3, lo = -1.0, hi = 1.0} {
    let h = (hi - lo) / G
    let M = G + k

    ## Knots of n equal splines: G + 1 inside, k more on each side.
    fn knots(n) = expand(lo + h * f32(iota(G + 2 * k + 1) - k), [n, G + 2 * k + 1])
    ## Coefficients of small noise at the inner knots (least squares, at load, in f64).
    fn fit(shape) {
        let at    = lo + h * f32(iota(G + 1))
        let basis = bspline(at[:, _], knots(1), k)[:, 0]                # [G + 1, M]
        return (rand.uniform([I, O, G + 1], -0.5, 0.5) * 0.1 / G) @ transpose(pinv(basis))
    }

    param base: f32[I, O]   ~ nn.fan_in(I, O)
    param scale: f32[I, O]  ~ nn.fan_in(I, O)
    param spl: f32[I, O, M] ~ fit()
    state grid: f32[I, G + 2 * k + 1] = knots(I)

    ## All weights of an input as rows of one matrix: its M spline coefficients, then the SiLU branch. [I (M + 1), O]
    fn rows(spline) = flatten(transpose(concat(spline * scale[.., _], base[.., _])), 0, 1)
    ## What they are multiplied with. [..S, I (M + 1)]
    fn basis(x, knots) = flatten(concat(bspline(x, knots, k), silu(x)[.., _]), -2, -1)

    fn (x: f32[..S, I]) -> f32[..S, O] = basis(x, grid) @ rows(spl)

    ## Knots anew from the rows of x, half way between even and quantiles as `mix` says, and coefficients so that the layer
    ## computes the same function (ridge regression); returns the new output.
    fn refit(x: f32[N, I], margin = 0.01, mix = 0.02, ridge = 1e-4) -> f32[N, O] {
        let xs    = sort(x, axis = 0)
        let span  = max(xs[-1] - xs[0], 1e-2)    # [I]
        let step  = (span + 2 * margin) / G
        let j     = f32(iota(G + 1))[:, _]
        let even  = xs[0] - margin + j * step
        let seen  = xs[i32(linspace(0, N - 1, G + 1))]                  # [G + 1, I]
        let gap   = 1e-3 * span
        let inner = cummax(mix * even + (1 - mix) * seen - j * gap, axis = 0) + j * gap  # ascending, whatever the rows
        let out   = f32(1 + iota(k))[:, _] * step
        let knots = transpose(concat(inner[0] - flip(out, 0), inner, inner[-1] + out, axis = 0))
        let a0 = f32(permute(bspline(x, grid, k), [1, 0, 2]))           # [I, N, M]; least squares need more than bf16
        let a1 = f32(permute(bspline(x, knots, k), [1, 0, 2]))
        let y  = a0 @ transpose(spl)             # [I, N, O]
        let n  = transpose(a1) @ a1              # [I, M, M]
        let tr = sum(n * eye(M), axis = [-2, -1], keep = true) / M
        let c  = transpose(solve_spd(n + (ridge * tr + 1e-8) * eye(M), transpose(a1) @ y))
        next grid = knots
        next spl  = c
        return basis(x, knots) @ rows(c)
    }
    ## L1 norm and entropy of the edges, for sparse networks; finite where an edge is zero.
    fn penalty() {
        let l = mean(abs(spl), axis = -1)
        let p = l / max(sum(l), 1e-12)
        return sum(l) - sum(p * log(p + 1e-12))
    }
    ## The part of the inputs that no knot reaches.
    fn outside(x: f32[N, I]) = mean(x < grid[:, 0] or x >= grid[:, -1])
}

## Layers of the given widths, inputs first: KAN{[64, 32, 10]}.
layer KAN{widths: int[], G: int = 5, k: int = 3} {
    let layers = []
    for (n in 0..len(widths) - 1) as layers {
        let kan = Layer{widths[n], widths[n + 1], G, k}
        layers = append(layers, kan)
    }
    fn (x) {
        for (l in layers) { x = l(x) }
        return x
    }
    ## Refits layer by layer: each sees what the refitted one before it makes.
    fn refit(x) {
        for (l in layers) { x = l.refit(x) }
        return x
    }
    fn penalty() {
        let p = 0.0
        for (l in layers) { p = p + l.penalty() }
        return p
    }
}
