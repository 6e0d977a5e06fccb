gml 1
import self_import
