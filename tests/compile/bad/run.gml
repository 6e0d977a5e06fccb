gml 1
config often = 2
state x: f32[2] = 0
state n: i32 = 0
phase p {
    next n = n + 1
    metric kl = f32(n)
}
run {
    every 2 rounds { p }
    stop when p.kl > 1
    every 2 q { p }
    every 0 p { p }
    every 0.5 p { p }
    repeat (3) {
        p
        every often rounds { stop when p.kl > 3 }
        stop when p.kl
        stop when x > 1
        stop when p.k > 1
        every 2 rounds { q }
        save best x
    }
}
