gml 1
phase p {
    let x = rand.normal([4])
    metric low = min(x), high = max(x)
}
