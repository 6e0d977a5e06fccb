#!/bin/sh
# Mistakes that are met when a model is loaded with its data or weights: each is one message that names the fix
# (load/messages.txt). `columns`, and predictions of a CSV that has other columns too. GML_UPDATE=1 writes the messages anew.
set -u
golden="$GML_SOURCE/tests/e2e/load"
gmlrun="$1/bin/gmlrun"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
cp "$golden/flowers.gml" .
cat >flowers.csv <<'C'
length,width,kind,name,part
1.5,0.25,0,setosa,train
4.5,1.5,1,versicolor,train
5.5,2,2,virginica,train
1,0.5,0,setosa,train
4,1.25,1,versicolor,test
6,2.5,2,virginica,test
C
# message WHAT CODE SED_DATA SED_MODEL ARGUMENTS..: flowers.csv and flowers.gml changed by sed, and what gmlrun says
message() {
    what=$1 code=$2 data=$3 model=$4
    shift 4
    mkdir case
    sed "$data" flowers.csv >case/flowers.csv
    sed "$model" flowers.gml >case/flowers.gml
    (cd case && "$gmlrun" "$@" --device cpu >/dev/null 2>../log)
    got=$?
    rm -rf case
    { echo "## $what: exit $got"; grep -v "^$" log; } >>messages.txt
    [ $got -eq "$code" ] || { echo "$what: exit $got, want $code: $(cat log)"; exit 1; }
    [ "$(grep -c '^error' log)" = 1 ] || { echo "$what: not one error: $(cat log)"; exit 1; }
}
train="train flowers.gml -q"
"$gmlrun" $train --device cpu --out right >/dev/null || exit 1
weights=$out/right/weights.safetensors

message "no such file" 3 "" 's/flowers.csv/flower.csv/' $train
message "no such file for --data" 3 "" "" $train --data flowers=none.csv
message "data set misspelt" 2 "" "" $train --data flower=flowers.csv
message "column misspelt" 3 "" 's/"width"/"widht"/' $train
message "column of the split misspelt" 3 "" 's/"part"/"parts"/' $train
message "column missing in the file" 3 '1s/kind/species/' "" $train
message "text as labels" 3 "" 's/"kind"/"name"/' $train
message "a cell that is no number" 3 '4s/5.5/5.5cm/' "" $train
message "decimal comma" 3 '4s/5.5/"5,5"/' "" $train
message "missing cell" 3 '4s/5.5//' "" $train
message "floats as i32" 3 "" 's/"kind"/"length"/' $train
message "too large for i32" 3 '4s/,2,virginica/,3000000000,virginica/' "" $train
message "label above the classes" 3 '4s/,2,virginica/,3,virginica/' "" $train
message "labels from 1 on" 3 's/,0,setosa/,3,setosa/' "" $train
message "too few classes" 3 "" 's/nn.Linear{3}/nn.Linear{2}/' $train
message "part of the split not in the file" 3 's/,test$/,valid/' "" $train
message "fewer rows than a batch" 1 "" "" $train --set B=5
message "shape of a row" 1 "" 's/f32\[2\]/f32[3]/' $train
message "a row with too few cells" 3 '3s/,train$//' "" $train
message "no header" 3 '1d' "" $train
message "no rows" 3 '2,$d' "" $train
message "weights missing" 3 "" "" predict flowers.gml --weights none.safetensors
message "weights are no safetensors" 3 "" "" predict flowers.gml --weights flowers.csv
message "weights of another size" 3 "" 's/nn.Linear{3}/nn.Linear{4}/' predict flowers.gml --weights "$weights"
message "weights of another name" 3 "" 's/\bnet\b/model/g' predict flowers.gml --weights "$weights"
message "a run folder for weights" 4 "" "" predict flowers.gml --weights "${weights%/*}"
message "a column that the output needs" 3 's/,width,/,breadth,/' "" predict flowers.gml --weights "$weights"
python3 - <<'P'
import struct, zipfile
def npy(kind, shape, raw):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)).encode()
    head += b" " * (117 - len(head)) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + raw
with zipfile.ZipFile("rows.npz", "w") as z:
    z.writestr("x.npy", npy("<f4", "(8, 3)", bytes(96)))
    z.writestr("y.npy", npy("<f4", "(7,)", struct.pack("<7f", *range(7))))
    z.writestr("name.npy", npy("<U1", "(8,)", "abcdefgh".encode("utf-32-le")))
    z.writestr("k.npy", npy("|u1", "(8,)", bytes(8)))
    z.writestr("one.npy", npy("<i8", "()", bytes(8)))
P
arrays='s|flowers.csv|../rows.npz|; /split = field/d; s/split = "[a-z]*", //'
message "array misspelt" 3 "" "$arrays; s/f32\[2\] = columns.*/f32[3] = field(\"xs\")/; s/\"kind\"/\"y\"/" $train
message "arrays of different length" 3 "" "$arrays; s/f32\[2\] = columns.*/f32[3] = field(\"x\")/; s/\"kind\"/\"y\"/" $train
message "stored shape" 3 "" "$arrays; s/f32\[2\] = columns.*/f32[4] = field(\"x\")/; s/\"kind\"/\"k\"/" $train
message "text of an npz" 3 "" "$arrays; s/f32\[2\] = columns.*/f32[3] = field(\"x\")/; s/\"kind\"/\"name\"/" $train
message "a single value" 3 "" "$arrays; s/f32\[2\] = columns.*/f32[3] = field(\"x\")/; s/\"kind\"/\"one\"/" $train
sed -i "s|$out|OUT|g" messages.txt

# A member from several columns, in their order; other columns may be there, columns that nobody reads may be missing.
cat >columns.gml <<'G'
gml 1
data a = "a.csv" {
    x: f32[3]  = columns("c", "a", "b") / 2
    n: i32[2]  = columns("a", "b")
    r: f32     = field("c") - field("a")
    one: f32[1] = columns("b")
}
phase predict on a{batch = 2} as d {
    output x = d.x, n = d.n, r = d.r, one = d.one
}
G
printf 'name,c,b,a\nu,0.5,2,1\nv,4.5,5,4\nw,8.5,8,7\n' >a.csv
printf 'x.0,x.1,x.2,n.0,n.1,r,one.0\n0.25,0.5,1,1,2,-0.5,2\n2.25,2,2.5,4,5,0.5,5\n4.25,3.5,4,7,8,1.5,8\n' >want.csv
"$gmlrun" predict columns.gml --device cpu >got.csv 2>log || { cat log; exit 1; }
diff want.csv got.csv || exit 1
printf 'a,c\n1,3\n' >b.csv
[ "$("$gmlrun" predict columns.gml --device cpu --data a=b.csv --output r)" = "r
2" ] || { echo "columns that nobody reads are looked for"; exit 1; }
"$1/bin/gmlc" columns.gml -o columns.gmlb && "$gmlrun" predict columns.gmlb --device cpu >again.csv || exit 1
cmp got.csv again.csv || exit 1

if [ "${GML_UPDATE:-}" = 1 ]; then
    cp messages.txt "$golden/messages.txt"
fi
diff "$golden/messages.txt" messages.txt
