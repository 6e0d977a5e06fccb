gml 1
import nn
import opt

layer Twice{a, a}(x) { return x }
layer Hides{x}(x) { return x }
fn same(a, a) = a
layer Entries{} {
    fn push(x) = x
    fn push(x) = x + 1
}
layer Clash{n}(x) {
    param n: f32[2] = 0
    return x
}
layer Whole{}(x) {
    param w: i32[2] = 0
    return x
}
fn misspelt(x: f32[Rows, Columns]) -> f32[Rows, Colums] = x
fn column(r: (a: f32[N, 1])) = r.a
fn unnamed(x: f32[..]) -> f32[..] = x
data d = "none.npz" {
    split = (train = 0.9, test = -0.1)
    x: f32 = field("a")
    x: f32 = field("b")
}
let entries = Entries{}
let clash = Clash{1}
let whole = Whole{}
let lin = nn.Linear{1}
let narrow = nn.Linear{-1}
phase p {
    let x = zeros([2, 3])
    let a = entries.push(x)
    let b = clash(x)
    let c = whole(x)
    let e = misspelt(x)
    let f = unnamed(x)
    let r = (a = ones([2, 1]))
    let u = column(r) + x
    let v = r.a + x                                  # the 1 of `column` is a matter of its argument alone
    let g = full([2], x)
    let i = zeros([-1])
    let j = narrow(x)
    minimize twice = mean(lin(x)) over lin, lin using opt.sgd{0.1}
    return x
}
phase q on d{split = "train", batch = 2} as s {
    output y = s.x
}
run {
    p
    save "../up"
}
data parts = "parts.csv" {
    split = (train = 0.8, test = 0.2)
    split = rows(train = [0])
    x: f32 = field("x")
}
