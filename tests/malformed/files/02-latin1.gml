gml 1
config a = 1 # été
