gml 1
layer A{H: dim}(x: f32[B, I]) -> f32[B, H] {
    let z = x @ (w +
    return z
}
layer B{H: dim(x: f32[B]) -> f32[B] {
    return y
}
let net = A{3
phase train on d{batch = 3} as d {
    let ok = 1
    next s[1 = 3
    let y = (3, 4]
    let z = f(1}
    next s = }
data d = "x" {
    x f32 = field("a")
    y: f32 = field("b"
}
)
layer C(x) {
    for (i in 0..3) {
        if (i == 3) {
            let q = 3
    }
    let k = 3
    return k
}
phase python on d{batch = 2} as s:
    metric m = mean(s.y)
    metric n = mean(s.x)
}
layer L{}(x) {
    for (i in 0..3):
        x = f(x)
    }
    let b = = 2
    return x
}
let late = f(1, {
phase last {
    let q = [1, 2
