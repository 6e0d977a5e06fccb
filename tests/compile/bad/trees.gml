gml 1
## Trees of parameters: what runs over their leaves, what optimizers return, lists and records beside them.
import nn
import opt
layer Two{}(x: f32[N, 3]) -> f32[N, 3] {
    param a: f32[3] = 1 tag gain
    param b: f32[3] = 0
    return x * a + b
}
let net = Two{}
let other = Two{}
layer scalar{}(p, g) { return 1.0 }
layer mixed{}(p, g) { return p + zeros([3]) }
layer reach{}(p, g) {
    state v: p = 0
    next v.c = 1.0
    return p - v
}
layer second{}(p, g) {
    state v: p = 0
    next v[0] = zeros([3])
    return p - v
}
phase two {
    minimize l = mean(net(ones([2, 3]))) over net using scalar{}
}
phase three {
    minimize l = mean(net(ones([2, 3]))) over net using mixed{}
}
phase five {
    minimize l = mean(net(ones([2, 3]))) over net using reach{}
}
phase six {
    minimize l = mean(net(ones([2, 3]))) over net using second{}
}
phase seven {
    let y = other(ones([2, 3]))
    let a = params(1.0)
    let b = states(y)
    let c = frozen(y)
    let d = tagged(y, "gain")
    let e = each(relu, 3.0)
    let f = each(relu, (a = 1.0), (a = 1.0, b = 2.0))
    let g = each(relu, [1.0, 2.0], [1.0])
    let h = each(relu, [1.0], [1.0], [1.0], [1.0], [1.0])
    let i = sum((a = 1.0, b = 2.0), keep = true)
    let j = mean((a = 1.0, b = 2.0))
    let k = net + (a = 1.0)
    let m = mean(net)
}
