gml 1
# What is computed at load only, in a phase; wrong shapes of it and of padding.
layer Own() {
    param w: f32[3, 2] ~ orthogonal(2.0)
    param v: f32[3] ~ orthogonal()
    return w @ pinv(w)
}
let own = Own{}
state inverse: f32[2, 3] = pinv(zeros([3, 2]))
state other = pinv(zeros([3]))
phase p {
    output a = own()
    output b = inverse @ pinv(inverse), c = orthogonal([2, 2])
    let x = zeros([2, 3])
    output d = pad(x, [1, 2, 3]), e = pad(x, [[1, 2, 3], 1]), f = pad(x, 1, true), g = pad(x, -1)
    output h = block_linear(x, zeros([2, 2, 5])), i = tensor([[1, 2], [3]]), j = bitcast(true), k = tensor([1, true])
}
