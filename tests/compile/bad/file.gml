gml 1
let w = file("mask.npz", "w")
let r: (a: f32, b: f32) = file("mask.npz", "r")
let n: f32[2] = file(2)
let e: f32[2] = file("")
phase p {
    output y = 2 * file("mask.npz", "x"), w = w, r = r, n = n, e = e
}
