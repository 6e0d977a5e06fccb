gml 1
import nn
config N: dim = 3
config M: dim = 3
layer Net{out: dim = 1}(x: f32[B, I]) -> f32[B, out] {
    return x |> lin: nn.Linear{out}
}
layer Scale{n: dim = 1}(x) {
    param s: f32[n] = 2
    return x * s
}
let net = Net{1}
let scale = Scale{1}
phase p {
    let t = f32(iota(N))
    let y = net(zeros([N, 4]))
    let e1 = y - t
    let e2 = reshape(t, [N, 1]) - t
    let e3 = concat(t[:, _], t[:, _])[:, 0:1] - t
    let e4 = t[:, _][:, 0:1] - t
    let e5 = stack([t], axis = 1) - t
    let e6 = split(stack([t, t], axis = 1), 2)[0] - t
    let e7 = scale(t)
    let e8 = t[:, _] * reshape(t, [N, 1]) - t
    let e9 = flatten(t[:, _], 0, 1)[0:1] - t
    let e10 = t - zeros([M])
    let e11 = t[:, _] + zeros([M, M])
    let e12 = zeros([1, 4]) + zeros([N, 4])
    let e13 = expand(t[:, _], [N, 1]) - t
}
