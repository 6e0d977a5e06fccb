gml 1
## Members of data sets as people write them first.
import nn
data a = "a.csv" {
    split = (train = 0.8, test = 0.3)
    one = field("x")
    two: f32[2] = field(x)
    three: f32[3] = columns(["a", "b", "c"])
    four: i32 = bytes("a.txt")
    five: f32 = timestamp("date")
    six: f32 = field("x") |> standardize(0.5)
    seven: f32 = standardise(field("x"))
    eight: f32 = window("x")
    nine: string = field("name")
    ten: f32[..] = field("x")
    eleven: f32[n] = window("x", n)
    twelve: f32 = rand.normal([3])
    fourteen: f32 = one + 1
    fifteen: f32 = a.one
    sixteen: bool = field("x") > 3 and field("y") == "a"
    seventeen: i32 = argmax(field("x"))
    eighteen: f32 = field("x", missing = none)
    nineteen: f32[3] = one_hot(field("k"), 3)
    twenty: f32 = field("x", 3, 4, 5)
}
data b {
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
data g = "g.csv" {
    split = (train = field("x") < "a", test = field("x") > rand)
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
