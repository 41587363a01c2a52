/*
 * Without a power source the run still completes: an eco_run filled from the data set, basis never
 * "measured", with the reason in words. Pure; shared by measure and report build.
 */
#ifndef ECO_OPS_FALLBACK_H
#define ECO_OPS_FALLBACK_H

#include "eco_run.h"
#include "steps.h"

struct eco_fallback {
    struct eco_question question;
    struct eco_res_estimate estimate; /* the same answer as the estimate operation gives */
    struct eco_answer answer;         /* of the quantized arm */
    struct eco_run_arm arms[2];       /* 16-bit baseline, quantized */
    struct eco_run run;               /* arms, sources and strings live in the arena */
};

enum eco_fallback_use {
    ECO_FALLBACK_INSTEAD, /* of a measurement: what the data set cannot answer is an error */
    ECO_FALLBACK_BESIDE   /* a run: there it is none, the arms are unavailable */
};

/** `sources` (borrowed) say why nothing was measured; NULL and 0: nobody looked. */
int eco_fallback_prepare(struct eco_ctx *ctx, const struct eco_args_target *target,
                         const char *precision, double batch, enum eco_fallback_use use,
                         const struct eco_run_source *sources, size_t n_sources,
                         struct eco_fallback *out, struct eco_err *err);

#endif
