gml 1
import nn
let net = nn.Linear{1}
phase p {
    let x = rand.normal([8, 4])
    let g = grad(mean(net(x)), x)
    output g = g
}
run { p }
