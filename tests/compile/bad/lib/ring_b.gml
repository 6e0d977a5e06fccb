gml 1
import "ring_a.gml" as a
fn two(x) = a.one(x)
