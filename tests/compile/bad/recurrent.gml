gml 1
## Recurrences as people write them first.
import nn
layer Cell{H: dim}(x: f32[B, I], s: (h: f32[B, H], c: f32[B, H])) -> (h: f32[B, H], c: f32[B, H]) {
    param w: f32[I + H, H] = 0.1
    let c = 0.9 * s.c + tanh(concat(x, s.h) @ w)
    return (h = tanh(c), c = c)
}
layer Count{}(x) {
    state n: i32 = 0
    next n = n + 1
    return x
}
let cell = Cell{5}
let count = Count{}
let cells = Cell{5}[2]
let mixed = append(nn.Linear{3}[1], nn.Linear{4})
state total: f32 = 0
phase p {
    let x = rand.normal([4, 7, 3])
    let zero = (h = zeros([4, 5]), c = zeros([4, 5]))
    let a = scan (xt in x; s = zero) { next s = cell(xt, s) }
    let b = scan (xt in x, axis = 1; s = zero) { s = cell(xt, s) }
    let c = scan (xt in x, axis = 1; s = zero) { next s = cell(xt, s).h }
    let d = scan (xt in x, axis = 1; s = zero) { let n = cell(xt, s) }
    let e = scan (xt in x, axis = 3) { yield y = xt }
    let f = scan (xt in x, axis = 1; s = zero) { next s = cell(xt, s); yield h = s.g }
    let g = scan (t in 0..7; n = 0) { next n = n + 0.5 }
    let h = scan (t in 0..7; n = 0.0) { next n = n + t }
    let i = scan (t in 0..7) { yield y = t; yield y = t + 1 }
    let j = scan (t in 0..7) { next total = total + 1; next total = total + 2 }
    let k = scan (t in 0..7) { return t }
    let l = scan (t in 0..7; n = 0) { next m = n + 1 }
    let m = scan (t in 0..7) { let u = count(ones([2])); let v = count(ones([2])) }
    let n = scan (t in 0..7) { total = total + 1 }
    let o = scan (b in mixed; y = ones([2, 3])) { next y = b(y) }
    let q = scan (t in 0..7) { minimize loss = mean(x) over cell using nn.relu }
    let r = scan (t in 0..7, axis = 0, reversed = true) { yield y = t }
    let u = scan (t in x.T) { yield y = t }
    let v = scan (; s = 0) { next s = s + 1 }
    let w = scan (xt in x, axis = 1; s = zero) { if (xt[0, 0] > 0) { next s = cell(xt, s) } }
}
