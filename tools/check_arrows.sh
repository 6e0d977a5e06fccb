#!/bin/sh
# Fails when a file includes what its folder may not: the arrows of docs/architecture.md, one line each below.
#   sh tools/check_arrows.sh ROOT
set -eu
cd "${1:?usage: check_arrows.sh ROOT}"
find compiler grammar kernels runtime -name '*.[chly]' -o -name '*.cu' -o -name '*.cuh' 2>/dev/null | sort | xargs awk '
# folder: what it may include besides itself
function allow(folder, list,    part, n, i) {
    n = split(list, part, " ")
    allowed[folder, folder] = 1
    for (i = 1; i <= n; i++) allowed[folder, part[i]] = 1
    known[folder] = 1
}
BEGIN {
    base = "runtime/base"; format = base " runtime/format"; graph = format " runtime/graph"; plan = graph " runtime/plan"
    kernels = plan " kernels"; exec = kernels " runtime/exec"; top = exec " runtime/data runtime/checkpoint runtime/report"
    allow("runtime/base", ""); allow("runtime/format", base); allow("runtime/graph", format); allow("grammar", base)
    allow("compiler", graph " grammar"); allow("runtime/plan", graph); allow("kernels", plan); allow("runtime/exec", kernels)
    allow("runtime/data", exec); allow("runtime/checkpoint", exec); allow("runtime/report", format); allow("runtime/run", top)
    allow("runtime", top " runtime/run compiler grammar")
}
function folder_of(path,    part, n) {
    n = split(path, part, "/")
    return part[1] == "runtime" && n > 2 ? part[1] "/" part[2] : part[1]
}
# tables anyone may include; the operator enum belongs to the operator table
function is_table(path) {
    return path == "kernels/ops.def" || path == "kernels/ops.h" || path == "kernels/op_flags.h" || path == "kernels/precision.def" || path == "kernels/vocab.h" || path ~ /^runtime\/base\/[a-z_]*\.def$/
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    path = $0
    sub(/^[^"]*"/, "", path); sub(/".*/, "", path)
    from = folder_of(FILENAME)
    if (path !~ /\//) next                                # a sibling or a generated file
    to = folder_of(path)
    if (!known[to] && to != "tools" && to != "tests") next
    if (is_table(path) || allowed[from, to]) next
    printf "%s:%d: %s may not include %s (%s)\n", FILENAME, FNR, from, to, path
    bad = 1
}
END { exit bad }'
