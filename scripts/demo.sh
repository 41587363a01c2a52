#!/bin/sh
# The product's question, end to end: scripts/demo.sh [PROGRAM]. Writes ecocompute-out/.
#
# Measures TinyLlama-1.1B in NF4 against FP16 on this machine, with nothing to configure: on an
# NVIDIA card through workers/transformers_worker.py where Python has what that needs, else with the
# embedded engine on the CPU and made-up weights in the model's exact shape. Where no power can be
# read, tokens per second and latencies are measured and the energy answer comes from the data set.
# ECOCOMPUTE_OUT: another folder than ecocompute-out.
set -eu
eco=${1:-build/ecocompute}
out=${ECOCOMPUTE_OUT:-ecocompute-out}
model=TinyLlama/TinyLlama-1.1B-Chat-v1.0
here=$(cd "$(dirname "$0")/.." && pwd)

run() {
    printf '\n$ ecocompute %s\n' "$*"
    "$eco" "$@"
}
# The answer and a line on standard error for what did not work.
measured() {
    run measure "$@" --out "$out" --force && return 0
    status=$?
    [ "$status" -ne 130 ] || exit 130 # the user ended it
    echo "demo: this did not work (status $status)" >&2
    return 1
}
through_worker() {
    python=$("$here/scripts/worker-env.sh" --check 2>/dev/null) || {
        echo "The card is there; Python has not torch with CUDA, transformers, bitsandbytes and"
        echo "accelerate (scripts/worker-env.sh installs them): the embedded engine is measured."
        return 1
    }
    measured "$model" --precision FP16,NF4 --quick \
        --workload "worker:'$python' '$here/workers/transformers_worker.py'"
}

run doctor
# The first NVIDIA card whose power can be read.
card_of='s/^.*"name":"nvml","status":"available","device":"GPU [0-9]*: \([^"]*\)".*$/\1/p'
gpu=$("$eco" doctor --json | sed -n "$card_of")
[ -n "$gpu" ] || printf '\nNo GPU here: first the question for a well-known one, from the data.\n'
run estimate "$model" --precision NF4 ${gpu:+--gpu "$gpu"} --quiet

next="report share $out/energy.json"
if [ -z "$gpu" ] || ! through_worker; then
    # few tokens: two cores take a second for three of FP16
    measured "synthetic:$model" --precision FP16,NF4 --workload builtin \
        --quick --gen-tokens 16 --iterations 1 || exit 1
    next="report show $out/energy.json"
fi

printf '\nNext:\n'
printf '  ecocompute %s\n' "$next" "optimize Qwen/Qwen2.5-7B-Instruct" \
    "measure MODEL --precision FP16,NF4 --workload openai --url http://HOST:8000/v1"
