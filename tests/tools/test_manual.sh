#!/bin/sh
# The option table drives --help, the manual pages and the completion of bash: each command and option is in all of them.
. "$GML_SOURCE/tests/e2e/common.sh"
for program in gmlc gmlrun; do
    "$bin/$program" --manual >$program.1 || fail "$program --manual"
    "$bin/$program" --completion >$program.bash || fail "$program --completion"
    "$bin/$program" --help >$program.help || fail "$program --help"
    for built in man/man1/$program.1 bash-completion/completions/$program; do
        if [ -e "$1/share/$built" ] && [ "$1/share/$built" -nt "$bin/$program" ]; then
            cmp -s "$1/share/$built" $program.1 || cmp -s "$1/share/$built" $program.bash || fail "share/$built is another"
        fi
    done
    bash -n $program.bash || fail "$program.bash is no bash"
    sed 's/\\-/-/g; s/\\(ga/`/g; s/\\(aq/'"'"'/g; s/\\f[BIR]//g; s/\\&//g; s/\\e/\\/g' $program.1 >plain
    sed -n 's/^  \(-[a-z],\|   \) --\([a-z-]*\).*/\2/p' $program.help >options
    [ "$(wc -l <options)" -gt 8 ] || fail "$program --help shows no options"
    while read -r option; do
        later=$(awk -v o="--$option([ =]|$)" '
            found && !/ --/ { line = line $0 }
            found { exit }
            $0 ~ o { line = $0; found = 1 }
            END { print line ~ /comes later/ }' $program.help)
        grep -q -e "--$option\b" plain && in=1 || in=0
        [ $((in + (later > 0))) -eq 1 ] || fail "$program: --$option in the manual: $in, comes later: $later"
        [ "$option" = version ] || [ "$later" -gt 0 ] || grep -q -e "--$option\b" $program.bash || fail "$program: no completion of --$option"
    done <options
    for code in 0 1 2 3 4 5 6 7 75 130; do
        grep -q "^\.B $code$" $program.1 || fail "$program.1 does not tell exit code $code"
    done
done
for command in train eval predict summary config dump inspect bench gradcheck compare doctor; do
    grep -q "^\.B $command" gmlrun.1 || fail "gmlrun.1 lacks $command"
    "$bin/gmlrun" $command --help | grep -q "^usage: gmlrun $command" || fail "gmlrun $command --help"
done
grep -q "comes later" gmlc.1 gmlrun.1 gmlc.bash gmlrun.bash && fail "what comes later is shown"
if command -v groff >/dev/null; then
    for page in gmlc gmlrun; do
        groff -man -Tascii -ww $page.1 >rendered 2>warnings || fail "groff: $(cat warnings)"
        [ -s warnings ] && fail "groff warns: $(head -3 warnings)"
    done
fi

# Completion answers as a shell would ask.
cat >ask.bash <<'B'
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
"_$1"
printf '%s\n' "${COMPREPLY[@]}"
B
asks() { # asks WORDS.. : WANTED, one answer that must be there
    want=$1
    shift
    bash ask.bash "$1.bash" "$@" 2>&1 | grep -qxF -e "$want" || fail "completion of '$*' lacks $want: $(bash ask.bash "$1.bash" "$@" 2>&1 | tr '\n' ' ')"
}
touch model.gml
asks predict gmlrun pre
asks --weights= gmlrun predict --w
asks cuda gmlrun train --device cu
asks cpu gmlrun train --device = cp
asks model.gml gmlrun train mod
asks model.gml gmlrun predict --weights mod
asks plan gmlrun dump --stage p
asks --emit= gmlc --em
asks mem gmlc --emit = m
bash ask.bash gmlrun.bash gmlrun summary --samp | grep -q samples && fail "summary has no --samples"
exit $bad
