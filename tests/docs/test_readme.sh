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
    # `check`: of a data file that is not here; `parse`: forms that are not compiled yet. No example without a mark.
    n=1
    while text=$(block $document check $n) && [ -n "$text" ]; do
        printf '%s\n' "$text" >"$work/check.gml"
        gmlc --check "$work/check.gml"
        n=$((n + 1))
    done
    block $document parse 1 >"$work/parse.gml"
    [ ! -s "$work/parse.gml" ] || gmlc --emit=ast "$work/parse.gml" >/dev/null
    awk -v doc=$document '/^```gml/ && last !~ /^<!-- test: / { print doc ":" NR ": an example without a mark"; bad = 1 }
        { last = $0 } END { exit bad }' $document
done

# The operators that the language page says are not compiled yet are those that the compiler refuses.
sed -n '/^- operators: .*`$/p; /^- operators: .*[^`]$/,/`$/p' grammar/README.md | tr -c 'a-z0-9_' '\n' | grep . | grep -v '^operators$' | sort >"$work/listed"
sed -n '/later_names\[\] = {/,/^};/p' compiler/elab_builtin.c | grep -o '"[a-z0-9_]*"' | tr -d '"' | sort >"$work/refused"
diff "$work/listed" "$work/refused"

cp -r models "$work/models"
cd "$work"
block "$GML_SOURCE/README.md" run 1 | sed 's/ *#.*//' | while read -r command; do
    case $command in *"gmlrun train"*) command="$command --steps 22 -q" ;; esac
    sh -c "$command" >out 2>&1 || { echo "failed: $command"; cat out; exit 1; }
done

# The tutorial and the first session are followed from top to bottom in an empty folder each: `file NAME` and `compile NAME`
# save the block, `run` runs it, `fails` runs what is wrong on purpose. `says`: the output of the block before has each of
# these lines; `edit` is `run` without output.
mkdir "$work/path"
for python in python3 /usr/bin/python3 none; do
    "$python" -c "import numpy" 2>/dev/null && break
done
[ $python != none ] || { echo "no python3 with NumPy: sh tools/setup.sh tests"; exit 1; }
ln -s "$(command -v $python)" "$work/path/python3"
wrong() { # wrong DOCUMENT WHAT BLOCK: the block and what it printed
    echo "$1: $2:"
    cat "$3" out
    exit 1
}
follow() { # follow DOCUMENT: leaves its folder as the working directory
    steps="$work/$(basename "$1" .md)"
    mkdir "$steps" "$steps/folder"
    cd "$steps/folder"
    awk -v to="$steps" '
/^<!-- test: / { mark = $3; name = mark == "file" || mark == "compile" ? $4 : mark; next }
/^```/ && open { close(file); open = 0; next }
/^```/ && mark { n++; open = 1; file = sprintf("%s/step-%02d", to, n); print mark, name > (file ".what"); close(file ".what"); mark = ""; next }
/^```/ { open = 1; file = "/dev/null"; next }
open { print > file }' "$1"
    for what in "$steps"/step-*.what; do
        read -r mark name <"$what"
        block=${what%.what}
        case $mark in
        file | compile) cp "$block" "$name" ;;
        run | edit) (PATH="$work/path:$PATH" && set -e && . "$block") >out 2>&1 || wrong "$1" "failed" "$block" ;;
        fails) (PATH="$work/path:$PATH" && set -e && . "$block") >out 2>&1 && wrong "$1" "did not fail" "$block" ;;
        says)
            grep -vx -e '' -e ' *\.\.\.' "$block" >lines
            while IFS= read -r line; do
                grep -qxF -- "$line" out || wrong "$1" "does not say '$line'" "$block"
            done <lines ;;
        *) echo "$1: unknown mark: $mark"; exit 1 ;;
        esac
        if [ "$mark" = compile ]; then
            gmlc --check "$name"
        fi
    done
}
follow "$GML_SOURCE/docs/first-session.md"
[ -s runs/first/weights.safetensors ]
follow "$GML_SOURCE/docs/tutorial.md"
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
gmlc fmt --check models/*.gml models/std/*.gml tools/bench/*.gml tools/bench/models/*.gml
sh tools/make_library.sh check
sh tools/make_editor.sh check
sh tools/make_readme.sh check
