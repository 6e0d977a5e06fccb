gml 1
## The smallest model that learns: a line through noise, without data and imports.
config n: dim = 32
config lr = 0.1

layer Line{}(x: f32[B]) -> f32[B] {
    param a: f32[] = 0
    param b: f32[] = 0
    return a * x + b
}
layer descend{lr}(p, g) {
    return p - lr * g
}
let line = Line{}

phase train {
    let x = rand.normal([n])
    minimize loss = mean((line(x) - (2 * x + 1))^2) over line using descend{lr}
}
phase eval {
    metric a = line.a
}
run {
    train for 100 steps
    eval
}
