gml 1
import nn
layer Loop{n: int}(x: f32[N, I]) {
    let h = x
    for (k in 0..n) {
        h = h |> lin: nn.Linear{I}
    }
    return h
}
layer Twice(x: f32[N, I]) {
    let a = x |> lin: nn.Linear{I}
    return a |> lin: nn.Linear{I}
}
layer Anonymous(x: f32[N, I]) {
    return x |> nn.Linear{I}
}
layer Counter(x: f32[N, I]) {
    state n: i32 = 0
    let double = 2
    next n = n + 1
    next double = 3
    n = 4
    return x
}
layer Wrong(x: f32[N, I]) {
    state s: f32[I] = 0
    param w: f32[I] = "one"
    param v: f32[I] ~ nn.fan_in(I)
    param u: f32[I] = x[0]
    next s = zeros([3, 3])
    param t: f32[I] = 1
    next t = s
    return x
}
fn owner(x) {
    param w: f32[3] = 0
    return x * w
}
let loop = Loop{2}
let twice = Twice{}
let anonymous = Anonymous{}
let counter = Counter{}
let wrong = Wrong{}
let lin = nn.Linear{4}
phase p {
    let x = zeros([2, 3])
    let a = loop(x)
    let b = twice(x)
    let c = anonymous(x)
    let d = counter(x)
    let e = wrong(x)
    let f = owner(x)
    let g = lin(x)
    let h = lin(zeros([2, 5]))
}
phase q {
    let a = counter(zeros([2, 3]))
    let b = counter(zeros([2, 3]))
}
