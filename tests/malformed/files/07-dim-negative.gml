gml 1
phase p { let x = zeros[0 - 1]
 output o = x }
