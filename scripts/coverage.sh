#!/bin/sh
# Line coverage. core is judged by its own unit tests alone and must reach 95 % of lines.
set -eu
cd "$(dirname "$0")/.."
cmake -S . -B build-cov -G Ninja --log-level=NOTICE -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS="-O0 -g --coverage" -DECO_LINT=OFF
cmake --build build-cov -- -j "${JOBS:-2}" --quiet
find build-cov -name '*.gcda' -delete
ctest --test-dir build-cov -j "${JOBS:-2}" -L unit --output-on-failure --quiet
echo "== all modules (for information)"
gcovr --root . --object-directory build-cov --filter 'src/' build-cov |
    tee build-cov/coverage.txt | sed -n '/^TOTAL/p'
find build-cov -name '*.gcda' -delete
ctest --test-dir build-cov -j "${JOBS:-2}" -R '^unit/core/' --output-on-failure --quiet
echo "== core, by tests/unit/core alone"
gcovr --root . --object-directory build-cov --filter 'src/core/' --fail-under-line 95 build-cov
