gml 1
data a = "a.csv" {
    split = (fit = 0.8, val = 0.2)
    one:   f32[4]    = window("x", 3)
    none:  f32       = window("x", 4)
    two:   f32[2, 3] = window(columns("x", "y"), 2)
    rows:  f32       = field("x")
    jump:  f32[3]    = window("x", 3, stride = 2)
    both:  f32[3]    = window("x", 3) + window("y", 3, offset = 1)
    sum:   f32[3]    = window("x", 3) + field("y")
    turn:  f32[3]    = sort(window("x", 3))
    zero:  f32[3]    = window("x", 3, stride = 0)
    back:  f32[3]    = window("x", 3, offset = -1)
    empty: f32[1, 2] = window(zeros([3, 2]), 1)
    whole: i32[3]    = window("x", 3) |> standardize
    part:  f32[3]    = window("x", 3) |> standardize
    bytes: f32[3]    = window(bytes(), 3)
    time:  i32[3]    = window(timestamp(3), 3)
    first: bool[3]   = first_of_sequence()
}
data b = "b.csv" {
    split = (train = field("day") < 8, val = 0.5)
    x: f32 = field("x")
}
data c = "c.csv" {
    split = (train = field("day") < field("hour") ^ 2, val = field("day") > 3)
    x: f32 = field("x")
}
data d = "d.csv" {
    split = (train = field(3), val = field("day") == [1, 2])
    x: f32 = field("x")
}
phase p on a{split = "val", batch = 4, lanes = true, shuffle = true} as d {
    metric m = mean(d.jump)
}
run { p }
