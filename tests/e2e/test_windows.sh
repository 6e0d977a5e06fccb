#!/bin/sh
# Members of data sets from text to predictions, all by hand: windows, bytes, times, splits by conditions, lanes,
# standardize with saved weights; and what is refused when the file is read.
set -u
gmlrun="$1/bin/gmlrun"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
cat >s.csv <<'C'
date,a,b,day
2020-02-28 23:00:00,1,10,mon
2020-02-29T00:00:00Z,2,20,mon
2020-02-29 02:00:00+01:00,3,30,mon
2020-02-29 02:00,4,40,mon
2020-02-29 23:30:00.5,5,50,mon
2020-03-01,6,60,tue
2020-03-01 01:00:00,7,70,mon
2020-03-01 02:00:00,8,80,tue
2020-03-01 03:00:00,9,90,tue
2020-03-01 04:00:00,10,100,tue
2020-03-01 05:00:00,11,110,sun
C
cat >s.gml <<'G'
gml 1
config n: dim = 3
config B = 2
data s = "s.csv" {
    split = (train = field("day") == "mon", val = field("day") != "mon" and not (field("a") > 10))
    x: f32[n, 2]       = window(columns("a", "b"), n)
    last: f32          = window("a", 1, offset = n - 1)
    half: f32[1, 2]    = window(columns("a", "b") + 1, 1) / 2
    hour: i32[n]       = timestamp("date") // 3600 % 24 |> window(n)
    since: i32         = window(timestamp("date"), 1, offset = 2)
    first: bool        = first_of_sequence()
}
phase predict on s{split = "train", batch = B} as d {
    output x = d.x, last = d.last, half = d.half, hour = d.hour, since = d.since, first = d.first
}
phase val on s{split = "val", batch = B, shuffle = true} as d { output x = d.x }
phase all on s{batch = 1} as d { output last = d.last }
phase lanes on s{batch = 2, lanes = true} as d {
    state sum: f32[2] = 0                 # of the lane so far
    let old = select(d.first, zeros([2]), sum)
    next sum = old + d.last
    output last = d.last, first = d.first, old = old
}
run { predict }
G
# same NAME ARGUMENTS..: what gmlrun predicts is the text on stdin
same() {
    name=$1
    shift
    cat >want.csv
    rm -f got.csv
    "$gmlrun" predict "$@" --device cpu -o got.csv >/dev/null 2>log || { echo "$name: $(cat log)"; exit 1; }
    cmp -s want.csv got.csv || { echo "$name:"; diff want.csv got.csv; exit 1; }
}
# the rows of monday are 1 2 3 4 5 and, behind a gap, 7 alone; a window reaches neither over the gap nor into tuesday
for B in 1 2 3 7; do
    same "windows of $B" s.gml --set B=$B <<'C'
