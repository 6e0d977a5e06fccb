#!/bin/sh
# columns(..) from text to predictions: the example of the language page, and what is refused, where and with which exit code.
. "$GML_SOURCE/tests/e2e/common.sh"
awk '/^<!-- test: columns -->/ { open = 1; next } /^```gml/ && open == 1 { open = 2; next } /^```/ && open == 2 { exit } open == 2' \
    "$GML_SOURCE/grammar/README.md" >page.gml
cat >weather.csv <<'C'
station,temperature,pressure,humidity,part,rain
a,100,200,300,train,1
b,400,500,600,test,2
c,700,800,900,train,3
d,1000,1100,1200,test,4
C
printf 'x.0,x.1,x.2,y\n4,5,6,2\n10,11,12,4\n' >wanted
"$bin/gmlrun" predict page.gml --device cpu >got 2>log && cmp wanted got || { cat got log; bad=1; }
"$bin/gmlc" page.gml -o page.gmlb && "$bin/gmlrun" predict page.gmlb --device cpu >got 2>log && cmp wanted got || { cat got log; bad=1; }
refused() { # refused EXIT TEXT SED: the page changed, what gmlrun says
    sed "$3" page.gml >changed.gml
    cmp -s page.gml changed.gml && { echo "nothing changed: $3"; bad=1; }
    "$bin/gmlrun" predict changed.gml --device cpu >log 2>&1
    got=$?
    { [ $got -eq "$1" ] && grep -qF -- "$2" log; } || { echo "exit $got, want $1 with '$2': $3: $(cat log)"; bad=1; }
}
refused 3 "F3101]: in weather.csv the column \`humidity\` stands behind \`temperature\`" 's/columns(.*)/columns("humidity".."temperature")/'
refused 3 "did you mean \`humidity\`?" 's/"humidity"/"humidty"/'
refused 3 "F3103]: columns \`temperature\` to \`humidity\` of weather.csv are 3 values a row, but \`x\` is declared f32[4]" 's/f32\[3\]/f32[4]/'
refused 3 "F4004]: weather.csv: column \`part\`, line 2" 's/"humidity"/"part"/'
refused 1 "E2030]: a range of columns needs a declared type of one axis" 's/f32\[3\]/f32/'
refused 1 "E2030]: the member \`x\` is declared f32[3] for a row" 's/columns(.*)/columns("humidity", "rain")/'
refused 1 "E1005]: \`columns\` needs at least one name" 's/columns(.*)/columns()/'
refused 1 "E2023]: the name of a column must be a string" 's/"temperature"\.\./1../'
refused 1 "E1004]: \`columns\` has no argument" 's/columns(.*)/columns(from = "rain")/'
refused 1 "found a range" 's/output x = d.x/output x = f32("a".."b")/'
refused 1 "E0100]" 's/"humidity"/"pressure".."humidity"/'
# labels as text and cells without a number, from the text and from the graph file
cat >flowers.csv <<'C'
id,sepal,petal,species
1,5.1,1.4,setosa
2,,1.3,setosa
3,7.0,4.7,versicolor
4,6.4,na,versicolor
5,6.3,6.0,virginica
C
cat >flowers.gml <<'G'
gml 1
config kinds = ["setosa", "versicolor", "virginica"]
data flowers = "flowers.csv" {
    split = (small = field("id") < 3, large = field("id") >= 3)
    x: f32[2] = columns("sepal", "petal", missing = -1)
    seen: f32 = f32(isfinite(field("sepal", missing = inf)))
    y: i32    = classes("species", kinds)
    id: i32   = classes("id", ["5", "4", "3", "2", "1"])
    twice: f32 = 2 * field("sepal", missing = 2.5)
}
phase predict on flowers{batch = 2} as d { output x = d.x, seen = d.seen, y = d.y, id = d.id, twice = d.twice }
G
cat >wanted <<'C'
x.0,x.1,seen,y,id,twice
5.1,1.4,1,0,4,10.2
-1,1.3,0,0,3,5
7,4.7,1,1,2,14
6.4,-1,1,1,1,12.8
6.3,6,1,2,0,12.6
C
"$bin/gmlrun" predict flowers.gml --device cpu >got 2>log && cmp wanted got || { cat got log; bad=1; }
"$bin/gmlc" flowers.gml -o page.gmlb && "$bin/gmlrun" predict page.gmlb --device cpu >got 2>log && cmp wanted got || { cat got log; bad=1; }
cp flowers.gml page.gml
refused 3 "F3104]: \`species\` of flowers.csv, row 4: \"virginica\" is none of the 3 classes" 's/"virginica"/"virginca"/'
refused 3 "did you mean \"virginca\"?" 's/"virginica"/"virginca"/'
refused 3 "add \"virginica\" to the list of \`classes\`" 's/, "virginica"//'
refused 3 "F4005]: flowers.csv: column \`sepal\`, line 3, column 2: \`\` is a missing value" 's/, missing = 2.5//'
refused 3 "F4004]: flowers.csv: column \`species\`, line 2" 's/"sepal", "petal"/"sepal", "species"/'
refused 3 "F4004]: flowers.csv: column \`species\`" 's/classes("species", kinds)/field("species")/'
refused 3 "F3104]: member \`petal\` of flowers.csv, row 0: 1.4 does not fit i32" 's/f32\[2\]/i32[2]/;s/"sepal", "petal"/"petal", "id"/'
refused 1 "E1007]: the class \"setosa\" stands in the list twice" 's/"virginica"/"setosa"/'
refused 1 "E2023]: the classes must be a list of strings, found \"species\"" 's/, kinds)/, "species")/'
refused 1 "E2023]: the name of a class must be a string" 's/, kinds)/, [1, 2])/'
refused 1 "E2023]: what stands for a missing value must be a number, found \"none\"" 's/missing = 2.5/missing = "none"/'
refused 1 "E2030]: the member \`y\` is declared f32[] for a row" 's/y: i32/y: f32/'
refused 1 "E1005]: \`classes\` needs the argument \`names\`" 's/, kinds)/)/'
# a field of another shape than the member: the text makes one of the other
cat >digits.gml <<G
gml 1
data digits = "$GML_SOURCE/models/data/digits.npz" {
    big: f32[10, 10, 1] = pad(field("images", [8, 8]), 1)[.., _]
    x: f32[64] = field("images")
}
phase predict on digits{batch = 100} as d {
    let square = d.big[:, 1:9, 1:9, 0]
    output same = sum(abs(reshape(square, [len(d.x), 64]) - d.x), axis = -1) + abs(sum(d.big, axis = [1, 2, 3]) - sum(d.x, axis = -1)), some = sum(d.x, axis = -1)
}
G
"$bin/gmlrun" predict digits.gml --device cpu >got 2>log && awk -F, 'NR > 1 && ($1 != 0 || $2 < 1) { exit 1 } END { if (NR < 1000) exit 1 }' got ||
    { head -3 got; cat log; bad=1; }
sed -i 's/pad(field("images", \[8, 8\]), 1)/field("images", [10, 10])/' digits.gml
"$bin/gmlrun" predict digits.gml --device cpu >log 2>&1
grep -q "F3103" log || { cat log; bad=1; }
exit $bad
