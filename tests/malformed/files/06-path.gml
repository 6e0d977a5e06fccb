gml 1
import "../../etc/passwd"
