gml 1
let a = "abc
let b = "bad \q escape"
let c = 0x10 + 1e999 + 1__0 + 12abc + 5_
let d = 99999999999999999999 - 1e-999
let e = $3
let f = 'text'
let g = é
import "a-b.gml"
let h = 11111111112222222222333333333344444444445555555555666666666677777
let good = 0e9 + 1_000.5_0 + 9007199254740992 + 1e308
