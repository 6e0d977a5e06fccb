gml 1
import opt
layer Two(x: f32[N, I]) -> f32[N, I] {
    param a: f32[I] = 1
    param b: f32[I] = 1
    return x * a * stop_grad(b)
}
layer Box{width: dim, height: dim}(x: f32[N, I]) -> f32[N, I] {
    return x * width - height
}
let net = Two{}
let height = 3
let box = Box{height, 2}
phase p {
    minimize loss = mean(box(net(ones([2, 3])))) over net using opt.sgd{0.1}
}
