gml 1
## Parts of locals and states.
state s: f32[4] = 0
state r: (a: f32[2], b: i32[2]) = 0
let fixed = ones([2])

phase locals {
    let (x, y, z, u, v, w, q) = [zeros([3, 4]), ones([3, 4]), ones([3, 4]), ones([3, 4]), ones([3, 4]), ones([3, 4]), ones([3, 4])]
    let i = tensor([0, 1])
    x[0] = ones([3])
    y[3] = 1
    z[0, 1, 2] = 1
    u[i, :, i] = 1
    v[_, 0] = 1
    w[0] = true
    q[i, tensor([0, 1, 2])] = 1
    fixed[0] = 2
    i.a[0] = 2
    let rest = reshape(ones([3, 4]), [5, -1])
    output x = x
}
phase states {
    let x = zeros([2])
    next s[0] = ones([2])
    next s[1.5] = 1.0
    next r[0] = (a = 1.0, c = 2)
    next r.c = ones([2])
    next r[0].a = 1.0
    next s[0][1] = 1.0
    next x[0] = 1.0
    next len(s) = 3
    s[0] = 1
}
