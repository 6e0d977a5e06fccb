gml 1
phase p {
    let h = zeros([3])
    for (i in 0..500) {
        for (k in 0..500) { h = sin(h) }                     # one operation at a time: the limit is met exactly
    }
    output y = h
}
run { p for 1 steps }
