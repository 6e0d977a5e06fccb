gml 1
phase p {
    let r = scan (t in 0..10; x = 0.0) {
        next x = x + 1
        break
    }
    output x = r.x
}
run { p }
