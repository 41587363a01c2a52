#!/bin/sh
# Installs into a scratch folder and uses what is there: install.sh BUILD_DIR SOURCE_DIR.
set -eu
build=$1
source=$2
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
cmake --install "$build" --prefix "$top/usr" >/dev/null
PATH=$top/usr/bin:$PATH
ecocompute version >/dev/null
for file in bin/ecocompute share/man/man1/ecocompute.1 \
    share/bash-completion/completions/ecocompute share/zsh/site-functions/_ecocompute \
    share/fish/vendor_completions.d/ecocompute.fish include/ecocompute/ecocompute.h; do
    [ -s "$top/usr/$file" ] || { echo "install: no $file"; exit 1; }
done
# A program outside the tree, with what pkg-config says and nothing else.
cat >"$top/user.c" <<'END'
#include <ecocompute.h>
#include <stdio.h>

int main(void)
{
    puts(eco_err_text(ECO_E_RANGE));
    return 0;
}
END
PKG_CONFIG_PATH=$(dirname "$(find "$top/usr" -name ecocompute.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # flags are meant to split
${CC:-cc} -std=c17 -Wall -Wextra -Werror "$top/user.c" -o "$top/user" \
    $(pkg-config --cflags --libs ecocompute)
[ "$("$top/user")" = out_of_range ]
# The version that pkg-config names is the program's.
ecocompute version | grep -qF "$(pkg-config --modversion ecocompute)"
! grep -rqF "$source" "$top/usr/share" "$top/usr/include" || { echo "install: names the tree"; exit 1; }
