#!/bin/sh
# What the compiler needs on the host: time and memory of gmlc over generated models, as the Markdown table of docs/performance.md.
#   sh tools/bench/host.sh BUILD [REPEATS]
# Each row is the best of REPEATS (5) runs of a fresh process, by /usr/bin/time: CPU seconds (user and system), wall-clock
# seconds, peak memory. digits, which is small, is also run 100 times in a row.
# Rows: models/digits.gml; a text of n lines (a layer, a fn and an instance every 18 lines); a loop of n layers that is written
# out, trained by AdamW, so that its graph has about n nodes; n recurrences one behind the other, and one with n layers in its body; a chain of n file-level lets.
set -eu
build=$(cd "$1" && pwd)
repeats=${2:-5}
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

text_of() { # lines
    awk -v n="$1" 'BEGIN {
        blocks = int(n / 18)
        print "gml 1\nimport nn\nimport opt\nconfig B: dim = 32\nconfig lr = 1e-3"
        for (i = 0; i < blocks; i++) {
            print "\n## block " i
            print "layer Block" i "{width: dim, gain = 1.0}(x: f32[N, I]) -> f32[N, width] {"
            print "    param w: f32[I, width] ~ nn.fan_in(I, width)"
            print "    param b: f32[width] = 0 tag no_decay"
            print "    let h = x @ w + b"
            print "    let middle = mean(h, axis = -1, keep = true)"
            print "    let centred = h - middle"
            print "    let size = mean(centred ^ 2, axis = -1, keep = true)"
            print "    let scaled = centred / sqrt(size + 1e-5)"
            print "    let open = sigmoid(scaled)"
            print "    let out = where(scaled > 0, scaled * open, 0.1 * scaled)"
            print "    return gain * out"
            print "}"
            print "fn mix" i "(a, b) = 0.5 * a + 0.5 * b"
            print "let block" i " = Block" i "{width = 16}"
        }
        print "data d = \"d.npz\" {\n    x: f32[16] = field(\"x\")\n    y: i32 = field(\"y\")\n}"
        print "phase train on d{batch = B} as s {\n    let h0 = s.x"
        for (i = 0; i < blocks; i++) {
            print "    let h" i + 1 " = mix" i "(h" i ", block" i "(h" i "))"
        }
        over = "block0"
        for (i = 1; i < blocks; i++) { over = over ", block" i }
        print "    minimize loss = mean(xent(h" blocks ", s.y)) over " over " using opt.adamw{lr}"
        print "}\nrun { train for 1 epoch }"
    }'
}
deep() {
    cat <<'END'
gml 1
import nn
import opt
config deep = 100
layer Deep{deep: int}(x: f32[N, I]) -> f32[N, I] {
    let h = x
    for (i in 0..deep) as block { h = h + (h |> lin: nn.Linear{I} |> tanh) }
    return h
}
data d = "d.npz" {
    x: f32[16] = field("x")
    y: i32 = field("y")
}
let net = Deep{deep}
phase train on d{batch = 32} as s {
    minimize loss = mean(xent(net(s.x), s.y)) over net using opt.adamw{1e-3}
}
run { train for 1 epoch }
END
}
chain_of() { # lets
    awk -v n="$1" 'BEGIN {
        print "gml 1\nlet a0 = 1"
        for (i = 1; i < n; i++) { print "let a" i " = a" i - 1 " + 1" }
        print "phase p { output y = zeros([2]) }\nrun { p for 1 steps }"
    }'
}
scans() { # scans in a row, or layers in the body of one; both learn. Weights, so that passes find products, sums and carries.
    cat <<'END'
gml 1
import nn
import opt
config scans = 1
config deep = 1
layer Cell{deep: int}(x: f32[B, I], h: f32[B, I]) -> f32[B, I] {
    for (i in 0..deep) as block { x = tanh((x |> a: nn.Linear{I}) + (h |> b: nn.Linear{I})) }
    return x
}
layer Net{scans: int, deep: int}(x: f32[B, T, I]) -> f32[B, T, I] {
    for (i in 0..scans) as part {
        let r = scan (xt in x, axis = 1; h = zeros([B, I])) {
            let n = (xt |> cell: Cell{deep}(h))
            next h = n
            yield y = n
        }
        x = r.y
    }
    return x
}
let net = Net{scans, deep}
phase train {
    minimize loss = mean(net(rand.normal([4, 12, 8])) ^ 2) over net using opt.adamw{1e-3}
}
run { train for 10 steps }
END
}
row() { # name size arguments of gmlc; best of all runs, column by column
    name=$1 size=$2
    shift 2
    for i in $(seq "$repeats"); do
        /usr/bin/time -a -o "$work/times" -f "%U %S %e %M" "$build/bin/gmlc" "$@" -o "$work/out.gmlb"
    done
    nodes=$("$build/bin/gmlc" "$@" --emit=graph | grep -c '^%')
    [ "$size" != nodes ] || size=$nodes
    awk -v name="$name" -v size="$size" -v nodes="$nodes" '
        { c = $1 + $2; if (NR == 1 || c < cpu) cpu = c; if (NR == 1 || $3 < wall) wall = $3; if (NR == 1 || $4 < kib) kib = $4 }
        END { printf "| %s | %d | %d | %.2f | %.1f | %.2f | %.1f |\n", name, size, nodes, cpu, 1e6 * cpu / size, wall, kib / 1024 }
    ' "$work/times"
    rm "$work/times"
}

echo "| model | size | nodes | CPU s | CPU us per unit of size | wall s | peak MiB |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
row "models/digits.gml" "$(wc -l <"$source/models/digits.gml")" "$source/models/digits.gml"
/usr/bin/time -o "$work/times" -f "%U %S %e" sh -c 'for i in $(seq 100); do "$1" "$2" -o "$3"; done' sh \
    "$build/bin/gmlc" "$source/models/digits.gml" "$work/out.gmlb"
awk '{ printf "| the same, mean of 100 | | | %.4f | | %.4f | |\n", ($1 + $2) / 100, $3 / 100 }' "$work/times"
rm "$work/times"
for n in 1000 3000 10000; do
    text_of $n >"$work/text.gml"
    row "text, lines" "$(wc -l <"$work/text.gml")" "$work/text.gml"
done
deep >"$work/deep.gml"
for n in 38 430 4340; do
    row "loop of $n layers, nodes" nodes "$work/deep.gml" --set deep=$n
done
scans >"$work/scans.gml"
for n in 10 100 1000; do
    row "$n scans, nodes" nodes "$work/scans.gml" --set scans=$n
done
for n in 10 100 1000; do
    row "a scan of $n layers, nodes" nodes "$work/scans.gml" --set deep=$n
done
for n in 5000 10000 20000; do
    chain_of $n >"$work/chain.gml"
    row "chain of lets, lets" $n "$work/chain.gml"
done
