/*
 * Judging the predictor on pairs it has not seen, with the variances refitted in every fold. Also
 * the scores for any predictor's answers (the published calibration is judged by the same ones).
 * Memory from the caller, no state; a full run takes seconds, so `tick` may report progress.
 */
#ifndef ECO_CROSSVAL_H
#define ECO_CROSSVAL_H

#include "core/predict_fit.h"

enum eco_crossval_split {
    ECO_CROSSVAL_ONE,       /* one batch-1 pair of our own sessions; its session is known */
    ECO_CROSSVAL_SIZE,      /* every pair of one size (within 5 %); sessions are known */
    ECO_CROSSVAL_SESSION,   /* every pair of one session; the session is new */
    ECO_CROSSVAL_SOURCE,    /* every pair of one external source (file); new */
    ECO_CROSSVAL_PUBLISHER, /* every external pair of one repository; new */
    ECO_CROSSVAL_CARD,      /* every pair of one card; card and session are new */
    ECO_CROSSVAL_SPLITS
};

/** One judged pair. */
struct eco_crossval_row {
    int point;
    double mu, sd; /* of y, gross */
};

size_t eco_crossval_bytes(int n_points);

/**
 * Runs one split: rows[n_points] gets the judged pairs in the points' order, *n_rows how many.
 * Refits start from the fit of all pairs, made first. Anchors with fit unset are judged in ONE
 * and SIZE, never fitted. tick (may be NULL) is called with done and total.
 * Errors as eco_predict_fit.
 */
int eco_crossval_run(const struct eco_predict_point *points, int n_points,
                     enum eco_crossval_split split, void *memory, size_t bytes,
                     struct eco_crossval_row *rows, int *n_rows,
                     void (*tick)(void *user, int done, int total), void *user,
                     struct eco_err *err);

/** Which rows a score is about; zero-initialised: every fitted pair, gross. */
struct eco_crossval_filter {
    bool anchors;                 /* the 29 published anchors, on their published boundary */
    enum eco_precision precision; /* NONE: all */
    enum eco_arch arch;           /* UNKNOWN: all */
    const char *source;           /* NULL: all */
};

struct eco_crossval_score {
    int n, n_sessions;
    double mae, median;                        /* of the absolute error, percentage points */
    double log_mae;                            /* of y */
    double coverage50, coverage80, coverage95; /* 0..1 */
    int inside95;
    int inside_lo, inside_hi; /* of n: counts that the two-sided exact 5 % test lets pass */
    bool passes;
    double interval_score; /* at 95 %, points: width + 40 times the miss; lower is better */
    double clustered95, clustered95_sd; /* mean over sessions of their coverage, and its error */
    double sign_ok;                     /* share with the right sign or zero inside the 95 % band */
    int firm;                           /* bands without zero */
};

void eco_crossval_score(const struct eco_predict_point *points, const struct eco_crossval_row *rows,
                        int n_rows, const struct eco_crossval_filter *filter,
                        struct eco_crossval_score *out);

/** What a refit gives when the prior centre of one group's standard deviation is moved. */
struct eco_crossval_sensitivity {
    double prior_sd, fitted_sd; /* of the group's effects, in y */
    double nf4_new_card_sd;     /* of y: NF4, 7e9 parameters, a card of a known architecture */
    double int8_new_card_sd;    /* the same for INT8-MIXED */
    double nf4_new_arch_sd;     /* NF4, 7e9 parameters, an architecture never seen */
};

/**
 * Refits with the prior centre of `group` multiplied by `factor` (on the standard deviation).
 * Only two architectures have two cards, so card and architecture lean on their priors: this
 * says how much. Memory as eco_crossval_bytes. Errors as eco_predict_fit.
 */
int eco_crossval_prior(const struct eco_predict_point *points, int n_points,
                       enum eco_predict_group group, double factor, void *memory, size_t bytes,
                       struct eco_crossval_sensitivity *out, struct eco_err *err);

/** Smallest and largest count of n that the exact two-sided 5 % test does not reject at p. */
void eco_crossval_binomial_range(int n, double p, int *lo, int *hi);

#endif
