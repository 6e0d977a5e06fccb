gml 1
import opt
layer W() {
    param w: f32[3] = 0.5
    return w
}
let net = W{}
fn step(h) = sin(h) * net()
phase train {
    let r = scan (a in 0..2; x = zeros([3])) {
        next x = (scan (b in 0..2; x = x) {
            next x = (scan (c in 0..2; x = x) {
                next x = (scan (d in 0..2; x = x) {
                    next x = (scan (e in 0..2; x = x) {
                        next x = (scan (f in 0..2; x = x) {
                            next x = (scan (g in 0..2; x = x) {
                                next x = (scan (h in 0..2; x = x) {
                                    next x = step(x)
                                }).x
                            }).x
                        }).x
                    }).x
                }).x
            }).x
        }).x
    }
    minimize loss = mean(r.x) over net using opt.sgd{0.1}
}
run { train for 2 steps }
