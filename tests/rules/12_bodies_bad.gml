gml 1
import nn
config N: dim = 3
state n = 0
layer Step(x: f32[..S]) -> f32[..S] {
    yield y = x
    return x
}
let lin = nn.Linear{3}
phase b {
    let x = zeros([N, 2])
    let total = zeros([2])
    let r1 = scan (c in x; h = zeros([2])) {
        next h = h + c
        yield h = h
    }
    let r2 = scan (c in x) { total = total + c }
    let r3 = scan (c in x; h = zeros([2])) { h = h + c }
    let r4 = scan (c in x; h = zeros([2])) { scan (v in c) { next h = h * v } }
    let r5 = scan (c in x) {
        yield y = c
        yield y = 2 * c
    }
    let r6 = scan (c in x) { return c }
    let r7 = scan (c in x) { metric size = sum(c) }
    let r8 = scan (c in x) { output out = c }
    let h = lin(zeros([1, 2]))
    let r9 = scan (c in x) { minimize loss = sum(lin(c[_])) over lin using opt }
    let r10 = scan (c in x) { next lin.w = 0 }
    let r11 = scan (c in x) { yield y = none }
    let r12 = scan (c in x) { next c = c + 1 }
    yield y = x
    let z = Step{}(x)
}
phase c {
    let x = zeros([N, 2])
    let kept = zeros([2])
    fn keep(v) { kept = v }
    scan (c in x) { keep(c) }
    let r1 = scan (c in x) {
        next n = n + 1
        next n = n + 2
    }
    let r2 = scan (c in x) { let w = unknown(c) }
    let r3 = scan (c in x; h = 0.0) { next h.x = 1 }
    let r4 = scan (c in x) { yield y = c @ c }
    output first = r4.y, second = r3.h.x
}
