gml 1
config H: dim = 6
config n: dim = 4
phase p {
    output a = reshape(iota(H), [n, H / n])
}
