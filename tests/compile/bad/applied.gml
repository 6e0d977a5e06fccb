gml 1
## Instances, lists of them and functions as values.
import nn
import opt
layer Env{} {
    state s: f32[4] = 0
    fn obs() = s
    fn (a: i32[]) { next s = s + f32(a) }
}
let env = Env{}
let dense = nn.Linear{3}
let many = nn.Linear{3}[3]
state keep: f32[3] = dense
fn twice(f, x) = f(f(x))
phase a {
    let x = ones([2, 3])
    let b = many(x)
    let c = many[3](x)
    let d = many[0, 1](x)
    let e = many.w
    let i = iota(3)[0]
    let f = many[i](x)
    let g = for (m in many) { x = m(x) }
    let h = [dense, env]
    let j = h[0](x) + h[1](x)
    let k = twice(dense, ones([2, 4]))
    let l = if x[0, 0] > 0 then dense else many[0]
    let m = where(x > 0, dense, dense)
    let n = dense + many[0]
    let o = dense == many[0]
    let q = len(dense)
    let r = frozen(many[0])(x)
    let s = params(many)[3]
    let t = many |> x
    minimize loss = mean(dense(x)) over many[0].q using opt.sgd{0.1}
    minimize loss2 = mean(dense(x)) over [dense, 3] using opt.sgd{0.1}
    minimize loss3 = mean(dense(x)) over env using opt.sgd{0.1}
    minimize loss4 = dense(x) over dense using opt.sgd{0.1}
    minimize loss5 = mean(dense(x)) over dense using opt.sgd{0.1} when x > 0
    minimize loss6 = mean(many[1](x)) over many[1] using dense
}
