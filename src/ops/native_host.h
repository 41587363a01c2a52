/* What this machine offers to operations: its card, its files, its clock. */
#ifndef ECO_OPS_NATIVE_HOST_H
#define ECO_OPS_NATIVE_HOST_H

#include "op.h"

void eco_host_init(struct eco_ctx *ctx, struct eco_arena *arena);
/* Where a long operation is; NAN and NULL: not known. */
struct eco_progress {
    int done, all;                    /* steps */
    const char *where, *what, *phase; /* "batch 8 ", "NF4", "window" */
    double watts, tokens_per_s, left_s;
};

/** The same as one line with a bar, as wide as the terminal lets it be. */
void eco_host_progress_bar(const struct eco_progress *p);
/** A line that stays, on standard error, when that is a terminal. */
void eco_host_say(const char *line);
/** A line that stays, on standard error whatever that is: what a log should have too. */
void eco_host_tell(const char *line);
/** One line that rewrites itself on standard error, when that is a terminal; NULL clears it. */
void eco_host_progress(const char *line);

#endif
