#!/bin/sh
# The examples of `gmlc explain` that are commands: each is run in a folder of its own beside `models`, and its last command must
# give the code. Argument: the build folder.
set -u
bin=$(cd "$1/bin" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$bin:$PATH
failed=0 n=0
for code in $(gmlc explain | cut -d' ' -f1); do
    gmlc explain "$code" | sed -n 's/^    \$ //p' >"$work/commands"
    [ -s "$work/commands" ] || continue
    n=$((n + 1))
    mkdir "$work/$code"
    cp -R "$GML_SOURCE/models" "$work/$code/models"
    (cd "$work/$code" && sh ../commands >../out 2>&1)
    grep -qF "[$code]" "$work/out" || {
        echo "FAILED: the example of $code gives:"
        head -5 "$work/out"
        failed=1
    }
    rm -rf "${work:?}/$code"
done
[ $n -ge 20 ] || { echo "FAILED: only $n examples"; failed=1; }
exit $failed
