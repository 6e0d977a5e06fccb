gml 1
# Dims are Laurent polynomials with rational coefficients in normal form; `//`, `%`, min and max make opaque atoms,
# equal when their operands are.
config N: dim = 4
config T: dim = 6
config M: dim = 8
config H: dim = 12
config W: dim = 12
config n = 3
fn same(x: f32[D], y: f32[D]) = D
phase p {
    output cancel = same(zeros([N * T / M * M]), zeros([N * T]))  #= i32[]: 24
    output quarter = same(zeros([H / 4 * 4]), zeros([H]))  #= i32[]: 12
    output expanded = same(zeros([(N + 1) * (T + 2)]), zeros([N * T + T + 2 * N + 2]))  #= i32[]: 40
    output halves = same(zeros([H / 2 + H / 2]), zeros([H]))  #= i32[]: 12
    output shape = reshape(iota(H), [4, H / 4])  #= i32[4, H/4]: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    output floor = same(zeros([H // 5]), zeros([H // (2 + 3)]))  #= i32[]: 2
    output rest = same(zeros([H % 5]), zeros([(2 * H - H) % 5]))  #= i32[]: 2
    output smaller = same(zeros([min(N, T)]), zeros([min(N, 2 * T - T)]))  #= i32[]: 4
    output larger = same(zeros([max(N, T + 0)]), zeros([max(N, T)]))  #= i32[]: 6
    output below = same(zeros([T // (N + 1)]), zeros([T // (1 + N)]))  #= i32[]: 1
    output loop = rounds(n)  #= f32[]: 3
    output chosen = if W > 10 then 1 else 2  #= i32[]: 1
    output listed = len([1, 2, W])  #= i32[]: 3
}
fn rounds(k) {
    let s = f32(0)
    for (i in 0..k) {
        s = s + 1
    }
    return s
}
