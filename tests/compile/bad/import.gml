
import nnn
phase p {
    output y = nnn.one(1)
}
