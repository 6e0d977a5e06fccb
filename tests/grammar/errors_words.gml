gml 1
confg x = 3
layr A{H: dim}(x: f32[B]) -> f32[B] {
    let y = 3
    return y
}
layer A{H: dim}(x: f32[B]) -> f32[B] {
    parm w: f32[I, H] ~ kaiming(I)
    metirc q = mean(y)
    retrun y
}
phase train on d{batch = 3} as d {
    minimize loss = mean(net(d.x)) over net usng opt.sgd{0.1}
    let w = f(a b)
    let k = (a = 1, b 2)
    let z = f(in, 3)
    y += 3
    if x > 3 {
        let q = 3
    } else {
        let q = 4
    }
    scan xt in x { yield y = 3 }
    let y = x +* 2
    let e = 3 +
    let f = x ** 2
    let g = a && b
    let c = if x = 3 then 1 else 2
}
