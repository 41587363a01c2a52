/*
 * `data audit`: does a table of energy measurements add up? Reads anyone's CSV (our column names or
 * close ones), checks every row against physics and the rows against each other, and lists what it
 * finds. Pure: bytes in, findings in the caller's arena; no file is touched, nothing is kept.
 * Errors: ECO_E_CONTENT for text that is no CSV (with line), ECO_E_MISSING when it has no energy
 * column, ECO_E_NO_MEMORY, ECO_E_TOO_LARGE over ECO_TABLE_MAX_ROWS. Bad cells are findings.
 */
#ifndef ECO_DATASET_AUDIT_TABLE_H
#define ECO_DATASET_AUDIT_TABLE_H

#include "base/arena.h"
#include "eco_err.h"

#include <stdbool.h>
#include <stddef.h>

#define ECO_TABLE_MAX_ROWS 50000u
#define ECO_TABLE_MAX_FINDINGS 20000u

/* X(NAME, "name", "what it asks") */
#define ECO_TABLE_CHECKS(X)                                                                        \
    X(CELL, "cell", "is every number a number?")                                                   \
    X(ENERGY, "energy-power", "is energy power over throughput, gross or net of idle?")            \
    X(REQUEST, "energy-request", "does the energy of a request fit the energy of its tokens?")     \
    X(POWER, "power-range", "does power lie between idle and limit?")                              \
    X(ROOFLINE, "roofline", "can the memory feed that throughput?")                                \
    X(FLOOR, "energy-floor", "is energy above idle power times the time memory needs?")            \
    X(DELTA, "delta", "does the percentage follow from its own energies?")                         \
    X(BASIS, "basis", "does the sign survive when idle is put back?")                              \
    X(MIXED, "mixed-basis", "are gross and net energies in one table?")                            \
    X(PROPORTIONAL, "proportional", "is energy or throughput an exact multiple of the size?")      \
    X(CURVE, "batch-curve", "do different series share one batch curve to the last digit?")        \
    X(RATIO, "same-ratio", "is one quantized-to-baseline ratio repeated without noise?")           \
    X(COPY, "copy", "do different configurations print the same figures?")                         \
    X(REPEATS, "repeats", "do n and CV fit the rows and their spread?")

enum eco_table_check {
#define X(name, text, asks) ECO_TABLE_CHECK_##name,
    ECO_TABLE_CHECKS(X)
#undef X
        ECO_TABLE_CHECK_COUNT
};

/** ERROR: cannot be right as it stands; WARNING: needs an explanation; INFO: good to know. */
enum eco_table_severity { ECO_TABLE_INFO = 0, ECO_TABLE_WARNING, ECO_TABLE_ERROR };

struct eco_table_finding {
    enum eco_table_check check;
    enum eco_table_severity severity;
    size_t row;              /* 1-based data row; 0: about the table */
    long line;               /* in the file; 0: about the table */
    const char *id;          /* the row's id, "" when there is none */
    const char *message;     /* one sentence with the figures */
    double stated, expected; /* the two figures that disagree; NAN: none */
    double dev_pct;          /* 100 (stated/expected - 1); NAN: none */
};

struct eco_table_audit {
    size_t rows;
    struct eco_table_finding *findings; /* by row, table-wide ones last */
    size_t count, errors, warnings, infos;
    size_t rows_with_error;
    size_t asked[ECO_TABLE_CHECK_COUNT]; /* rows (or groups) a check could be put to */
    size_t gross, net;                   /* rows whose energy fits only that reading */
    bool truncated;                      /* more findings than ECO_TABLE_MAX_FINDINGS */
};

const char *eco_table_check_name(enum eco_table_check c);
const char *eco_table_check_question(enum eco_table_check c);
const char *eco_table_severity_name(enum eco_table_severity s); /* "error" … */

/**
 * Audits text[0..len); `name` is for messages. Findings live in `arena`. Tolerances: 5 % for
 * energy against power and throughput, 5 % over a limit, half a percentage point for a delta,
 * and the printed digits for "the same figure".
 */
int eco_dataset_audit_table(const char *name, const char *text, size_t len, struct eco_arena *arena,
                            struct eco_table_audit *out, struct eco_err *err);

#endif
