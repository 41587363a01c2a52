#!/bin/sh
# Can each check fail? A good sample must pass, and each bad one must be caught with the words
# that a person needs. Samples are written into a scratch folder, so that the tree stays clean.
set -u
export LC_ALL=C
tools=$(cd "$(dirname "$0")/../../tools" && pwd)
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
cases=0
failed=0

# sample: a fresh, good tree in $dir
sample() {
    cases=$((cases + 1))
    dir=$top/$cases
    mkdir -p "$dir/src/base" "$dir/src/core" "$dir/src/cli" "$dir/include" "$dir/tools"
    cp "$tools/../layers.txt" "$dir/"
    cp "$tools/../.clang-format" "$tools/../.clang-tidy" "$dir/"
    printf '/* The card. */\nint eco_base_one(void);\n' >"$dir/src/base/one.h"
    printf '/* The card. */\nint eco_core_two(void);\n' >"$dir/include/eco_two.h"
    printf '#include "base/one.h"\n#include "eco_two.h"\n\n#include <string.h>\n\n%s' \
        "$(printf 'int eco_core_two(void)\n{\n    return eco_base_one();\n}')" >"$dir/src/core/two.c"
    echo >>"$dir/src/core/two.c"
}

# passes NAME COMMAND...; fails NAME WORDS COMMAND...
passes() {
    name=$1
    shift
    if ! "$@" >"$top/out" 2>&1; then
        echo "not ok: $name: a good sample was refused:"
        cat "$top/out"
        failed=$((failed + 1))
    fi
}
fails() {
    name=$1
    words=$2
    shift 2
    "$@" >"$top/out" 2>&1
    status=$?
    if [ "$status" -ne 1 ] || ! grep -q -e "$words" "$top/out"; then
        echo "not ok: $name: wanted status 1 and '$words', got status $status:"
        cat "$top/out"
        failed=$((failed + 1))
    fi
}

# --- includes
sample; passes includes "$tools/check-includes" "$dir"
sample; echo '#include "cli/x.h"' >>"$dir/src/core/two.c"
fails includes-up 'core must not see cli' "$tools/check-includes" "$dir"
sample; echo '#include "eco_two.h"' >>"$dir/src/base/one.h"
fails includes-public 'base must not see core' "$tools/check-includes" "$dir"
sample; mkdir "$dir/src/power"; echo '#include "model/x.h"' >"$dir/src/power/p.c"
fails includes-sideways 'power must not see model' "$tools/check-includes" "$dir"
sample; echo '#include <stdio.h>' >>"$dir/src/core/two.c"
fails includes-system 'stdio.h>: not on the list' "$tools/check-includes" "$dir"
sample; echo '  #  include "../base/one.h"' >>"$dir/src/core/two.c"
fails includes-dots 'no ../' "$tools/check-includes" "$dir"
sample; mkdir "$dir/src/new"; echo 'int eco_x;' >"$dir/src/new/n.c"
fails includes-module 'is not in layers.txt' "$tools/check-includes" "$dir"
sample; echo 'module zero 0 : base' >>"$dir/layers.txt"
fails includes-law 'not a lower rank' "$tools/check-includes" "$dir"

# --- sizes
long() { printf 'int eco_long(void)\n{\n'; i=0; while [ $i -lt "$1" ]; do echo '    ;'; i=$((i + 1)); done; echo '}'; }
sample; long 58 >>"$dir/src/core/two.c"; passes sizes "$tools/check-sizes" "$dir"
sample; long 59 >>"$dir/src/core/two.c"
fails sizes-function 'eco_long has 61 lines' "$tools/check-sizes" "$dir"
echo 'src/core/two.c eco_long 61' >"$dir/tools/sizes.allow"
passes sizes-allowed "$tools/check-sizes" "$dir"
echo 'src/core/two.c eco_long 62' >"$dir/tools/sizes.allow"
fails sizes-shrink 'says 62' "$tools/check-sizes" "$dir"
echo 'src/core/two.c eco_gone 99' >"$dir/tools/sizes.allow"
fails sizes-stale 'names nothing' "$tools/check-sizes" "$dir"
sample; yes '/* */' | head -n 301 >>"$dir/src/base/one.h"
fails sizes-header 'file has 303 lines' "$tools/check-sizes" "$dir"
sample; yes '/* */' | head -n 800 >>"$dir/src/core/two.c"
fails sizes-file 'the limit is 800' "$tools/check-sizes" "$dir"
sample; printf '/* %0100d */\n' 0 >>"$dir/src/core/two.c"
fails sizes-columns 'a line of 106 columns' "$tools/check-sizes" "$dir"
sample; printf '/* %094d é… */\n' 0 | cut -c 1-101 >>"$dir/src/core/two.c"
passes sizes-utf8 "$tools/check-sizes" "$dir"
sample; printf '\tint x;\n' >>"$dir/src/core/two.c"; fails sizes-tab 'a tab' "$tools/check-sizes" "$dir"

# --- names
sample; passes names "$tools/check-names" "$dir"
sample; cp "$dir/src/core/two.c" "$dir/src/base/"
fails names-twice 'another file has this name' "$tools/check-names" "$dir"
sample; echo '#define X' >"$dir/src/base/bare.h"
fails names-card 'opens with its card' "$tools/check-names" "$dir"
sample; echo 'typedef struct eco_a eco_b;' >>"$dir/src/base/one.h"
fails names-typedef 'no typedef' "$tools/check-names" "$dir"

