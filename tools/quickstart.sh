#!/bin/sh
# From a bare Debian to a trained classifier: installs what is missing, builds, trains models/digits.gml and says how good it is.
#   sh tools/quickstart.sh [more arguments for gmlrun train]
set -eu
cd "$(dirname "$0")/.."
sh tools/setup.sh
echo "building gml, a few minutes (log: build-quickstart.log)" >&2
cmake --preset release -DGML_TESTS=OFF >build-quickstart.log 2>&1 || { cat build-quickstart.log >&2; exit 7; }
cmake --build --preset release >>build-quickstart.log 2>&1 || { tail -n 40 build-quickstart.log >&2; exit 7; }
rm -f build-quickstart.log
exec build/release/bin/gmlrun train models/digits.gml "$@"
