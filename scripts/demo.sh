#!/bin/sh
# The product's question, end to end: scripts/demo.sh [PROGRAM]. Writes ecocompute-out/.
# The card is this machine's, or an RTX 4090 where there is none; the model is a real one.
set -eu
eco=${1:-build/ecocompute}
model=Qwen/Qwen2.5-7B-Instruct
run() {
    printf '\n$ ecocompute %s\n' "$*"
    "$eco" "$@"
}

run doctor
if "$eco" doctor --json | grep -q '"gpu": *"'; then
    gpu=
else
    gpu=rtx4090
    echo
    echo "No GPU here: the questions are asked for an RTX 4090."
fi
# shellcheck disable=SC2086 # no --gpu means the card of this machine
set -- ${gpu:+--gpu $gpu}
run estimate "$model" "$@" --precision NF4
run optimize "$model" "$@" --quiet
run cost "$model" "$@" --precision NF4 --quiet
run measure "$model" "$@" --precision NF4 --out ecocompute-out --force
echo
ls -l ecocompute-out
