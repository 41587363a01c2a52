/*
 * The default predictor: the change of energy per token that quantization brings,
 * y = ln(1 + delta/100), as a Bayesian mixed model (a Gaussian process with finitely many
 * features) over ln N, precision, card, engine, batch and session. docs/method-predictor.md has
 * the formulae. One model answers for any card, precision and batch; what was never measured gets
 * the population's answer with the population's width.
 * Pure: no allocation (memory is the caller's), no I/O, no globals; everything here may be called
 * from several threads on the same const predictor. Strings in results are borrowed from the
 * points. Every fallible function leaves its results untouched on error.
 * Life cycle: points -> eco_predict_fit (rarely) -> eco_predict_build (src/core/predict_fit.h; or
 * eco_predictor_default of src/dataset/predictor_default.h) -> eco_predict, eco_predict_curve.
 */
#ifndef ECO_PREDICT_H
#define ECO_PREDICT_H

#include "eco_err.h"
#include "eco_limits.h"
#include "eco_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ECO_PREDICT_MAX_POINTS 1024 /* pairs a predictor may hold */
#define ECO_PREDICT_MAX_ANCHORS 8   /* pairs named in an answer */
#define ECO_PREDICT_MIN_B 0.01      /* accepted sizes, billions of parameters */
#define ECO_PREDICT_MAX_B 10000.0
#define ECO_PREDICT_MAX_BATCH ((double)ECO_BATCH_MAX)
#define ECO_PREDICT_MAX_CONTEXT ((double)ECO_CTX_MAX)

/** One measured pair: a quantized row against its 16-bit baseline, gross board power. */
struct eco_predict_point {
    const char *id;          /* of the quantized row; unique */
    const char *baseline_id; /* of the 16-bit row: pairs that share it share its error */
    const char *gpu;         /* canonical card name, one name per card */
    const char *model_id;
    const char *session;
    const char *source; /* what "leave one source out" leaves out; "" for our own sessions */
    enum eco_arch arch;
    enum eco_precision precision;
    enum eco_engine engine;
    enum eco_grade grade; /* A, B or C */
    double params_b;      /* exact total, billions */
    double active_b;      /* active per token, billions; = params_b when dense */
    double nominal_b;     /* the size as people say it: 7.0 */
    int layers;           /* 0: not known */
    double linear_b;      /* parameters in the layers, without embedding and head; 0: not known */
    double batch;
    double context_tokens; /* 0: not known */
    double mem_bw_gbps;    /* datasheet bandwidth, 0: not known */
    int n_gpus;
    int n_trials;
    double y;             /* ln(E_quant / E_16bit), both gross */
    double net_shift;     /* y net of idle - y gross, where the published figure is net; else 0 */
    double published_pct; /* the published delta of an anchor */
    bool anchor;          /* one of the 29 published anchors */
    bool fit;             /* false: judged, never fitted (a grade-D anchor) */
};

struct eco_predictor; /* const data; its layout is in src/core/predict_fit.h */

/** A question. Zero-initialise, then fill: 0, NULL and UNKNOWN mean "not said". */
struct eco_predict_query {
    enum eco_precision precision;
    enum eco_precision baseline; /* NONE: 16 bit; FP16 and BF16 are one baseline */
    const struct eco_gpu *gpu;   /* NULL: only arch is known (or nothing) */
    enum eco_arch arch;          /* used when gpu is NULL */
    double params_total_b;       /* exact total where known, billions */
    double params_active_b;      /* 0: dense */
    double linear_b;             /* parameters in the layers, 0: typical for the size */
    int layers;                  /* 0: typical for the size */
    const char *model_id;        /* NULL or a name: only for basis "measured" */
    enum eco_engine engine;      /* UNKNOWN: the usual one for the precision */
    double batch;                /* 0: 1 */
    double context_tokens;       /* 0: as in the measurements */
    double kv_bytes_per_token;   /* one sequence; 0: no correction for context */
    bool known_session;          /* true only to judge the model, or inside a user's session */
};

