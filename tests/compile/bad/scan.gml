gml 1
# One of each code that scan has; tests/rules/12_*.gml and 13_*.gml have the others.
layer Scale{by}(x) {
    yield y = x
    return by * x
}
layer Net{}(x) {
    scan (t in 0..4) { let y = t |> part: Scale{by = t} }
    return x
}
let net = Net{}
phase p {
    let x = zeros([3, 2])
    let sum = scan (c in x; s = 0.0) { next s = s + c }
    let two = scan (c in x, d in zeros([4])) { yield y = c + d }
    let count = scan (t in 4) { yield y = t }
    let same = scan (c in x; s = zeros([2])) {
        next s = s + c
        yield s = s
    }
    scan (c in x) { metric m = sum(c) }
    let y = net(x)
    output y = y
    output by = net.part.by
}
