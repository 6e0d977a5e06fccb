#!/bin/sh
# Fuzzes every kind of input with libFuzzer under ASan and UBSan, two programs at a time, and prints a table.
#   sh tools/fuzz.sh MINUTES [TARGET..]   parser compile gmlb safetensors npz idx csv; MINUTES may be 0.5
# Programs, corpora (kept, so that a later run goes on) and findings are in build/fuzz. Exit 1 when something was found.
set -eu
cd "$(dirname "$0")/.."
minutes=${1:?usage: fuzz.sh MINUTES [TARGET..]}
shift
targets=${*:-compile parser gmlb safetensors npz idx csv}
seconds=$(awk -v m="$minutes" 'BEGIN { printf "%d", m * 60 }')
build=build/fuzz
mkdir -p $build

CC=clang cmake -S . -B $build -G Ninja -DGML_CUDA=OFF -DGML_TESTS=OFF -DGML_FUZZ=ON -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS="-O1 -gline-tables-only" ${CCACHE:+-DCMAKE_C_COMPILER_LAUNCHER=ccache} >$build.log 2>&1 || { cat $build.log; exit 1; }
# shellcheck disable=SC2046
cmake --build $build --target gmlc $(printf 'fuzz_%s ' $targets) >>$build.log 2>&1 || { tail -n 60 $build.log; exit 1; }

# seeds TARGET FOLDER: small valid files and every past finding
seeds() {
    case $1 in
    parser | compile) set -- "$1" "$2" tests/fuzz/seeds/gml/* tests/grammar/*.gml tests/grammar/models/* tests/compile/bad/*.gml tests/golden/*.gml models/*.gml ;;
    gmlb)
        for model in models/*.gml tests/golden/*.gml tests/grammar/models/*.gml tests/fuzz/seeds/gml/*.gml; do
            if $build/bin/gmlc "$model" -o $build/seed.gmlb 2>/dev/null; then
                tail -c +33 $build/seed.gmlb >"$2/$(basename "$model").payload"
                cp $build/seed.gmlb "$2/$(basename "$model").whole"
            fi
        done
        set -- "$1" "$2" ;;
    npz) set -- "$1" "$2" tests/format/files/*.np[yz] ;;
    idx) set -- "$1" "$2" tests/format/files/*ubyte* ;;
    *) set -- "$1" "$2" "tests/fuzz/seeds/$1"/* ;;
    esac
    target=$1 to=$2
    shift 2
    for file in "$@" "tests/fuzz/found/$target"/*; do
        if [ -f "$file" ] && [ "$(wc -c <"$file")" -le 65536 ]; then
            cp "$file" "$to/"
        fi
    done
}

list=$build/targets
: >$list
for target in $targets; do
    mkdir -p "$build/corpus/$target" "$build/seeds/$target"
    seeds "$target" "$build/seeds/$target"
    case $target in parser | compile) dict=gml ;; *) dict=$target ;; esac
    [ -f tests/fuzz/$dict.dict ] && dict=-dict=tests/fuzz/$dict.dict || dict=
    [ "$target" = gmlb ] && longest=32768 || longest=8192 # graphs of real models are that long
    rm -f "$build/found-$target-"*
    echo "$build/bin/fuzz_$target $dict -max_total_time=$seconds -timeout=20 -rss_limit_mb=3000 -max_len=$longest -print_final_stats=1 \
-artifact_prefix=$build/found-$target- $build/corpus/$target $build/seeds/$target >$build/$target.txt 2>&1" >>$list
done
xargs -P 2 -I{} sh -c '{} || true' <$list

bad=0
echo "| target | seconds | executions | edges reached | edges of the program | inputs kept | findings |"
echo "|---|---:|---:|---:|---:|---:|---:|"
for target in $targets; do
    log=$build/$target.txt
    found=$(find $build -maxdepth 1 -name "found-$target-*" ! -name '*slow-unit*' | wc -l)
    grep -q 'DONE' "$log" || found=$((found ? found : 1))
    [ "$found" -eq 0 ] || bad=1
    awk -v target="$target" -v found="$found" '
    /^INFO: Loaded 1 modules/ { match($0, /\([0-9]+/); edges = substr($0, RSTART + 1, RLENGTH - 1) }
    / cov: / { for (i = 1; i < NF; i++) { if ($i == "cov:") reached = $(i + 1); if ($i == "corp:") { split($(i + 1), c, "/"); kept = c[1] } } }
    /^Done [0-9]+ runs in/ { runs = $2; time = $5 }
    /^stat::number_of_executed_units/ { runs = $2 }
    END { printf "| %s | %s | %s | %s | %s | %s | %s |\n", target, time, runs, reached, edges, kept, found }' "$log"
done
[ $bad -eq 0 ] || echo "findings: $build/found-<target>-*; log: $build/<target>.txt" >&2
exit $bad
