#!/bin/sh
# Fails when a header does not compile by itself.
#   sh tools/check_headers.sh ROOT
set -eu
cd "${1:?usage: check_headers.sh ROOT}"
bad=0
for h in $(find compiler grammar kernels runtime tools -name '*.h' | sort); do
    case $h in runtime/exec/cuda/* | kernels/cuda/*) [ -d /usr/local/cuda/include ] || continue ;; esac
    gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-unused-function -I. -Igrammar -I/usr/local/cuda/include -fsyntax-only -x c \
        -include "$h" /dev/null || { echo "$h does not compile alone"; bad=1; }
done
exit $bad
