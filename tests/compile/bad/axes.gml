gml 1
## Sizes and axes that operators do not take.
phase p {
    let x = ones([3, 4])
    let a = len(1.0)
    let b = flip(1.0)
    let c = split(1.0, 2)
    let d = split(x, 3)
    let e = split(x, 0)
    let f = split(x, [1, 2])
    let g = flatten(x, 1, 0)
    let h = tile(x, [2, 2, 2])
    let i = pick(x, iota(4))
    let j = segment_sum(x, iota(4), 3)
    let k = topk(x, 5)
    let l = search(1.0, 2.0)
    let m = rand.categorical(1.0)
    let n = x[:, :, :]
    let o = x[_, _, _, _, _, _, _]
    let q = stack([x, x, 1.0])
}
