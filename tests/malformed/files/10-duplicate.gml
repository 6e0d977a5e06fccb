gml 1
fn f(x, x) { return x }
phase p { output o = f(1.0, 2.0) }
