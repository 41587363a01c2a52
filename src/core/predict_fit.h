/*
 * Fitting the predictor: pairs -> mixed model -> variances (theta) -> posterior tables.
 * All memory is the caller's: ask for the bytes, hand in a block aligned as malloc's, keep it as
 * long as the predictor. The shipped predictor is such tables, written by tools/predictorgen at
 * build time; a user's own data go through the same functions.
 */
#ifndef ECO_PREDICT_FIT_H
#define ECO_PREDICT_FIT_H

#include "core/gp.h"
#include "core/predict_features.h"

/** Posterior tables of every effect that is not a session's. */
struct eco_predictor {
    const struct eco_predict_point *points; /* [n_points], borrowed */
    int n_points, n_sessions;
    const int *card;            /* [n_points] index of the first point with that card */
    const int *model;           /* [n_points] the same for the model */
    double theta[ECO_PG_COUNT]; /* log variances */
    int n_columns;
    const uint64_t *key;      /* [n_columns], ascending */
    const double *mean;       /* [n_columns] */
    const double *covariance; /* packed lower triangle, row i at i (i + 1) / 2 */
    int n_fit;
    const int *fit_point; /* [n_fit] index of the point of a row */
    const float *weight;  /* [n_columns][n_fit]: share of each row's y in a column's mean */
};

/** Points turned into columns. Made by eco_predict_problem_init inside the caller's block. */
struct eco_predict_problem {
    struct eco_gp_problem gp;
    struct eco_gp_work work;
    const struct eco_predict_point *points;
    int n_points;
    int *card, *model, *session, *baseline; /* [n_points] levels, see eco_predictor */
    int *fit_point;                         /* [gp.n] */
    uint64_t *key;                          /* [gp.m] ascending */
    double theta[ECO_PG_COUNT];
    double *k; /* [gp.n] covariances with a question */
};

size_t eco_predict_problem_bytes(int n_points);

/**
 * Lays out the problem of the points with use[i] (NULL: all) and fit set.
 * @errors ECO_E_RANGE (no point, over ECO_PREDICT_MAX_POINTS), ECO_E_INVALID (a point with a
 * number that is not finite, or no precision), ECO_E_NO_MEMORY (block too small).
 */
int eco_predict_problem_init(struct eco_predict_problem *p, const struct eco_predict_point *points,
                             int n_points, const bool *use, void *memory, size_t bytes,
                             struct eco_err *err);

/** Levels of a point for that problem. */
void eco_predict_problem_levels(const struct eco_predict_problem *p, int point,
                                struct eco_predict_levels *out);

/**
 * Location and scale of y for levels `l`; needs p->work to belong to p->theta. A new session has
 * no session effects of its own; noise as one measurement of `grade`.
 */
void eco_predict_problem_at(const struct eco_predict_problem *p, const struct eco_predict_levels *l,
                            bool new_session, enum eco_grade grade, double *mu, double *sd);

/** Starting theta: the centres of the priors. */
void eco_predict_theta_prior(double theta[ECO_PG_COUNT]);

/**
 * Maximum marginal likelihood with the weak priors, from theta (in and out).
 * hessian_inverse [ECO_PG_COUNT][ECO_PG_COUNT] as eco_gp_minimize. ECO_E_CONTENT where the
 * covariance is singular.
 */
int eco_predict_problem_fit(struct eco_predict_problem *p, double theta[ECO_PG_COUNT],
                            double *hessian_inverse, bool warm, struct eco_gp_result *out,
                            struct eco_err *err);

/** Bytes for eco_predict_fit. */
size_t eco_predict_fit_bytes(int n_points);

/** Problem and fit in one: theta (in and out) of the points. */
int eco_predict_fit(const struct eco_predict_point *points, int n_points, void *memory,
                    size_t bytes, double theta[ECO_PG_COUNT], struct eco_gp_result *out,
                    struct eco_err *err);

/** Bytes for eco_predict_build (the larger part is scratch, but keep the block whole). */
size_t eco_predict_build_bytes(int n_points);

/** Posterior tables of the points at theta. `out` points into `memory` and at `points`. */
int eco_predict_build(const struct eco_predict_point *points, int n_points,
                      const double theta[ECO_PG_COUNT], void *memory, size_t bytes,
                      struct eco_predictor *out, struct eco_err *err);

#endif
