gml 1
phase eval {
    let eps = rand.normal([2, 3])
    metric m = sum(eps)
}
run { eval }
