gml 1
import no_such_module
