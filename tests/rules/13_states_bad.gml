gml 1
config N: dim = 2
state whole = 0
state real = 0.0
state row: f32[N] = 0
state record: (a: f32[N], b: i32) = 0
state e1: i32 = 0.5
state e2: f32[N] = zeros([3])
state e3: (a: f32[N], b: i32) = (a = zeros([N]))
state e4: bool = 2
state e5: f32 = "text"
state e6 = none
phase p {
    let x = zeros([N])
    next whole = whole + real
    next real = x
    next row = zeros([3])
    next record = (a = x, c = 1)
    next nothing = 1
    let local = 1
    next local = 2
}
phase q {
    next whole = 0.5
    next real = iota(1)[0]
    next row = sum(row)
    next record = (a = zeros([N]), b = 1, c = 2)
}
phase r {
    next whole = f32(1) * real
    next row = 1
    next row = 2
    row = zeros([N])
}
