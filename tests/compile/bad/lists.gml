gml 1
## Lists: made longer, indexed, walked.
import nn
config widths = [16, 8]
let nets = nn.Linear{3}[2]
phase p {
    let l = [1.0, 2.0, 3.0]
    let a = append(1.0, 2.0)
    let b = contains(3, 3)
    let c = l[0, 1]
    let d = l[1:5]
    let e = l[3]
    let f = l[1.5]
    let g = l[ones([2]) > 0]
    let h = nets[2](ones([1, 3]))
    let i = widths[2]
    let j = l[..]
    let k = concat([])
    let m = stack([])
    let n = concat([l, l])
    let o = stack(["a", "b"])
    let q = concat([1.0, 2.0])
    let r = stack([ones([2]), ones([2])], 1)
}
