gml 1
data d = "d.csv" {
    split = (train = field("k") < 2 and field("s") != "x", test = field("k") >= 2 or field("s") == "z")
    t: i32[2] = window(timestamp("t") // 60, 2)
    x: f32[2, 2] = window(columns("a".."b"), 2) |> standardize
}
phase eval on d{split = "train", batch = 2} as r { metric m = mean(r.x) + f32(sum(r.t)) }
run { eval }
