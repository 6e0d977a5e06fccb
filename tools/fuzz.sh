#!/bin/sh
# Fuzzes every kind of input with libFuzzer under ASan and UBSan and prints a table.
#   sh tools/fuzz.sh MINUTES [TARGET..]                builds, then fuzzes two targets at a time; MINUTES may be 0.5
#   sh tools/fuzz.sh stage DIR [TARGET..]              builds, and puts all that it takes to fuzz into DIR, for another machine
#   sh DIR/fuzz.sh run MINUTES WORKERS [TARGET..]      there: all targets at once, WORKERS processes each
# Targets: compile parser gmlb safetensors npz idx csv data. What is in DIR (build/fuzz/here in the first form) stays: corpora, so that
# a later run goes on, logs in DIR/log, and findings in DIR/found. Exit 1 when something was found.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
all="compile parser gmlb safetensors npz idx csv data"
usage() {
    sed -n '3,5s/^# *//p' "$0" >&2
    exit 2
}

# -- building

build=build/fuzz
compile() {
    mkdir -p $build
    CC=clang cmake -S . -B $build -G Ninja -DGML_CUDA=OFF -DGML_TESTS=OFF -DGML_FUZZ=ON -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS="-O1 -gline-tables-only" ${CCACHE:+-DCMAKE_C_COMPILER_LAUNCHER=ccache} >$build.log 2>&1 || { cat $build.log; exit 1; }
    # shellcheck disable=SC2046,SC2086
    cmake --build $build --target gmlc $(printf 'fuzz_%s ' $1) >>$build.log 2>&1 || { tail -n 60 $build.log; exit 1; }
}

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

# stage DIR TARGETS: programs with the libraries they share, seeds, dictionaries, the standard library and this script
stage() {
    compile "$2"
    mkdir -p "$1/bin" "$1/lib" "$1/dict"
    rm -rf "$1/std"
    cp -r models/std "$1/std"
    cp tools/fuzz.sh "$1/"
    cp tests/fuzz/*.dict "$1/dict/"
    for target in $2; do
        mkdir -p "$1/seeds/$target"
        seeds "$target" "$1/seeds/$target"
        strip --strip-debug -o "$1/bin/fuzz_$target" "$build/bin/fuzz_$target"
        ldd "$build/bin/fuzz_$target" | awk '/libstdc|libz|libgcc/ { print $3 }' | while read -r library; do
            cp "$library" "$1/lib/"
        done
    done
}

# -- fuzzing

# one TARGET SECONDS WORKERS, in DIR: the corpus is shared by the workers; at last its edges are counted alone
one() {
    case $1 in
    parser | compile) dict=gml ;;
    data) dict=csv ;;
    *) dict=$1 ;;
    esac
    [ -f "dict/$dict.dict" ] && dict=-dict=dict/$dict.dict || dict=
    [ "$1" = gmlb ] && longest=32768 || longest=8192   # graphs of real models are that long
    [ "$1" = compile ] && seconds=60 || seconds=20     # for one input: text may loop up to the limit of work
    mkdir -p "corpus/$1" found log
    worker=0
    while [ $worker -lt "$3" ]; do
        # shellcheck disable=SC2086
        "bin/fuzz_$1" $dict -max_total_time="$2" -timeout=$seconds -rss_limit_mb=3000 -max_len=$longest -print_final_stats=1 -reload=1 \
            -artifact_prefix="found/$1-" "corpus/$1" "seeds/$1" >"log/$1.$worker" 2>&1 &
        worker=$((worker + 1))
    done
    wait
    "bin/fuzz_$1" -runs=0 -timeout=$seconds -rss_limit_mb=3000 -max_len=$longest -artifact_prefix="found/$1-" "corpus/$1" "seeds/$1" \
        >"log/$1.edges" 2>&1 || true
}

# row TARGET WORKERS: of the table, from the logs; a worker that did not end is a finding too
row() {
    found=$(find found -name "$1-*" ! -name '*slow-unit*' | wc -l)
    ended=$(grep -l '^Done ' log/"$1".[0-9]* | wc -l)
    [ "$ended" -eq "$2" ] || [ "$found" -gt 0 ] || found=$(($2 - ended))
    awk -v target="$1" -v workers="$2" -v found="$found" '
    /^INFO: Loaded 1 modules/ { match($0, /\([0-9]+/); edges = substr($0, RSTART + 1, RLENGTH - 1) }
    / cov: / && FILENAME ~ /edges$/ { for (i = 1; i < NF; i++) { if ($i == "cov:") reached = $(i + 1); if ($i == "corp:") { split($(i + 1), c, "/"); kept = c[1] } } }
    /^Done [0-9]+ runs in/ && FILENAME !~ /edges$/ { time += $5 }
    /^stat::number_of_executed_units/ { runs += $2 }
    END { printf "| %s | %.1f | %d | %s | %s | %s | %s |\n", target, time / 60, runs, reached, edges, kept, found }' log/"$1".[0-9]* log/"$1".edges
    [ "$found" -eq 0 ]
}

# fuzz DIR MINUTES WORKERS AT_ONCE TARGETS
fuzz() {
    dir=$1 workers=$3 targets=$5
    seconds=$(awk -v m="$2" 'BEGIN { printf "%d", m * 60 }')
    cd "$dir"
    rm -rf found log
    mkdir -p found log
    export GML_STD="$PWD/std" LD_LIBRARY_PATH="$PWD/lib"
    # shellcheck disable=SC2086
    printf '%s\n' $targets | xargs -P "$4" -I{} sh fuzz.sh one {} "$seconds" "$workers"
    bad=0
    echo "| target | worker minutes | executions | edges reached | edges of the program | inputs kept | findings |"
    echo "|---|---:|---:|---:|---:|---:|---:|"
    for target in $targets; do
        row "$target" "$workers" || bad=1
    done
    [ $bad -eq 0 ] || echo "findings: $PWD/found; logs: $PWD/log" >&2
    exit $bad
}

case ${1:-} in
stage)
    dir=${2:?$(usage)}
    shift 2
    mkdir -p "$dir"
    dir=$(cd "$dir" && pwd)
    cd "$here/.."
    stage "$dir" "${*:-$all}"
    du -sh "$dir" ;;
run)
    [ $# -ge 3 ] || usage
    minutes=$2 workers=$3
    shift 3
    fuzz "$here" "$minutes" "$workers" 64 "${*:-$all}" ;;
one)
    cd "$here"
    one "$2" "$3" "$4" ;;
[0-9]* | .[0-9]*)
    minutes=$1
    shift
    cd "$here/.."
    stage $build/here "${*:-$all}"
    fuzz $build/here "$minutes" 1 2 "${*:-$all}" ;;
*) usage ;;
esac
