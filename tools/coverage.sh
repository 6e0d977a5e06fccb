#!/bin/sh
# Branch coverage of what reads files (runtime/format, runtime/data, runtime/checkpoint, --override, .gmlb) by its tests: a line per file.
#   sh tools/coverage.sh            the table; the branches never taken are in build/coverage/<file>.gcov
#   sh tools/coverage.sh PERCENT    fails when one of them has less
# Counted are the outcomes of conditions as gcov sees them without optimisation.
set -eu
cd "$(dirname "$0")/.."
want=${1:-0}
build=build/coverage
tests="format_test_npy format_test_safetensors format_test_csv format_test_idx format_test_zip malformed_test_malformed graph_test_gmlb graph_test_gmlb_forged run_test_data run_test_weights fuzz_test_corpus"
scripts="e2e/test_columns e2e/test_windows e2e/test_load e2e/test_predict e2e/test_override malformed/test_exits"
mkdir -p $build
CC=gcc cmake -S . -B $build -G Ninja -DGML_CUDA=OFF -DGML_COVERAGE=ON -DCMAKE_BUILD_TYPE=Release >$build.log 2>&1 || { cat $build.log; exit 1; }
# shellcheck disable=SC2086
cmake --build $build --target gmlc gmlrun $tests >>$build.log 2>&1 || { tail -n 60 $build.log; exit 1; }
find $build -name '*.gcda' -delete
for test in $tests; do
    $build/bin/"$test" >>$build.log 2>&1 || { tail -n 20 $build.log; exit 1; }
done
for script in $scripts; do
    GML_SOURCE=$PWD sh tests/"$script".sh "$PWD/$build" >>$build.log 2>&1 || { tail -n 20 $build.log; exit 1; }
done
cd $build
find . -name '*.gcda' | sort | xargs gcov -b -c >gcov.txt 2>/dev/null
echo "| file | branches | taken | % |"
echo "|---|---:|---:|---:|"
awk -v want="$want" -v root="$(cd ../.. && pwd)/" '
/^File / { file = $0; gsub(/^File .|.$/, "", file); sub(/^(\.\.\/)+/, "", file); sub(root, "", file) }
/^Taken at least once:/ && file ~ /^runtime\/.*\.c$/ {
    split($0, part, /[:% ]+/)
    n = $NF; taken = int(part[5] * n / 100 + 0.5)
    printf "| `%s` | %d | %d | %.1f |\n", file, n, taken, 100 * taken / n
    all += n; sum += taken; bad += 100 * taken < want * n; file = ""
}
END { printf "| all | %d | %d | %.1f |\n", all, sum, 100 * sum / all; exit bad > 0 }' gcov.txt
