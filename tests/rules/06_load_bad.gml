gml 1
config N: dim = 3
phase p {
    let x = iota(N)
    output a = x[4]
}
