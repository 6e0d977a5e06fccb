gml 1
fn f(x) { return f(x) }
phase p { output o = f(ones([2])) }
