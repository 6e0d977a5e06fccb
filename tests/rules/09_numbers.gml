gml 1
# Literals, compile-time numbers and dims take the dtype of the tensor beside them; two of them alone: int op int is
# int (`/` exact), any float makes f32.
config N: dim = 3
config k = 2
phase p {
    let i = iota(N)
    let x = f32(i)
    let b = i > 1
    output int_int = i + 1  #= i32[N]: 1, 2, 3
    output float_int = x + 1  #= f32[N]: 1, 2, 3
    output float_dim = x * N  #= f32[N]: 0, 3, 6
    output int_dim = i * N  #= i32[N]: 0, 3, 6
    output int_live = i * k  #= i32[N]: 0, 2, 4
    output float_live = x * k  #= f32[N]: 0, 2, 4
    output alone = 7 // 2 + 1  #= i32[]: 4
    output exact = 6 / 3  #= i32[]: 2
    output a_float = 6 / 4.0  #= f32[]: 1.5
    output mixed = 1 + 0.5  #= f32[]: 1.5
    output power = 2 ^ 3  #= i32[]: 8
    output where_int = where(b, 1, 0)  #= i32[N]: 0, 0, 1
    output where_float = where(b, 1.0, 0)  #= f32[N]: 0, 0, 1
    output filled_int = full([2], 10)  #= i32[2]: 10, 10
    output filled_dim = full([2], N)  #= i32[2]: 3, 3
    output filled_live = concat(i, full([1], k))  #= i32[N + 1]: 0, 1, 2, 2
    output filled_float = full([2], 10.0)  #= f32[2]: 10, 10
    output filled_bool = full([2], true)  #= bool[2]: 1, 1
    output where_other = where(b, 1, 0.5)  #= f32[N]: 0.5, 0.5, 1
    output where_dim = where(b, N, 0)  #= i32[N]: 0, 0, 3
    output where_bool = where(b, true, false)  #= bool[N]: 0, 0, 1
    output where_beside = where(b, x, 1)  #= f32[N]: 1, 1, 2
    output compared = i >= 1  #= bool[N]: 0, 1, 1
    output cast = f32(N) / 2  #= f32[]: 1.5
    output truth = b == true  #= bool[N]: 0, 0, 1
    output floored = -7 // 2  #= i32[]: -4
    output rest = -7 % 3  #= i32[]: 2
    output no_rest = 1 / tensor([-6.0 % 3.0, 6.0 % -3.0]) > 0  #= bool[2]: 1, 0
    output no_rests = 1 / (tensor([-6.0, 6.0, 0.0]) % tensor([3.0, -3.0, 3.0])) > 0  #= bool[3]: 1, 0, 1
}
