gml 1
phase p {
    output y = file("mask.npz", "x")
}
