gml 1
config N: dim = 3
phase p {
    let x = f32(iota(4))
    let i = iota(N)
    let e1 = x[where(i > 0, 0.0, -1.0)]
    let e2 = put(x, i > 0, 1)
    let e3 = x[where(i > 0, true, false)]
    let e4 = put(x, f32(i), 1)
    let e5 = put(x, i, iota(N))
    let e6 = put(x, i, zeros([N, 2]))
    let e7 = put(x, -5, 1)
    let e8 = put_max(x, 4, 1)
    let e9 = put(x, [0, -1], 1)
}
