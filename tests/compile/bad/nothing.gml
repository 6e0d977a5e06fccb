gml 1
import nn
import opt

layer Bare{}(x) { return x }
let bare = Bare{}
let unused = nn.Linear{1}
let lin = nn.Linear{1}
phase p {
    let loss = mean(bare(lin(zeros([2, 3]))))
    minimize no_parameters = loss over bare using opt.sgd{0.1}
    minimize not_applied = loss over unused using opt.sgd{0.1}
}
run { p }
