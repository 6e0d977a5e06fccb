gml 1
## An indexed update of a large state that cannot be made where it lies.
state big: f32[2000, 1000] = 0
state small: f32[20, 10] = 0
phase late {
    let new = put(big, iota(4), ones([4, 1000]))
    next big = new
    output after = new[0], before = big * 3
}
phase early {
    let before = sum(big)
    next big[iota(4)] = ones([4, 1000]) * before
    metric mean = before
}
phase little {
    let new = put(small, iota(4), ones([4, 10]))
    next small = new
    output after = new[0], before = small * 3
}
phase whole { next big = exp(big) * big }
run { late; early; little; whole }
