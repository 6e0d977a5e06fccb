gml 1
# Ticks (language.md, 1.10): before a scan states are old, after it what the scan left; each iteration is a tick.
#! launch p 2
config N: dim = 2
layer Count(by) {
    state n = 0
    next n = n + by
    return n
}
layer Clock{} {
    state at: f32[2] = 0
    let twice = 2 * at                                             # follows the state
    fn (x) {
        next at = at + x
        return twice
    }
}
let count = Count{}
let inner = Count{}
let clock = Clock{}
state n = 0
state kept = 1
state s: (a: i32, b: f32[N]) = 0
state row: i32[4] = 0
state phase_n = 0
state end = 0
phase p {
    output before = n  #= i32[]: 5
    output clock_before = clock.twice  #= f32[2]: 6, 6
    let r = scan (t in 0..3) {
        next n = n + 1
        next s = (a = s.a + t, b = s.b + f32(kept))
        next row[t] = row[t] + 1 + row[0]
        yield n = n, c = count(2), a = s.a, w = clock(1)
    }
    output left = n  #= i32[]: 8
    output seen = r.n  #= i32[3]: 5, 6, 7
    output c = r.c  #= i32[3]: 6, 8, 10
    output w = r.w  #= f32[3, 2]: 6, 6, 8, 8, 10, 10
    output clock_after = clock.twice  #= f32[2]: 12, 12
    output a = r.a  #= i32[3]: 3, 3, 4
    output left_a = s.a  #= i32[]: 6
    output left_b = s.b  #= f32[N]: 6, 6
    output row = row  #= i32[4]: 3, 6, 6, 0

    let twice = scan (t in 0..2) {                                 # goes on where the first stopped
        let w = scan (u in 0..2) { yield i = inner(1) }
        next n = n + 1
        yield i = w.i, k = inner.n
    }
    output i = twice.i  #= i32[2, 2]: 4, 5, 6, 7
    output k = twice.k  #= i32[2]: 6, 8
    output after = n  #= i32[]: 10
    next phase_n = n                                               # what the scans left
    next end = end + 1                                           # commits at the end, whatever scans do
    let o = scan (t in 0..5) { next end = end + 10 }
    output end = end  #= i32[]: 51
    output phase_n = phase_n  #= i32[]: 5
}
