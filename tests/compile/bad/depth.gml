gml 1
fn deeper(x) = deeper(x + 1)
phase p {
    output y = deeper(zeros([2]))
}
