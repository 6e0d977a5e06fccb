gml 1
config N: dim = 5
fn f(x: f32[N, 4]) = x
fn pair(x: f32[K], y: f32[K]) = x
fn late(x: f32[2 * K], y: f32[K]) = x
fn either(x: f32[K], m: bool[K] = none) = x
fn leaf(r: (a: f32[K], b: f32[K, 2])) = K
layer Fixed{I: dim}(x: f32[B, I]) {
    return x
}
let fixed = Fixed{4}
phase p {
    let e1 = f(zeros([3, 4])) + zeros([N, 4])
    let e2 = pair(zeros([3]), zeros([4]))
    let e3 = late(zeros([6]), zeros([3]))
    let e4 = either(zeros([3]), iota(4) > 1)
    let e5 = fixed(zeros([7, 3]))
    let e6 = leaf((a = zeros([3]), b = zeros([4, 2])))
    let ok = f(zeros([3, 4]))
    let e7 = K
}
