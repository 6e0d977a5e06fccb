#!/bin/sh
# Random graphs through all checks: memory, passes, text and bytes, and the gradients of half as many; a failure is shrunk and printed.
#   sh tools/random_graphs.sh [N [SEED [BUILD]]]     5,000 graphs from seed 1 in build/test, if not told otherwise
set -eu
cd "$(dirname "$0")/.."
n=${1:-5000}
seed=${2:-1}
build=${3:-build/test}
[ -x "$build/bin/random_graphs" ] || { echo "no $build/bin/random_graphs: build first, or name the build folder" >&2; exit 2; }
exec "$build/bin/random_graphs" "$n" "$seed"
