gml 1
config n: dim = 3
config lr = 0.1
const table = [1, 2, 3]
fn f(x: f32[..S]) -> f32[..S] { return where(x > 0, exp(x), -x ** 2) }
layer Counter{}(x: f32[B, I]) -> f32[B, I] {
    param w: f32[I] = 1
    state s: f32[I] = 0
    next s = s + mean(x, 0)
    for i in 0 .. 2 { x = x * w + i }
    if n > 2 { x = x @ transpose(x) @ x }
    return cumsum(x, -1)[:, 0 : n] + s
}
let c = Counter{}
phase p { let y = f(c(zeros[2, n] + uniform[2, n]))
 metric a = sum(y)
 assert n == 3 }
run { p for 10 steps }
