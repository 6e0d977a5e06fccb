gml 1
phase p {
    let x = zeros([3])
    metric a = x
    metric b = (m = sum(x))
    metric c = "text"
    metric d = x[0:1]
    metric e = sum(x) using median
    metric f = 1
    metric f = 2
}
