gml 1
# scan: several inputs, `axis`, `reverse`, records, counters, scans in scans; yields stack where the inputs have the axis.
config T: dim = 3
fn rows() = reshape(f32(iota(6)), [2, 3])
phase p {
    let x = rows()
    let sums = scan (c in x, axis = 1; h = zeros([2])) {
        next h = h + c
        yield y = h, z = h + c
    }
    output h = sums.h  #= f32[2]: 3, 12
    output y = sums.y  #= f32[2, 3]: 0, 0, 1, 0, 3, 7
    output z = sums.z  #= f32[2, 3]: 0, 1, 3, 3, 7, 12

    let back = scan (c in x, t in 0..3, axis = -1, reverse = true; h = zeros([2])) {
        next h = h + c
        yield y = h, t = f32(t) + 0 * c
    }
    output back_h = back.h  #= f32[2]: 3, 12
    output back_y = back.y  #= f32[2, 3]: 3, 2, 0, 9, 5, 0
    output back_t = back.t  #= f32[2, 3]: 0, 1, 2, 0, 1, 2

    let count = scan (t in 0..T, u in 2..T + 2; n = 0, last = -1) {
        next n = n + t * u
        next last = t
        yield t = t, u = u
    }
    output n = count.n  #= i32[]: 11
    output last = count.last  #= i32[]: 2
    output t = count.t  #= i32[T]: 0, 1, 2
    output u = count.u  #= i32[T]: 2, 3, 4

    let r = (a = x, b = (c = x[0], d = iota(3)))                   # axis -1 is axis 1 of a and axis 0 of the others
    let leaves = scan (i in r, axis = -1; s = (n = 0, w = 0.0)) {
        next s = (n = s.n + i.b.d, w = s.w + i.b.c)
        yield y = (a = i.a, n = s.n)
    }
    output leaves_n = leaves.s.n  #= i32[]: 3
    output leaves_w = leaves.s.w  #= f32[]: 3
    output leaves_a = leaves.y.a  #= f32[2, 3]: 0, 1, 2, 3, 4, 5
    output leaves_y = leaves.y.n  #= i32[3]: 0, 0, 1

    let deep = expand(x[:, _], [2, 2, 3])                          # axis -2 with a yield [3] gives [2, 2, 3]
    let inner = scan (c in deep, axis = -2) { yield y = c }
    output inner = inner.y  #= f32[2, 2, 3]: 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5

    let list = scan (c in [1.0, 2.0, 4.0], d in [x[0], x[1], x[0]]; p = 1.0) {
        next p = p * c
        yield d = d * c
    }
    output p = list.p  #= f32[]: 8
    output d = list.d  #= f32[3, 3]: 0, 1, 2, 6, 8, 10, 0, 4, 8

    let nested = scan (row in x; all = 0.0) {                      # cells of a row, then rows
        let s = scan (v in row; a = all) { next a = a + v * v }
        next all = s.a
        yield a = s.a
    }
    output nested = nested.all  #= f32[]: 55
    output nested_a = nested.a  #= f32[2]: 5, 55

    let none_at_all = scan (t in 3..3; h = 7.0) {
        next h = h + 1
        yield y = h
    }
    output empty = none_at_all.y  #= f32[0]:
    output kept = none_at_all.h  #= f32[]: 7

    let maybe = scan (c in x[0], m in none; h = 0.0) {
        next h = if m == none then h + c else h
    }
    output maybe = maybe.h  #= f32[]: 3
    output alone = (scan (t in 0..4; k = 1) { next k = 2 * k }).k  #= i32[]: 16
}
