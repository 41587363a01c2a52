/*
 * Physics of decoding: how many bytes and operations a token needs, how long that takes, how many
 * joules the board uses, and how both change with batch and context.
 *
 * Pure functions: no allocation, no I/O, no globals. Inputs are borrowed, results are plain values
 * in the caller's structs. The fitted constants arrive as `const struct eco_physics *`; NULL means
 * the built-in table (data/fitted/physics_*.csv, which a test compares with it). Everything here
 * is a model, so basis is MODELLED unless a field says otherwise, and each number has its band.
 * Errors: ECO_E_INVALID / ECO_E_RANGE for impossible shapes, ECO_E_UNSUPPORTED where a datasheet
 * figure is missing. Cost is in eco_cost.h, alerts and diagnosis in eco_alerts.h (both included).
 */
#ifndef ECO_PHYSICS_H
#define ECO_PHYSICS_H

#include "eco_err.h"
#include "eco_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ECO_PHYSICS_BATCH_MAX 65536     /* sequences that decode together */
#define ECO_PHYSICS_TOKENS_MAX 16777216 /* prompt or generated tokens of one request */

/** One way of running a model. Zeroed fields mean: engine by precision, 1 GPU. */
struct eco_workload {
    enum eco_precision precision;
    enum eco_engine engine;          /* UNKNOWN: eco_predict_usual_engine, else transformers */
    int batch;                       /* sequences decoding together, >= 1 */
    int prompt_tokens;               /* per sequence, >= 0 */
    int gen_tokens;                  /* per sequence, >= 1 */
    int n_gpus;                      /* tensor-parallel cards, 0 = 1 */
    enum eco_precision kv_precision; /* NONE: 16 bit */
};

/* ---- bytes and operations ------------------------------------------------------------------ */

/** What one decode step of the whole batch reads and computes. */
struct eco_traffic {
    double weight_bytes;       /* weights read per step: linear at the precision, head 16 bit */
    double kv_bytes_per_token; /* cache written per token and sequence */
    double kv_bytes;           /* cache read per step and sequence, at the mean context */
    double step_bytes;         /* weight_bytes + batch * kv_bytes */
    double step_flops;         /* 2 * active parameters * batch (+ attention) */
    double prefill_flops;      /* of the whole batch */
    double mean_context;       /* prompt + generated / 2 */
    double context_factor;     /* step_bytes / weight_bytes: how context raises traffic */
};

/**
 * Bytes and operations of one decode step. Embedding tables are not read; only the experts that
 * `batch` tokens are expected to hit, E (1 - (1 - k/E)^batch) of E, are; sliding windows cap the
 * cache; MLA stores kv_lora_rank + rope_head_dim values a layer.
 */
int eco_roofline_traffic(const struct eco_model *model, const struct eco_workload *work,
                         struct eco_traffic *out, struct eco_err *err);

/** Dense FP16 peak with FP32 accumulation, FLOP/s (GeForce datasheets: half). NAN: not known. */
double eco_roofline_peak_flops(const struct eco_gpu *gpu);

/** The datasheet's own limits of one step, without any fitted efficiency. */
struct eco_roofline {
    double memory_s, compute_s; /* step time if only that limited it; compute_s NAN: not known */
    double floor_s;             /* the larger */
    double tokens_per_s_max;    /* batch / floor_s: nothing real can be faster */
};
int eco_roofline_floor(const struct eco_model *model, const struct eco_gpu *gpu,
                       const struct eco_workload *work, struct eco_roofline *out,
                       struct eco_err *err);

/* ---- fitted constants ----------------------------------------------------------------------- */

/** Achieved efficiency of an engine and kernel family: data/fitted/physics_engine.csv. */
struct eco_engine_row {
    enum eco_engine engine;
    enum eco_precision precision;     /* NONE: any of the family below */
    enum eco_precision_family family; /* NONE: any */
    int batch_lo, batch_hi;           /* rows for batch 1 and >= 2 where kernels switch */
    double eff_memory;                /* achieved share of datasheet bandwidth */
    double eff_compute;               /* achieved share of the FP32-accumulate peak */
    double launch_s;                  /* host time per layer and step: a floor of the step */
    double per_seq_s;                 /* host time per sequence and step (scheduler, sampling) */
    bool serial;  /* launch time adds to the roofline; false: it hides behind it (max) */
    double sd_ln; /* sd of ln(measured / modelled) step time, new series */
    int n;        /* rows behind it */
};

