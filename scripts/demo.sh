#!/bin/sh
# The product's question, end to end: scripts/demo.sh [PROGRAM]. Writes ecocompute-out/.
set -eu
eco=${1:-build/ecocompute}
say() { printf '\n$ ecocompute %s\n' "$*"; }
run() {
    say "$@"
    "$eco" "$@"
}
run gpus --detect
run estimate --model Qwen/Qwen2.5-3B --gpu rtx4090 --precision nf4
run optimize --model Qwen/Qwen2.5-7B --gpu rtx4090
run cost --model Qwen/Qwen2.5-7B --gpu rtx4090 --precision fp16 --requests-per-day 10000
run measure --model Qwen/Qwen2.5-3B --gpu rtx4090 --precision nf4 --out ecocompute-out --force
