#!/bin/sh
# Builds with warnings as errors and runs every test, from a bare Debian 12 on.
#   sh tools/test.sh           one build (gcc, optimised; the CUDA plugin too where nvcc is) and all its tests
#   sh tools/test.sh all       besides: clang, AddressSanitizer + UBSan, a CPU-only build, and fuzzing (what CI runs)
set -eu
cd "$(dirname "$0")/.."
sh tools/setup.sh tests
started=$(date +%s)

# The time so far, on the clock and as CPU time (user, system) of all stages.
say() {
    times >build/times
    printf '\n== %s (%s s; cpu %s)\n' "$1" "$(($(date +%s) - started))" "$(tail -n 1 build/times)"
}

# 80 programs, each with all of OpenBLAS in it: gold links them in 17 s, the usual linker in 40.
linker=
if command -v ld.gold >/dev/null; then
    linker=-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold
fi

# build NAME COMPILER [cmake options]: configures and builds into build/NAME
build() {
    name=$1
    compiler=$2
    shift 2
    say "build $name"
    CC=$compiler cmake -S . -B "build/$name" -G Ninja -DGML_WERROR=ON $linker "$@" >"build/$name.log" 2>&1 ||
        { cat "build/$name.log"; exit 1; }
    cmake --build "build/$name" >>"build/$name.log" 2>&1 || { tail -n 60 "build/$name.log"; exit 1; }
}

# tests NAME [ctest options]
tests() {
    name=$1
    shift
    say "test $name"
    ctest --test-dir "build/$name" --output-on-failure --no-tests=error -j 2 "$@"
}

# same_graphs A B: two builds of gmlc give the same bytes for every model.
same_graphs() {
    say "graphs of $1 and $2"
    for model in models/*.gml tests/golden/*.gml tests/grammar/models/*.gml; do
        "build/$1/bin/gmlc" "$model" -o "build/$1.gmlb"
        "build/$2/bin/gmlc" "$model" -o "build/$2.gmlb"
        cmp "build/$1.gmlb" "build/$2.gmlb"
    done
}

mkdir -p build
say "checks"
sh tools/check_format.sh
sh tools/check_arrows.sh .
sh tools/check_size.sh .
sh tools/check_headers.sh .

build test gcc -DCMAKE_BUILD_TYPE=Release
tests test
if [ "${1:-}" = all ]; then
    build test-asan gcc -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O1 -DCMAKE_C_FLAGS_DEBUG=-g1 -DGML_SANITIZE=ON -DGML_CUDA=OFF
    # What docs and tools run is run by e2e too; statistics, long training and comparisons touch no memory that others do not.
    tests test-asan -LE 'slow|docs|tools' -E 'std/random|e2e/compare|e2e/digits|ops/precision'
    build test-clang clang -DCMAKE_BUILD_TYPE=Release -DGML_CUDA=OFF
    # The same text in another compiler's hands: what computes and what parses. Graphs are compared whole.
    tests test-clang -L 'base|exec|format|grad|grammar|graph|kernels|passes|plan|rules|run'
    same_graphs test test-clang
    say "fuzz: 10 s a target"
    sh tools/fuzz.sh 0.17
fi
say "all done"
