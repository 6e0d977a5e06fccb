#!/bin/sh
# The archive and the installation: unpacked in another place, programs find their standard library; a C program is built
# against the installed library with pkg-config and with find_package(gml), and runs.
set -eu
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if grep -q '^GML_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then
    echo "a build with sanitizers is not installed"
    exit 0
fi
fail() { echo "FAIL: $*"; exit 1; }

(cd "$build" && cpack -G TGZ -B "$work" >"$work/cpack.log" 2>&1) || { tail -n 20 "$work/cpack.log"; fail "cpack"; }
archive=$(ls "$work"/gml-*.tar.gz)
bytes=$(wc -c <"$archive")
[ "$bytes" -lt $((30 << 20)) ] || fail "the archive has $bytes bytes, 30 MiB are allowed"
tar xzf "$archive" -C "$work"
root=$(basename "$archive" .tar.gz)
mv "$work/$root" "$work/moved"
here="$work/moved"

unset GML_STD
cd "$work"
"$here/bin/gmlc" --check "$here/share/gml/models/digits.gml"
"$here/bin/gmlrun" doctor | grep -q "$here/bin/../share/gml/std" || fail "doctor names another standard library"
"$here/bin/gmlrun" train "$here/share/gml/models/digits.gml" --device cpu --threads 1 --steps 3 --out "$work/run" -q >/dev/null

export PKG_CONFIG_PATH="$here/lib/pkgconfig"
cc -std=gnu11 -Wall -Werror "$GML_SOURCE/tests/tools/embed.c" $(pkg-config --cflags --libs gml) -lm -o "$work/embed"
LD_LIBRARY_PATH="$here/lib" "$work/embed" "$here/share/gml/models/digits.gml" "$work/run1"
[ -s "$work/run1/weights.safetensors" ] || fail "no weights were saved"
nm -D --defined-only "$here/lib/libgml.so" | awk '{ print $3 }' | grep -v '^gml_' && fail "libgml.so exports more than its header"

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<EOT
cmake_minimum_required(VERSION 3.25)
project(embed C)
find_package(gml 0.1 REQUIRED)
add_executable(embed $GML_SOURCE/tests/tools/embed.c)
target_link_libraries(embed PRIVATE gml::gml m)
EOT
cmake -G Ninja -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$here" >"$work/cmake.log" 2>&1 || { cat "$work/cmake.log"; fail "find_package"; }
cmake --build "$work/project/build" >"$work/cmake.log" 2>&1 || { cat "$work/cmake.log"; fail "gml::gml"; }
"$work/project/build/embed" "$here/share/gml/models/digits.gml" "$work/run2"
echo "archive: $bytes bytes"
