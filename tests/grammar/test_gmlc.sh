#!/bin/sh
# gmlc as a program: options, exit codes, forms of output. Argument: the build folder.
. "$GML_SOURCE/tests/e2e/common.sh"
gmlc=$bin/gmlc
here=$GML_SOURCE/tests/grammar
# expect CODE TEXT ARGUMENTS...: exit code, and a text on stdout or stderr
expect() {
    code=$1 text=$2
    shift 2
    "$gmlc" "$@" >out 2>err
    got=$?
    [ $got -eq "$code" ] || fail "gmlc $*: exit $got, not $code: $(head -3 err)"
    cat out err | grep -qF -e "$text" || fail "gmlc $*: no \`$text\` in: $(head -5 out err)"
}

expect 0 "--diagnostics=human|short|json" --help
expect 0 "usage: gmlc explain" explain --help
expect 0 "gmlc 0." --version
expect 2 "did you mean \`--emit\`?" --emti=ast x.gml
expect 2 "did you mean \`graph\`?" --emit=gaph x.gml
expect 2 "did you mean \`explain\`?" exlain E0100
expect 2 "needs MODEL.gml" --check
expect 2 "has no use for \`b.gml\`" a.gml b.gml
expect 2 "takes NAME=VALUE" --set lr a.gml
expect 2 "given twice" -o a -o b x.gml
expect 2 "is no option of \`gmlc ops\`" ops --check
expect 2 "writes nothing" --check -o x.gmlb a.gml
expect 2 "goes with --emit=" --phase train a.gml
expect 2 "comes later" lsp a.gml
expect 2 "there is no code" explain E9999
expect 2 "there is no model \`missing.gml\`" missing.gml
expect 1 "error[E0100]: unexpected name \`wen\`" "$here/errors_run.gml" --check
expect 1 ":8:10: error[E0100]" "$here/errors_run.gml" --check --diagnostics=short
expect 1 '{"summary":true,"errors":4,"warnings":0,"exit":1}' "$here/errors_run.gml" --check --diagnostics json

[ ! -s err ] || fail "--diagnostics=json writes to stderr too: $(head -3 err)"
[ "$(grep -cv '^{.*}$' out)" = 0 ] || fail "a line of --diagnostics=json is no object: $(grep -v '^{.*}$' out | head -2)"
[ "$(grep -c '"code":"E0100","level":"error","message":".*","spans":\[{"file":".*","line":[0-9]*,"column":[0-9]*,"end_line":[0-9]*,"end_column":[0-9]*,"is_primary":true,"label":""}.*\],"notes":\[.*\],"help":' out)" = 4 ] ||
    fail "fields of --diagnostics=json: $(head -2 out)"
expect 2 "has the standard output for itself" "$here/statements.gml" --emit=ast --diagnostics=json

"$gmlc" --emit=ast "$here/statements.gml" | cmp -s - "$here/statements.ast" || fail "--emit=ast differs from statements.ast"
"$gmlc" explain >codes
[ "$(wc -l <codes)" -gt 50 ] || fail "explain lists only $(wc -l <codes) codes"
for code in E0100 F2008 R1001 U0001 I0001; do
    expect 0 "$code: " explain $code
done
"$gmlc" ops >ops.md
for op in xent softmax rand.normal sum matmul; do
    grep -qF "$op" ops.md || fail "ops lacks $op"
done

# A model: every form, the default output, and nothing written where nothing should be.
model=$here/models/tiny.gml
rm -f ./*
expect 0 '"errors":0' "$model" --check --diagnostics=json
[ "$(ls)" = "$(printf 'err\nout')" ] || fail "--check wrote something: $(ls)"
expect 0 "train" "$model" --emit=graph
expect 0 "digraph" "$model" --emit=dot
expect 0 "phase train" "$model" --emit=mem
expect 0 "phase train" "$model" --emit=mem --phase train
grep -q "phase eval" out && fail "--phase train shows eval"
expect 2 "did you mean \`train\`?" "$model" --emit=graph --phase trian
"$gmlc" "$model" --emit=graph --phase eval >eval.txt || fail "--phase eval"
[ "$(wc -l <eval.txt)" -lt "$("$gmlc" "$model" --emit=graph | wc -l)" ] || fail "--phase eval is not smaller"
"$gmlc" "$model" --emit=json | python3 -m json.tool >/dev/null || fail "--emit=json is not JSON"
"$gmlc" "$model" || fail "no default output"
[ -s tiny.gmlb ] || fail "tiny.gmlb was not written"
"$gmlc" "$model" -o second.gmlb && cmp tiny.gmlb second.gmlb || fail "two compilations differ"
"$gmlc" "$model" --set lr=0.5 -o third.gmlb && ! cmp -s tiny.gmlb third.gmlb || fail "--set changed nothing"
expect 2 "lr" "$model" --check --set lrr=1
expect 0 "train" "$model" --dump-after=autodiff
expect 0 "planned as if every data set had" "$GML_SOURCE/models/digits.gml" --emit=mem --data digits=missing.npz
expect 0 "phase eval, 360 rows" "$GML_SOURCE/models/digits.gml" --emit=mem
expect 2 "no pass" "$model" --dump-after=nothing
exit $bad
