gml 1
data d = "d.txt" {
    split = (train = 0.9, val = 0.1)
    ids: i32[4] = window(bytes(), 4, stride = 3)
    fresh: bool = first_of_sequence()
}
phase eval on d{split = "val", batch = 2, lanes = true} as r { metric m = f32(max(r.ids)) using max }
run { eval }
