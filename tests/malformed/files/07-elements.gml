gml 1
phase p { output o = mean(rand.uniform([1000000000, 1000000000, 1000000000], 0, 1)) }
