gml 1
## The gradient of an embedding: rows added up by index. `gmlrun bench tools/bench/embedding.gml --set words=50257 --set ids=8192`.
import opt
import nn
config words: dim = 50257
config ids: dim = 8192
config width: dim = 256

let table = nn.Embedding{V = words, D = width}
phase train {
    let at = rand.int([ids], 50000)
    minimize loss = mean(table(at)^2) over table using opt.sgd{lr = 0.1}
}
run { repeat (200) { train } }
