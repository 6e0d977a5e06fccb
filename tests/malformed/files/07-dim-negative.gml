gml 1
phase p { output o = zeros([0 - 1]) }
