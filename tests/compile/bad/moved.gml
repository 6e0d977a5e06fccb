gml 1
## The text of an optimizer writes what its minimize moves.
import nn
import opt
let net = nn.Linear{2}
phase p {
    minimize l = mean(net(ones([2, 2]))^2) over net using opt.averaged{opt.adam{0.1}, net, 0.9}
}
