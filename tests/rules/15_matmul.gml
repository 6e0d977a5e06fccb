gml 1
# x[.., I] @ w[I, O] for w of two axes, otherwise equal leading axes by rule 1.
config N: dim = 2
config I: dim = 2
phase p {
    let w = reshape(f32(iota(6)), [I, 3])
    let x = ones([N, I])
    let d = reshape(f32(iota(8)), [2, N, I])
    output flat = x @ w  #= f32[N, 3]: 3, 5, 7, 3, 5, 7
    output leading = ones([1, N, I]) @ w  #= f32[1, N, 3]: 3, 5, 7, 3, 5, 7
    output deep = ones([2, 1, 1, I]) @ w  #= f32[2, 1, 1, 3]: 3, 5, 7, 3, 5, 7
    output pairs = d @ ones([2, I, 1])  #= f32[2, N, 1]: 1, 5, 9, 13
    output repeated = x[_] @ transpose(d)  #= f32[2, N, N]: 1, 5, 1, 5, 9, 13, 9, 13
    output missing = x @ transpose(d)  #= f32[2, N, N]: 1, 5, 1, 5, 9, 13, 9, 13
    output row = (ones([I])[_, :] @ w)[0]  #= f32[3]: 3, 5, 7
    output column = (w @ ones([3])[:, _])[:, 0]  #= f32[I]: 3, 12
    output kept = ones([N])[:, _, _] @ w[0:1] - w[0]  #= f32[N, 1, 3]: 0, 0, 0, 0, 0, 0
}
