gml 1
config k = 0.5
phase p {
    let v = k
    for (i in 0..60) { v = v * v + v }
    let l = [1]
    for (i in 0..40) { l = append(l, l) }
    let n = 2
    for (i in 0..40) { n = n * n }
    for (i in 0..1000000) { }
    for (i in 0..60000) { for (k in 0..60000) { } }
    output y = what_follows_is_not_looked_at
}
