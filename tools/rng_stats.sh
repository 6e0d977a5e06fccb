#!/bin/sh
# Statistics of the random operators over 10,000,000 draws, or as many as the argument says: tests/std/test_random.c of a build.
#   sh tools/rng_stats.sh [DRAWS [BUILD]]
set -eu
cd "$(dirname "$0")/.."
draws=${1:-10000000}
build=${2:-build/test}
[ -x "$build/bin/std_test_random" ] || { echo "no $build/bin/std_test_random: build first, or name the build folder" >&2; exit 2; }
GML_DRAWS=$draws "$build/bin/std_test_random"
