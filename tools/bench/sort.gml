gml 1
## Rows of random numbers in order: `gmlrun bench tools/bench/sort.gml --set rows=1 --set width=1048576`.
config rows: dim = 64
config width: dim = 4096

phase order {
    let x = rand.normal([rows, width])
    metric first = mean(f32(argsort(x)[:, 0]))
}
run { repeat (200) { order } }