/**
 * Batch law E(b) = a + c/b of a series: data/fitted/physics_batch.csv. Without a model ln(c/a) is
 * `ln_c_over_a`; with one it follows the roofline's own c/a (fixed time / time per sequence):
 * ln(c/a) = ln(roofline) + offset for serial engines, and moves with the context for eager ones.
 */
struct eco_batch_row {
    enum eco_engine engine;
    enum eco_precision precision; /* NONE: any of the family */
    enum eco_precision_family family;
    double ln_c_over_a;          /* batch at which the fixed and the per-token part are equal, ln */
    double sd_ln;                /* between series (a new model or card), no model given */
    double offset_ln, offset_sd; /* dense model given */
    double offset_moe_ln, offset_moe_sd; /* mixture of experts given */
    double power_rise;                   /* board power at saturation / at batch 1, median */
    double step_ln; /* ln factor on E for b >= 2 where the kernel switches, else 0 */
    double step_sd;
    double resid_sd_ln; /* scatter of points around their own curve */
    int n_series, n_points;
};

#define ECO_ENERGY_DIM_MAX 48
/** Posterior of ln(J per 1k tokens), FP16/BF16, batch 1: data/fitted/physics_energy.csv. */
struct eco_energy_fit {
    int dim;
    const char *const *term;   /* [dim] "intercept", "ln_weight_10gb", …, "arch:ada", "card:T4" */
    const double *mean;        /* [dim] */
    const double *cov;         /* [dim][dim] posterior covariance */
    double var_card, var_arch; /* prior variance, used for a card or class without data */
    double var_session, var_model, var_noise;
    int n_rows, n_sessions, n_cards;
};

struct eco_physics {
    const struct eco_engine_row *engines;
    size_t n_engines;
    const struct eco_batch_row *batches;
    size_t n_batches;
    const struct eco_energy_fit *energy;
};

/** The built-in constants, written from data/fitted by tools/physics-table.sh; never NULL. */
const struct eco_physics *eco_physics_default(void);

/** Median and 50/80/95 % quantiles of exp(N(mu_ln, sd_ln²)). */
void eco_physics_band(double mu_ln, double sd_ln, struct eco_band *out);

/* ---- latency -------------------------------------------------------------------------------- */

enum eco_bound { ECO_BOUND_MEMORY = 0, ECO_BOUND_COMPUTE, ECO_BOUND_LAUNCH };
const char *eco_bound_name(enum eco_bound b); /* "memory", "compute", "launch" */

struct eco_latency {
    struct eco_band ttft_s;               /* prefill of the batch until the first token */
    struct eco_band tpot_s;               /* time per output token of one sequence (= step time) */
    struct eco_band tokens_per_s;         /* output tokens of all sequences while decoding */
    struct eco_band request_s;            /* ttft + gen_tokens * tpot */
    double decode_s;                      /* the part of request_s that decodes, median */
    double request_tokens_per_s;          /* batch * gen / request_s, median: prefill included */
    double sd_ln_step;                    /* sd of ln step time */
    double memory_s, compute_s, launch_s; /* the three candidates for the step, fitted */
    double batch_resident; /* sequences whose KV cache fits beside the weights, <= batch */
    enum eco_bound bound;  /* of the decode step */
    enum eco_bound prefill_bound;
    enum eco_basis basis; /* MODELLED */
    bool engine_known;    /* false: a wider pooled row was used */
};
int eco_latency_predict(const struct eco_physics *ph, const struct eco_model *model,
                        const struct eco_gpu *gpu, const struct eco_workload *work,
                        struct eco_latency *out, struct eco_err *err);

/** Step-time factor when no KV cache is kept: the whole context is computed again per token. */
int eco_latency_factor_no_cache(const struct eco_physics *ph, const struct eco_model *model,
                                const struct eco_gpu *gpu, const struct eco_workload *work,
                                double *factor, struct eco_err *err);
