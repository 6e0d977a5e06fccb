gml 1
## Points in the plane as exactly specified distributions, and a distance between samples.

## n points of eight equal normal blobs on a circle of radius 2. [n, 2]
fn blobs(n, spread = 0.15) {
    let at = f32(rand.int([n], 8)) * (2 * pi / 8)
    return 2 * stack([cos(at), sin(at)], axis = 1) + spread * rand.normal([n, 2])
}
## n points of a spiral of two arms. [n, 2]
fn spirals(n, spread = 0.08) {
    let t = sqrt(rand.uniform([n])) * 2 * pi
    let side = where(rand.bernoulli([n], 0.5), 1.0, -1.0)
    let r = side * t / pi
    return stack([r * cos(t), r * sin(t)], axis = 1) + spread * rand.normal([n, 2])
}
fn distances(x, y) = mean(sqrt(sum((x[:, _] - y[_])^2, axis = -1) + 1e-12))
## Energy distance of two samples: 2 E|x - y| - E|x - x'| - E|y - y'|, 0 for equal distributions.
## Szekely and Rizzo 2013, https://doi.org/10.1016/j.jspi.2013.03.018
fn energy(x: f32[N, D], y: f32[M, D]) = 2 * distances(x, y) - distances(x, x) - distances(y, y)
