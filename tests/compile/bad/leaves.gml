gml 1
## What optimizers and fns over leaves return: known when the leaves are.
layer Two{}(x: f32[N, 3]) -> f32[N, 3] {
    param a: f32[3] = 1 tag gain
    param b: f32[3] = 0
    return x * a + b
}
let net = Two{}
let other = Two{}
layer turned{}(p, g) {
    fn f(x) = x[_, :]
    return each(f, p)
}
layer odd{}(p, g) { return p - (a = 1.0, c = 2.0) }
layer reach{}(p, g) {
    state v: p = 0
    next v.c = zeros([3])
    return p - g
}
layer short{}(p, g) {
    state v: p = 0
    next v.a = zeros([4])
    return p - g
}
phase one {
    minimize l = mean(net(ones([2, 3]))) over net using turned{}
}
phase four {
    minimize l = mean(net(ones([2, 3]))) over net using odd{}
}
phase five {
    minimize l = mean(net(ones([2, 3]))) over net using reach{}
}
phase six {
    minimize l = mean(net(ones([2, 3]))) over net using short{}
}
phase seven {
    minimize l = mean(other(ones([2, 3]))) over other.a using turned{}
}
