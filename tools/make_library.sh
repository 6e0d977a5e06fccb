#!/bin/sh
# Writes docs/library.md: the declarations of models/std with their `##` comments. Declarations without one share that of the
# declaration right above. `make_library.sh check` compares instead, for tests/docs; a layer or fn that no comment reaches fails.
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp)
trap 'rm -f "$out"' EXIT
{
    echo '# The standard library'
    echo
    echo 'Made by `tools/make_library.sh` from the comments in `models/std`. `import nn` and call `nn.Linear{3}`; braces hold what an instance is'
    echo 'made with, parentheses what it is applied to. What each equals is tested in `tests/std`.'
    for file in nn opt $(ls models/std | sed 's/\.gml$//' | grep -vxE 'nn|opt'); do
        awk -v module="$file" '
function flush(    i) {
    for (i = 1; i <= entries; i++) { print entry[i] }
    if (entries) { print "" ; if (doc != "") { print doc; print "" } }
    if (entries && doc == "" ) { print module ": no comment reaches " entry[1] > "/dev/stderr"; failed = 1 }
    entries = 0
}
function signature(line) {
    sub(/ +# .*/, "", line)
    line = whole(line)
    sub(/ *\{ *\}?$/, "", line)
    sub(/ +$/, "", line)
    gsub(/ +/, " ", line)
    return line
}
# Up to the `=` of a body: those inside of brackets belong to arguments. `entered`: the layer has its entries inside.
function whole(line,    i, c, depth) {
    depth = 0
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        depth += index("([{", c) > 0
        depth -= index(")]}", c) > 0
        if (c == "=" && depth == 0) { return substr(line, 1, i - 2) }
    }
    return line
}
NR == 1 { print "\n## " module "\n"; next }
/^## / && !started { sub(/^## /, ""); about = about (about == "" ? "" : "\n") $0; next }
/^##$/ && !started { about = about "\n"; next }
!started { print about "\n"; started = 1 }
/^# ---- / { flush(); doc = ""; title = $0; sub(/^# ---- /, "", title); rest = ""
    if (match(title, /[.:] /)) { rest = substr(title, RSTART + 2); title = substr(title, 1, RSTART - 1) }
    print "### " title "\n"; heading = 1; lead = rest; next }
/^# / && heading { sub(/^# /, ""); lead = lead (lead == "" ? "" : "\n") $0; next }
heading { heading = 0; if (lead != "") { print lead "\n" } }
/^## / { if (!docs) { flush(); doc = "" } docs = 1; sub(/^## /, ""); doc = doc (doc == "" ? "" : "\n") $0; next }
/^(layer|fn) .*[,(]$/ { while ((getline more) > 0) { sub(/^ +/, "", more); $0 = $0 ($0 ~ /\($/ || more ~ /^\)/ ? "" : " ") more
    if (more ~ /\{$|\) = /) { break } } }
/^(layer|fn) / { docs = 0; line = signature($0); entered = $0 ~ /\{$/ && line ~ /^layer .*\}$/
    entry[++entries] = "- `" line "`"; next }
entered && /^    fn / { line = signature($0); sub(/^ /, "", line)
    entry[++entries] = "  - `" line "`"; next }
END { flush(); exit failed }
' "models/std/$file.gml"
    done
} >"$out"
if [ "${1:-}" = check ]; then
    cmp "$out" docs/library.md || { echo "docs/library.md: out of date, run sh tools/make_library.sh"; exit 1; }
else
    cp "$out" docs/library.md
fi
