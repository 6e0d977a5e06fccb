#!/bin/sh
# The checkers of CI catch planted violations: a forbidden include, a long function, a long file, a header that needs another.
set -eu
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/compiler" "$root/grammar" "$root/kernels" "$root/runtime/base" "$root/runtime/plan" "$root/tests" "$root/tools"
fail() {
    echo "not caught: $1"
    exit 1
}
printf '#include "runtime/base/mem.h"\n#include "kernels/ops.h"\nint f(void);\n' >"$root/runtime/plan/ok.c"
sh "$GML_SOURCE/tools/check_arrows.sh" "$root"
sh "$GML_SOURCE/tools/check_size.sh" "$root"
for line in '#include "runtime/exec/exec.h"' '#  include "compiler/compiler.h"' '#include "kernels/kernel.h"'; do
    printf '%s\n' "$line" >"$root/runtime/plan/bad.c"
    if sh "$GML_SOURCE/tools/check_arrows.sh" "$root" >/dev/null; then fail "$line"; fi
done
printf '#include "runtime/graph/graph.h"\n' >"$root/runtime/base/bad.h"
rm "$root/runtime/plan/bad.c"
if sh "$GML_SOURCE/tools/check_arrows.sh" "$root" >/dev/null; then fail "base includes graph"; fi
rm "$root/runtime/base/bad.h"

{ printf 'int f(void)\n{\n'; yes '    g();' | head -n 119; printf '}\n'; } >"$root/compiler/long.c"
if sh "$GML_SOURCE/tools/check_size.sh" "$root" >/dev/null; then fail "a function of 121 lines"; fi
yes '/* x */' | head -n 1001 >"$root/compiler/long.c"
if sh "$GML_SOURCE/tools/check_size.sh" "$root" >/dev/null; then fail "a file of 1,001 lines"; fi
rm "$root/compiler/long.c"

printf 'struct a { struct b inner; };\n' >"$root/compiler/needy.h"
if sh "$GML_SOURCE/tools/check_headers.sh" "$root" >/dev/null 2>&1; then fail "a header that needs another"; fi
