#!/bin/sh
# Writes docs/operators.md: what `gmlc ops` prints, and for each row and function how many samples the tests run (tests/golden/op_counts.tsv).
#   sh tools/make_operators.sh BUILD          rewrites it
#   sh tools/make_operators.sh BUILD check    fails when it is out of date
set -eu
gmlc=$(cd "$1" && pwd)/bin/gmlc
cd "$(dirname "$0")/.."
made=$(mktemp)
trap 'rm -f "$made"' EXIT

"$gmlc" ops | awk '
BEGIN {
    FS = "\t"
    while ((getline < "tests/golden/op_counts.tsv") > 0) {
        samples[$1] = $2
        differences[$1] = $4 > 0 ? $4 : "-"
    }
    FS = " [|] "
}
NR == 3 { # the paragraph on top
    print
    print "Samples are compared with NumPy, SciPy and PyTorch in f64 by `tests/ops` (results to 1e-12, gradients to 1e-9), differences are samples"
    print "whose gradient is compared with central differences by `tests/grad`; a row without any says in `tests/ops/test_samples.c` what tests it."
    next
}
/^## / { functions = $0 == "## Functions"; callable = 0 }
/^[|] name / { callable = 1 }
/^[|] (name|row) / { print $0 " samples | differences |"; next }
/^[|] ---/ { print $0 " --- | --- |"; next }
/^[|]/ {
    key = callable && !functions ? $2 : substr($1, 3)
    gsub(/`/, "", key)
    key = (functions ? "text." : "row.") key
    print $0 " " (key in samples ? samples[key] : "-") " | " (key in samples ? differences[key] : "-") " |"
    next
}
{ print }' >"$made"
if [ "${2:-write}" = check ]; then
    diff docs/operators.md "$made" || { echo "docs/operators.md is out of date: sh tools/make_operators.sh BUILD"; exit 1; }
else
    cp "$made" docs/operators.md
fi
