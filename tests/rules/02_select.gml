gml 1
# select(c, a, b): the shape of c is a prefix of every leaf, so it chooses whole rows; scalars stand for any leaf.
config N: dim = 2
phase p {
    let c = iota(N) == 1
    let r = (x = f32(iota(N)), o = ones([N, 2]))
    let q = (x = f32(iota(N)) + 10, o = 5 * ones([N, 2]))
    let s = select(c, r, q)
    let z = select(c, r, 0)
    let l = select(c, [r.x, q.x], [q.x, r.x])
    output x = s.x  #= f32[N]: 10, 1
    output o = s.o  #= f32[N, 2]: 5, 5, 1, 1
    output zx = z.x  #= f32[N]: 0, 1
    output zo = z.o  #= f32[N, 2]: 0, 0, 1, 1
    output l0 = l[0]  #= f32[N]: 10, 1
    output l1 = l[1]  #= f32[N]: 0, 11
    output whole = select(sum(r.x) > 0, r.o, q.o)  #= f32[N, 2]: 1, 1, 1, 1
    output each = select(r.o > q.o, r.o, q.o)  #= f32[N, 2]: 5, 5, 5, 5
    output numbers = select(c, 1, 0)  #= i32[N]: 0, 1
    output floats = select(c, 1.5, 0)  #= f32[N]: 0, 1.5
    output whole_number = select(c, iota(N), 7)  #= i32[N]: 7, 1
    output static = select(1 < 2, r.x, q.x)  #= f32[N]: 0, 1
}
