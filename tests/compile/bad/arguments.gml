gml 1
import nn
layer Net{}(x: f32[N, I]) -> f32[N * I] {
    param k: f32[3, I] ~ nn.normal(std = 0.3)
    return flatten(x)
}
let net = Net{}
phase p {
    let (best, place) = topk(zeros([4, 3]))
    output y = net(zeros([2, 3]))
}
