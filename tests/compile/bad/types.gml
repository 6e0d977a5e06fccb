gml 1
## Types and sizes that cannot be.
import nn
config list = [[1, 2], [3]]
config late = 1e300 * 1e300
layer W{}(x: f32[N, 3]) -> f32[N, 3] {
    param pair: (a: f32[3], b: f32[3]) = 0
    param many: f32[1, 1, 1, 1, 1, 1, 1, 1, 1] = 0
    param drawn: f32[3] ~ relu
    return x * pair.a
}
let row = (h = ones([3]), c = 0)
let net = nn.Linear{3}
state a: net = 0
state b: relu = 0
state c: row[1, 1, 1, 1, 1, 1, 1, 1] = 0
state d: f32[-1] = 0
state e: f32[1.5] = 0
state f: f32[2^41] = 0
state g: i32[3] = 0.5
state h: bool[3] = 1
state i: f32[3] = zeros([4])
state j: (h: f32[3]) = (h = 0, c = 0)
phase p {
    let u = W{}
    output y = u(ones([2, 3])), z = net(ones([1, 2]))
    metric m = 1 / 3
    metric n = 7 / 2 + 0.0
    metric o = f32(9007199254740993)
}
