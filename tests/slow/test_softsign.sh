#!/bin/sh
# One line in kernels/ops.def is all that an elementwise operator needs: it is listed, its gradient and its kernel are tested, models train with it, and it compiles for CUDA.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/source"
cd "$GML_SOURCE"
cp -r CMakeLists.txt compiler grammar kernels models runtime tests tools "$work/source"
cd "$work/source"

sed -i '/^ELEM(silu,/a ELEM(softsign, "softsign", 1, FLOAT, x / (R(1) + abs1(x)), "g / (1 + abs(x)) ^ 2", "", "", SMALL, 1e-6, "x / (1 + |x|)")' kernels/ops.def
[ "$(diff kernels/ops.def "$GML_SOURCE/kernels/ops.def" | grep -c '^[<>]')" = 1 ] || { echo "more than one line changed"; exit 1; }

launcher=
if command -v ccache >/dev/null; then
    launcher="-DCMAKE_C_COMPILER_LAUNCHER=ccache"
fi
# shellcheck disable=SC2086
cmake -S . -B "$work/build" -G Ninja -DGML_CUDA=OFF -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O0 $launcher >"$work/log"
cmake --build "$work/build" --target gmlc gmlrun grad_test_grad kernels_test_elem >"$work/log" || { cat "$work/log"; exit 1; }
export PATH="$work/build/bin:$PATH"

gmlc ops | grep softsign
grad_test_grad | tee "$work/grad"
grep -q '^differentiated:.* softsign ' "$work/grad" || { echo "the gradient of softsign was not tested"; exit 1; }
kernels_test_elem

# y = softsign(3 x - 1) has to be learned. The last value is of a compile-time number: softsign(0.25) = 0.2.
cat >"$work/soft.gml" <<'G'
gml 1
layer Curve{}(x: f32[B]) -> f32[B] {
    param a: f32[] = 0
    param b: f32[] = 0
    return softsign(a * x + b)
}
layer descend{lr}(p, g) {
    return p - lr * g
}
let curve = Curve{}

phase train {
    let x = rand.normal([256])
    minimize loss = mean((curve(x) - softsign(3 * x - 1))^2) over curve using descend{1.0}
}
phase eval {
    metric a = curve.a
    metric b = curve.b
    metric fifth = f32(softsign(0.25))
}
run {
    train for 1000 steps
    eval
}
G
gmlrun train "$work/soft.gml" --device cpu --out "$work/run" --json -q >"$work/summary"
cat "$work/summary"
python3 - "$work/summary" <<'P'
import json, sys
text = open(sys.argv[1]).read().strip().splitlines()[-1]
metric = json.loads(text)["metrics"]
assert abs(metric["eval.a"] - 3) < 0.1 and abs(metric["eval.b"] + 1) < 0.1, metric
assert abs(metric["eval.fifth"] - 0.2) < 1e-6, metric
P

nvcc=$(command -v nvcc || true)
if [ -z "$nvcc" ] && [ -x /usr/local/cuda/bin/nvcc ]; then
    nvcc=/usr/local/cuda/bin/nvcc
fi
if [ -z "$nvcc" ]; then
    echo "no nvcc: the CUDA kernel was not compiled"
    exit 0
fi
"$nvcc" -std=c++17 -arch=sm_90 --expt-relaxed-constexpr -I. -c kernels/cuda/elem.cu -o "$work/elem.o"
gcc -std=gnu11 -D_GNU_SOURCE -Wall -Werror -I. -c kernels/cuda/elem.c -o "$work/describe.o"
nm "$work/elem.o" | grep -q softsign || { echo "the CUDA object has no kernel for softsign"; exit 1; }
