gml 1
import nn
config N: dim = 4
config M: dim = 4
fn same(a: f32[..S], b: f32[..S]) = a + b
fn square(a: f32[K, K]) = a
fn pair(a: f32[K], b: f32[K, 3]) = b
phase p {
    let a = zeros([N, 3])
    let b = zeros([M, 3])
    let column = zeros([N, 1])
    let row = zeros([N])
    let e1 = a + b
    let e2 = column - row
    let e3 = same(a, row)
    let e4 = square(a)
    let e5 = pair(row, b)
    let e6 = pair(a, a)
    let e7 = sum(a, axis = 2)
    let e8 = a[5, 0]
    let e9 = a[:, 4]
    let e10 = a[0, 0, 0]
    let e11 = a[:, 2:9]
    let e12 = a[row]
    let e13 = reshape(a, [N, 4])
    let e14 = xent(a, row)
    let e15 = transpose(row)
    let e16 = a @ row
    let e17 = a @ b
    let e18 = permute(a, [0, 0])
    let (u, v) = split(a, 3)
    let e19 = unknown_op(a)
    let e20 = zeros(3)
}