# --- words (the slashes are apart here, or this file would be caught)
s=/
sample; echo "see ${s}usr${s}bin${s}env and ${s}sys${s}class" >"$dir/doc.md"
passes words "$tools/check-words" "$dir"
for word in "${s}work${s}main" "${s}tmp${s}x" "${s}root${s}.cache" "${s}home${s}me" \
    "https:${s}${s}registry"".npmjs.org" "deb"".debian.org" "..${s}shared${s}data"; do
    sample; echo "see $word" >"$dir/doc.md"
    fails "words $word" 'doc.md:1:' "$tools/check-words" "$dir"
done

# --- headers
sample; passes headers "$tools/check-headers" "$dir"
sample; echo 'size_t eco_base_n(void);' >>"$dir/src/base/one.h"
fails headers 'does not compile alone' "$tools/check-headers" "$dir"

# --- symbols: libraries made here
library() { # MODULE: from standard input
    cat >"$dir/$1.c"
    ${CC:-cc} -O0 -fno-builtin -c "$dir/$1.c" -o "$dir/$1.o" && ar rcs "$dir/libeco_$1.a" "$dir/$1.o"
}
symbols() { "$tools/check-symbols" "$dir" "$dir"; }
good='double log(double); int eco_b(void); double eco_c(double x) { return log(x) + eco_b(); }'
sample; echo "$good" | library core; echo 'int eco_b(void) { return 1; }' | library base
passes symbols symbols
sample; echo "$good" | library core; echo 'int eco_other(void) { return 1; }' | library base
fails symbols-base "core may not need 'eco_b'" symbols
sample; echo 'void *malloc(unsigned long); void *eco_c(void) { return malloc(1); }' | library core
fails symbols-malloc "core may not need 'malloc'" symbols
sample; echo 'int eco_c(void) { return 1; }' | library core
echo 'int open(const char *, int); int eco_m(void) { return open("x", 0); }' | library model
fails symbols-wasm "wasm may not need 'open'" symbols
sample; echo 'int eco_counter = 1;' | library core
fails symbols-data "eco_counter' is writable data" symbols
sample; echo 'int eco_c(void) { static int n; return ++n; }' | library core
fails symbols-bss 'is writable data' symbols
sample; echo 'const char *const eco_names[] = {"a", "b"};' | library core
passes symbols-const symbols
sample; echo 'int twice(int x) { return 2 * x; }' | library core
fails symbols-name 'not named eco_' symbols

# --- transcripts
transcript() { /usr/bin/python3 "$tools/../tests/cli/transcript.py" --program /bin/true "$@"; }
sample; printf 'Text\n\n  $ echo a; echo b >&2; (exit 3)\n  a\n  2> b\n  [3]\n' >"$dir/x.cli"
passes transcript transcript "$dir/x.cli"
for edit in 's/  a/  c/' 's/2> b/2> c/' 's/\[3\]/[2]/' '/2> b/d' '/\[3\]/d' 's/echo/exit 3; echo/'; do
    sample; sed "$edit" "$top/$((cases - 1))/x.cli" 2>/dev/null >"$dir/y.cli"
    cp "$top/$((cases - 1))/x.cli" "$dir/x.cli"
    fails "transcript $edit" '1 differ' transcript "$dir/y.cli"
done
sample
# shellcheck disable=SC2016 # back quotes are Markdown here
printf '```console\n$ echo a\nb\n```\n' >"$dir/x.md"
fails transcript-md '1 differ' transcript "$dir/x.md"
sample; echo 'no commands' >"$dir/x.cli"
fails transcript-empty 'no commands' transcript "$dir/x.cli"

# --- replay of fuzz corpora: no input must not look like a pass
sample; echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { (void)d; (void)n; return 0; }' >"$dir/f.c"
${CC:-cc} -D_POSIX_C_SOURCE=200809L -std=c17 "$dir/f.c" "$tools/../tests/fuzz/replay_main.c" -o "$dir/f"
mkdir "$dir/empty"; echo x >"$dir/seed"
passes replay "$dir/f" "$dir/seed"
fails replay-empty '0 files' "$dir/f" "$dir/empty"
fails replay-gone "no '" "$dir/f" "$dir/gone"

# --- the tools of others: are they really asked?
sample; passes format "$tools/check-format" "$dir"
sample; echo 'int   eco_x( void );' >>"$dir/src/base/one.h"
fails format 'check-format --fix' "$tools/check-format" "$dir"
sample; passes cppcheck "$tools/check-cppcheck" "$dir"
sample; echo 'int eco_x(void) { int a[2]; return a[2]; }' >>"$dir/src/core/two.c"
fails cppcheck 'out of bounds' "$tools/check-cppcheck" "$dir"
tidy() {
    printf '[{"directory": "%s", "file": "%s", "command": "cc -std=c17 -c %s"}]' \
        "$dir" "$dir/t.c" "$dir/t.c" >"$dir/compile_commands.json"
    "$tools/check-tidy" "$dir" "$dir/t.c"
}
sample; echo 'int eco_x(int a) { return a; }' >"$dir/t.c"; passes tidy tidy
sample; echo 'int eco_x(void) { int *p = 0; return *p; }' >"$dir/t.c"
fails tidy 'null pointer' tidy

echo "$cases samples, $failed wrong"
[ "$failed" -eq 0 ]