x.0,x.1,x.2,x.3,x.4,x.5,last,half.0,half.1,hour.0,hour.1,hour.2,since,first
1,10,2,20,3,30,3,1,5.5,0,1,2,7200,1
2,20,3,30,4,40,4,1.5,10.5,1,2,3,10800,1
3,30,4,40,5,50,5,2,15.5,2,3,0,88200,1
C
done
same "the other part" s.gml --phase val <<'C'
x.0,x.1,x.2,x.3,x.4,x.5
8,80,9,90,10,100
C
# without a split: all runs of rows that no part cuts
same "all rows" s.gml --phase all <<'C'
last
3
4
5
10
C
# two lanes of two rows; predictions come in the order of the file
same "lanes" s.gml --phase lanes <<'C'
last,first,old
3,1,0
4,0,3
5,1,0
10,1,0
C
# with lanes the batch is a number: a multiple of it is no rows
cat >>s.gml <<'G'
phase same on s{batch = 2, lanes = true} as d {
    output last = d.last, pair = flatten(zeros([2, 3]) + 1.0, 0, 1)
}
phase many on s{batch = 2, lanes = true} as d {
    output x = flatten(d.x, 0, 1)
}
phase flat on s{batch = 2} as d {
    output x = flatten(d.x, 0, 1), last = d.last
}
G
"$gmlrun" predict s.gml --phase same --device cpu -o same.npz >log 2>&1 || { cat log; exit 1; }
"$gmlrun" inspect same.npz >log || exit 1
grep -q "^last .* \[4\]" log && grep -q "^pair .* \[6\]" log || { cat log; exit 1; }
"$gmlrun" predict s.gml --phase many --device cpu -o many.npz >log 2>&1 && { echo "six rows of two lanes"; exit 1; }
grep -q "E3109.*f32.2.n, 2., has no row axis" log && grep -q "the rows of a launch are the number 2" log || { cat log; exit 1; }
# else the batch is no number, and n rows of it, n being set at load, are a multiple
"$gmlrun" predict s.gml --phase flat --device cpu -o flat.npz >log 2>&1 || { cat log; exit 1; }
"$gmlrun" inspect flat.npz >log || exit 1
grep -q "^x .* \[12, 2\]" log && grep -q "^last .* \[4\]" log || { cat log; exit 1; }
# lanes over several epochs: what a lane has added up when it begins anew is nothing
cat >l.gml <<'G'
gml 1
data s = "l.csv" { x: f32 = field("x") ; first: bool = first_of_sequence() }
phase walk on s{batch = 2, lanes = true} as d {
    state sum: f32[2] = 0
    let new = select(d.first, zeros([2]), sum) + d.x
    next sum = new
    metric a = new[0] using last
    metric b = new[1] using max
}
run { repeat (3) { walk; save best walk.a + walk.b; stop when walk.epoch >= 2 } }
G
printf 'x\n1\n2\n3\n10\n20\n30\n' >l.csv
"$gmlrun" train l.gml --device cpu -q --out l >/dev/null 2>log || { cat log; exit 1; }
grep -q '"walk.a": 6, "walk.b": 60' l/metrics.jsonl || { echo "lanes: $(cat l/metrics.jsonl)"; exit 1; }
grep -q '"epoch": 3' l/metrics.jsonl && { echo "stop when walk.epoch: $(cat l/metrics.jsonl)"; exit 1; }
# `since` still lies 2 rows behind the begin
grep -q W3101 log && { echo "4 rows are 2 lanes: $(cat log)"; exit 1; }
sed 's/batch = 2, lanes/batch = 3, lanes/;s/\[2\]/[3]/g' s.gml >three.gml
same "three lanes" three.gml --phase lanes <<'C'
last,first,old
3,1,0
4,1,0
5,1,0
C
grep -q "W3101.*1 of 4 rows are in none of 3 lanes" log || { echo "lanes with a rest: $(cat log)"; exit 1; }
same "size at load" s.gml --phase all --set n=2 <<'C'
last
2
3
4
9
C
# a stride; and windows of a part by rows
cat >stride.gml <<'G'
gml 1
data s = "s.csv" {
    split = rows(train = [0, 5], val = [3, 11])
    x: f32[3, 2] = window(columns("a", "b"), 3, stride = 2)
    last: f32    = window("a", 1, stride = 2, offset = 2)
}
phase predict on s{split = "val", batch = 2} as d { output x = d.x, last = d.last }
run { predict }
G
same "stride" stride.gml <<'C'
x.0,x.1,x.2,x.3,x.4,x.5,last
4,40,5,50,6,60,6
6,60,7,70,8,80,8
8,80,9,90,10,100,10
C
# a text file as bytes
printf 'abcdefg\n' >t.txt
cat >t.gml <<'G'
gml 1
data t = "t.txt" {
    split = (train = 0.5, val = 0.5)
    ids: i32[3] = window(bytes(), 3, stride = 2)
}
phase predict on t{batch = 2} as d { output ids = d.ids }
phase val on t{split = "val", batch = 2} as d { output ids = d.ids }
run { predict }
G
same "bytes of a part" t.gml --phase val <<'C'
ids.0,ids.1,ids.2
101,102,103
C
same "bytes of all" t.gml <<'C'
ids.0,ids.1,ids.2
97,98,99
101,102,103
C
# standardize: on the rows 1 2 3 4 (mean 2.5, deviation sqrt(1.25)) and 5 5 5 5 (deviation 0, taken for 1)
cat >z.gml <<'G'
gml 1
import nn
import opt
data z = "z.csv" {
    split = field("part")
    x: f32[2, 2] = window(columns("a", "b"), 2) |> standardize
    y: f32       = window("a", 1) |> standardize
}
let net = nn.Linear{1}
phase train on z{split = "train", batch = 3} as d {
    minimize loss = mean((net(d.x[:, 0]) - d.y[:, _]) ^ 2) over net using opt.sgd{0.1}
}
phase predict on z{split = "test", batch = 3} as d {
    output x = d.x
    metric m = mean(d.y)
}
run { train for 2 epochs }
G
printf 'a,b,part\n1,5,train\n2,5,train\n3,5,train\n4,5,train\n10,6,test\n2.5,5,test\n' >z.csv
"$gmlrun" train z.gml --device cpu -q --out r >/dev/null 2>log || { cat log; exit 1; }
cat >z.want <<'C'
x.0,x.1,x.2,x.3
6.708204,1,0,0
C
same "fitted on the part train" z.gml --weights r/weights.safetensors <z.want
# other rows to be fitted on: those of the weights count, also where there is no row of the part at all
printf 'a,b,part\n7,7,train\n9,8,train\n-3,9,train\n0,0,train\n10,6,test\n2.5,5,test\n' >z.csv
same "fitted before" z.gml --weights r/weights.safetensors <z.want
printf 'a,b\n10,6\n2.5,5\n' >new.csv
same "a new file" z.gml --weights r/weights.safetensors --data z=new.csv <z.want
# refused WHAT CODE SED_FILE SED_MODEL: what gmlrun says about s.csv and s.gml changed so
refused() {
    mkdir case
    sed "$3" s.csv >case/s.csv
    sed "$4" s.gml >case/s.gml
    "$gmlrun" predict case/s.gml --device cpu -o case/o.csv >/dev/null 2>log
    got=$?
    rm -rf case
    [ $got -eq 3 ] || { echo "$1: exit $got: $(cat log)"; exit 1; }
    grep -q "^error\[$2\]" log || { echo "$1: not $2: $(cat log)"; exit 1; }
}
refused "no such day" F3104 's/2020-03-01,6/2020-02-30,6/' ''
refused "no time" F3104 's/2020-03-01,6/yesterday,6/' ''
refused "too long ago" F3104 's/2020-03-01,6/1900-03-01,6/' ''
refused "a row in two parts" F3105 '' 's/field("a") > 10/field("a") < 1/;s/!= "mon"/!= "sun"/'
refused "text for a number" F3107 '' 's/field("a") > 10/field("day") > 10/'
refused "a number for text" F3107 '' 's/field("day") == "mon"/field("a") == "mon"/'
refused "no such field" F3101 '' 's/field("a") > 10/field("aa") > 10/'
refused "no window fits" F3106 '' 's/dim = 3/dim = 6/'
refused "rows of no part" F3106 '' 's/== "mon"/== "fri"/'
sed -e '/net/d;/opt/d;/phase train/,/^}/d;s/run .*/run { predict }/' z.gml >alone.gml
printf 'a,b,part\n10,6,test\n2.5,5,test\n' >z.csv
"$gmlrun" predict alone.gml --device cpu -o o.csv >/dev/null 2>log && { echo "nothing to be fitted on, and no error"; exit 1; }
grep -q "F3105" log || { echo "nothing to be fitted on: $(cat log)"; exit 1; }
