/*
 * What optimize_fill.c (columns) and optimize_describe.c (one candidate) must compute alike. Pure.
 */
#ifndef ECO_CORE_OPTIMIZE_FILL_H
#define ECO_CORE_OPTIMIZE_FILL_H

#include "eco_optimize.h"

/** The request of one candidate: generated tokens cut to the context, the rest is prompt. */
struct eco_workload eco_optimize_workload(const struct eco_optimize_setup *s, size_t card,
                                          size_t arm, double batch, double context);
/** The question to the predictor for that request. */
struct eco_predict_query eco_optimize_predict_query(const struct eco_optimize_setup *s, size_t card,
                                                    const struct eco_workload *w);
/** Cost of a month; request_s NAN: no rent. */
int eco_optimize_cost_of(const struct eco_optimize_setup *s, size_t card,
                         const struct eco_workload *w, double j_per_1k, double prefill_j_per_1k,
                         double request_s, struct eco_cost *out, struct eco_err *err);
/** Quality loss of an arm in percent: 0 for 16 bit, NAN where it is not known. */
double eco_optimize_quality(const struct eco_optimize_arm *arm);
/** Electricity and rent, as far as known; NAN when neither is. */
double eco_optimize_usd(const struct eco_cost *c);

#endif
