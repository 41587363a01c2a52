#!/bin/sh
# Without libmicrohttpd, libcurl, SQLite and libpq the main program is configured all the same, and says which
# package a command misses: without_libraries.sh PROGRAM SOURCE. Configures only; compiling takes minutes.
set -eu
program=$1 source=$2
dir=$(mktemp -d "${TMPDIR:-/tmp}/eco-alone-XXXXXX")
trap 'rm -rf "$dir"' EXIT
fail() {
    echo "FAULT: $1"
    cat "$dir/said"
    exit 1
}
cmake -S "$source" -B "$dir/build" -G Ninja -DECO_TESTS=OFF -DECO_WRITTEN_DOCS=OFF \
    -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON >"$dir/said" 2>&1 || fail "configuring without libraries"
for missing in libmicrohttpd libcurl libsqlite3-dev; do
    grep -q "$missing" "$dir/said" || fail "configuring does not say that $missing is missing"
done
ninja -C "$dir/build" -t targets all >"$dir/targets"
grep -q '^ecocompute: ' "$dir/targets" || fail "the main program is no target"
if grep -qE '^ecocompute-(serve|store|openai): ' "$dir/targets"; then
    fail "a helper is built without its library"
fi
ninja -C "$dir/build" -t commands ecocompute >"$dir/said"
if grep -qE 'microhttpd|sqlite3|libpq|libcurl|sodium' "$dir/said"; then
    fail "the main program links or includes a library"
fi

# The program as such a build leaves it: alone in its folder.
cp "$program" "$dir/ecocompute"
unset ECOCOMPUTE_LIBEXEC
"$dir/ecocompute" serve >"$dir/said" 2>&1 && fail "serve without its helper"
grep -q "it needs libmicrohttpd-dev" "$dir/said" || fail "serve does not name the package"
"$dir/ecocompute" serve --check >"$dir/said" 2>&1 && fail "serve --check without its helper"
grep -q "it needs libmicrohttpd-dev" "$dir/said" || fail "serve --check does not name the package"
"$dir/ecocompute" measure Qwen2.5-0.5B --workload openai --url http://127.0.0.1:9 >"$dir/said" 2>&1 &&
    fail "openai without its helper"
cat "$dir/said" | grep -q "libcurl4-openssl-dev" || fail "openai does not name the package"
"$dir/ecocompute" estimate 7B rtx4090 NF4 >"$dir/said" 2>&1 || fail "estimate needs no library"
echo "fine"
