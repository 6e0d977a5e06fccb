gml 1
layer Scale{}(x: f32[N, I]) -> f32[N, I] {
    param k: f32[I]
    return k * x
}
let net = Scale{}
phase p {
    output y = net(zeros([2, 3]))
}
