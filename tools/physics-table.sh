#!/bin/sh
# data/fitted/physics_*.csv -> the const tables of src/core that the physics functions receive.
# Usage: tools/physics-table.sh (from the repository root); a unit test compares both.
set -eu
f=data/fitted

table() { # table kind file columns
    awk -F, -v kind="$1" -v last="$3" '
        function upper(s) { gsub(/-/, "_", s); gsub(/\./, "", s); return toupper(s) }
        function prec(s) { return s == "" ? "ECO_PREC_NONE" : "ECO_PREC_" upper(s) }
        function fam(s) { return s == "" ? "ECO_FAM_NONE" : "ECO_FAM_" s }
        NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
        {
            printf "    {.engine = ECO_ENGINE_%s, .precision = %s,\n     .family = %s", \
                upper($1), prec($2), fam($3)
            for (i = 4; i <= last; i++)
                printf ",%s.%s = %s", (i % 4 == 0) ? "\n     " : " ", name[i], $i
            printf "},\n"
        }' "$2"
}

{
    cat <<'EOF'
/*
 * Fitted constants of the latency model and the batch law, and the default set of constants.
 * Written by tools/physics-table.sh from data/fitted/physics_engine.csv and physics_batch.csv.
 */
#include "core/latency.h"

/* clang-format off */
static const struct eco_engine_row engine_rows[] = {
EOF
    table engine $f/physics_engine.csv 12
    printf '};\n\nstatic const struct eco_batch_row batch_rows[] = {\n'
    table batch $f/physics_batch.csv 15
    cat <<'EOF'
};
/* clang-format on */

static const struct eco_physics default_physics = {
    .engines = engine_rows,
    .n_engines = sizeof engine_rows / sizeof engine_rows[0],
    .batches = batch_rows,
    .n_batches = sizeof batch_rows / sizeof batch_rows[0],
    .energy = &eco_energy_default_fit,
};

const struct eco_physics *eco_physics_default(void)
{
    return &default_physics;
}
EOF
} > src/core/latency_table.c

hyper() { awk -F, -v n="$1" '$1 == n { print $2 }' $f/physics_energy_hyper.csv; }

{
    cat <<'EOF'
/*
 * Posterior of ln(J per 1 000 tokens), 16 bit, batch 1: mean and covariance over the terms.
 * Written by tools/physics-table.sh from data/fitted/physics_energy.csv and its _hyper.csv.
 */
#include "core/latency.h"

/* clang-format off */
static const char *const terms[] = {
EOF
    awk -F, 'NR > 1 { printf "    \"%s\",\n", $1 }' $f/physics_energy.csv
    printf '};\n\nstatic const double mean[] = {\n'
    awk -F, 'NR > 1 { printf "    %s,\n", $2 }' $f/physics_energy.csv
    printf '};\n\n/* [dim][dim] */\nstatic const double cov[] = {\n'
    awk -F, 'NR > 1 { for (i = 3; i <= NF; i++) printf "%s%s,%s", (i % 5 == 3) ? "    " : "", $i,
                      (i % 5 == 2 || i == NF) ? "\n" : " " }' $f/physics_energy.csv
    cat <<EOF
};
/* clang-format on */

const struct eco_energy_fit eco_energy_default_fit = {
    .dim = (int)(sizeof mean / sizeof mean[0]),
    .term = terms,
    .mean = mean,
    .cov = cov,
    .var_card = $(hyper var_card),
    .var_arch = $(hyper var_arch),
    .var_session = $(hyper var_session),
    .var_model = $(hyper var_model),
    .var_noise = $(hyper var_noise),
    .n_rows = $(hyper n_rows),
    .n_sessions = $(hyper n_sessions),
    .n_cards = $(hyper n_cards),
};
EOF
} > src/core/energy_table.c
