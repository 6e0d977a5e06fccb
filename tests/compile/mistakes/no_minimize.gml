gml 1
import nn
let net = nn.Linear{10}
phase train {
    let loss = mean(net(rand.normal([32, 64]))^2)
}
run { train for 3 steps }
