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
for document in README.md; do
    n=1
    while text=$(block $document compile $n) && [ -n "$text" ]; do
        printf '%s\n' "$text" >"$work/example-$n.gml"
        sed -i "s|\"models/data|\"$GML_SOURCE/models/data|" "$work/example-$n.gml"
        gmlc --check "$work/example-$n.gml"
        gmlrun train "$work/example-$n.gml" --device cpu --steps 22 --out "$work/example-$n" -q >/dev/null
        n=$((n + 1))
    done
    [ $n -gt 1 ] || { echo "$document: no example found"; exit 1; }
done

cp -r models "$work/models"
cd "$work"
block "$GML_SOURCE/README.md" run 1 | sed 's/ *#.*//' | while read -r command; do
    case $command in *"gmlrun train"*) command="$command --steps 22 -q" ;; esac
    sh -c "$command" >out 2>&1 || { echo "failed: $command"; cat out; exit 1; }
done

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
sh tools/make_readme.sh check
