#!/bin/sh
# Writes the file lists of the folder READMEs from the first sentence of each file's opening comment.
#   sh tools/make_readme.sh          rewrites what stands between the two marker lines of each README
#   sh tools/make_readme.sh check    fails when a list is out of date or a file has no opening comment
set -eu
cd "$(dirname "$0")/.."
mode=${1:-write}
bad=0

# First sentence of the opening comment of a file, on one line.
sentence() {
    awk '
    NR == 1 && /^#!/ { next }
    NR == 1 && /^gml [0-9]+$/ { next }
    /^[ \t]*$/ && text == "" { next }
    {
        line = $0
        if (text == "" && line !~ /^[ \t]*(\/\*|\/\/|#|""")/) exit
        sub(/^[ \t]*(\/\*+|\/\/|##?|\*|""")[ \t]?/, "", line)
        ended = line ~ /\*\/|"""/
        sub(/[ \t]*(\*\/|""").*/, "", line)
        if (line == "" && text != "") exit
        text = text (text == "" ? "" : " ") line
        if (text ~ /[.]( |$)/ || ended) exit
    }
    END { if (match(text, /\.( |$)/)) text = substr(text, 1, RSTART - 1); gsub(/\|/, "\\|", text); sub(/:$/, "", text); print text }' "$1"
}

list() {
    echo "| file | what it is |"
    echo "|---|---|"
    find "$1" -type f \( -name '*.[chly]' -o -name '*.def' -o -name '*.cu' -o -name '*.cuh' -o -name '*.proto' -o -name '*.sh' -o -name '*.py' \
        -o -name '*.gml' \) ! -path '*/drafts/*' ! -path '*/bad/*' ! -path '*/files/*' ! -path 'tests/*.gml' | LC_ALL=C sort | while read -r f; do
        text=$(sentence "$f")
        if [ -z "$text" ]; then
            echo "$f: no opening comment" >&2
            echo "MISSING"
        fi
        echo "| \`${f#"$1"/}\` | $text |"
    done
}

for folder in grammar compiler runtime kernels models tests tools; do
    readme=$folder/README.md
    if ! grep -q '^<!-- files -->$' "$readme" 2>/dev/null; then
        echo "$readme: no marker line <!-- files -->" >&2
        bad=1
        continue
    fi
    new=$(mktemp)
    { sed '/^<!-- files -->$/q' "$readme"; list "$folder"; echo "<!-- end of files -->"; sed '1,/^<!-- end of files -->$/d' "$readme"; } >"$new"
    if grep -q '^MISSING$' "$new"; then
        bad=1
    fi
    if [ "$mode" = check ]; then
        cmp -s "$new" "$readme" || { echo "$readme: out of date, run sh tools/make_readme.sh" >&2; bad=1; }
    else
        cat "$new" >"$readme"
    fi
    rm -f "$new"
done
exit $bad
