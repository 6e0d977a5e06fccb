gml 1
data a = "a.npz" { x: f32 = field("x") }
data b = "b.npz" { x: f32 = field("x") }
phase p on a{batch = 2} as d, b{batch = 2} as e {
    output x = d.x + e.x
}
run { p }
