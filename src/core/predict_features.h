/*
 * What the predictor's model is made of: groups with their priors, and the features of a pair or
 * a question. A feature is coefficient * X(size) * B(batch) * (effect of a key); the effect of a
 * key has its group's variance. Pure look-up and arithmetic.
 */
#ifndef ECO_PREDICT_FEATURES_H
#define ECO_PREDICT_FEATURES_H

#include "eco_predict.h"

#include <stdint.h>

/*
 * X(NAME, "name", prior_sd, free, session): prior_sd of an effect in y; free groups have their
 * variance fitted under a weak prior around prior_sd, the others keep it; `session` effects are
 * new for a new session. Order is the order of theta.
 */
#define ECO_PREDICT_GROUPS(X)                                                                      \
    X(POP, "population", 0.5, false, false) /* shared by all */                                    \
    X(POP_SLOPE, "population_slope", 0.1, false, false)                                            \
    X(POP_CURVE, "population_curve", 0.5, false, false)                                            \
    X(BITS, "bits_per_weight", 0.25, false, false)      /* ln(bits/16) + 1 */                      \
    X(BANDWIDTH, "memory_bandwidth", 0.1, false, false) /* ln(GB/s / 1000) */                      \
    X(BATCH_POP, "batch_population", 0.2, false, false)                                            \
    X(KERNEL, "engine_family", 0.8, false, false) /* one kernel path: engine x family */           \
    X(ENGINE, "engine", 0.2, true, false)                                                          \
    X(FAMILY, "family", 0.3, true, false)                                                          \
    X(FAMILY_SLOPE, "family_slope", 0.1, true, false)                                              \
    X(FAMILY_CURVE, "family_curve", 0.3, true, false)                                              \
    X(PRECISION, "precision", 0.2, true, false)                                                    \
    X(ARCH, "arch", 0.1, true, false)           /* architecture within family */                   \
    X(CARD_INT8, "card_int8", 0.1, true, false) /* card within kernel path */                      \
    X(CARD_OTHER, "card_other", 0.1, true, false)                                                  \
    X(CARD_SLOPE_INT8, "card_slope_int8", 0.05, true, false)                                       \
    X(CARD_SLOPE_OTHER, "card_slope_other", 0.05, true, false)                                     \
    X(CARD_CURVE, "card_curve", 0.1, true, false)                                                  \
    X(MODEL, "model", 0.05, true, false) /* model within family */                                 \
    X(BATCH_FAMILY_STEP, "batch_family_step", 0.2, true, false)                                    \
    X(BATCH_FAMILY, "batch_family", 0.2, true, false)                                              \
    X(BATCH_KERNEL_STEP, "batch_kernel_step", 0.2, true, false)                                    \
    X(BATCH_KERNEL, "batch_kernel", 0.2, true, false)                                              \
    X(BATCH_CARD, "batch_card", 0.1, true, false)                                                  \
    X(BATCH_SESSION, "batch_session", 0.1, true, true)                                             \
    X(SESSION, "session", 0.05, true, true) /* shared by all of a session */                       \
    X(SESSION_INT8, "session_int8_mixed", 0.4, true, true)                                         \
    X(SESSION_NF4, "session_nf4", 0.08, true, true)                                                \
    X(SESSION_OTHER, "session_other", 0.08, true, true)                                            \
    X(SESSION_SLOPE_INT8, "session_slope_int8_mixed", 0.05, true, true)                            \
    X(SESSION_SLOPE, "session_slope", 0.03, true, true)                                            \
    X(BASELINE, "baseline", 0.03, true, true) /* error of a shared 16-bit row */                   \
    X(NOISE_INT8, "noise_int8", 0.05, true, false)                                                 \
    X(NOISE_NF4, "noise_nf4", 0.05, true, false)                                                   \
    X(NOISE_OTHER, "noise_other", 0.05, true, false)

enum eco_predict_group {
#define X(name, text, sd, is_free, session) ECO_PG_##name,
    ECO_PREDICT_GROUPS(X)
#undef X
        ECO_PG_COUNT
};

#define ECO_PREDICT_PRIOR_WIDTH 1.2 /* sd of a log variance: a factor of 3.3 on it */
#define ECO_PREDICT_MAX_FEATURES 64

/* Size bases X: 1, x, x/(1 + ...) ; batch bases B: 1 and four steps that are 0 at batch 1. */
enum { ECO_PX_ONE, ECO_PX_SLOPE, ECO_PX_CURVE, ECO_PX_COUNT };
enum { ECO_PB_ONE, ECO_PB_STEP, ECO_PB_6, ECO_PB_60, ECO_PB_600, ECO_PB_COUNT };

struct eco_predict_feature {
    uint64_t key; /* group, then up to three levels; equal keys share one effect */
    double coefficient;
    unsigned char group, x, b;
};

/** A pair or a question, reduced to numbers. Levels: >= 0 known, -1 never seen. */
struct eco_predict_levels {
    enum eco_precision precision;
    enum eco_precision_family family;
    enum eco_engine engine;
    enum eco_arch arch;
    int card, model, session, baseline;
    double x; /* ln of the effective size over 3e9 */
    double batch;
    double ln_bandwidth; /* ln(GB/s / 1000), 0: not known */
};

const char *eco_predict_group_name(int group);
double eco_predict_group_prior_log_var(int group);
bool eco_predict_group_free(int group);
bool eco_predict_group_session(int group);

/**
 * ln of the effective size over 3e9: by work per layer where the shape is known
 * ((ln(linear_b / layers) + 2.5) / 0.85, a line through the common open models), else by size.
 */
double eco_predict_effective_x(double params_b, double linear_b, int layers);

/** Values of the bases at a size and a batch. */
void eco_predict_size_bases(double x, double out[ECO_PX_COUNT]);
void eco_predict_batch_bases(double batch, double out[ECO_PB_COUNT]);

/** Features of `l`, at most ECO_PREDICT_MAX_FEATURES; returns how many. All batch bases are
 * listed (their B is 0 at batch 1) when `all_batches`, else only for batch > 1. */
int eco_predict_features(const struct eco_predict_levels *l, bool all_batches,
                         struct eco_predict_feature *out);

int eco_predict_noise_group(enum eco_precision precision);
double eco_predict_noise_weight(enum eco_grade grade);

#endif
