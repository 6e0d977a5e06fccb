gml 1
## A character model: an LSTM over the plays of Shakespeare, trained on parts that go on where the last ones stopped, and a
## phase that writes.
import nn
import opt

config B: dim = 64                               # lanes, each reading its own part of the text
config T      = 64                               # characters of a step; no gradient goes further back
config H      = 256
config D      = 64                               # width of a character
config lr     = 4e-3
config steps_ = 1500
config heat   = 0.8                              # of the writing: lower is more careful

layer LM{V: dim, D: dim, H: dim} {
    let emb  = nn.Embedding{V, D}
    let cell = nn.LSTMCell{H}
    let head = nn.Linear{V}
    fn (ids: i32[B, T], s) {
        let r = scan (x in emb(ids), axis = 1; s = s) {
            let n = cell(x, s)
            next s = n
            yield h = n.h
        }
        return (z = head(r.h), s = r.s)
    }
}
data text = "data/tinyshakespeare.txt" {
    split = (train = 0.9, val = 0.1)
    ids: i32[T + 1] = window(bytes(), T + 1, stride = T)
    fresh: bool     = first_of_sequence()
}
let net = LM{128, D, H}
fn loss(z, ids) = mean(xent(z, ids[:, 1:]))

phase train on text{split = "train", batch = B, lanes = true} as d {
    state s: (h: f32[H], c: f32[H])[B] = 0
    let r = net(d.ids[:, :-1], select(d.fresh, zeros(s), s))
    next s = r.s
    minimize nll = loss(r.z, d.ids) over net using opt.adamw{opt.cosine(lr, warmup = 100, total = steps_), decay = 0.01, clip = 1.0}
}
phase eval on text{split = "val", batch = 16, lanes = true} as d {
    state s: (h: f32[H], c: f32[H])[16] = 0
    let r = net(d.ids[:, :-1], select(d.fresh, zeros(s), s))
    next s = r.s
    metric nll = loss(r.z, d.ids)
    metric ppl = exp(eval.nll)
}
state last: i32[1] = 10                          # a line break
state memory: (h: f32[H], c: f32[H])[1] = 0
phase write {                                    # one launch writes 200 characters
    let r = scan (i in 0..200; c = last, s = memory) {
        let n = net(c[:, _], s)
        let next_ = rand.categorical(n.z[:, 0] / heat)
        next c = next_
        next s = n.s
        yield byte = next_
    }
    next last = r.c
    next memory = r.s
    output bytes = r.byte[:, 0]
}
run {
    repeat (steps_ // 250) {
        train for 250 steps
        eval
        save best -eval.nll
    }
    write
}
