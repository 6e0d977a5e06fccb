gml 1
import cycle_b
