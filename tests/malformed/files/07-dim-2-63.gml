gml 1
phase p { let x: f32[9223372036854775808] = zeros[1] }
