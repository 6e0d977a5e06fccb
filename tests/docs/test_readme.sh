#!/bin/sh
# What the documents show is true: models compile, commands run, the error example is what gmlc prints, file lists are complete.
set -eu
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH="$build/bin:$PATH"

# block FILE MARK N: the N-th fenced block after a line <!-- test: MARK -->
block() {
    awk -v mark="<!-- test: $2 -->" -v want="$3" '
    $0 == mark { seen++ }
    seen == want && /^```/ { if (inside) exit; inside = 1; next }
    seen == want && inside { print }' "$1"
}
cd "$GML_SOURCE"
for document in README.md grammar/README.md; do
    n=1
    while text=$(block $document compile $n) && [ -n "$text" ]; do
        example="$work/$(printf %s "$document" | tr / -)-$n"
        printf '%s\n' "$text" >"$example.gml"
        sed -i "s|\"models/data|\"$GML_SOURCE/models/data|" "$example.gml"
        gmlc --check "$example.gml"
        gmlrun train "$example.gml" --device cpu --steps 22 --out "$example" -q >/dev/null
        n=$((n + 1))
    done
    [ $n -gt 1 ] || { echo "$document: no example found"; exit 1; }
done

# The operators that the language page says are not compiled yet are those that the compiler refuses.
sed -n '/^- operators: /,/`$/p' grammar/README.md | tr -c 'a-z0-9_' '\n' | grep . | grep -v '^operators$' | sort >"$work/listed"
sed -n '/later_names\[\] = {/,/^};/p' compiler/elab_builtin.c | grep -o '"[a-z0-9_]*"' | tr -d '"' | sort >"$work/refused"
diff "$work/listed" "$work/refused"

cp -r models "$work/models"
cd "$work"
block "$GML_SOURCE/README.md" run 1 | sed 's/ *#.*//' | while read -r command; do
    case $command in *"gmlrun train"*) command="$command --steps 22 -q" ;; esac
    sh -c "$command" >out 2>&1 || { echo "failed: $command"; cat out; exit 1; }
done

# The tutorial is followed from top to bottom in an empty folder: `file NAME` and `compile NAME` save the block, `run` runs it.
mkdir "$work/tutorial" "$work/path"
for python in python3 /usr/bin/python3 none; do
    "$python" -c "import numpy" 2>/dev/null && break
done
[ $python != none ] || { echo "no python3 with NumPy: sh tools/setup.sh tests"; exit 1; }
ln -s "$(command -v $python)" "$work/path/python3"
cd "$work/tutorial"
awk '
/^<!-- test: / { mark = $3; name = mark == "run" ? "run" : $4; next }
/^```/ && open { close(file); open = 0; next }
/^```/ && mark { n++; open = 1; file = sprintf("../step-%02d", n); print mark, name > (file ".what"); close(file ".what"); mark = ""; next }
/^```/ { open = 1; file = "/dev/null"; next }
open { print > file }' "$GML_SOURCE/docs/tutorial.md"
for what in ../step-*.what; do
    read -r mark name <"$what"
    block=${what%.what}
    case $mark in
    file | compile) cp "$block" "$name" ;;
    run) (PATH="$work/path:$PATH" && set -e && . "$block") >out 2>&1 || { echo "tutorial failed:"; cat "$block" out; exit 1; } ;;
    *) echo "unknown mark: $mark"; exit 1 ;;
    esac
    if [ "$mark" = compile ]; then
        gmlc --check "$name"
    fi
done
[ -s results.py ] && [ -s runs/first/weights.safetensors ] && [ -s runs/wave/metrics.jsonl ]
sed -n 's/.*"event": "eval".*"eval.mse": \([0-9.e-]*\).*/\1/p' runs/wave/metrics.jsonl | tail -n 1 |
    awk '{ seen = 1; if ($1 > 0.003) { print "wave: mse " $1 ", the tutorial says about 0.001"; exit 1 } } END { exit !seen }'
sed -n 's/.*"event": "eval".*"eval.acc": \([0-9.e-]*\).*/\1/p' runs/first/metrics.jsonl | tail -n 1 |
    awk '{ seen = 1; if ($1 < 0.97) { print "spiral: acc " $1 ", the tutorial says 0.99"; exit 1 } } END { exit !seen }'
cd "$work"

cat >bad.gml <<'G'
gml 1
layer Lin{O: dim}(x: f32[B, I]) -> f32[B, O] {
    param w: f32[O, I] = 0.1
    return x @ w
}
data digits = "digits.npz" {
    x: f32[64] = field("images") / 16
    y: i32     = field("labels")
}
let net = Lin{10}
phase train on digits{batch = 128} as d {
    metric m = mean(net(d.x))
}
run { train for 1 epoch }
G
if gmlc --check bad.gml 2>shown; then
    echo "a wrong model was accepted"
    exit 1
fi
awk '/^error\[E2012\]/ { on = 1 } /^```/ { on = 0 } on' "$GML_SOURCE/README.md" >said
grep -v '^$' shown | diff - said

cd "$GML_SOURCE"
sh tools/make_operators.sh "$build" check
sh tools/make_readme.sh check
