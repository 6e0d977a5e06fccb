gml 1
import nn
config N: dim = 4
config M: dim = 4
config widths = [32, 16]
layer Tail{wide: dim}(x: f32[B, I]) -> f32[B, wide] {
    let h = x
    for (w in widths_of(2)) as part { h = h |> lin: nn.Linear{w} |> tanh }
    return h
}
layer Checked{widths: int[]}(x: f32[B, I]) -> f32[B, 32] {
    let h = x
    for (w in widths) as part { h = h |> lin: nn.Linear{w} |> tanh }
    return h
}
fn widths_of(n: int) = [8, 4]
let tail = Tail{5}
let checked = Checked{widths}
phase p {
    let a = zeros([N, 3])
    let good: f32[N, 3] = a
    let bad: f32[M, 3] = a
    let t = tail(a)
    let c = checked(a)
    output y = a
}
