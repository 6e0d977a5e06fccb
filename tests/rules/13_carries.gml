gml 1
# Carries: the type of the first value; without `next` they hold; the body sees the old values; parts may be written.
config N: dim = 2
layer Kept{}(x: f32[B, 2]) -> f32[B, 2] {
    let zero = zeros([B, 2])
    let first = (a = zero - inf, k = 2 * zero + 1)
    state cell = first                                             # a local of numbers and sizes; the type is that of the value
    next cell = (a = x, k = cell.k + x)
    return cell.k
}
let kept = Kept{}
phase p {
    output from_local = kept(ones([3, 2]))  #= f32[3, 2]: 1, 1, 1, 1, 1, 1
    let r = scan (t in 0..3; a = 0, b = 0.0, c = zeros([N]), held = 5, s = (x = zeros([N]), k = 1), l = [0, 1.0]) {
        next a = a + 1
        next b = 2                                                 # numbers adapt
        next c = c + b
        next s.k = s.k * 2                                         # a field; the other holds
        next l = [a, l[1] * 2]
    }
    output a = r.a  #= i32[]: 3
    output b = r.b  #= f32[]: 2
    output c = r.c  #= f32[N]: 4, 4
    output kept = r.held  #= i32[]: 5
    output k = r.s.k  #= i32[]: 8
    output x = r.s.x  #= f32[N]: 0, 0
    output l0 = r.l[0]  #= i32[]: 2
    output l1 = r.l[1]  #= f32[]: 8

    let swap = scan (t in 0..3; a = 1, b = 2) {                    # both reads are of the old values
        next a = b
        next b = a
    }
    output swap_a = swap.a  #= i32[]: 2
    output swap_b = swap.b  #= i32[]: 1

    let parts = scan (t in 0..3; v = zeros([3]), m = (x = zeros([2, 2]))) {
        next v[t] = f32(t) + 1                                     # items; they add up in the order of the text
        next v[0] = v[0] + 10
        next m.x[0] = ones([2]) * f32(t)
    }
    output v = parts.v  #= f32[3]: 30, 2, 3
    output m = parts.m.x  #= f32[2, 2]: 2, 2, 0, 0

    let unit = scan (t in 0..2; u = zeros([N])[:, _]) {            # a unit axis stays one
        next u = u + 1
        yield y = u * ones([N, 3])
    }
    output u = unit.u * ones([3])  #= f32[N, 3]: 2, 2, 2, 2, 2, 2
    output y = unit.y  #= f32[2, N, 3]: 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1
    output f = (scan (t in 0..3; a = 0) { if (4 > 3 and 2 > 3) { next a = 7 } else { next a = a - t } }).a  #= i32[]: -3
}
