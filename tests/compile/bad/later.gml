gml 1
import nn
state buf: f32[4, 2] = 0
let net = nn.Linear{2}
let many = nn.Linear{2}[3]
phase p {
    let x = zeros([4, 2])
    let r = scan (t in 0..4; h = 0.0) {
        next h = h + 1
    }
    let b = frozen(net)
    x[0] = 1
    next buf[0] = x[0]
}
