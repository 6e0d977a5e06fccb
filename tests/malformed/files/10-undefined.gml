gml 1
config width = 3
phase p { output o = f32(widht) }
