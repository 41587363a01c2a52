#!/bin/sh
# The audit step of the action: annotations on stdout, SARIF in a file, the table in the job's
# summary and in one comment of the pull request. Settings come as ECO_* (action.yml); the rest of
# the environment is GitHub's. Exit status: that of `ecocompute audit`.
set -eu

program=${ECO_PROGRAM:-ecocompute}
sarif=${RUNNER_TEMP:-.}/ecocompute.sarif
table=${RUNNER_TEMP:-.}/ecocompute.md
marker='<!-- ecocompute-audit -->'

set --
[ -z "${ECO_GPU:-}" ] || set -- "$@" --gpu "$ECO_GPU"
[ -z "${ECO_BASELINE:-}" ] || set -- "$@" --baseline "$ECO_BASELINE"
if [ "${ECO_CHANGED_ONLY:-true}" = true ] && [ -n "${GITHUB_BASE_REF:-}" ]; then
    git fetch --quiet --no-tags --depth=1 origin "$GITHUB_BASE_REF"
    set -- "$@" --diff FETCH_HEAD
fi

audit() {
    # shellcheck disable=SC2086 # the list of paths is meant to split
    "$program" audit ${ECO_PATHS:-.} "$@"
}

notes=${RUNNER_TEMP:-.}/ecocompute.notes
audit "$@" --fail-on never --format github >"$notes"
cat "$notes"
audit "$@" --fail-on never --format sarif >"$sarif"
{
    echo "$marker"
    audit "$@" --fail-on never --format markdown
} >"$table"
count=$(awk '!/,title=not read::/ { n++ } END { print n + 0 }' "$notes")
[ -z "${GITHUB_OUTPUT:-}" ] || printf 'sarif=%s\nfindings=%d\n' "$sarif" "$count" >>"$GITHUB_OUTPUT"
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$table" >>"$GITHUB_STEP_SUMMARY"

# One comment, made once and updated from then on. A fork's token may not write: that is no error.
pull=$(printf '%s\n' "${GITHUB_REF:-}" | sed -n 's|^refs/pull/\([0-9]*\)/.*|\1|p')
if [ "${ECO_COMMENT:-true}" = true ] && [ -n "$pull" ] && command -v gh >/dev/null 2>&1; then
    comments=repos/$GITHUB_REPOSITORY/issues/$pull/comments
    old=$(gh api --paginate "$comments" \
        --jq ".[] | select(.body | startswith(\"$marker\")) | .id" 2>/dev/null | head -n 1) || old=
    if [ -n "$old" ]; then
        gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$old" \
            -F "body=@$table" >/dev/null || echo "the comment could not be updated" >&2
    elif [ "$count" -gt 0 ]; then
        gh api --method POST "$comments" -F "body=@$table" >/dev/null ||
            echo "the comment could not be written" >&2
    fi
fi

# Without findings nothing fails, not even a repository with no file that is audited.
[ "$count" -gt 0 ] || ECO_FAIL_ON=never
audit "$@" --fail-on "${ECO_FAIL_ON:-critical}" --quiet >/dev/null
