gml 1
# sum mean var std max min any all: every axis unless `axis` says which. argmax softmax logsumexp cumsum sort topk pick
# xent: the last axis; concat, split: the last; stack, flip: named, default 0. `where` of nothing is 0, `all` of it
# false; a product of nothing is 1.
config N: dim = 2
config K: dim = 3
phase p {
    let x = reshape(f32(iota(N * K)), [N, K])
    let m = x > 2.5
    let none = x > 9
    output sum_all = sum(x)  #= f32[]: 15
    output mean_all = mean(x)  #= f32[]: 2.5
    output var_all = var(x)  #= f32[]: 2.9166667
    output var_less = var(x, ddof = 1)  #= f32[]: 3.5
    output std_all = std(x)  #= f32[]: 1.7078251
    output max_all = max(x)  #= f32[]: 5
    output min_all = min(x)  #= f32[]: 0
    output any_all = any(m)  #= bool[]: 1
    output all_all = all(m)  #= bool[]: 0
    output sum_axis = sum(x, axis = 0)  #= f32[K]: 3, 5, 7
    output sum_axes = sum(x[_], axis = [0, -1])  #= f32[N]: 3, 12
    output kept = sum(x, axis = 1, keep = true)  #= f32[N, 1]: 3, 12
    output larger = max(x, 2)  #= f32[N, K]: 2, 2, 2, 3, 4, 5
    output smaller = min(x, 2)  #= f32[N, K]: 0, 1, 2, 2, 2, 2
    output max_axis = max(x, axis = 0)  #= f32[K]: 3, 4, 5
    output counted = sum(m)  #= i32[]: 3
    output fraction = mean(m)  #= f32[]: 0.5
    output counted_rows = sum(m, axis = 1)  #= i32[N]: 0, 3
    output masked = mean(x, where = m)  #= f32[]: 4
    output mean_none = mean(x, where = none)  #= f32[]: 0
    output sum_none = sum(x, where = none)  #= f32[]: 0
    output max_none = max(x, where = none)  #= f32[]: 0
    output min_none = min(x, where = none)  #= f32[]: 0
    output var_none = var(x, where = none)  #= f32[]: 0
    output std_none = std(x, where = none)  #= f32[]: 0
    output any_none = any(m, where = none)  #= bool[]: 0
    output all_none = all(m, where = none)  #= bool[]: 0
    output all_masked = all(m, where = m)  #= bool[]: 1
    output all_rows = all(x > 3.5, axis = 1, where = m)  #= bool[N]: 0, 0
    output all_row = all(x > 2, axis = 1, where = m)  #= bool[N]: 0, 1
    output lse_none = logsumexp(x, mask = none)  #= f32[N]: 0, 0
    output lse_row = logsumexp(0 * x, mask = m)  #= f32[N]: 0, 1.0986123
    output log_softmax_none = log_softmax(x[0], mask = none[0])  #= f32[K]: 0, 0, 0
    output max_int = max(iota(N), where = iota(N) > 5)  #= i32[]: 0
    output prod_none = prod(x, where = none)  #= f32[]: 1
    output mean_false = mean(x, where = false)  #= f32[]: 0
    output max_true = max(x, where = true)  #= f32[]: 5
    output softmax_false = sum(softmax(x, mask = false))  #= f32[]: 0
    output less_true = var(x, where = true, ddof = 1)  #= f32[]: 3.5
    output row_none = mean(x, axis = 1, where = m)  #= f32[N]: 0, 4
    output argmax_last = argmax(x)  #= i32[N]: 2, 2
    output argmax_axis = argmax(x, axis = 0)  #= i32[K]: 1, 1, 1
    output softmax_last = sum(softmax(x), axis = -1)  #= f32[N]: 1, 1
    output logsumexp_last = logsumexp(0 * x)  #= f32[N]: 1.0986123, 1.0986123
    output far_softmax = log_softmax(0 * x[0] + 1000000)  #= f32[K]: -1.0986123, -1.0986123, -1.0986123
    output cumsum_last = cumsum(x)  #= f32[N, K]: 0, 1, 3, 3, 7, 12
    output sort_last = sort(-x)  #= f32[N, K]: -2, -1, 0, -5, -4, -3
    output pick_last = pick(x, iota(N))  #= f32[N]: 0, 4
    output xent_last = xent(0 * x, iota(N))  #= f32[N]: 1.0986123, 1.0986123
    let (values, places) = topk(x, 2)
    output topk_values = values  #= f32[N, 2]: 2, 1, 5, 4
    output topk_places = places  #= i32[N, 2]: 2, 1, 2, 1
    output concat_last = concat(x, x)  #= f32[N, 2*K]: 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5
    let (left, right) = split(x, [1, K - 1])
    output split_left = left  #= f32[N, 1]: 0, 3
    output split_right = right  #= f32[N, K - 1]: 1, 2, 4, 5
    output stack_first = stack([x[0], x[1]])  #= f32[2, K]: 0, 1, 2, 3, 4, 5
    output flip_first = flip(x)  #= f32[N, K]: 3, 4, 5, 0, 1, 2
}
