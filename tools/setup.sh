#!/bin/sh
# Installs what the build needs and is missing, on Debian 12 and its relatives. Says what it does; does nothing when all is there.
#   sh tools/setup.sh          what the build needs
#   sh tools/setup.sh tests    what the tests need besides
set -eu
packages="gcc g++ cmake ninja-build pkg-config flex bison libjansson-dev libprotobuf-c-dev protobuf-c-compiler zlib1g-dev libcsv-dev libopenblas-serial-dev"
if [ "${1:-}" = tests ]; then
    packages="$packages check clang libclang-rt-14-dev clang-format python3-numpy"
fi
missing=""
for p in $packages; do
    dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -q '^installed' || missing="$missing $p"
done
if [ -z "$missing" ]; then
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "gml needs these Debian packages or their like:$missing" >&2
    exit 4
fi
as_root=""
if [ "$(id -u)" != 0 ]; then
    as_root=sudo
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
# shellcheck disable=SC2086
if ! { $as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 4
fi
rm -f "$log"
