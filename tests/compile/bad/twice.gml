gml 1
## What stands once.
gml 1
import nn
layer L{a, a}(x) { return x }
fn f(x) = x
layer M{}(x, x) { return x }
config c = 1
let c = 2
state s = 0
state s = 1
phase p {
    metric m = 1.0
    metric m = 2.0
    output y = 1.0
    output y = 2.0
    next s = 1
    next s = 2
    let d = nn.Linear{O = 3, O = 4}
    let g = f(1.0, x = 2.0)
    let e = sum(ones([3]), axis = 0, axis = 0)
    let f = sum(ones([3]), side = 0)
    let r = (a = 1, a = 2)
    let q = scan (t in 0..3; h = 0.0, h = 1.0) { next h = h + 1.0 }
}
phase p { metric m = 1.0 }
run { p }
run { p }
