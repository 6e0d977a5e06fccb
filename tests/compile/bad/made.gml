gml 1
## Metrics of metrics.
state s: f32 = 0
phase eval {
    let x = rand.uniform([4])
    let early = eval.mse
    metric mse = mean(x)
    metric a = eval.mse + x[0]
    metric b = eval.mse + s
    metric c = sqrt(eval.mse) using sum
    metric d = eval.none + 1
    metric mse = eval.mse
    metric e = eval.e
    metric f = [eval.mse]
    metric g = eval.h + eval.mse
    metric h = eval.mse
    assert eval.mse > 0
}
phase other {
    metric d = eval.a
    metric e = eval.zero
    metric f = eval.mse.norm
}
run { eval; other }
