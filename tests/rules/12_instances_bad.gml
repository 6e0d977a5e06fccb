gml 1
import nn
layer Wide{n: int}(x) {
    param w: f32[n] = 0
    return x + sum(w)
}
layer Some{n: int}(x) {
    if (n > 1) { param w: f32[2] = 0 }
    return x
}
let lin = nn.Linear{3}
let narrow = Wide{2}
let wide = Wide{3}
let one = Some{1}
let two = Some{2}
let three = nn.Linear{3}[3]
phase p {
    let x = zeros([4, 3])
    let r1 = scan (b in [lin, wide]) { yield y = b(x) }
    let r2 = scan (b in [narrow, wide]) { yield y = b(x) }
    let r3 = scan (b in three, t in 0..2) { yield y = b(x) }
    let r5 = scan (b in three) { yield y = b }
    let r6 = scan (b in [lin, 1]) { yield y = b(x) }
    let r7 = scan (b in three; x = x) { next x = b(x)[:, 0:2] }
}
phase q {
    let x = zeros([4, 3])
    let r1 = scan (b in three) { yield y = b(x) + three[0](x) }
    let r2 = scan (b in three) { for (c in three) { let y = c(x) } }
    let r3 = scan (b in [lin, three[1]]) { yield y = lin(x) }
    let r4 = scan (b in three; x = x) {
        next x = (scan (c in three; z = x) { next z = c(b(z)) }).z
    }
}
