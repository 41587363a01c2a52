#!/bin/sh
# Builds and runs test suites, one after the other, and ends with "N passed, N failed".
#   scripts/suite.sh plain|asan|tsan|lint...
# A suite whose build fails counts as one failed test; the next suites still run.
set -u
cd "$(dirname "$0")/.." || exit
jobs=${JOBS:-2}
at_once=$((jobs + 2)) # many tests sleep: they wait for a meter, a server, a page
# What only runs programs of other languages or waits for clocks again: once is enough; and what
# takes minutes there: strict_string_checks reads a megabyte's text whole at every step of it.
plain_only='^(web|peer|lint)/|^mcp/sdk|^store/postgresql'
plain_only="$plain_only|^cli/(worker|notebook|demo|kill_run|measure_run|limits_run|openai_run)"
plain_only="$plain_only|^sync/|^golden/(properties|injected)"
plain_only="$plain_only|^cli/(packaging|action|skill|pages|install|calibration)"
# What has threads: samplers, workers, the engine's pool, the audit's, the server. The rest has one,
# and a thread sanitizer nothing to say.
threaded='^unit/(power|experiment|workload|engine|server|audit)/'
threaded="$threaded|^server/(http_api|load_many|metrics|store_api|fuzz_http)"
threaded="$threaded|^mcp/protocol|^cli/(openai_worker|engine_text|measure_plain)"
threaded="$threaded|^cli/cli/(engine|measure|power|audit)"
tsan_slow='/test_engine_files$' # minutes; the same pool over the same kernels as test_forward
passed=0
failed=0

# The targets of these tests, as arguments of build.
threaded_targets() {
    printf -- '-t\n%s\n' ecocompute ecocompute-openai ecocompute-serve ecocompute-store \
        fake_nvml tok_ids
    for file in tests/unit/power/test_*.c tests/unit/experiment/test_*.c \
        tests/unit/workload/test_*.c tests/unit/engine/test_*.c tests/unit/server/test_*.c \
        tests/unit/audit/test_*.c; do
        printf -- '-t\n%s\n' "$(basename "$file" .c)"
    done
}

# build DIR [-t TARGET]... CMAKE_ARGUMENT...; without a target everything
build() {
    dir=$1
    shift
    targets=
    while [ "${1:-}" = -t ]; do
        targets="$targets $2"
        shift 2
    done
    # shellcheck disable=SC2086 # words
    cmake -S . -B "$dir" -G Ninja --log-level=NOTICE -DECO_TESTS=ON \
        -DECO_WERROR="${WERROR:-OFF}" "$@" &&
        cmake --build "$dir" ${targets:+--target $targets} -- -j "$jobs" --quiet
}

# run DIR CTEST_ARGUMENT...: adds ctest's counts to ours.
run() {
    dir=$1
    shift
    ctest --test-dir "$dir" -j "$at_once" --output-on-failure --no-tests=error \
        --output-junit junit.xml "$@"
    status=$?
    counts=$(awk '/<testsuite /, />/' "$dir/junit.xml" 2>/dev/null |
        sed -n 's/.*[^a-z]\(tests\|failures\|disabled\|skipped\)="\([0-9]*\)".*/\1 \2/p' |
        awk '{ n[$1] = $2 }
            END { print n["tests"] - n["disabled"] - n["skipped"], n["failures"] + 0 }')
    tests=${counts% *} # those that ran
    failures=${counts#* }
    # ctest's exit status is the judge; the file is only for counting.
    if [ "$status" -ne 0 ] && [ "$failures" -eq 0 ]; then
        failures=1
        [ "$tests" -gt 0 ] || tests=1
    fi
    passed=$((passed + tests - failures))
    failed=$((failed + failures))
}

for suite in "$@"; do
    echo "== $suite"
    case $suite in
    plain)
        build build && run build
        ;;
    lint)
        build build && run build -L lint
        ;;
    asan)
        # clang, so that the second compiler's warnings are seen too
        build build-asan -DCMAKE_C_COMPILER=clang-14 -DCMAKE_BUILD_TYPE=None \
            -DCMAKE_C_FLAGS="-O1 -g1" -DECO_SANITIZE=address,undefined -DECO_LINT=OFF &&
            ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1 \
                UBSAN_OPTIONS=print_stacktrace=1 SANITIZED=1 run build-asan -E "$plain_only"
        ;;
    tsan)
        # shellcheck disable=SC2046 # words
        build build-tsan $(threaded_targets) -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g1" \
            -DECO_SANITIZE=thread -DECO_LINT=OFF &&
            SANITIZED=1 run build-tsan -R "$threaded" -E "$plain_only|$tsan_slow"
        ;;
    *)
        echo "suite: unknown suite '$suite': plain, lint, asan, tsan" >&2
        false
        ;;
    esac || {
        echo "== $suite: the build failed" >&2
        failed=$((failed + 1))
    }
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
