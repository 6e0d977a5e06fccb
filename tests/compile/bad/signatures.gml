gml 1
## Operators of more than one argument.
phase q {
    let x = ones([3, 4])
    let a = reshape(x, [5, -1])
    let b = expand(x, [2, 5, 4])
    let c = transpose(1.0)
    let d = x @ 2.0
    let e = x @ ones([3])
    let f = attention(x, x, ones([3, 5]))
    let g = conv1d(x, ones([3, 4]))
    let h = causal_conv1d(1.0, x)
    let i = bspline(x, ones([4]), 20)
    let j = scale_grad([x], 2.0)
    let k = argmax(1.0)
    let l = cumsum(1.0)
    let m = put(x, iota(2), ones([3]))
    let n = iota(2^40)
    let o = linspace(0, 1, 0)
    let r = tensor([[1, 2], [3]])
    let s = eye(x)
}
