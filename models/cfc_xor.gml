gml 1
## The exclusive or of 32 bits that come as events: only changes are told, with the time since the last one. A closed-form
## continuous-time network has to count through irregular time.
import cfc
import nn
import opt

config B: dim = 256
config bits   = 32
config H      = 64
config lr     = 2e-3
config steps_ = 6000

let net  = cfc.CfC{H, units = 64}
let head = nn.Linear{2}

## n sequences of bits as events: x: f32[n, bits, 1] the bit that a run repeats, dt how long the run is, mask which places hold an
## event (they come first), y the exclusive or of all bits.
fn events(n) {
    let b     = rand.int([n, bits], 2)
    let ends  = concat(b[:, 1:] != b[:, :-1], full([n, 1], true))       # the last bit of each run
    let at    = where(ends, cumsum(i32(ends), axis = 1) - 1, -1)        # which event it is
    let row   = expand(iota(n)[:, _], [n, bits])
    let none_ = zeros([n, bits])
    let place = where(ends, row, -1)
    let bit   = put(none_, [place, at], f32(b))
    let time  = put(none_, [place, at], f32(expand(iota(bits), [n, bits]) + 1))
    let mask  = expand(iota(bits), [n, bits]) < sum(i32(ends), axis = 1, keep = true)
    let start = concat(zeros([n, 1]), time[:, :-1])
    return (x = (2 * bit - 1)[.., _], dt = where(mask, time - start, 0.0)[.., _], mask = mask, y = sum(b, axis = 1) % 2)
}
fn logits(e) = head(net(e.x, e.dt, mask = e.mask).s.h)

phase train {
    let e = events(B)
    let z = logits(e)
    minimize loss = mean(xent(z, e.y)) over net, head using opt.adamw{opt.cosine(lr, warmup = 100), decay = 0.0, clip = 1.0}
    metric acc = nn.accuracy(z, e.y)
}
phase eval {
    let e = events(4096)
    metric acc = nn.accuracy(logits(e), e.y)
}
run {
    repeat (steps_ // 500) {
        train for 500 steps
        eval
        save best eval.acc
    }
}
