/*
 * Rows as `data audit` sees them, and the means to report on them. Private to src/dataset.
 * A number that a row does not give is NAN; `half` is half a unit of its last printed digit.
 */
#ifndef ECO_DATASET_AUDIT_ROWS_H
#define ECO_DATASET_AUDIT_ROWS_H

#include "base/csv.h"
#include "dataset/audit_table.h"
#include "eco_types.h"

struct audit_num {
    double v, half;
};

struct audit_row {
    size_t row;
    long line;
    const char *id, *gpu, *model, *session, *baseline_id;
    enum eco_precision precision;
    const struct eco_gpu *card;      /* NULL: not in hardware.csv */
    const struct eco_model *shape;   /* NULL: not in models.csv */
    struct audit_num energy;         /* J per 1000 tokens */
    struct audit_num throughput;     /* tokens/s */
    struct audit_num power, request; /* W, J per request */
    struct audit_num size;           /* 1e9 parameters, nominal */
    double active_b, batch, gen_tokens, idle_w, limit_w, delta_pct, sd, cv_pct, n_trials, n_iter,
        devices;
    bool on_board;                    /* board boundary, so that a card's limits apply */
    bool printed_net;                 /* the row says its energy is net of idle */
    bool power_net;                   /* the row says its power is net already */
    const struct audit_row *baseline; /* the 16-bit row to compare with, or NULL */
};

struct audit {
    struct audit_row *rows;
    size_t n;
    struct eco_arena *arena;
    struct eco_table_audit *out;
    bool out_of_memory;
};

/** Reads the CSV into a->rows and links baselines. */
int eco_table_read(struct audit *a, const char *name, const char *text, size_t len,
                   struct eco_err *err);
/** Adds a finding about `r` (NULL: the table); `message` lives in the arena, NULL: no memory. */
void eco_table_note(struct audit *a, enum eco_table_check check, enum eco_table_severity severity,
                    const struct audit_row *r, double stated, double expected, const char *message);

void eco_table_check_row(struct audit *a, const struct audit_row *r); /* audit_checks.c */
void eco_table_check_patterns(struct audit *a);                       /* audit_patterns.c */

#endif
