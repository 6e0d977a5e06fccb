gml 1
phase p {
    let r = scan (t in 0..4; h = 0.0) {
        next h = h + 1
    }
}
