gml 1
config N: dim = 3
fn same(x: f32[..S], y: f32[..S]) = x + y
fn masked(x: f32[..S, I], m: bool[..S]) = x
fn open(x: f32[..]) -> f32[..] = x
fn nowhere(x: f32[..S]) -> f32[..R] = x
fn wrong(x: f32[..S, I]) -> f32[..S] = x
phase p {
    let a = zeros([2, N])
    let e1 = same(a, zeros([N, 2]))
    let e2 = same(a, zeros([N]))
    let e3 = masked(a, iota(N) > 1)
    let e4 = open(a)
    let e5 = nowhere(a)
    let e6 = wrong(a)
    let e7 = masked(sum(a), true)
}
