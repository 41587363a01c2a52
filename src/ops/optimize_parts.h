/* What the two optimizers of the optimize operation share: ours and the published one. */
#ifndef ECO_OPS_OPTIMIZE_PARTS_H
#define ECO_OPS_OPTIMIZE_PARTS_H

#include "steps.h"

/* A single precision, batch or context is a list of one; `lists` is what the search then uses. */
struct eco_optimize_lists {
    struct eco_strs precisions;
    struct eco_f64s batches, contexts;
};

/** `--calibration published`: the published optimizer's answer, its faults included. */
int eco_optimize_published(struct eco_ctx *ctx, const struct eco_args_optimize *a,
                           const struct eco_optimize_lists *l, struct eco_question *q,
                           struct eco_res_optimize *out, struct eco_err *err);

/**
 * optimize_explain.c: why this configuration, what would change the answer, what not to do, and how
 * it is known. `q` asks for the recommended one, `a` is its answer; out->alerts is filled.
 */
int eco_optimize_explain(struct eco_question *q, const struct eco_answer *a, bool trap,
                         struct eco_res_optimize *out, struct eco_err *err);

#endif
