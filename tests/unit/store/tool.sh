#!/bin/sh
# What ecocompute-store says and with which status: tool.sh PROGRAM.
set -u
program=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
wrong=0
# is STATUS TEXT WORD...: the program's status and a text that it prints
is() {
    status=$1 text=$2
    shift 2
    said=$("$program" "$@" 2>&1)
    got=$?
    if [ $got -ne "$status" ] || ! printf '%s\n' "$said" | grep -qF -- "$text"; then
        echo "not ok: $*: status $got, wanted $status with '$text': $said"
        wrong=$((wrong + 1))
    fi
}
url=sqlite:$dir/reports.db
is 2 "usage:"
is 2 "usage:" "$url" burn
is 2 "sqlite:FILE or postgresql://" "oracle:x" check
is 0 "every page, index and report is whole" "$url" check
is 0 "id,received_unix_ms,state" "$url" export
is 0 "[" "$url" export json
is 0 "" "$url" list
is 2 "unknown state" "$url" list burnt
is 2 "there is no report" "$url" accept none
is 2 "usage:" "$url" reject none "wrong result"
is 2 "there is no report" "$url" reject none spam
is 2 "there is no report" "$url" withdraw none token
echo "no database, only these words, long enough to be a page and a half of one" > "$dir/no.db"
is 3 "'$dir/no.db' is damaged" "sqlite:$dir/no.db" check
[ $wrong -eq 0 ] && echo "all as they should be"
exit $wrong
