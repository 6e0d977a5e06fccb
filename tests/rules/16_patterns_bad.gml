gml 1
config N: dim = 2
fn first(r: (a: f32[N])) = r.a
fn more() -> (a: f32[N]) = (a = zeros([N]), b = 1)
fn fewer() -> (a: f32[N], b: i32) = (a = zeros([N]))
fn swapped() -> (a: i32, b: i32) = (b = 1, a = 2)
state s: (a: f32[N]) = (a = zeros([N]), b = 1)
let (one, two) = [1, 2, 3]
phase p {
    let e0 = two
    let e00 = one
    let r = (h = zeros([N]), c = 7)
    let (x, y, z) = r
    let (a, b) = [1]
    let (c, d) = zeros([2])
    let e1 = first((b = 1))
    let e2 = first((a = 1, b = 2))
    let e3 = more()
    let e4 = fewer()
    let e5 = swapped()
    let e6 = first(zeros([N]))
    let e7 = r.missing
}
