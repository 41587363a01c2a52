#!/bin/sh
# linker.sh SOURCE CLANG: a sanitized build links with lld where the compiler finds one, and without
# where it does not, as a clang without a linker of its own beside another clang's lld.
set -eu
source=$1 clang=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo 'int main(void) { return 0; }' > "$folder/main.c"
cat > "$folder/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.25)
project(linker VERSION 1 LANGUAGES C)
include($source/cmake/EcoModules.cmake)
add_executable(main main.c)
eco_flags(main)
END
# Notes when it is asked for lld; while no-lld exists it has none.
cat > "$folder/clang" << END
#!/bin/sh
case " \$* " in
*" -fuse-ld=lld "*)
    if [ -e "$folder/no-lld" ]; then
        echo "clang: error: invalid linker name in '-fuse-ld=lld'" >&2
        exit 1
    fi
    case " \$* " in *" main "*) touch "$folder/by-lld" ;; esac
    # whether there is one on this machine is not what is tested
    for word; do
        shift
        [ "\$word" = -fuse-ld=lld ] || set -- "\$@" "\$word"
    done
    ;;
esac
exec "$clang" "\$@"
END
chmod +x "$folder/clang"
build() {
    rm -f "$folder/by-lld" "$folder/build/main"
    cmake -S "$folder" -B "$folder/build" -G Ninja -DCMAKE_C_COMPILER="$folder/clang" \
        -U ECO_HAVE_LLD -DECO_SANITIZE=undefined > "$folder/log" 2>&1 &&
        cmake --build "$folder/build" >> "$folder/log" 2>&1 || {
        cat "$folder/log"
        echo "FAILED: $1"
        exit 1
    }
}
build "with lld"
[ -e "$folder/by-lld" ] || { echo "FAILED: lld is there and not used"; exit 1; }
touch "$folder/no-lld"
build "without lld"
[ ! -e "$folder/by-lld" ] || { echo "FAILED: lld is not there and used"; exit 1; }
echo ok
