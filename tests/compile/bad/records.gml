gml 1
## Results of scans, and records.
import nn
layer Cell{H: dim}(x: f32[B, I], s: (h: f32[B, H], c: f32[B, H])) -> (h: f32[B, H], c: f32[B, H]) {
    param w: f32[I + H, H] = 0.1
    let c = 0.9 * s.c + tanh(concat(x, s.h) @ w)
    return (h = tanh(c), c = c)
}
let cell = Cell{5}
config T: dim = 7
phase p {
    let x = rand.normal([4, 7, 3])
    let zero = (h = zeros([4, 5]), c = zeros([4, 5]))
    let r = scan (xt in x, axis = 1; s = zero) {
        let n = cell(xt, s)
        next s = n
        yield h = n.h
    }
    let a = r.c
    let b = r.s + 1.0
    let c = r.h @ ones([4, 2])
    let (d, e, f) = r.s
    let g = r[0]
    let h = n.h
    let i = cell(x, zero)
    let j = cell(x[:, 0], (h = zeros([4, 5])))
    let k = cell(x[:, 0], (h = zeros([4, 5]), c = zeros([4, 6])))
    let l = cell(x[:, 0])
    let m = cell(x[:, 0], zeros([4, 5]))
    let o = scan (t in 0..x[0, 0, 0]) { yield y = t }
    let q = scan (t in 0..T; h = zero) { next h.h = zeros([4, 5]) }
    let u = (h = 1.0, h = 2.0)
    let v = zero.h.c
    let w = (a = 1.0, b = 2.0) + (b = 1.0, a = 2.0)
    let y = zero * [1.0, 2.0]
    let z = mean(zero)
    let aa = select(ones([4]) > 0, zero, (h = ones([4, 5]), c = ones([5, 4])))
    let bb = scan (zt in zero; s = 0.0) { next s = s + zt }
    let cc = sum(zero, axis = 2)
}
