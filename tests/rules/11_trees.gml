gml 1
# Leafwise: the same field names in the same order; a scalar goes with anything. A reduction without axis is one scalar
# over all elements of all leaves, with axis it is leafwise. An instance in arithmetic stands for its parameters. Lists
# are trees with numbers for names.
config N: dim = 2
layer W() {
    param w: f32[2] = 1
    param b: f32[] = 2
    return w
}
layer M() {
    param v: f32[2] = 3
    param w: f32[2, 3] = 1
    return sum(v) + sum(w)
}
layer probe(p, g) {
    let r = sum(p, axis = 0)
    metric leaf = r.v using last
    metric row = max(r.w) using last
    metric all = sum(p) using last
    metric field = sum(p.w) using last
    metric large = sum(p, where = p > 2) using last
    metric lowest = max(p, where = p < 0) using last
    metric small = max(-p, where = p < 2) using last
    metric counted = sum(p > 2, where = p > 0) using last
    metric untagged = prod(p, where = tagged(p, "no_decay")) using last
    return p - g
}
let net = W{}
let pair = M{}
#! launch learn 1
#! launch p 1
phase learn {
    minimize loss = pair() over pair using probe{}
}
phase p {
    let applied = net()
    let r = (a = f32(iota(N)), b = (c = ones([N, 2]), d = f32(3)))
    let s = r * 2 + r
    let m = (a = r.a > 0, b = (c = r.b.c > 0, d = r.b.d > 5))
    let l = [iota(N), iota(N) + 5]
    let rows = sum((a = r.b.c, b = r.b.c * 2), axis = 0)
    let q = sqrt(r * r)
    output a = s.a  #= f32[N]: 0, 3
    output c = s.b.c  #= f32[N, 2]: 3, 3, 3, 3
    output d = s.b.d  #= f32[]: 9
    output root = q.a  #= f32[N]: 0, 1
    output total = sum(r)  #= f32[]: 8
    output top = max(r)  #= f32[]: 3
    output low = min(r)  #= f32[]: 0
    output some = any(m)  #= bool[]: 1
    output every = all(m)  #= bool[]: 0
    output masked = sum((a = r.a, b = r.a + 1), where = iota(N) > 0)  #= f32[]: 3
    output row_a = rows.a  #= f32[2]: 2, 2
    output row_b = rows.b  #= f32[2]: 4, 4
    output added = (l + l)[1]  #= i32[N]: 10, 12
    output lists = len(l + [1, 2])  #= i32[]: 2
    output scalar = (l * sum(iota(N)))[0]  #= i32[N]: 0, 1
    output compared = (r > 0).b.d  #= bool[]: 1
    output chosen = where(r > 0, r, -1).a  #= f32[N]: -1, 1
    output leaf = learn.leaf  #= f32[]: 6
    output row = learn.row  #= f32[]: 2
    output elements = learn.all  #= f32[]: 12
    output field = learn.field  #= f32[]: 6
    output large = learn.large  #= f32[]: 6
    output lowest = learn.lowest  #= f32[]: 0
    output small = learn.small  #= f32[]: -1
    output counted = learn.counted  #= f32[]: 2
    output untagged = learn.untagged  #= f32[]: 1
    output instance = sum(net * 3)  #= f32[]: 12
    output squares = sum(net ^ 2)  #= f32[]: 6
}
