gml 1
# ..S: one binding per signature. `..` alone matches anything.
fn last(x: f32[..S, I]) -> f32[..S] = sum(x, axis = -1)
fn masked(x: f32[..S, I], m: bool[..S]) -> f32[..S, I] = select(m, x, 0)
fn anything(x: f32[..], y: f32[..]) = sum(x) + sum(y)
fn same(x: f32[..S], y: f32[..S]) = x + y
phase p {
    output none = last(ones([3]))  #= f32[]: 3
    output one = last(ones([2, 3]))  #= f32[2]: 3, 3
    output two = last(ones([1, 2, 3]))  #= f32[1, 2]: 3, 3
    output mask = masked(ones([2, 2]), iota(2) > 0)  #= f32[2, 2]: 0, 0, 1, 1
    output any = anything(ones([3]), ones([2, 2]))  #= f32[]: 7
    output equal = same(ones([2]), ones([2]))  #= f32[2]: 2, 2
}
