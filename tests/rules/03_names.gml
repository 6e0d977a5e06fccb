gml 1
# A bare name as a dim in an argument type that is no brace parameter or constant of the layer is bound by that
# application, left to right; it binds nothing outside and captures no config.
config N: dim = 5
fn count(x: f32[N, 4]) = N
fn twice(x: f32[K], y: f32[2 * K]) = 2 * K
fn either(x: f32[K], m: bool[K] = none) = if m == none then sum(x) else sum(x, where = m)
fn leaf(r: (a: f32[K], b: f32[K, 2])) = K
layer Wide{I: dim = 2} {
    let doubled = 2 * I
    fn (x: f32[B, I]) = B * I
    fn back(y: f32[B, doubled]) = B
}
let wide = Wide{}
phase p {
    let x = ones([3])
    output own = count(zeros([2, 4]))  #= i32[]: 2
    output again = count(zeros([3, 4]))  #= i32[]: 3
    output config = N + 0  #= i32[]: 5
    output derived = twice(x, zeros([6]))  #= i32[]: 6
    output absent = either(x)  #= f32[]: 3
    output given = either(x, iota(3) > 0)  #= f32[]: 2
    output field = leaf((a = x, b = zeros([3, 2])))  #= i32[]: 3
    output braces = wide(zeros([7, 2]))  #= i32[]: 14
    output entry = wide.back(zeros([6, 4]))  #= i32[]: 6
}
