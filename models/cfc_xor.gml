gml 1
## The exclusive or of 32 bits that come as events: only changes are told, with the time since the last one. A closed-form
## continuous-time network has to count through irregular time.
import cfc
import nn
import opt

config B: dim = 64
config bits   = 32
config H      = 64
config lr     = 3e-3
config steps_ = 24000

let net  = cfc.CfC{H, units = 64}
let head = nn.Linear{2}

## Fair bits, and bits that like to stay as they are: long runs are rare among the first, so a network trained on those alone learns
## to count no further than six.
fn fair(n) = rand.int([n, bits], 2)
fn sticky(n) {
    let stay = expand(0.3 + 0.6 * rand.uniform([n, 1]), [n, bits])
    let turn = rand.uniform([n, bits]) > stay
    return (cumsum(i32(turn), axis = 1) + expand(rand.int([n, 1], 2), [n, bits])) % 2
}

## Sequences b: i32[n, bits] of bits as events: x: f32[n, bits, 2] the bit that a run repeats and how long the run is, dt its length, mask which
## places hold an event (they come first), y the exclusive or of all bits up to there, all that of the whole sequence.
fn events(b, n) {
    let ends  = concat(b[:, 1:] != b[:, :-1], full([n, 1], true))       # the last bit of each run
    let at    = where(ends, cumsum(i32(ends), axis = 1) - 1, -1)        # which event it is; -1 writes nothing
    let place = [where(ends, expand(iota(n)[:, _], [n, bits]), -1), at]
    let blank = zeros([n, bits])
    let xor   = cumsum(b, axis = 1) % 2
    let bit   = put(blank, place, f32(b))
    let time  = put(blank, place, f32(expand(iota(bits), [n, bits]) + 1))
    let mask  = expand(iota(bits), [n, bits]) < sum(i32(ends), axis = 1, keep = true)
    let dt    = where(mask, time - concat(zeros([n, 1]), time[:, :-1]), 0.0)
    let x     = stack([2 * bit - 1, dt], axis = 2)
    return (x = x, dt = dt[.., _], mask = mask, y = where(mask, i32(put(blank, place, f32(xor))), -1), all = xor[:, -1])
}

phase train {
    let e = events(sticky(B), B)
    let z = head(net(e.x, e.dt, mask = e.mask).y)
    minimize loss = mean(xent(z, e.y), where = e.mask) over net, head using opt.adamw{opt.cosine(lr, warmup = 100), decay = 0.0, clip = 1.0}
    metric acc = nn.accuracy(z, e.y)
}
phase eval {
    let e = events(fair(4096), 4096)
    metric acc = nn.accuracy(head(net(e.x, e.dt, mask = e.mask).s.h), e.all)
}
run {
    repeat (steps_ // 1000) {
        train for 1000 steps
        eval
        save best eval.acc
    }
}
