#!/bin/sh
# The cases of gpu_parity are sound: on the CPU against itself every one of them runs, none differs, no operator is left out.
set -eu
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$1/bin/gpu_parity" --dry-run --quick >"$out" 2>&1 || { tail -n 20 "$out"; exit 1; }
grep '^parity: [0-9]* cases, 0 differ, 0 operators untested$' "$out" || { tail -n 20 "$out"; exit 1; }
