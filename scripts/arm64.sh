#!/bin/sh
# Builds the program and the engine's unit tests for ARM64 and runs them under qemu: the NEON kernels
# with ARMv8.2's byte products, and without them as on a Cortex-A72. Not part of the suite: it needs
#   apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
# and the ARM64 cmocka, which is fetched into the build folder and installed nowhere.
set -eu
cd "$(dirname "$0")/.."
build=build-arm64
for tool in aarch64-linux-gnu-gcc qemu-aarch64 cmake ninja; do
    command -v "$tool" >/dev/null || {
        echo "arm64: no $tool: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" >&2
        exit 1
    }
done
root=$PWD/$build/root
if [ ! -e "$root/usr/include/cmocka.h" ]; then
    mkdir -p "$build/apt/lists/partial" "$build/apt/cache/archives/partial" "$root"
    (
        cd "$build/apt"
        at="-q -o APT::Architectures::=amd64 -o APT::Architectures::=arm64 -o Dir::State::Lists=$PWD/lists"
        # shellcheck disable=SC2086 # words are meant to split
        apt-get $at -o Dir::Cache="$PWD/cache" update >/dev/null
        # shellcheck disable=SC2086
        apt-get $at -o Dir::Cache="$PWD/cache" download libcmocka0:arm64 libcmocka-dev:arm64
        for deb in *.deb; do dpkg-deb -x "$deb" "$root"; done
        rm -rf lists cache
    )
fi
cmake -S . -B $build -G Ninja --log-level=NOTICE -DECO_WERROR="${WERROR:-OFF}" -DECO_WRITTEN_DOCS=OFF \
    -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64-linux-gnu.cmake" -DECO_ARM64_ROOT="$root"
tests=
for source in tests/unit/engine/test_*.c; do
    tests="$tests $(basename "$source" .c)"
done
# shellcheck disable=SC2086
cmake --build $build --target ecocompute $tests -- -j "${JOBS:-2}" --quiet
LD_LIBRARY_PATH=$root/usr/lib/aarch64-linux-gnu
QEMU_SET_ENV=LD_LIBRARY_PATH=$LD_LIBRARY_PATH
unset LD_LIBRARY_PATH
export QEMU_SET_ENV
for name in $tests; do
    echo "== $name"
    qemu-aarch64 -L /usr/aarch64-linux-gnu $build/tests/"$name"
done
echo "== test_kernels, without byte products"
qemu-aarch64 -cpu cortex-a72 -L /usr/aarch64-linux-gnu $build/tests/test_kernels
qemu-aarch64 -L /usr/aarch64-linux-gnu $build/ecocompute engine bench synthetic:SmolLM2-135M \
    --prompt-tokens 1 --gen-tokens 1 --runs 1 --precision Q8_0
# a measurement to its end; the power source is qemu's host's, or none
qemu-aarch64 -L /usr/aarch64-linux-gnu $build/ecocompute measure --workload builtin \
    --model synthetic:SmolLM2-135M --precision FP16,NF4-A8 --quick --blocks 1 --iterations 1 --gen-tokens 1 \
    --force --out $build/measured
