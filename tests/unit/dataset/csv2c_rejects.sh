#!/bin/sh
# What csv2c must refuse, and what it says: csv2c_rejects.sh CSV2C SOURCE_DIR.
# Each case spoils one thing in a copy of data/ and wants "file:line:column: ..." and status 1.
set -u
csv2c=$1
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0

fresh() {
    rm -rf "$work/data" "$work/gen"
    mkdir "$work/data"
    cp -R "$2/data/." "$work/data" && rm -rf "$work/data/validation" "$work/data/fitted"
}
run() {
    (cd "$work/data" && find . -name '*.csv' | sed 's|^\./||' | sort | xargs "$csv2c" "$work/gen" .) \
        >"$work/out" 2>&1
}
want() { # NAME TEXT
    run
    status=$?
    if [ $status -eq 0 ] || ! grep -qF "$2" "$work/out"; then
        echo "not ok: $1: status $status, wanted '$2', got:"
        cat "$work/out"
        failed=1
    else
        echo "ok: $1"
    fi
}

fresh "" "$2"
run || { echo "not ok: the data as they are"; cat "$work/out"; exit 1; }
first=$(sha256sum "$work"/gen/*.c | sha256sum)
run
[ "$first" = "$(sha256sum "$work"/gen/*.c | sha256sum)" ] || { echo "not ok: output differs"; failed=1; }

sed -i '2s/,0.494,\|,16,/,sixteen,/' "$work/data/hardware.csv"
want "a word for a number" "hardware.csv:2:5: column 'vram_gb': not a number 'sixteen'"
fresh "" "$2"
sed -i '3s/,volta,/,vulcan,/' "$work/data/hardware.csv"
want "an unknown architecture" "hardware.csv:3:4: column 'arch': no such word 'vulcan'"
fresh "" "$2"
sed -i '1s/vram_gb/vram/' "$work/data/hardware.csv"
want "another header" "hardware.csv:1:5: column 'vram', columns.def has 'vram_gb'"
fresh "" "$2"
sed -n 2p "$work/data/sensors.csv" | sed 's/,MIT$//' >>"$work/data/sensors.csv"
want "a cell too few" "sensors.csv:18:"
fresh "" "$2"
sed -n 2p "$work/data/hardware.csv" >>"$work/data/hardware.csv"
want "a repeated key" "'T4' is at hardware.csv:"
fresh "" "$2"
sed -i '3s/rtx-5090-tinyllama-1-1b-chat-v1-0-fp16-b1/no-such/2' \
    "$work/data/measurements/2026-01-15-rtx5090-phase1.csv"
sed -i '3s/,rtx-5090-tinyllama-1-1b-chat-v1-0-fp16-b1-2026-01-15-rtx5090-phase1,/,no-such-row,/' \
    "$work/data/measurements/2026-01-15-rtx5090-phase1.csv"
want "a baseline that is not there" "column 'baseline_id': no row has the id 'no-such"
fresh "" "$2"
sed -i 's/,D,"not a measurement[^"]*",/,D,,/' \
    "$work/data/measurements/preprint-ssrn-6854700-table3.csv"
sed -i 's/,D,not a measurement[^,]*,/,D,,/' \
    "$work/data/measurements/preprint-ssrn-6854700-table3.csv"
want "grade D without a reason" "column 'reason': must not be empty"
fresh "" "$2"
printf 'a,b\n1,2\n' >"$work/data/stray.csv"
want "a file of no table" "stray.csv:1:1: no table of columns.def is made of this file"
fresh "" "$2"
printf '\377' >>"$work/data/grid.csv"
want "bytes that are no text" "grid.csv:"
exit $failed
