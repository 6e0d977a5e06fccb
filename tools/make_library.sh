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
    echo 'made with, parentheses what it is applied to. A parameter is `name: type ~ initialiser` or `= value`; its key is the path of names, so that of
`let net = nn.MultiHead{4}` has `net.q.w`. What each equals is tested in `tests/std`.'
    for file in nn opt $(ls models/std | sed 's/\.gml$//' | grep -vxE 'nn|opt'); do
        awk -v module="$file" '
function flush(    i) {
    for (i = 1; i <= entries; i++) { print entry[i] }
    if (entries) { print "" ; if (doc != "") { print doc; print "" } }
    if (params != "") { print "Parameters: " params ".\n" }
    if (states != "") { print "States: " states ".\n" }
    if (parts != "") { print "Inside: " parts ".\n" }
    params = states = parts = ""
    if (entries && doc == "" ) { print module ": no comment reaches " entry[1] > "/dev/stderr"; failed = 1 }
    entries = 0
}
function listed(list, what) { return list (list == "" ? "" : ", ") "`" what "`" }
function declared(line) {
    sub(/ +# .*/, "", line)
    sub(/^ *(param|state) /, "", line)
    gsub(/ +/, " ", line)
    return line
}
# Instances that a line makes: those with a label, and those of a `let`.
function made(line,    at) {
    if (match(line, /^ *let [a-z_0-9]+ = [A-Z][A-Za-z0-9]*\{/)) {
        at = substr(line, RSTART, RLENGTH - 1)
        sub(/^ *let /, "", at); sub(/ = /, ": ", at)
        parts = listed(parts, at)
    }
    while (match(line, /[|]> [a-z_0-9]+: [A-Z][A-Za-z0-9]*\{/)) {
        parts = listed(parts, substr(line, RSTART + 3, RLENGTH - 4))
        line = substr(line, RSTART + RLENGTH)
    }
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
/^ +param / { params = listed(params, declared($0)) }
/^ +state / { states = listed(states, declared($0)) }
/^ / { made($0) }
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
