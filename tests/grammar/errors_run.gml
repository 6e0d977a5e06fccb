gml 1
run {
    repeat 5 {
        eval
    }
    save bset eval.acc
    every 3 { save }
    stop wen x > 3
}