/** Step-time factor when `missing_bytes` of weights come over a link of `link_bytes_per_s`. */
int eco_latency_factor_offload(const struct eco_physics *ph, const struct eco_model *model,
                               const struct eco_gpu *gpu, const struct eco_workload *work,
                               double missing_bytes, double link_bytes_per_s, double *factor,
                               struct eco_err *err);

/* ---- batch law ------------------------------------------------------------------------------ */

struct eco_batch_answer {
    double ratio;      /* E(batch) / E(1), median, <= 1 for a law without a step */
    double power_rise; /* board power at saturation / at batch 1 */
    double sd_ln;      /* sd of ln ratio for a new series */
    double c_over_a;   /* half-way batch of the law used */
    double limit;      /* E(inf) / E(1) = a / (a + c) */
    bool own_row;      /* false: pooled row of another engine or family */
    int n_series;
};
int eco_batch_factor(const struct eco_physics *ph, enum eco_engine engine,
                     enum eco_precision precision, double batch, struct eco_batch_answer *out,
                     struct eco_err *err);
/** The same for one model, card and context: c/a follows the roofline. */
int eco_batch_factor_for(const struct eco_physics *ph, const struct eco_model *model,
                         const struct eco_gpu *gpu, const struct eco_workload *work,
                         struct eco_batch_answer *out, struct eco_err *err);

/* ---- absolute energy ------------------------------------------------------------------------ */

struct eco_energy {
    struct eco_band j_per_1k; /* decode, J per 1 000 generated tokens, gross board power */
    double mu_ln, sd_ln;      /* of j_per_1k, for a new session */
    double prefill_j_per_1k;  /* J per 1 000 prompt tokens, median, modelled */
    double batch_ratio;       /* what the batch law contributed */
    double context_factor;    /* what KV traffic contributed */
    bool card_known, arch_known;
    bool at_floor;          /* the compute roofline, not the batch law, set it */
    enum eco_basis basis;   /* INTERPOLATED / EXTRAPOLATED at batch 1, else MODELLED */
    int n_rows, n_sessions; /* behind the fit */
};
/** Absolute FP16/BF16 energy; work->precision is taken as FP16 whatever it says. */
int eco_energy_absolute(const struct eco_physics *ph, const struct eco_model *model,
                        const struct eco_gpu *gpu, const struct eco_workload *work,
                        struct eco_energy *out, struct eco_err *err);
/**
 * Energy of a quantized precision at the same batch: FP16 * (1 + dE). `delta_mu_ln` and
 * `delta_sd_ln` describe ln(1 + dE%/100); log-variances add.
 */
int eco_energy_quantized(const struct eco_energy *fp16, double delta_mu_ln, double delta_sd_ln,
                         struct eco_energy *out, struct eco_err *err);
/** Joules of one request: prompt * prefill + gen * decode, with the decode band's spread. */
int eco_energy_request(const struct eco_energy *energy, const struct eco_workload *work,
                       struct eco_band *request_j, struct eco_err *err);

/* ---- one answer from two models ------------------------------------------------------------- */

/**
 * Makes energy and time of one configuration agree with the card. J per token times tokens/s is
 * power, and a board does not hold more than its limit (tdp_w, times n_gpus; 0 = 1). TDP is an
 * upper bound here and nowhere a power: below it nothing changes. Above it ln E and ln tokens/s
 * move onto the bound in proportion to their log variances, the less certain one more; each band
 * moves with its median and its sd grows by half of its own shift, in quadrature. request_s follows
 * with its decoding part; ttft_s and prefill stay. Call it last, once, on the energy and the
 * latency of the same precision.
 * Returns 1: changed, 0: consistent or no limit known (nothing touched), < 0: enum eco_code.
 * *shift_ln (may be NULL): ln(implied power / limit) that was removed, else 0.
 */
int eco_physics_reconcile(const struct eco_gpu *gpu, int n_gpus, struct eco_energy *energy,
                          struct eco_latency *latency, double *shift_ln);

#ifdef __cplusplus
}
#endif

#include "eco_alerts.h"
#include "eco_cost.h"
#endif
