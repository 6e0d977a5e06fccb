gml 1
config N: dim = 3
config rate = 0.5
phase p {
    let i = iota(N)
    let x = f32(i)
    let b = i > 1
    let e1 = i + 0.5
    let e2 = i + x
    let e3 = i / 2
    let e4 = 7 / 2
    let e5 = x + b
    let e6 = i * rate
    let e7 = where(b, i, 0.5)
    let e8 = where(b, i, x)
    let e9 = where(x, 1, 0)
    let e10 = b + 1
    let e11 = b + b
    let e12 = sqrt(i)
    let e13 = b and i
    let e14 = x == i
    let e15 = where(b, 1, true)
    let e16 = 1 + true
    let e17 = put(i, 0, 0.5)
    let e18 = stack([i, 0.5 + 0])
    let e19 = search(i, 0.5)
    let e20 = rand.int([2], 0)
}
