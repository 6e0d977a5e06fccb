gml 1
import nn
let net = nn.Linear{2}
phase eval { metric m = sum(net(ones([3, 2]))) }
run { eval }
