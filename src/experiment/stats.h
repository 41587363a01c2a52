/*
 * What the trials of an experiment say: mean and spread of an arm, and the change between two arms
 * with its interval. Works on logarithms of energy, paired by block, with the place inside the
 * block as a factor; formulas are in docs/measuring.md. Pure: nothing allocated, no shared state.
 * NAN marks what is not known, as in eco_run.h; outputs keep that rule.
 */
#ifndef ECO_EXPERIMENT_STATS_H
#define ECO_EXPERIMENT_STATS_H

#include "eco_err.h"
#include "eco_run.h"
#include "experiment/order.h"

#include <stddef.h>
#include <stdint.h>

#define ECO_STATS_MIN_BOOTSTRAP 20
#define ECO_STATS_MAX_BLOCKS ECO_ORDER_MAX_BLOCKS
#define ECO_STATS_MAX_TRIALS_TO_RESOLVE 10000

/* ---- distributions ------------------------------------------------------------------------- */

/** P(T <= t) of Student's t with df > 0 degrees of freedom; df = INFINITY is the normal. */
double eco_stats_t_cdf(double t, double df);
/** The quantile: P(T <= result) = p for 0 < p < 1. NAN outside. */
double eco_stats_t_quantile(double p, double df);

/* ---- one arm ------------------------------------------------------------------------------- */

/** n = 0: all NAN; n = 1: no sd. `v` holds finite values. */
void eco_stats_arm(const double *v, size_t n, struct eco_run_stat *out);

/* ---- the change between two arms ----------------------------------------------------------- */

/* One block in which both arms were measured. */
struct eco_stats_pair {
    double base, other;          /* energy per token, any unit, > 0 */
    int base_place, other_place; /* 0-based place inside the block */
};

struct eco_stats_change {
    int arms;               /* of the experiment: places run from 0 to arms - 1 */
    double resolution_frac; /* one count of the counter over the smaller window's energy; 0: none */
    double bias_frac;       /* what pairing does not cancel, e.g. an offset; 0: none known */
};

/**
 * 100 (exp(d) - 1), d the mean log ratio with the places' effects taken out by least squares; for
 * two arms that is the mean of the two sequence means, df = n - 2. The half width is
 * hypot(t s/sqrt(n'), resolution) + bias. n = 1, or no degree of freedom left: no interval, and
 * the verdict is "cannot tell". Needs n <= ECO_STATS_MAX_BLOCKS.
 */
void eco_stats_delta(const struct eco_stats_pair *pairs, size_t n,
                     const struct eco_stats_change *how, struct eco_run_delta *out);

/**
 * Percentile bootstrap of the same change, blocks resampled within each order.
 * ECO_E_RANGE for n < ECO_STATS_MIN_BOOTSTRAP: it covers 85 % at n = 5.
 */
int eco_stats_bootstrap(const struct eco_stats_pair *pairs, size_t n, int resamples, uint64_t seed,
                        double *lo95_pct, double *hi95_pct, struct eco_err *err);

/** Half width in percent of the smallest difference these trials could have seen: the null run. */
double eco_stats_detectable_pct(const struct eco_run_delta *d);

/**
 * The range for another session: the interval of this one widened by the spread between sessions,
 * `session_sd_log` (log ratio). NAN in, NAN out.
 */
void eco_stats_beyond_session(const struct eco_run_delta *d, double session_sd_log, double *lo_pct,
                              double *hi_pct);

#endif
