#!/bin/sh
# Line coverage. core is judged by its own unit tests alone and must reach 95 % of lines.
set -eu
cd "$(dirname "$0")/.."
jobs=${JOBS:-2}
# atomic: threads of the engine and the meter count in the same cells
cmake -S . -B build-cov -G Ninja --log-level=NOTICE -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS="-O0 -g --coverage -fprofile-update=atomic" -DECO_LINT=OFF
cmake --build build-cov -- -j "$jobs" --quiet

# covered FILTER TESTS GCOVR_ARGUMENT...: what the tests that match cover of the files that match
covered() {
    filter=$1
    tests=$2
    shift 2
    find build-cov -name '*.gcda' -delete
    ctest --test-dir build-cov -j "$jobs" -R "$tests" --output-on-failure --quiet
    gcovr --root . --exclude-directories '.*CompilerId.*' --object-directory build-cov \
        --filter "$filter" "$@" build-cov
}

echo "== all modules, by all unit tests (for information)"
covered src/ '^unit/' -o build-cov/coverage.txt
sed -n '/^src/p; /^TOTAL/p' build-cov/coverage.txt | cut -c 1-66
echo "== core, by tests/unit/core alone"
covered src/core/ '^unit/core/' --fail-under-line 95
