gml 1
phase p { let x = zeros[1000000000, 1000000000, 1000000000]
 output o = mean(x) }
