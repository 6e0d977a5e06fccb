gml 1
config H: dim = 6
config W: dim = 5
config L: dim = 2
phase p {
    let n = if W > 3 then 4 else 8
    let s = 0
    for (k in 0..L) {
        s = s + k
    }
    output a = zeros([H / n]) * s
}