struct eco_predict_anchor {
    const char *row_id, *gpu, *model_id, *session; /* borrowed from the points */
    enum eco_precision precision;
    double weight;    /* share of this pair in the answer, by absolute weight, 0..1 */
    double delta_pct; /* what was measured, gross */
    double params_b, batch;
};

/** A size or batch at which the sign changes. lo/hi: 95 % interval, cut at the searched range. */
struct eco_predict_crossing {
    bool have;             /* the median crosses zero inside the searched range */
    bool lo_open, hi_open; /* the interval reaches the end of the searched range */
    double median, lo, hi;
    bool saves_above; /* true: quantization saves above it, else below it */
};

struct eco_predict_answer {
    struct eco_band delta_pct; /* median 100(e^mu - 1) and transformed quantiles */
    double mu, sd;             /* of y: location and scale */
    double p_saves;            /* P(delta < 0), 0..1 */
    enum eco_basis basis;
    enum eco_confidence confidence;
    enum eco_recommendation recommendation; /* by the 95 % band */
    bool modelled; /* batch, context or roofline was used beyond the measurements */
    struct eco_predict_crossing crossover;  /* over the size, billions of parameters */
    struct eco_predict_crossing flip_batch; /* over the batch */
    struct eco_predict_anchor anchors[ECO_PREDICT_MAX_ANCHORS]; /* heaviest first */
    int n_anchors;
    double distance; /* |ln N - ln N of the nearest pair of this card and precision|; see have */
    bool have_distance;
    int n_card;               /* pairs of this card and precision */
    int n_arch;               /* pairs of this architecture and precision */
    int n_precision;          /* pairs of this precision */
    int n_points, n_sessions; /* in the whole model */
};

/**
 * One full answer for a NEW session (unless known_session). @errors ECO_E_MISSING (size or
 * precision absent), ECO_E_RANGE (size, batch or context outside the limits above or not
 * finite), ECO_E_UNSUPPORTED (a baseline that is not 16 bit).
 */
int eco_predict(const struct eco_predictor *p, const struct eco_predict_query *q,
                struct eco_predict_answer *out, struct eco_err *err);

/** What of an answer costs much and is not always looked at. */
enum eco_predict_part {
    ECO_PREDICT_ANCHORS = 1,
    ECO_PREDICT_CROSSOVER = 2,
    ECO_PREDICT_FLIP_BATCH = 4,
    ECO_PREDICT_ALL = 7
};

/** As eco_predict; anchors and crossings that `parts` does not name stay zero. */
int eco_predict_parts(const struct eco_predictor *p, const struct eco_predict_query *q,
                      unsigned parts, struct eco_predict_answer *out, struct eco_err *err);

/**
 * Only the bands, for charts: sizes params_b[n], everything else as in `q` (MoE share and shape
 * ratio kept). Errors as eco_predict.
 */
int eco_predict_curve(const struct eco_predictor *p, const struct eco_predict_query *q,
                      const double *params_b, int n, struct eco_band *out, struct eco_err *err);

/**
 * Only location and scale of y, as eco_predict's mu and sd, at each of context_tokens[n]; for
 * grids, where the rest of an answer would cost ten times as much. sd may be NULL. Errors as
 * eco_predict.
 */
int eco_predict_contexts(const struct eco_predictor *p, const struct eco_predict_query *q,
                         const double *context_tokens, int n, double *mu, double *sd,
                         struct eco_err *err);

/** The engine a precision usually runs on: bitsandbytes -> transformers, GGUF -> llama.cpp … */
enum eco_engine eco_predict_usual_engine(enum eco_precision precision);

/**
 * Natural log of the ratio of two energies on gross board power. A net energy gets its idle
 * back: E + 1000 idle / throughput (J per 1k tokens; idle in W, throughput in tokens/s).
 * @errors ECO_E_RANGE where an energy or (when net) a throughput is not positive.
 */
int eco_predict_pair(double e_quant_j_per_1k, double e_base_j_per_1k, bool net, double idle_w,
                     double quant_tokens_per_s, double base_tokens_per_s, double *y,
                     struct eco_err *err);

#ifdef __cplusplus
}
#endif
#endif
