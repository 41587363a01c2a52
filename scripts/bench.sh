#!/bin/sh
# Builds and runs every bench in bench/. Figures are only as quiet as the machine.
set -eu
cd "$(dirname "$0")/.."
cmake -S . -B build-bench -G Ninja --log-level=NOTICE -DECO_TESTS=OFF -DECO_BENCH=ON
cmake --build build-bench -- -j "${JOBS:-2}" --quiet
found=0
for program in build-bench/bench/bench_*; do
    [ -x "$program" ] || continue
    found=1
    echo "== $(basename "$program")"
    "$program"
done
for script in bench/bench_*.py bench/bench_*.sh; do
    [ -x "$script" ] || continue
    found=1
    echo "== $(basename "$script")"
    "$script" build-bench
done
[ "$found" = 1 ] || echo "no benches yet"
