#!/bin/sh
# What a container or MLCube runs: entry.sh TASK [--parameters_file=FILE] [--output_dir=DIR]
# Task energy_estimate: measures as the parameters say and writes DIR/energy.json and what belongs
# to it; where nothing can be measured, the data set's answer, flagged. Exit status: measure's.
#
# The parameters file holds lines "name: value" (YAML's plainest form; '#' begins a comment):
#   model  precision  gpu  batch  gen_tokens  iterations  blocks  seed  quick  workload  source
#   url  served_model  require_measurement  force
# and, as the published container calls them: model_name, batch_size, gpu_arch, tokens. Its
# params_b is taken where the model is not known by name. Other names are an error; those that have
# no meaning here (context_length, warmup, sample_rate_hz, …) are named and left out.
set -eu

program=${ECOCOMPUTE:-ecocompute}
worker=${ECOCOMPUTE_WORKER:-}
parameters=''
out=${ECOCOMPUTE_OUT:-ecocompute-out}

die() {
    echo "ecocompute-entry: $*" >&2
    exit 2
}
[ $# -gt 0 ] || die "no task: energy_estimate [--parameters_file=FILE] [--output_dir=DIR]"
task=$1
shift
case $task in
energy_estimate | run) ;;
ecocompute) exec "$program" "$@" ;;
*) die "no task '$task': energy_estimate, or ecocompute ARGUMENT..." ;;
esac
while [ $# -gt 0 ]; do
    case $1 in
    --parameters_file=*) parameters=${1#*=} ;;
    --output_dir=*) out=${1#*=} ;;
    --parameters_file | --output_dir)
        [ $# -gt 1 ] || die "$1 needs a value"
        case $1 in
        --parameters_file) parameters=$2 ;;
        *) out=$2 ;;
        esac
        shift
        ;;
    *) die "unknown argument '$1'" ;;
    esac
    shift
done
if [ -n "$parameters" ] && [ ! -f "$parameters" ]; then
    die "no parameters file '$parameters'"
fi
# Prints "name<TAB>value" for each line of the file; what is no such line ends it with its number.
read_parameters() {
    awk '
    /^[ \t]*(#|$)/ || /^---[ \t]*$/ { next }
    {
        line = $0
        sub(/\r$/, "", line)
        if (line !~ /^[A-Za-z_][A-Za-z0-9_]*:([ \t]|$)/) {
            print "line " NR " is no \"name: value\": " line > "/dev/stderr"
            exit 1
        }
        name = line; sub(/:.*/, "", name)
        value = line; sub(/^[^:]*:[ \t]*/, "", value)
        quote = substr(value, 1, 1)
        if (quote == "\"" || quote == "\047") {
            value = substr(value, 2)
            end = index(value, quote)
            if (!end || substr(value, end + 1) !~ /^[ \t]*(#.*)?$/) {
                print "line " NR ": the quotes do not close" > "/dev/stderr"
                exit 1
            }
            value = substr(value, 1, end - 1)
        } else {
            sub(/^#.*|[ \t]+#.*$/, "", value)
            sub(/[ \t]+$/, "", value)
        }
        if (value ~ /^[][{}&*!|>%@`]/) {
            print "line " NR ": only plain values" > "/dev/stderr"
            exit 1
        }
        if (value != "" && value != "null" && value != "~") printf "%s\t%s\n", name, value
    }' "$1"
}
list=''
if [ -n "$parameters" ]; then
    list=$(read_parameters "$parameters") || die "'$parameters' cannot be read (see above)"
fi
model=TinyLlama/TinyLlama-1.1B-Chat-v1.0
workload=''
precision=NF4
set --
tab=$(printf '\t')
while IFS=$tab read -r name value; do
    case $name in
    '') ;;
    model | model_name) model=$value ;;
    precision) precision=$value ;;
    workload) workload=$value ;;
    gpu | batch | gen_tokens | iterations | blocks | seed | source | url | served_model | params_b)
        set -- "$@" "--$(echo "$name" | tr _ -)" "$value"
        ;;
    batch_size) set -- "$@" --batch "$value" ;;
    tokens) set -- "$@" --gen-tokens "$value" ;;
    gpu_arch) [ "$value" = auto ] || set -- "$@" --arch "$value" ;;
    quick | force | require_measurement)
        case $value in
        true | yes | 1) set -- "$@" "--$(echo "$name" | tr _ -)" ;;
        false | no | 0) ;;
        *) die "'$name' is true or false, not '$value'" ;;
        esac
        ;;
    context_length | warmup | sample_rate_hz | quality_probe | quality_seq_len | power_trace)
        echo "ecocompute-entry: '$name' has no meaning here and is left out" >&2
        ;;
    *) die "unknown parameter '$name'" ;;
    esac
done <<EOT
$list
EOT
# The worker where the image has one and a card is there; else what measure chooses by itself.
if [ -z "$workload" ] && [ -n "$worker" ] && "$program" doctor --json | grep -q '"name":"nvml","status":"available"'; then
    workload=worker:$worker
fi
if [ -n "$workload" ]; then
    set -- "$@" --workload "$workload"
else # the data set answers for one precision: the first that is no baseline
    case $model in
    synthetic:*) ;;
    *)
        one=$(printf '%s\n' "$precision" | tr , '\n' | grep -v -i -E '^(FP16|BF16|FP32)$' | head -n 1)
        precision=${one:-$precision}
        ;;
    esac
fi
mkdir -p "$out"
echo "ecocompute-entry: measure $model $precision, into $out" >&2
exec "$program" measure --model "$model" --precision "$precision" --out "$out" "$@"
