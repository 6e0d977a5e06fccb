gml 1
## Entry points, and what is given into braces and arguments.
import nn
import opt
layer Ring{row, n: dim} {
    state buf: row[n] = 0
    state head: i32 = 0
    fn push(x) {
        next buf[head] = x
        next head = (head + 1) % n
    }
    fn at(i) = buf[i]
}
layer Two{f, inner}(x) { return f(x) + inner(x) }
layer Env{} {
    state s: f32[4] = 0
    fn obs() = s
    fn (a: i32[]) { next s = s + f32(a) }
}
let ring = Ring{(o: f32[4], r: f32), 100}
let bad = Ring{100, (o: f32[4])}
let two = Two{relu, nn.Linear}
let three = Two{relu, nn.Linear{3}, 5}
let four = Two{3, nn.Linear{3}}
let env = Env{}
let dense = nn.Linear{3}
fn apply(f, x) = f(x)
phase a {
    ring.push((o = zeros([4]), r = 1.0, d = 2.0))
    ring.psh((o = zeros([4]), r = 1.0))
    ring((o = zeros([4]), r = 1.0))
    ring.push(o = zeros([4]), r = 1.0)
    let b = ring.at()
    let d = ring.at[3]
    let e = env.obs
    let f = env.obs + 1.0
    let g = env.step(3)
    let h = env(1.5)
    let i = Env.obs()
    let j = two(ones([2, 3]))
    let k = four(ones([2, 3]))
    let l = apply(dense)
    let n = apply(dense, 3)
    next ring.head = 1.5
    let o = dense{4}
    let q = dense.v
}
