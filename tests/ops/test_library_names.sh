#!/bin/sh
# C code knows operators; models, layers, losses, optimizers, environments and algorithms are gml text. So their words stand in no C
# source - not in names, not in strings, not in comments - but where tests/ops/library_names.txt says why.
set -u
cd "$GML_SOURCE" || exit 1
models='lstm gru rnn mlp cnn resnet unet transformer bert gpt llama mamba xlstm kan tft tlob cfc gan vae autoencoder diffusion ddpm mnist cifar'
layers='linear_?layer dense embedding layer_?norm rms_?norm group_?norm batch_?norm dropout glu swiglu multi_?head rotary max_?pool avg_?pool'
losses='mse mae huber quantile pinball focal hinge cross_?entropy bce kl_?div'
optimizers='sgd adamw? rms_?prop lion lamb momentum nesterov cosine'
environments='cart_?pole acrobot mountain_?car pendulum gym gymnasium'
algorithms='ppo dqn gae sac td3 a2c rainbow reinforce replay rollout policy critic actor reward episode advantage dueling'
words="$models $layers $losses $optimizers $environments $algorithms"
pattern=$(echo "$words" | tr ' ' '|')
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# used: "file|word", once each
find grammar compiler runtime kernels tools \( -name '*.[chly]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def' -o -name '*.proto' \) |
    xargs grep -iE "$pattern" |
    awk -F: -v OFS=: '{ file = $1; sub(/^[^:]*:/, ""); print file "|" tolower($0) }' |
    awk -F'|' -v pattern="$pattern" '
    {
        file = $1
        line = substr($0, length(file) + 2)
        while (match(line, pattern)) {
            before = substr(line, RSTART - 1, RSTART > 1)
            word = substr(line, RSTART, RLENGTH)
            after = substr(line, RSTART + RLENGTH, 1)
            if (before !~ /[a-z]/ && after !~ /[a-z]/) { print file "|" word }
            line = substr(line, RSTART + RLENGTH)
        }
    }' | sort -u >"$out/used"
[ "$(wc -l <"$out/used")" -ge 10 ] || {
    echo "the words are not found where they are known to stand"
    exit 1
}
awk -F' *[|] *' -v used="$out/used" '
    /^#/ || NF < 3 { next }
    { n = split($2, word, " "); for (i = 1; i <= n; i++) { allowed[$1 "|" word[i]] = 1 } }
    END {
        while ((getline line < used) > 0) {
            if (line in allowed) { allowed[line] = 2; continue }
            split(line, f, "|")
            print f[1] ": `" f[2] "` belongs to models/std or a model, not to C code"
            bad = 1
        }
        for (k in allowed) {
            if (allowed[k] == 1) { print "tests/ops/library_names.txt allows " k " for nothing"; bad = 1 }
        }
        exit bad
    }' tests/ops/library_names.txt
