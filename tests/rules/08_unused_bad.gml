gml 1
config H: dim = 6
phase p {
    output a = zeros([H / 4 * 4])
}
