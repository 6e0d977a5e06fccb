gml 1
config N: dim = 2
layer W() {
    param w: f32[2] = 1
    return w
}
let net = W{}
layer optimizer(p, g) {
    let e1 = p + zeros([N])
    let e2 = mean(g)
    let e12 = max(g, keep = true)
    return p
}
phase p {
    let r = (a = zeros([N]), b = zeros([3]))
    let e3 = r + (b = zeros([3]), a = zeros([N]))
    let e4 = r + (a = zeros([N]))
    let e5 = r + zeros([N])
    let e6 = mean(r)
    let e7 = r + [zeros([N]), zeros([3])]
    let e8 = [zeros([N])] + [zeros([N]), zeros([N])]
    let e9 = r + (a = zeros([3]), b = zeros([3]))
    let e10 = var(r)
    let e11 = sum(r, axis = 1)
    minimize loss = sum(net()) over net using optimizer{}
}
