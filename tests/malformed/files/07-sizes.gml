gml 1
config N: dim = 3000000
phase p { output o = len(rand.uniform([N * 1000])) }
