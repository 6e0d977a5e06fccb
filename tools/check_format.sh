#!/bin/sh
# Fails when a C or CUDA source is not as clang-format (.clang-format) writes it. `sh tools/check_format.sh fix` rewrites them.
set -eu
cd "$(dirname "$0")/.."
files=$(git ls-files '*.c' '*.h' '*.cu' '*.cuh' 2>/dev/null || find compiler grammar kernels runtime tests tools -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh')
if [ "${1:-}" = fix ]; then
    echo "$files" | xargs clang-format -i
else
    echo "$files" | xargs clang-format --dry-run -Werror
fi
