gml 1
import "lib/ring_a.gml" as ring
phase p {
    output y = ring.one(1)
}
