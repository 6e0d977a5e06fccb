#!/bin/sh
# npy, npz and safetensors both ways against NumPy, and against PyTorch's safetensors package where it is installed.
set -eu
for python in python3 /usr/bin/python3 none; do
    "$python" -c "import numpy" 2>/dev/null && break
done
[ $python != none ] || { echo "no python3 with NumPy: sh tools/setup.sh tests"; exit 1; }
exec "$python" "$GML_SOURCE/tools/check_interop.py" "$1"
