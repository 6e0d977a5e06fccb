gml 1
config a = "never closed
config b = 1
