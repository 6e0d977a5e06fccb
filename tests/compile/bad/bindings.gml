gml 1
## Data sets and what phases take of them.
data a = "a.csv" {
    split = (train = 0.8, test = 0.2)
    one: f32 = field("x")
    kind: i32 = classes("kind", ["a", "b", "a"])
    hot: f32[3] = one_hot(field("k"), 3)
    gap: f32 = field("x", missing = [0])
}
data b {
    x: f32 = field("x")
}
data c = b {
    x: f32 = field("x")
}
data e = "e.csv" {
    split = 0.8
    x: f32 = field("x")
}
data f = "f.csv" {
    split = (train = 0.8, test = rows(1, 2))
    x: f32 = field("x")
}
data h = "h.csv" {
    shuffle = true
    splt = (train = 0.8, test = 0.2)
    x: f32 = field("x")
}
phase p on a as r { metric m = mean(r.one) }
phase q on a{split = "val", batch = 3} as r { metric m = mean(r.on) }
phase s on e{batch = 1.5} as r { metric m = mean(r.x) }
phase t on nothing{batch = 2} as r { metric m = mean(r.x) }
phase u on h{batch = 2, split = train} as r { metric m = mean(r.x[0, 0]) }
phase v on h{batch = 2} as r { metric m = mean(h.x) }
phase w on h{batch = 2} { metric m = 1.0 }
