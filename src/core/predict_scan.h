/*
 * For one question the model is a Gaussian in a handful of numbers: how the answer depends on
 * size (3 bases) and on batch (4 more). Made once per question, or once for all batches of an arm,
 * so that a curve's point costs a few multiplications. Internal to the predictor and the optimizer.
 */
#ifndef ECO_PREDICT_SCAN_H
#define ECO_PREDICT_SCAN_H

#include "core/predict_fit.h"

/* The size's bases, then the batch's without its 1: a batch effect does not depend on the size. */
enum { ECO_PREDICT_BASES = ECO_PX_COUNT + ECO_PB_COUNT - 1 };

/** mean' b and b' covariance b for bases b[n]; only the lower triangle is filled. */
struct eco_predict_gaussian {
    int n;
    double mean[ECO_PREDICT_BASES];
    double covariance[ECO_PREDICT_BASES][ECO_PREDICT_BASES];
};

/** All of a question but its size and batch. */
struct eco_predict_arm {
    struct eco_predict_gaussian all; /* over both kinds of bases */
    int n;                           /* effects that the data know */
    int column[ECO_PREDICT_MAX_FEATURES];
    unsigned char basis[ECO_PREDICT_MAX_FEATURES];
    double coefficient[ECO_PREDICT_MAX_FEATURES];
    int model; /* which of them is the model's own; -1: none */
};

/** How the answer depends on one of the two, the other as asked. */
struct eco_predict_scan {
    struct eco_predict_gaussian curve; /* over the size bases, for a model never seen: CROSSOVER */
    struct eco_predict_gaussian batch; /* over the batch bases: FLIP_BATCH */
};

/** What eco_predict_contexts makes of a question and can be kept for its other batches. */
struct eco_predict_kept {
    bool have; /* init {0} */
    struct eco_predict_levels levels;
    struct eco_predict_arm arm;
};

/** As eco_predict_contexts; calls with the same `kept` may differ in batch and contexts only. */
int eco_predict_contexts_kept(const struct eco_predictor *p, const struct eco_predict_query *q,
                              struct eco_predict_kept *kept, const double *context_tokens, int n,
                              double *mu, double *sd, struct eco_err *err);

/** all_batches: usable at batches other than l->batch too. */
void eco_predict_arm_init(struct eco_predict_arm *a, const struct eco_predictor *p,
                          const struct eco_predict_levels *l, bool known_session, bool all_batches);

/** The bases of a size and a batch, for arm->all. */
void eco_predict_arm_bases(const struct eco_predict_levels *l, double out[ECO_PREDICT_BASES]);

/** `parts`: enum eco_predict_part, what will be asked of it; a batch needs all_batches. */
void eco_predict_scan_init(struct eco_predict_scan *s, const struct eco_predict_arm *a,
                           const struct eco_predictor *p, const struct eco_predict_levels *l,
                           unsigned parts);

/** Location and variance (without measurement noise) at bases b[g->n]. */
void eco_predict_scan_at(const struct eco_predict_gaussian *g, const double *b, double *mu,
                         double *variance);

/** The heaviest pairs and their shares into out->anchors. */
void eco_predict_arm_anchors(const struct eco_predict_arm *a, const struct eco_predictor *p,
                             const double bases[ECO_PREDICT_BASES], struct eco_predict_answer *out);

/**
 * Where the median changes sign over the size, nearest to params_b, from 0.1e9 to 1000e9.
 * offset: effective x minus ln(size / 3e9); shift is added to y everywhere.
 */
void eco_predict_scan_size(const struct eco_predict_scan *s, double offset, double params_b,
                           double shift, struct eco_predict_crossing *out);

/** First batch (2 to 1024) whose median has another sign than at batch 1; context as measured. */
void eco_predict_scan_batch(const struct eco_predict_scan *s, struct eco_predict_crossing *out);

#endif
