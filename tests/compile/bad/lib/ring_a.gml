gml 1
import "ring_b.gml" as b
fn one(x) = b.two(x)
