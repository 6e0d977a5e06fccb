gml 1
config N: dim = 6
config rate = 0.5
fn half(n: int) = n // 2
phase p {
    let a = zeros([N, 2])
    let i = iota(N)
    let e1 = 1 / 3
    let e2 = N / (N + 1)
    let e3 = i + 0.5
    let e4 = i / 2
    let e5 = a + true
    let e6 = a and a
    let e7 = half(1.5)
    let e8 = none + 1
    let e9 = 1 // 0
    let e10 = "text" * 2
    let e11 = zeros([rate])
    let e12 = sqrt(i)
    let e13 = where(a, 1, 0)
    let e14 = not 3
    for (k in 3) {
        let t = k
    }
    for (k in 0..a) {
        let t = k
    }
    assert 2 < 1
    assert a
}
