gml 1
# -1 in an index tensor reads 0, writes nothing and has no gradient; a constant -1 is the last place, in x[-1] as in
# put(x, -1, v). (Other places outside of an axis end the
# run: test_bad_index of test_rules.c.)
config N: dim = 3
layer W() {
    param w: f32[3] = 1
    return w
}
layer keep_gradient(p, g) {
    return g
}
let net = W{}
let twin = W{}
phase learn {
    let w = net()
    let i = iota(4) - 1
    minimize loss = sum((w + 1)[i] * f32(iota(4) + 1)) over net using keep_gradient{}
    minimize two = sum((twin()[:, _] * ones([3, 2]))[i, where(i < 0, 1, 0)]) over twin using keep_gradient{}
}
#! launch learn 1
#! launch p 1
phase p {
    let x = f32(iota(N)) + 5
    let i = iota(4) - 1
    let none = iota(1)[0] - 1
    let m = reshape(iota(6) + 1, [N, 2])
    output read = x[i]  #= f32[4]: 0, 5, 6, 7
    output rows = m[i]  #= i32[4, 2]: 0, 0, 1, 2, 3, 4, 5, 6
    output scalar = x[none]  #= f32[]: 0
    output inner = m[:, none]  #= i32[N]: 0, 0, 0
    output pair = m[i, where(i == 1, -1, 0)]  #= i32[4]: 0, 1, 0, 5
    output picked = pick(m, iota(N) - 1)  #= i32[N]: 0, 3, 6
    output put = put(x, i, 10 * f32(iota(4)))  #= f32[N]: 10, 20, 30
    output added = put_add(x, i, 1)  #= f32[N]: 6, 7, 8
    output larger = put_max(x, where(iota(N) > 1, iota(N), -1), 9)  #= f32[N]: 5, 6, 9
    output finished = where(x > 6, iota(N), -1)  #= i32[N]: -1, -1, 2
    output moved = net.w  #= f32[3]: 2, 3, 4
    output moved_pair = twin.w  #= f32[3]: 1, 1, 1
    output static = x[-1]  #= f32[]: 7
    output put_last = put(x, -1, 9)  #= f32[N]: 5, 6, 9
    output added_last = put_add(x, N - 1, 9)  #= f32[N]: 5, 6, 16
    output larger_place = put_max(m, [-1, 0], 9)  #= i32[N, 2]: 1, 2, 3, 4, 9, 6
    output put_none = put(x, none, 9)  #= f32[N]: 5, 6, 7
    output put_tensor = put(x, tensor([-1, 0]), 9)  #= f32[N]: 9, 6, 7
}
