gml 1
config a = 0x
