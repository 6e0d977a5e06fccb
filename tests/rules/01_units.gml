gml 1
# Axes align from the right: equal, or one of them is a unit axis, made by `_`, `keep = true` or a literal 1 in
# a declared type. Elementwise ops, transpose and views that do not reshape carry it on.
config N: dim = 3
config V: dim = 2
config H: dim = 2
fn column(y: f32[M, 1]) = y
fn centred(x) = x - mean(x, axis = -1, keep = true)
layer Shift() {
    param b: f32[3, 1] = 10
    return b
}
let shift = Shift{}
phase p {
    let t = f32(iota(N))
    let a = reshape(f32(iota(V * H)), [V, H])
    let w = f32(iota(V))
    let h = f32(iota(H))
    output under = t[:, _] - t  #= f32[N, N]: 0, -1, -2, 1, 0, -1, 2, 1, 0
    output missing = a + h  #= f32[V, H]: 0, 2, 2, 4
    output prefix = reshape(t, [N, 1])[:, 0][:, _, _] * a  #= f32[N, V, H]: 0, 0, 0, 0, 0, 1, 2, 3, 0, 2, 4, 6
    output rows = w[.., _] * a  #= f32[V, H]: 0, 0, 2, 3
    output kept = centred(a)  #= f32[V, H]: -0.5, 0.5, -0.5, 0.5
    output total = a / sum(a, keep = true)  #= f32[V, H]: 0, 0.16666667, 0.33333333, 0.5
    output declared = column(reshape(t, [N, 1])) - t  #= f32[N, N]: 0, -1, -2, 1, 0, -1, 2, 1, 0
    let pinned: f32[N, 1] = reshape(t, [N, 1])
    output annotated = pinned - t  #= f32[N, N]: 0, -1, -2, 1, 0, -1, 2, 1, 0
    output param = shift() + ones([3])  #= f32[3, 3]: 11, 11, 11, 11, 11, 11, 11, 11, 11
    output through = exp(t[:, _] * 0) + t  #= f32[N, N]: 1, 2, 3, 1, 2, 3, 1, 2, 3
    output turned = transpose(t[:, _]) + t[:, _]  #= f32[N, N]: 0, 1, 2, 1, 2, 3, 2, 3, 4
    output permuted = permute(t[:, _, _], [1, 0, 2])[0] * w  #= f32[N, V]: 0, 0, 0, 1, 0, 2
    output indexed = t[_, :, _][:, 1:3] + w  #= f32[1, 2, V]: 1, 2, 2, 3
    output unitless = reshape(t, [N, 1]) + reshape(t, [N, 1])  #= f32[N, 1]: 0, 2, 4
    output both = t[:, _] * reshape(t, [N, 1])  #= f32[N, 1]: 0, 1, 4
    output scalar = 2 * t + sum(w)  #= f32[N]: 1, 3, 5
}
