gml 1
# A state has the type of its first value; `state s: T = v` fills every leaf with the scalar v or takes an equal record.
#! launch p 3
config N: dim = 2
layer Count() {
    state n = 0
    next n = n + 1
    return n
}
let count = Count{}
state whole = 0
state real = 0.0
state filled: f32[N] = 1.5
state one = zeros([N])
state record: (a: f32[N], b: (c: i32, d: bool)) = 0
state equal: (a: f32[N], b: i32) = (a = ones([N]), b = 3)
state twin: equal = 0
state many: equal[3] = 0
state flag = false
phase p {
    output n = count()  #= i32[]: 2
    output whole = whole  #= i32[]: 2
    output real = real  #= f32[]: 1
    output filled = filled  #= f32[N]: 0, 0
    output one = one  #= f32[N]: 2, 2
    output a = record.a  #= f32[N]: 2, 2
    output c = record.b.c  #= i32[]: 4
    output d = record.b.d  #= bool[]: 0
    output equal_a = equal.a  #= f32[N]: 1, 1
    output equal_b = equal.b  #= i32[]: 3
    output twin_b = twin.b  #= i32[]: 3
    output many_a = many.a  #= f32[3, N]: 0, 0, 0, 0, 0, 0
    output flag = flag  #= bool[]: 0
    next whole = whole + 1
    next real = real + 0.5
    next filled = 0
    next one = one + 1
    next record = (a = record.a + 1, b = (c = record.b.c + 2, d = not record.b.d))
    next twin = equal
    next flag = not flag
}
