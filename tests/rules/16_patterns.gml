gml 1
# A pattern binds by position with equal count. An argument of record type may have more fields.
config N: dim = 2
fn first(r: (a: f32[N])) = r.a
fn named(r: (b: i32, a: f32[N])) = r.a
fn exact(x: f32[K]) -> (a: f32[K], b: i32) = (a = x, b = 1)
let (one, two) = [1, 2.5]
phase p {
    output file_one = one  #= i32[]: 1
    output file_two = two  #= f32[]: 2.5
    let r = (h = f32(iota(N)), c = 7)
    let (x, y) = r
    let (u, v) = [iota(N), iota(N) + 1]
    let e = exact(ones([2]))
    output x = x  #= f32[N]: 0, 1
    output y = y  #= i32[]: 7
    output v = v  #= i32[N]: 1, 2
    output more = first((z = 1, a = ones([2])))  #= f32[2]: 1, 1
    output order = named((a = ones([2]), b = 3, c = 4))  #= f32[2]: 1, 1
    output result = e.a  #= f32[2]: 1, 1
}
