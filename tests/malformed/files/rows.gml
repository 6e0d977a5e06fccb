gml 1
data d = "d.npz" {
    split = field("part")
    x: f32[2] = standardize(field("x"))
    y: i32 = field("y")
    z: bool = field("z")
}
phase eval on d{split = "train", batch = 2} as r { metric m = mean(r.x) + f32(sum(r.y)) + mean(f32(r.z)) }
run { eval }
