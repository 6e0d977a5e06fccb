gml 1
config a = 1e999
