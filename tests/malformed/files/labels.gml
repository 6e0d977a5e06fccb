gml 1
data d = "d.csv" {
    x: f32[2] = columns("a", "b", missing = 0)
    n: i32 = field("n", missing = 7)
    y: i32 = classes("s", ["yes", "no"])
}
phase eval on d{batch = 2} as r { metric m = mean(r.x) + f32(sum(r.y) + sum(r.n)) }
run { eval }
