#!/bin/sh
# The energy gate of the action: an energy.json of this change against the one of the base branch
# (or against a file). It fails only on what is sure: the lower end of the 95 % interval lies above
# the allowed increase. Settings come as ECO_* (action.yml). Exit status: 1 when the gate failed.
set -eu

program=${ECO_PROGRAM:-ecocompute}
report=${ECO_GATE_REPORT:?the energy.json to judge}
limit=${ECO_GATE_MAX_INCREASE:-5}
work=${RUNNER_TEMP:-.}

say() { # KIND TEXT: an annotation of the report's file
    printf '::%s file=%s,title=energy gate::%s\n' "$1" "$report" "$2"
}
give() { [ -z "${GITHUB_OUTPUT:-}" ] || printf 'gate=%s\n' "$1" >>"$GITHUB_OUTPUT"; }

if [ ! -f "$report" ]; then
    say error "no '$report': the step before must write it (ecocompute measure --out)"
    give missing
    exit 1
fi
"$program" report validate "$report" >/dev/null || {
    say error "'$report' is no valid energy.json: ecocompute report validate $report"
    give invalid
    exit 1
}

baseline=${ECO_GATE_BASELINE:-}
if [ -z "$baseline" ]; then
    baseline=$work/ecocompute-base.json
    if [ -z "${GITHUB_BASE_REF:-}" ] ||
        ! git fetch --quiet --no-tags --depth=1 origin "$GITHUB_BASE_REF" ||
        ! git show "FETCH_HEAD:$report" >"$baseline" 2>/dev/null; then
        say notice "no energy.json on the base branch: nothing to compare with yet"
        give "no baseline"
        exit 0
    fi
fi

status=0
"$program" report compare "$baseline" "$report" --max-increase "$limit" \
    --format markdown >"$work/ecocompute-gate.md" || status=$?
[ "$status" -le 1 ] || exit "$status"
verdict=$(sed -n '/[^ ]/{s/[*#]//g;s/^ *//;p;q;}' "$work/ecocompute-gate.md")
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    { printf '\n## Energy gate\n\n'; cat "$work/ecocompute-gate.md"; } >>"$GITHUB_STEP_SUMMARY"
fi
case $verdict in
"gate passed"*) say notice "$verdict"; give passed ;;
"gate failed"*) say error "$verdict"; give failed ;;
*) say warning "$verdict"; give "cannot tell" ;;
esac
exit "$status"
