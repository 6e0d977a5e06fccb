# What the scripts here share, read by them with `.`: the programs of the build folder $1, an empty folder to work in, and checks
# that go on after a failure; a script ends with `exit $bad`.
set -u
bin=$1/bin
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
bad=0
fail() {
    echo "$*"
    bad=1
}
exits() { # exits CODE TEXT COMMAND..: the exit code, and a text that stdout or stderr holds
    want=$1 text=$2
    shift 2
    "$@" >log 2>&1
    got=$?
    { [ $got -eq "$want" ] && grep -qF -- "$text" log; } || fail "exit $got, want $want with '$text': $*: $(cat log)"
}
