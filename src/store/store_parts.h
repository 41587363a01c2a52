/* Inside of the store: the handle, the columns, and what a report says about itself. */
#ifndef ECO_STORE_PARTS_H
#define ECO_STORE_PARTS_H

#include "sql.h"
#include "store.h"

#include <pthread.h>

#define STORE_VERSION 2 /* of the tables: rows of migrations[] in store.c */

struct eco_store {
    struct store_sql *db;
    struct eco_store_options o; /* strings not kept */
    pthread_mutex_t lock;
};

/*
 * The columns that are read from a report, in the order of every statement: C(name, type).
 * T text, I whole number, D number.
 */
#define STORE_FACTS(C)                                                                             \
    C(gpu, T)                                                                                      \
    C(arch, T)                                                                                     \
    C(model, T)                                                                                    \
    C(precision, T)                                                                                \
    C(basis, T)                                                                                    \
    C(boundary, T)                                                                                 \
    C(level, T)                                                                                    \
    C(protocol, T)                                                                                 \
    C(params_b, D)                                                                                 \
    C(delta_pct, D)                                                                                \
    C(lo95_pct, D)                                                                                 \
    C(hi95_pct, D)                                                                                 \
    C(j_per_token, D)                                                                              \
    C(n, I)                                                                                        \
    C(replication, I)                                                                              \
    C(classified, I)                                                                               \
    C(agrees, I)                                                                                   \
    C(pred_pct, D)                                                                                 \
    C(band_pct, D)                                                                                 \
    C(outside_pct, D)

/** Fills what the report says of itself and its place beside the curve; texts in the arena. */
int eco_store_facts(const char *text, size_t len, const struct eco_published_curve *curves,
                    size_t curve_count, struct eco_arena *arena, struct eco_store_row *out,
                    struct eco_err *err);

/** The name that the precision column uses for a word; the word itself when it is none. */
const char *eco_store_precision(const char *precision);

int64_t eco_store_now_ms(const struct eco_store *s);
/** Notes what was done to a report, without its content. */
int eco_store_event(struct eco_store *s, const char *id, const char *what, struct eco_err *err);
/** One transaction: `body` inside begin and commit; rolled back when it fails. */
int eco_store_transact(struct eco_store *s,
                       int (*body)(struct eco_store *s, void *arg, struct eco_err *err), void *arg,
                       struct eco_err *err);

#endif
