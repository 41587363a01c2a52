#!/bin/sh
# A Python for the workers, without Docker and without touching the host's:
#   scripts/worker-env.sh [--dir DIR] [--python PYTHON] [--pinned] [--check]
# Makes the venv DIR (default build/worker-env) on top of PYTHON (default python3) and its packages:
# a torch that is there and has CUDA is used as it is, what is missing is installed into the venv in
# the versions of workers/requirements.lock. --pinned: every version as locked, torch too. --check:
# only says what is there; exit status 1 when something is missing. pip's own variables
# (PIP_INDEX_URL for a mirror) are heeded.
set -eu

cd "$(dirname "$0")/.."
dir=build/worker-env
python=python3
pinned=''
check=''
usage() {
    sed -n '3,3s/^# *//p' "$0" >&2
    exit 2
}
while [ $# -gt 0 ]; do
    case $1 in
    --dir | --python)
        [ -n "${2:-}" ] || usage
        if [ "$1" = --dir ]; then dir=$2; else python=$2; fi
        shift
        ;;
    --pinned) pinned=1 ;;
    --check) check=1 ;;
    --help | -h)
        sed -n '2,9s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) usage ;;
    esac
    shift
done

say() {
    echo "worker-env: $*" >&2
}
command -v "$python" >/dev/null 2>&1 || {
    say "no Python here ('$python'): install python3, or name one with --python"
    exit 1
}

# What a Python has of the four packages: lines "NAME VERSION"; a torch without CUDA is not one.
packages() {
    "$1" - <<'PY' 2>/dev/null
import importlib
for name in ("torch", "transformers", "bitsandbytes", "accelerate"):
    try:
        module = importlib.import_module(name)
    except Exception:
        continue
    if name != "torch" or module.version.cuda:
        print(name, module.__version__)
PY
}
# The packages of requirements.txt that "$1" (lines of packages()) does not have.
missing() {
    sed -n 's/^\([a-z]*\)==.*/\1/p' workers/requirements.txt | while read -r name; do
        printf '%s\n' "$1" | grep -q "^$name " || printf '%s ' "$name"
    done
}
report() {
    printf '%s\n' "$1" | while read -r name version; do
        [ -z "$name" ] || say "  $name $version"
    done
}

if [ -n "$check" ]; then
    for candidate in "$dir/bin/python" "$python"; do
        command -v "$candidate" >/dev/null 2>&1 || continue
        have=$(packages "$candidate")
        need=$(missing "$have")
        if [ -z "$need" ]; then
            echo "$candidate"
            report "$have"
            exit 0
        fi
        say "$candidate lacks: ${need% }"
    done
    say "scripts/worker-env.sh without --check installs what is missing into $dir"
    exit 1
fi

version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
case $version in
3.9 | 3.1[0-9]) ;;
*)
    say "Python $version: the workers need 3.9 or newer (--python names another)"
    exit 1
    ;;
esac
if [ ! -x "$dir/bin/python" ]; then
    mkdir -p "$(dirname "$dir")"
    "$python" -m venv --system-site-packages "$dir" || {
        rm -rf "$dir"
        say "no venv could be made; on Debian and Ubuntu: apt-get install python3-venv"
        exit 1
    }
fi
have=$(packages "$dir/bin/python")
need=$(missing "$have")
[ -z "$pinned" ] || need=$(missing "")
if [ -z "$need" ]; then
    say "nothing to install: this machine's packages are used as they are"
else
    lock=$(mktemp)
    trap 'rm -f "$lock"' EXIT
    if [ -n "$pinned" ] || ! printf '%s\n' "$have" | grep -q '^torch '; then
        cp workers/requirements.lock "$lock"
        set -- --no-deps -r "$lock"
    else # the host's torch stays, and what belongs to it
        say "torch $(printf '%s\n' "$have" | sed -n 's/^torch //p') of this machine is used"
        grep -Ev '^(torch|triton|nvidia-[a-z0-9-]*|sympy|mpmath|networkx|numpy)==' \
            workers/requirements.lock >"$lock"
        set -- -c "$lock"
        for name in $need; do
            set -- "$@" "$(grep "^$name==" workers/requirements.txt)"
        done
    fi
    say "installing into $dir: ${need% } (gigabytes, where torch is missing)"
    "$dir/bin/python" -m pip install --disable-pip-version-check --quiet "$@" || {
        say "pip could not install them; the host's Python is unchanged, and so is the rest of $dir"
        say "without a network: PIP_INDEX_URL or PIP_FIND_LINKS names a mirror or a folder of wheels"
        exit 1
    }
    have=$(packages "$dir/bin/python")
    need=$(missing "$have")
    [ -z "$need" ] || {
        say "after installing, still not importable: ${need% }"
        exit 1
    }
fi
report "$have"
echo "$dir/bin/python"
say "measure with: --workload 'worker:$dir/bin/python workers/transformers_worker.py'"
