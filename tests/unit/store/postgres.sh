#!/bin/sh
# Runs a test program against a PostgreSQL of its own: postgres.sh PROGRAM [WORD...]. The server lives in a
# temporary folder, listens on a socket there and nowhere else, and ends with the test. Status 77
# (skipped): it is not installed, or this is root without the user postgres.
set -eu
program=$1
shift
for bin in /usr/lib/postgresql/*/bin; do
    [ -x "$bin/initdb" ] && found=$bin
done
if [ -z "${found:-}" ]; then
    echo "SKIPPED: PostgreSQL is not installed (scripts/setup.sh test)"
    exit 77
fi
as=
if [ "$(id -u)" = 0 ]; then # the server refuses to run as root
    id postgres >/dev/null 2>&1 || { echo "SKIPPED: there is no user postgres"; exit 77; }
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/eco-pg-XXXXXX")
[ -z "$as" ] || chown postgres "$dir"
stop() {
    status=$?
    cd /
    $as "$found/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1 || true
    rm -rf "$dir"
    exit $status
}
trap stop EXIT INT TERM
cd "$dir"
$as "$found/initdb" -D "$dir/data" -U eco -A trust -E UTF8 --locale=C --no-sync >"$dir.log" 2>&1 ||
    { cat "$dir.log"; rm -f "$dir.log"; exit 1; }
rm -f "$dir.log"
cat >>"$dir/data/postgresql.conf" <<EOF
unix_socket_directories = '$dir'
listen_addresses = ''
fsync = off
max_connections = 40
EOF
control="$as $found/pg_ctl -D $dir/data -w -l $dir/data/log"
$control start >/dev/null || { cat "$dir/data/log"; exit 1; }
socket=$(printf %s "$dir" | sed 's,/,%2F,g')
ECO_STORE_ADMIN="$found/psql -h $dir -U eco -d postgres -qc" \
    ECO_STORE_CONTROL="$control" ECO_STORE_URL="postgresql://eco@$socket/" "$program" "$@"
