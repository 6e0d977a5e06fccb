gml 1
layer Count() {
    state n = 0
    next n = n + 1
    return n
}
let count = Count{}
let other = Count{}
state n = 0
state s: f32[3] = 0
phase p {
    scan (t in 0..2) { let a = count() + count() }
    scan (t in 0..2) { for (k in 0..2) { next n = n + k } }
    scan (t in 0..2) { next s = t }
    scan (t in 0..2) { next s[t] = zeros([2]) }
    let r = scan (t in 0..2) { yield i = other() }
    let a = other()                                                # after the scan: from what it left
    let b = other()
    scan (t in 0..2; h = 0) {
        next h = h + 1
        scan (k in 0..2) { next h = h + k }
    }
    output i = r.i + a
}
