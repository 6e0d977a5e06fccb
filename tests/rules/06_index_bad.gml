gml 1
config R: dim = 4
config N: dim = 3
config K: dim = 2
phase p {
    let buf = reshape(iota(R * N * 4), [R, N, 4])
    let t = iota(K)
    let ix = iota(3)
    let e1 = buf[t, 0, t]
    let e2 = buf[t, :, t]
    let e3 = buf[t, ix]
    let e4 = buf[:, :, 0:t]
    let e5 = buf[:, :, iota(1)[0]:]
    let e6 = buf[.., .., 0]
    let e7 = buf[0, 0, 0, 0]
    let e8 = buf[0, 0, 4]
    let e9 = buf[0, 0, -5]
    let e10 = buf[:, :, 1:9]
    let e11 = buf[:, :, 3:1]
    let e12 = buf[f32(t)]
    let e13 = buf[t > 0]
    let e14 = buf[1.5]
    let e15 = buf["x"]
    let e16 = buf[:, :, ::0]
    let e17 = buf[t, sum(t)]
}
