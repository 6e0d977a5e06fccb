gml 1
config N: dim = 2
config I: dim = 2
phase p {
    let w = zeros([I, 3])
    let e1 = zeros([I]) @ w
    let e2 = w @ zeros([3])
    let e3 = zeros([I]) @ zeros([I])
    let e4 = zeros([N, 4]) @ w
    let e5 = zeros([5, 3]) @ w
    let e6 = zeros([1, N, I]) @ zeros([4, I, 3])
    let e7 = zeros([5, N, I]) @ zeros([4, I, 3])
    let e8 = iota(4)[:, _] @ iota(3)[_, :]
    let e9 = zeros([N, I]) @ 2
    let e10 = zeros([4, 3]) @ w
    let e11 = sum(w) @ w
    let e12 = zeros([N, I]) @ (iota(I)[:, _])
}
