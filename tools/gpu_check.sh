#!/bin/sh
# Everything that can only be checked on a GPU, in one run of a few minutes; prints one markdown table and exits 1 when a row fails.
#
#   tools/gpu_check.sh stage BUILD_DIR OUT   copy what the check needs out of a build, stripped, into OUT (bin/ and lib/)
#   tools/gpu_check.sh BUILD_DIR [part ...]  run it; BUILD_DIR is a build folder or a staged OUT.
#                                            Parts: tests parity random groups digits loops schedule peers sanitize memory (default: all)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" = stage ]; then
    build=$2
    out=$3
    mkdir -p "$out/bin" "$out/lib"
    for file in gmlrun gpu_parity gpu_random gpu_groups gpu_planted cuda_test_exec cuda_test_describe base_test_philox; do
        if [ -f "$build/bin/$file" ]; then
            strip -o "$out/bin/$file" "$build/bin/$file"
        fi
    done
    cp "$build/lib/libgml_cuda.so" "$out/lib/"
    if [ -f "$build/lib/libgml_audit.so" ]; then
        cp "$build/lib/libgml_audit.so" "$out/lib/"
    fi
    du -sh "$out"
    exit 0
fi
exec python3 "$here/gpu_check.py" "$here/.." "$@"
