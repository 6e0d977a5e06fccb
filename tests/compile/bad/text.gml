gml 1
config name = "digits
config tiny = 1e-999
config odd = 12abc
config long = 99999999999999999999
phase p {
    output y = zeros([2])
}
