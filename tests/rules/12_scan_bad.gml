gml 1
config N: dim = 3
config M: dim = 4
phase a {
    let x = zeros([N, 2])
    let y = zeros([M, 2])
    let r1 = scan (c in x, d in y) { yield y = c }
    let r2 = scan (c in x, t in 0..4) { yield y = c }
    let r3 = scan (c in (u = x, v = zeros([2, N])), axis = 1) { yield y = c.u }
    let r4 = scan (c in 5) { yield y = c }
    let r5 = scan (c in sum(x)) { yield y = c }
    let r6 = scan (c in x, axis = 2) { yield y = c }
    let r7 = scan (c in x, step = 2) { yield y = c }
    let r8 = scan (axis = 0; h = 0.0) { next h = h + 1 }
    let r9 = scan (c in "text") { yield y = 1 }
    let r10 = scan (t in 0..sum(x)) { yield y = t }
    let r11 = scan (c in x, reverse = 1) { yield y = c }
    let r12 = scan (c in x, c in y) { yield y = c }
    let r13 = scan (c in none) { yield y = 1 }
    let r14 = scan (c in x, axis = 1) { yield y = sum(c) }
}
