gml 1
phase p {
    let a = expand(zeros([2, 3]), [4, 3])
    let b = iota(3) + 3_000_000_000
    let s = (u = zeros([2]), v = zeros([2])) + (u = ones([2]), w = ones([2]))
    output y = zeros([2])
}
