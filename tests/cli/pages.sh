#!/bin/sh
# The man page and the completions that the program writes: pages.sh PROGRAM.
# bash is always asked for real completions; zsh, fish and man only where they are installed.
set -u
program=$1
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
failed=0
not_ok() {
    echo "not ok: $*"
    failed=$((failed + 1))
}
for shell in bash zsh fish; do
    "$program" help --completion "$shell" >"$top/$shell" || not_ok "no completion for $shell"
    [ -s "$top/$shell" ] || not_ok "an empty completion for $shell"
    if command -v "$shell" >/dev/null; then
        "$shell" -n "$top/$shell" || not_ok "$shell cannot read its completion"
    else
        echo "skipped: no $shell on this machine"
    fi
done
! "$program" help --completion ksh >"$top/ksh" 2>"$top/err" || not_ok "ksh has no completion"
grep -q ksh "$top/err" || not_ok "the message does not name ksh"

# offered WORD...: what bash offers for the last word
offered() {
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
        _ecocompute; printf "%s\n" "${COMPREPLY[@]}"' bash "$top/bash" ecocompute "$@"
}
offers() {
    wanted=$1
    shift
    offered "$@" | grep -qx -e "$wanted" || not_ok "'$*' does not offer '$wanted'"
}
offers estimate e
offers --gpu estimate --g
offers rtx4090 estimate --gpu rtx
offers vllm estimate --engine ''
offers optimize help opt
"$program" help | awk '/^  [a-z]+  / { print $1 }' >"$top/verbs"
[ "$(wc -l <"$top/verbs")" -ge 10 ] || not_ok "help lists hardly any verb"
offered '' >"$top/first"
grep -vxF -f "$top/first" "$top/verbs" >"$top/lost"
[ ! -s "$top/lost" ] || not_ok "verbs of help that bash does not offer: $(tr '\n' ' ' <"$top/lost")"

"$program" help --man >"$top/ecocompute.1" || not_ok "no man page"
head -n 1 "$top/ecocompute.1" | grep -q '^\.TH ECOCOMPUTE 1 ' || not_ok "the man page's first line"
for part in NAME SYNOPSIS DESCRIPTION VERBS 'EXIT STATUS'; do
    grep -qx "\.SH $part" "$top/ecocompute.1" || not_ok "the man page has no $part"
done
if command -v groff >/dev/null; then
    groff -man -Tutf8 -ww "$top/ecocompute.1" 2>&1 >/dev/null | head -n 5 >"$top/warnings"
    [ ! -s "$top/warnings" ] || not_ok "groff warns: $(cat "$top/warnings")"
else
    echo "skipped: no groff on this machine"
fi
echo "$failed wrong"
[ "$failed" -eq 0 ]
