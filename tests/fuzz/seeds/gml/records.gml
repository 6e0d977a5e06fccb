gml 1
fn pair(x) { return (a = x, b = (c = x + 1, d = [x, x])) }
phase p { let r = pair(0.5)
 let (u, v) = r
 output o = v.d[1] + u / 3.0 // 2
 metric m = max(o, lr) }
config lr = 1e-3
run { p for 2 steps
 save "x" every 1 steps
 stop }
