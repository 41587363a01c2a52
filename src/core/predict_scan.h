/*
 * For one question the model is a Gaussian in a handful of numbers: how the answer depends on
 * size (3 bases) and on batch (5). Made once per question, so that a curve's point costs a few
 * multiplications. Internal to the predictor.
 */
#ifndef ECO_PREDICT_SCAN_H
#define ECO_PREDICT_SCAN_H

#include "core/predict_fit.h"

/** mean' b and b' covariance b for bases b[n]. */
struct eco_predict_gaussian {
    int n;
    double mean[ECO_PB_COUNT];
    double covariance[ECO_PB_COUNT][ECO_PB_COUNT];
};

struct eco_predict_scan {
    struct eco_predict_gaussian size;  /* over the size bases at the asked batch and model */
    struct eco_predict_gaussian curve; /* the same for a model never seen: for CROSSOVER only */
    struct eco_predict_gaussian batch; /* over the batch bases at the asked size: for FLIP_BATCH */
    int n;                             /* effects of the question at its own size and batch */
    int column[ECO_PREDICT_MAX_FEATURES];
    double value[ECO_PREDICT_MAX_FEATURES];
};

/** `parts`: enum eco_predict_part, what will be asked of it beside the question's own point. */
void eco_predict_scan_init(struct eco_predict_scan *s, const struct eco_predictor *p,
                           const struct eco_predict_levels *l, bool known_session, unsigned parts);

/** Location and variance (without measurement noise) at bases b[g->n]. */
void eco_predict_scan_at(const struct eco_predict_gaussian *g, const double *b, double *mu,
                         double *variance);

/** The heaviest pairs and their shares into out->anchors. */
void eco_predict_scan_anchors(const struct eco_predict_scan *s, const struct eco_predictor *p,
                              struct eco_predict_answer *out);

/**
 * Where the median changes sign over the size, nearest to params_b, from 0.1e9 to 1000e9.
 * offset: effective x minus ln(size / 3e9); shift is added to y everywhere.
 */
void eco_predict_scan_size(const struct eco_predict_scan *s, double offset, double params_b,
                           double shift, struct eco_predict_crossing *out);

/** First batch (2 to 1024) whose median has another sign than at batch 1; context as measured. */
void eco_predict_scan_batch(const struct eco_predict_scan *s, struct eco_predict_crossing *out);

#endif
