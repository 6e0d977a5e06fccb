gml 1
data a = "d.npz" {
    split = (train = 0.5, test = 0.6)
    x: f32[64] = field("x")
    shuffle = true
}
data b = "d.npz" {
    split = 0.8
    x: f32[64] = 3
    y: f32[64] = field("y")[:, 0:3]
    z: i32 = field("z") / 16
    x: f32 = field("w")
}
data c = "d.npz" {
    split = rows(train = [0, 0])
    x: f32[64] = field(3)
    y: (a: f32) = field("y")
}
phase p on a{split = "valid", batch = 4} as d {
    output x = d.x
    output y = d.y
}
phase q on c{split = "train"} as d {
    output x = d.x
}
phase r on a{split = "train", batch = 0} as d {
    output x = d.x
}
phase s on a{split = "train", batches = 4} as d {
    output x = d.x
}
