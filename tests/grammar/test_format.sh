#!/bin/sh
# gmlc fmt: a golden, and for every .gml file that parses: the same tree and comments, no change by a second time, also after
# its blanks were taken away. Argument: the build folder.
. "$GML_SOURCE/tests/e2e/common.sh"
gmlc=$bin/gmlc
here=$GML_SOURCE/tests/grammar
cp "$here/format_in.gml" in.gml
"$gmlc" fmt in.gml || fail "fmt in.gml: exit $?"
diff in.gml "$here/format_out.gml" || fail "format_in.gml becomes something else than format_out.gml"
"$gmlc" fmt - <"$here/format_in.gml" | cmp -s - in.gml || fail "fmt - differs from fmt FILE"

cp "$here/format_in.gml" in.gml
"$gmlc" fmt --check in.gml "$here/format_out.gml" 2>err
[ $? -eq 1 ] || fail "--check of a file out of style: not exit 1"
grep -q 'E0114.*in.gml' err && ! grep -q 'format_out' err || fail "--check names the wrong files: $(cat err)"
cmp -s in.gml "$here/format_in.gml" || fail "--check wrote"
"$gmlc" fmt "$here/errors_run.gml" - </dev/null >out 2>err
[ $? -eq 1 ] && grep -q E0100 err || fail "fmt of a file with errors: $(head -2 err)"
ln -s in.gml link.gml
"$gmlc" fmt link.gml && [ -L link.gml ] && cmp -s in.gml "$here/format_out.gml" || fail "fmt through a link"
printf '\357\273\277gml 1\r\n\tconfig a=1\r\n' >crlf.gml
"$gmlc" fmt crlf.gml && [ "$(cat crlf.gml)" = "$(printf 'gml 1\nconfig a = 1')" ] || fail "BOM, CRLF and tabs stay"

# Every file that parses as N.gml, and without its blanks as bN.gml; N.ast is the tree.
n=0
mkdir all
for file in $(find "$GML_SOURCE/models" "$GML_SOURCE/tests" -name '*.gml' | sort); do
    "$gmlc" --emit=ast "$file" >all/$n.ast 2>/dev/null || continue
    cp "$file" all/$n.gml
    sed -E '/[#"]/!s/[ \t]+/ /g; s/^ +//' "$file" >all/b$n.gml
    n=$((n + 1))
done
[ $n -ge 140 ] || fail "only $n files parse"
cp -r all before
"$gmlc" fmt all/*.gml || fail "fmt of all files"
"$gmlc" fmt --check all/*.gml || fail "formatting twice changes it again"
while [ $n -gt 0 ]; do
    n=$((n - 1))
    for name in $n b$n; do
        "$gmlc" --emit=ast all/$name.gml | cmp -s - all/$n.ast || fail "another tree: $(head -20 before/$name.gml)"
    done
    grep -o '#.*' before/$n.gml | grep -v '"' | tr -d ' \r' >comments
    grep -o '#.*' all/$n.gml | grep -v '"' | tr -d ' \r' | cmp -s - comments || fail "other comments: $(head -20 before/$n.gml)"
done
exit $bad
