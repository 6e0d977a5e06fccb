gml 1
config H = 5
layer Cell{H: dim}(x: f32[B, I], h: f32[B, H]) -> f32[B, H] {
    param w: f32[I, H] = 0
    return tanh(x @ w + h)
}
let cell = Cell{H}
state m: f32[4, 7] = 0
phase p {
    let x = zeros([4, 9, 2])
    let r = scan (c in x, axis = 1; h = zeros([4, 6])) { next h = cell(c, h) }
    let s = scan (c in x, axis = 1; h = m) { 
        next h = h * 2 
        yield y = h, z = c }
    let a = s.y @ zeros([8, 2])
    let b = s.h + zeros([4, 3])
    let d = s.z[:, 0] + zeros([4, 3])
    let e = scan (c in x, axis = 1) { yield y = c + zeros([3]) }
}
