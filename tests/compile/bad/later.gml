gml 1
phase p {
    output y = held(zeros([2]))
}
