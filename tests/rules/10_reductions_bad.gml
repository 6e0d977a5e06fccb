gml 1
config N: dim = 2
config K: dim = 3
phase p {
    let x = reshape(f32(iota(N * K)), [N, K])
    let i = iota(K)
    let e1 = sum(x, axis = 2)
    let e2 = sum(x, axis = [0, 0])
    let e3 = mean(i)
    let e4 = any(x)
    let e5 = sum(x, axis = i)
    let e6 = max(x, 1, axis = 0)
    let e7 = softmax(i)
    let e8 = argmax(sum(x))
    let e9 = sum(x, where = x)
    let e10 = sum(x, where = i > 0, axis = 0) + sum(x, where = iota(N) > 0)
    let e11 = concat(x, x[0])
    let e12 = stack([x, x[0]])
    let e13 = split(x, 2)
    let e14 = var(i)
    let e15 = sum(x, keep = 1)
    let e16 = var(x, ddof = 0.5)
    let e17 = prod(x > 0)
    let e18 = mean(x, axis = "rows")
}
