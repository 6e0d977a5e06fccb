gml 1
## Arrays of instances, frozen copies and `next` of what instances own.
import nn
import opt

layer Count(x: f32[N]) -> f32[N] {
    state n: i32 = 0
    next n = n + 1
    return x
}
layer Two{}(x) {
    for (i in 0..2) as fc { x = x |> lin: nn.Linear{2} }
    return x
}
let net = nn.Linear{2}
let wide = nn.Linear{3}
let two = Two{}
let copy = frozen(net)
let many = nn.Linear{2}[-1]
let grid = nn.Linear{2}[2, 3]
let pair = nn.Linear{2}[2]
let layered = frozen(nn.Linear)
let constant = frozen(3.0)
let count = Count{}
state s: f32[4] = 0

phase train {
    let y = net(ones([4, 2])) + 0 * sum(wide(ones([4, 2]))) + copy(ones([4, 2])) + two(ones([4, 2]))
    minimize loss = mean(y) over net using opt.sgd{0.1}
    minimize other = mean(y) over copy using opt.sgd{0.1}
    next net.w = net.w * 2
}
phase twice {
    let a = count(ones([2]))
    let b = count(ones([2]))
    next s = s + 1
    next s = s + 2
}
phase parts {
    let y = mean(two(ones([4, 2])) + net(ones([4, 2])) + wide(ones([4, 2]))[:, 0:2])
    minimize all = y over two using opt.sgd{0.1}
    minimize part = y over two.fc[1] using opt.sgd{0.1}
}
phase trees {
    let used = pair[0](ones([4, 2])) + pair[1](ones([4, 2]))
    next wide = net
    next copy.fc = net
    next copy.w = ones([3])
    next pair[0].w = true
    output d = sum(abs(wide - net)), e = two.fc[2], f = pair[2]
    let z = frozen(net)(ones([4, 2]))
    next states(net) = 0
    next params(3) = 0
}
