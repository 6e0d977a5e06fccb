gml 1
config N: dim = 4
config T: dim = 6
config H: dim = 12
fn same(x: f32[D], y: f32[D]) = D
phase p {
    let e1 = same(zeros([N]), zeros([T]))
    let e2 = zeros([H / (N + T)])
    let e3 = same(zeros([H // 5 * 5]), zeros([H]))
    let e4 = same(zeros([H // 5]), zeros([H // 4]))
    let e5 = zeros([7 / 2])
    let e6 = zeros([H // 0])
    let e7 = reshape(iota(H), [5, H / 4])
    let e8 = zeros([0.5 * H])
    let e9 = zeros([2 - 3])
    for (k in 0..sum(iota(H))) {
        let a = k
    }
}
