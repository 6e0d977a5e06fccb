gml 1
## Scans of which nothing is used.
layer L{}(x) {
    let r = scan (t in 0..3; h = x) { next h = 2 * h }
    return (y = x, z = r.h)
}
let l = L{}
state s: i32 = 0
phase p {
    scan (t in 0..3; h = 1.0) {
        next h = 2 * h
    }
    let r = scan (t in 0..3; h = 1.0) {
        let q = scan (k in 0..3) { yield y = h }
        next h = 2 * h
        yield a = q.y
    }
    scan (t in 0..3) { next s = s + 1 }
    scan (t in 0..3) { assert t < 5 }
    let u = scan (t in 0..3) { yield z = 1.0 }
    metric m = l(1.0).y + sum(u.z)
}
