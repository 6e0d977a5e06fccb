gml 1
# A static whole number drops its axis, a slice keeps it, `_` inserts one, `..` fills once, a scalar i32 tensor
# drops (known only while running), adjacent index tensors of one shape are replaced by that shape together.
config R: dim = 2
config N: dim = 3
config K: dim = 2
config M: dim = 2
phase p {
    let buf = reshape(iota(R * N * 2), [R, N, 2])
    let t = iota(K)
    let c = 2 - iota(K)
    let ix = reshape(iota(K * M) % N, [K, M])
    let one = iota(2)[1]
    output drop = buf[1, 2]  #= i32[2]: 10, 11
    output keep = buf[1, 1:3]  #= i32[2, 2]: 8, 9, 10, 11
    output insert = buf[0, _, 0]  #= i32[1, 2]: 0, 1
    output fill = buf[.., 1]  #= i32[R, N]: 1, 3, 5, 7, 9, 11
    output fill_none = buf[0, 1, .., 1]  #= i32[]: 3
    output live = buf[one, 0]  #= i32[2]: 6, 7
    output live_inner = buf[:, one, 0]  #= i32[R]: 2, 8
    output together = buf[t, c]  #= i32[K, 2]: 4, 5, 8, 9
    output inner = buf[:, ix]  #= i32[R, K, M, 2]: 0, 1, 2, 3, 4, 5, 0, 1, 6, 7, 8, 9, 10, 11, 6, 7
    output last = buf[0, .., t]  #= i32[N, K]: 0, 1, 2, 3, 4, 5
    output behind = buf[0][c, 1]  #= i32[K]: 5, 3
    output mixed = buf[t, c, 0]  #= i32[K]: 4, 8
    output both_scalar = buf[one, one, one]  #= i32[]: 9
    output negative = buf[-1, -2, -1]  #= i32[]: 9
    output from_end = buf[0, -2:, 0]  #= i32[2]: 2, 4
    output to_end = buf[0, :-1, 0]  #= i32[N - 1]: 0, 2
    output by_dim = buf[0, N - 1, 0]  #= i32[]: 4
    output to_dim = buf[0, 1:N, 0]  #= i32[N - 1]: 2, 4
    output stepped = buf[0, ::2, 0]  #= i32[(N + 1 // 2)]: 0, 4
    output empty = buf[0, 1:1]  #= i32[0, 2]:
    let r = (a = buf, b = f32(buf))
    output leaf = r[1, 0].b  #= f32[2]: 6, 7
}
