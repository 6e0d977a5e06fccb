#!/bin/sh
# Operators are named in their row of kernels/ops.def and in their own files (runtime/graph/shape, compiler/vjp, the kernel
# files that define cpu_<op> or cuda_<op>); everywhere else only as tests/ops/names.txt allows, line by line and with a
# reason (kernels/README.md says what is meant). First as OP_<name>, then, outside of the compiler, as quoted text.
set -u
cd "$GML_SOURCE" || exit 1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
allow=tests/ops/names.txt
# Names that are also words for other things: metric modes, members of phases, fields of the graph's tables.
words=" max mean min sum rows step metric all tree leaf shuffle normal uniform tanh "

# rows: "name classes", from the table
sed -nE 's/^(ELEM|REDUCE|VIEW)\(([a-z_0-9]+),.*/\2 \1/p; s/^OP\(([a-z_0-9]+), "[^"]*", [-0-9]+, [-0-9]+, ([A-Z0-9_ |]+), .*/\1 OP \2/p' \
    kernels/ops.def | sed -E 's/ (0|\|)//g; s/OP .*LOOP.*/LOOP/; s/OP (.*)(META|PLAN)(.*)/\2/' | awk '{ print $1, $2 }' >"$out/rows"
[ "$(wc -l <"$out/rows")" -ge 90 ] && grep -qx 'sqrt ELEM' "$out/rows" && grep -qx 'const META' "$out/rows" &&
    grep -qx 'pad PLAN' "$out/rows" && grep -qx 'softmax OP' "$out/rows" || {
    echo "the rows of kernels/ops.def are not understood"
    exit 1
}

# own: "stem name" of kernel files, which hold families of operators
grep -roE '\b(cpu|cuda)_[a-z_0-9]+\(|^[A-Z_]+\([a-z_0-9]+[,)]' kernels/cpu kernels/cuda --include='*.c' |
    sed -E 's/\.c:(cpu_|cuda_|[A-Z_]+\()([a-z_0-9]+).*/ \2/' | sort -u >"$out/own"

# used: "file name", once each
sources() {
    find "$@" -name '*.[chly]' -o -name '*.cu' -o -name '*.cuh'
}
{
    sources compiler runtime kernels tools grammar | xargs grep -oE '\bOP_[a-z][a-z_0-9]*' | sed 's/:OP_/ /'
    sources runtime kernels tools | xargs grep -oE '"[a-z][a-z_0-9]*"' | tr -d '"' | sed 's/:/ /' |
        awk -v words="$words" 'index(words, " " $2 " ") == 0'
} | sort -u >"$out/used"

# What is left when rows, own files and the allowed names are taken away; and lines that allow nothing.
awk -F' *[|] *' -v own="$out/own" -v rows="$out/rows" -v used="$out/used" '
    function pattern(glob) {
        gsub(/\./, "\\.", glob)
        gsub(/\*/, "[^/]*", glob)
        return "^" glob "$"
    }
    BEGIN {
        FS = " "
        while ((getline line < rows) > 0) { split(line, f, " "); class[f[1]] = f[2] }
        while ((getline line < own) > 0) { mine[line] = 1 }
        FS = " *[|] *"
    }
    /^#/ || NF < 3 { next }
    {
        n++
        # compiler/vjp*.c stands for vjp_generic.c and for the folder of rules
        where[n] = $1 == "compiler/vjp*.c" ? "^compiler/vjp" : pattern($1)
        m = split($2, token, " ")
        for (i = 1; i <= m; i++) { item[n, token[i]] = 0 }
        text[n] = $0
    }
    END {
        while ((getline line < used) > 0) {
            split(line, f, " ")
            file = f[1]; op = f[2]; stem = file; base = file
            sub(/\.[a-z]+$/, "", stem)
            sub(/.*\//, "", base); sub(/\.[a-z]+$/, "", base)
            if (!(op in class)) { continue }
            if (file ~ /^runtime\/graph\/shape\// && base == op) { continue }
            if (file ~ /^compiler\/vjp\// && base == op) { continue }
            if ((stem " " op) in mine || (file ~ /^kernels\/.*\/elem\./ && class[op] == "ELEM")) { continue }
            ok = 0
            for (i = 1; i <= n; i++) {
                if (file !~ where[i]) { continue }
                if ((i, op) in item) { item[i, op]++; ok = 1 }
                else if ((i, "*") in item) { item[i, "*"]++; ok = 1 }
                else if ((i, class[op]) in item) { item[i, class[op]]++; ok = 1 }
            }
            if (!ok) { print file ": the operator " op " is named outside of its row and its own files"; bad = 1 }
        }
        for (k in item) {
            if (item[k] == 0) {
                split(k, f, SUBSEP)
                print "tests/ops/names.txt allows " f[2] " for nothing: " text[f[1]]
                bad = 1
            }
        }
        exit bad
    }' "$allow" || exit 1

# An elementwise row is one line.
grep -nE '^(ELEM|REDUCE)\(' kernels/ops.def | grep -vE '\)$' && {
    echo "kernels/ops.def: a row goes on in another line"
    exit 1
}
exit 0
