gml 1
config Nat: dim = 3                                                # near names of another kind are not suggested
config skale = 2.0
config rowz: dim = 4
layer Net{}(x: f32[N, I]) -> f32[N, I] { return x }
fn scale(x) = 2 * x
data rows = "rows.npz" {
    x: f32[3] = field("x")
}
let net = Nat2{}
phase p {
    output y = skalee(zeros([2]))
}
phase q on rowss{batch = rowz} as d {
    output y = d.x
}
run { p for 1 steps }
