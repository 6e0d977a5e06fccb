#!/bin/sh
# Fails when a function has over 120 lines or a file over 1,000 (tables and generated files apart); prints the totals.
#   sh tools/check_size.sh ROOT
set -eu
cd "${1:?usage: check_size.sh ROOT}"
find compiler grammar kernels runtime tests tools -name '*.[chly]' -o -name '*.cu' -o -name '*.cuh' 2>/dev/null | sort | xargs awk '
FNR == 1 { if (name != "" && lines > 1000) { print name ": " lines " lines, at most 1000"; bad = 1 } name = FILENAME; lines = 0; open = 0; files++ }
{ lines++; total++ }
/^\{/ && !open { open = FNR }
/^[a-zA-Z].*\{$/ && !/^(struct|enum|union|typedef|extern|namespace|static const|const)/ && /\(/ && !open { open = FNR }
/^\}/ && open {
    length_ = FNR - open + 1
    if (FILENAME ~ /\.(c|cu|h|cuh)$/) { count[length_]++; functions++ }
    if (length_ > 120 && FILENAME !~ /\.[ly]$/) { print FILENAME ":" open ": function of " length_ " lines, at most 120"; bad = 1 }
    open = 0
}
END {
    if (lines > 1000) { print name ": " lines " lines, at most 1000"; bad = 1 }
    seen = 0
    for (i = 1; i <= 200 && seen * 2 < functions; i++) seen += count[i]
    printf "%d files, %d lines, %d functions, median %d lines\n", files, total, functions, i - 1
    exit bad
}'
