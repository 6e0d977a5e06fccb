gml 1
config N: dim = 3
phase p {
    let x = zeros([N])
    let r1 = scan (c in x; a = 0) { next a = a + 0.5 }
    let r2 = scan (c in x; a = 0) { next a = c }
    let r3 = scan (c in x; a = 0.0) { next a = x }
    let r4 = scan (c in x; a = zeros([2])) { next a = x }
    let r5 = scan (c in x; a = (u = x, v = 0)) { next a = (u = x, w = 1) }
    let r6 = scan (c in x; a = (u = x, v = 0)) { next a = (u = x, v = 1.5) }
    let r7 = scan (c in x; a = zeros([2])) { next a = c * 1.0 }
    let r8 = scan (c in x; a = none) { next a = c }
    let r9 = scan (c in x; a = "text") { next a = c }
    let r10 = scan (c in x; a = x) {
        next a = a + c
        next a = a - c
    }
    let r11 = scan (c in x; a = [0, 1]) { next a = [0] }
    let r12 = scan (c in x; a = (u = x)) { next a.w = x }
    let r13 = scan (c in x; a = false) { next a = 1.5 }
}
phase q {
    let x = zeros([N])
    let r1 = scan (c in x; a = 0) { next a = 0.5 }
    let r2 = scan (c in x; a = x) { next a[0] = 1.5 + zeros([2]) }
    let r3 = scan (c in x; a = x, a = 0) { next a = x }
    let r4 = scan (c in x; c = 0) { next c = 1 }
}
