gml 1
import nn
import opt
config width: dim = 8
layer Sees(x: f32[N, I]) -> f32[N, I] {
    return x * width
}
layer Owns{n: dim}(x: f32[N, I]) {
    return x |> lin: nn.Linear{n}
}
fn two(a, b) = a + b
let sees = Sees{}
let owns = Owns{4}
let width = 3
let missing = nn.Linaer{4}
let many = nn.Linear{4, nn.zero, nn.zero, nn.zero}
let none_given = Owns{}
let number = two{1}
phase p {
    let x = zeros([2, 3])
    let a = sees(x)
    let b = owns(x)
    let c = owns.lim
    let d = two(1)
    let d = two(1, 2, 3)
    let e = two(a = 1, 2)
    let f = two(1, c = 2)
    let g = nn.Linear(x)
    for (i in 0..2) {
        let x = zeros([1])
    }
    output y = owns
    sum = 3
    nothing = 3
}
