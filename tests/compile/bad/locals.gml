gml 1
## Local names: what can be assigned, declared, indexed.
import nn
state s: (h: f32[3], c: f32[3]) = 0
config rate = 0.1
let top = 1.0
phase p {
    let x = ones([3, 4])
    let x = zeros([3, 4])
    let r = (a = x, b = 1.0)
    r.c = 2.0
    r.a[0] = 1.0
    r[0] = 1.0
    x.a = 1.0
    sum(x) = 1.0
    top = 2.0
    rate = 0.2
    s.h = ones([3])
    s = 0.0
    y = 3.0
    let z = ones([3, 4])
    z[5] = 1.0
    let u = ones([3, 4])
    u[0] = ones([3])
    let v = ones([3, 4])
    v[0, 1, 2] = 1.0
    let w = ones([3, 4])
    w[0] = ones([4]) > 0
    let t = ones([3, 4])
    t[iota(2)] = ones([3, 4])
    let (a, b, c) = r
    let (d, e) = x
    let f = x[:, 4]
    let g = x[3:1]
    let h = x[::0]
}
phase q {
    let l = [1.0, 2.0]
    l[0] = 3.0
    l = append(l, 1)
    let one = 1
    one[0] = 2
    let text = "a"
    text[0] = "b"
    let net = nn.Linear{3}
    net = nn.Linear{4}
    net.w[0] = 1.0
}
