gml 1
config depth: dim = 2
phase p {
    let x = zeros([2])
    for (i in 0..depth) { x = sin(x) }
    output y = x
}
