#!/bin/sh
# Runs every fuzz target with libFuzzer for FUZZ_SECONDS. New inputs go to build-fuzz/corpus/, a
# crashing input stays there as crash-*: make it small, put it in tests/fuzz/corpus/, fix the bug.
set -eu
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-20}
cmake -S . -B build-fuzz -G Ninja --log-level=NOTICE -DCMAKE_C_COMPILER=clang-14 \
    -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g1" -DECO_LINT=OFF -DECO_FUZZER=ON \
    -DECO_SANITIZE=fuzzer-no-link,address,undefined
cmake --build build-fuzz --target fuzzers -- -j "${JOBS:-2}" --quiet
failed=0
count=0
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    [ -z "${FUZZ_ONLY:-}" ] || [ "$FUZZ_ONLY" = "$name" ] || continue
    count=$((count + 1))
    found=build-fuzz/corpus/$name
    mkdir -p "$found"
    echo "== $name ($seconds s)"
    if ! "build-fuzz/tests/fuzz/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
        -print_final_stats=1 -verbosity=0 -artifact_prefix="$found/" \
        "$found" "tests/fuzz/corpus/${name#fuzz_}" 2>"$found.log"; then
        failed=$((failed + 1))
        tail -n 60 "$found.log"
    fi
    grep -E 'number_of_executed_units|peak_rss_mb' "$found.log" || :
done
echo "$((count - failed)) passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$count" -gt 0 ]
