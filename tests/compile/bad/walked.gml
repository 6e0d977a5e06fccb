gml 1
## What `for` and `scan` walk.
import nn
let nets = nn.Linear{3}[2]
phase q {
    let s = 0.0
    for (x in [1.0, 2.0], y in [1.0]) { s = s + x * y }
    for (x in [1.0, 2.0], axis = 1) { s = s + x }
    for (x in 3) { s = s + x }
    for (x in ones([3])) { s = s + x }
    for (k in 0..s) { s = s + 1.0 }
    let r = scan (x in [1.0, ones([2])]; h = 0.0) { next h = h + sum(x) }
    let t = scan (n in nets, k in 0..3; h = ones([1, 3])) { next h = n(h) }
    let u = scan (n in [nn.Linear{3}, relu]; h = ones([1, 3])) { next h = n(h) }
    nets[0] = nets[1]
    nets.w = 0.0
}
