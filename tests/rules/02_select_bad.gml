gml 1
config N: dim = 2
phase p {
    let c = iota(N) == 1
    let e1 = select(c, zeros([4, N]), zeros([4, N]))
    let e2 = select(c, (x = zeros([N]), o = zeros([4, N])), 0)
    let e3 = select(c, (x = zeros([N])), (y = zeros([N])))
    let e4 = select(zeros([N]), 1.0, 0.0)
    let e5 = select(c[:, _], zeros([N, 4]), 0)
    let e6 = select(c, zeros([N]), iota(N))
    let e7 = select(c, zeros([N, 3]), zeros([3]))
    let e8 = select(c, zeros([N, 4]), zeros([N, 3]))
    let e9 = select(c, (x = zeros([N])), (x = zeros([N]), y = zeros([N])))
    let e10 = select(c, [zeros([N])], zeros([N]))
    let e11 = select(c, 1.0, true)
}
