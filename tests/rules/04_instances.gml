gml 1
# A bound dim that reaches a param or state is fixed by the first application in text order; others are free for
# each application.
layer Net{out: dim}(x: f32[B, I]) {
    param w: f32[I, out] = 2
    state seen: f32[I] = 0
    return x @ w
}
layer Free{} {
    param w: f32[] = 2
    fn (x: f32[B, I]) = w * x
}
let net = Net{1}
let free = Free{}
phase p {
    output first = net(ones([2, 3]))  #= f32[2, 1]: 6, 6
    output second = net(ones([4, 3]))  #= f32[4, 1]: 6, 6, 6, 6
    output any = free(ones([1, 2]))  #= f32[1, 2]: 2, 2
    output other = free(ones([2, 1]))  #= f32[2, 1]: 2, 2
}
