/*
 * The published calibration (`--calibration published`): estimator, curve fit, leave-one-out and
 * the published optimizer (`--compat`), so that anyone can check us against the published site.
 *
 * Pure: tables are arguments, results lie in the caller's structs, nothing is allocated, printed or
 * kept; every function may run on any thread. Errors: 0 or a negative enum eco_code, outputs
 * untouched on failure. Sizes are 1e9 parameters, deltas percent, energies J per 1 000 tokens.
 * Model: dE%(N) = A - S*x/(1+x), x = N/N*; see docs/method-optimizer.md.
 */
#ifndef ECO_PUBLISHED_H
#define ECO_PUBLISHED_H

#include "eco_err.h"
#include "eco_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ECO_PUBLISHED_MAX_ANCHORS 64 /* of one class (architecture and precision) */
#define ECO_PUBLISHED_MAX_GRID 64    /* values of one axis of the published optimizer */
#define ECO_PUBLISHED_MAX_FRONT 256  /* members of its front that are kept */

/*
 * What a query may hold. The reference also took fractions, text with junk and impossible values in
 * silence; those are refused here. X(field, lo, hi, default, whole number?)
 * - params_b: the reference answers any positive number; outside 1e-9..1e6 its own cases allow a
 *   refusal, inside they must be answered. 0, negative, NaN and infinite are errors there too.
 * - batch: whole, up to 1e12 is answered (the factor tends to 0). ctx: whole; below 2048 counts as
 *   2048. Both limits are where a double still counts exactly.
 * - max_vram_gb, max_latency_ms: positive; min_throughput: 0 or more; absent: no budget.
 */
#define ECO_PUBLISHED_PARAMS(X)                                                                    \
    X(params_b, 1e-9, 1e6, NAN, false)                                                             \
    X(batch, 1, 1e15, 1, true)                                                                     \
    X(ctx, 1, 1e15, 2048, true)

/** One measured point. delta_pct as published: rounded to 2 decimals. */
struct eco_published_anchor {
    enum eco_arch arch;
    enum eco_published_class precision; /* NF4 or INT8 */
    const char *gpu;                    /* "RTX 4090D"; static or the caller's */
    double params_b;                    /* nominal: Qwen2-7B is 7.0 */
    double delta_pct;
    int n; /* trials behind it; an anchor of n = 1 alone earns no high confidence */
};

/** One fitted class. As published all four figures are rounded to 4 decimals. */
struct eco_published_curve {
    enum eco_arch arch;
    enum eco_published_class precision;
    double a_pct, s_pct, nstar_b, rms_pct;
};

/** The tables an answer is computed from; borrowed. Anchors of one class keep their order. */
struct eco_published_tables {
    const struct eco_published_anchor *anchors;
    size_t n_anchors;
    const struct eco_published_curve *curves;
    size_t n_curves;
};

struct eco_published_query {
    double params_b;
    enum eco_arch arch;
    enum eco_published_class precision; /* NF4 or INT8; NONE counts as NF4, as published */
    double batch, ctx;                  /* 1 and 2048 are the published defaults */
};

struct eco_published_answer {
    double delta_pct; /* 1 place */
    double ci_pct[2]; /* 95 %, 1 place, never below -75 (NF4) or -50 (INT8) */
    enum eco_basis basis;
    enum eco_confidence confidence;
    enum eco_recommendation recommendation;
    const char *verdict; /* static, plain English, no numbers */
    bool have_crossover;
    double crossover_b;               /* 3 places, of the class used; valid with have_crossover */
    enum eco_arch arch_used;          /* ampere for hopper, else the asked one */
    bool borrowed;                    /* arch_used is another architecture */
    bool modelled;                    /* batch or context left the measured point */
    double factor;                    /* f: what is left of a saving, 1 when not modelled */
    double weight_gb, weight_gb_fp16; /* 2 places */
    double range_lo_b, range_hi_b;    /* sizes measured in the class used */
    size_t n_anchors;                 /* anchors of the class used … */
    size_t n_exact;                   /* … and those at this very size (0: the curve answers) */
    int n_trials;                     /* sum of n over the exact ones, else over the class */
};

/**
 * Answers `q` from `t` as the published site does, every rounding included (rounding is as
 * JavaScript's toFixed). ECO_E_RANGE: a value outside ECO_PUBLISHED_PARAMS; ECO_E_UNKNOWN_NAME: no
 * architecture; ECO_E_UNSUPPORTED: no curve for this architecture and precision.
 */
int eco_published_estimate(const struct eco_published_tables *t,
                           const struct eco_published_query *q, struct eco_published_answer *out,
                           struct eco_err *err);

/** One class as GET /v1/architectures lists it. */
struct eco_published_class_info {
    enum eco_arch arch_used;
    double range_lo_b, range_hi_b;
    size_t n_anchors;
    bool have_crossover;
    double crossover_b; /* 3 places */
};

/** ECO_E_UNSUPPORTED when the class has no curve. */
int eco_published_class_info(const struct eco_published_tables *t, enum eco_arch arch,
                             enum eco_published_class precision,
                             struct eco_published_class_info *out, struct eco_err *err);

/** The architecture whose curves answer for `arch`: ampere for hopper, else itself. */
enum eco_arch eco_published_arch_used(enum eco_arch arch);
/** 75 (NF4), 50 (INT8), 0: the largest saving the published model allows, in percent. */
double eco_published_cap_pct(enum eco_published_class precision);
/** The curve's value at `params_b`, not rounded and not floored. */
double eco_published_curve_at(const struct eco_published_curve *c, double params_b);
/**
 * Where the curve crosses zero: N* A/(S-A) when S > A > 0 and it is at most `range_hi_b`. Returns
 * false when there is none.
 */
bool eco_published_crossover(const struct eco_published_curve *c, double range_hi_b, double *out_b);
/** f = 1/(1+(batch-1)/8) * 1/(1+0.12 max(0, log2(ctx/2048))), in (0, 1]. */
double eco_published_factor(double batch, double ctx);

/* ---- fit ------------------------------------------------------------------------------------ */

struct eco_published_fit {
    struct eco_published_curve curve; /* not rounded; see eco_published_round_curve */
    size_t n;
    double n_min_b, n_max_b;
    double sse;        /* sum of squared residuals, percent squared */
    bool identifiable; /* false: S = 0 or fewer than 3 points, N* is arbitrary */
};

/**
 * Least squares of the published curve over `anchors` (all of one class, 1..MAX_ANCHORS) under
 * -50 <= A <= max(y)+50, 0 <= S <= cap + max(0, max y), 0.1 <= N* <= 200; N* is the median size
 * with fewer than 3 points or S = 0. Global optimum: for a given N* the problem is a linear one in
 * a box, solved exactly; N* is searched in ln N* on a grid and refined by golden section.
 */
int eco_published_fit(const struct eco_published_anchor *anchors, size_t n,
                      struct eco_published_fit *out, struct eco_err *err);
/** The curve as published: four figures rounded to 4 decimals. */
struct eco_published_curve eco_published_round_curve(const struct eco_published_curve *c);
/** The anchors as published: deltas to 2 decimals. Fits use the exact ones, answers these. */
void eco_published_round_anchors(struct eco_published_anchor *anchors, size_t n);

enum eco_published_loo_kind {
    ECO_PUBLISHED_LOO_ANCHOR, /* leave one anchor out */
    ECO_PUBLISHED_LOO_SIZE    /* leave every anchor of its size out */
};

/** One left-out anchor, asked again of the refitted curve. */
struct eco_published_loo {
    size_t index;                     /* into the anchors given */
    size_t fitted;                    /* anchors the refit had */
    struct eco_published_curve refit; /* rounded */
    double curve_pred_pct;            /* of the refit before rounding */
    struct eco_published_answer answer;
    double abs_err_pct;    /* |answer - anchor| */
    bool inside;           /* anchor in the 95 % band */
    double width_pct;      /* of the band */
    double interval_score; /* width + 40 x the miss */
    bool firm_wrong;       /* a firm verdict of the wrong sign */
};

struct eco_published_loo_summary {
    size_t n, inside, firm_wrong;
    double mae_curve_pct, mae_pct, max_abs_err_pct, mean_width_pct, mean_interval_score;
};

/**
 * Leave-one-out over the anchors of one class (exact deltas; the answers use the rounded ones);
 * rows[n] are the caller's. Anchors whose removal leaves nothing are skipped: *n_rows <= n.
 */
int eco_published_loo(const struct eco_published_anchor *anchors, size_t n,
                      enum eco_published_loo_kind kind, struct eco_published_loo *rows,
                      size_t *n_rows, struct eco_published_loo_summary *sum, struct eco_err *err);

/* ---- the published optimizer (`--compat`) ---------------------------------------------------- */

enum eco_published_objective {
    ECO_PUBLISHED_MIN_ENERGY = 0, /* the default */
    ECO_PUBLISHED_MIN_LATENCY,
    ECO_PUBLISHED_MAX_THROUGHPUT,
    ECO_PUBLISHED_MIN_VRAM
};

struct eco_published_grid {
    double params_b;
    enum eco_arch arch;
    enum eco_published_objective objective;
    /* NULL: the default grid FP16, NF4, INT8 x 1..32 x 512..8192. Order and repeats are kept. */
    const enum eco_published_class *precisions;
    size_t n_precisions;
    const double *batches, *contexts; /* whole, >= 1 */
    size_t n_batches, n_contexts;
    bool have_max_latency, have_max_vram, have_min_throughput;
    double max_latency_ms, max_vram_gb, min_throughput; /* tokens per second */
};

/** One configuration as published. Figures already rounded; energies absent for hopper. */
struct eco_published_config {
    enum eco_published_class precision;
    double batch, context;
    bool have_energy;
    double energy_j_per_1k_tokens; /* 1 place; = mJ per token */
    double energy_j_per_token;     /* 3 places; the published name says mj, the value is joules */
    double energy_rel_fp16;        /* 3 places */
    double delta_pct;              /* 1 place, at batch 1 */
    double latency_ms_per_token;   /* 2 places */
    double throughput_tok_s;       /* 1 place */
    bool compute_bound;
    double vram_gb; /* 2 places */
    enum eco_confidence confidence;
    enum eco_basis energy_basis; /* UNAVAILABLE: FP16 where no FP16 energy is published */
    enum eco_recommendation recommendation; /* BASELINE for FP16 */
};

/** Percent against the recommended one, 1 place; absent where that one's figure is 0 or absent. */
struct eco_published_versus {
    bool have_energy, have_latency, have_throughput, have_vram;
    double energy_pct, latency_pct, throughput_pct, vram_pct;
};

struct eco_published_optimum {
    size_t candidates, feasible;
    bool have_recommended; /* else `closest` holds the least infeasible configuration */
    struct eco_published_config recommended, closest;
    size_t n_alternatives;
    struct eco_published_config alternatives[3];
    struct eco_published_versus versus[3];
    size_t n_front; /* by energy; empty without energies or without a feasible configuration */
    struct eco_published_config front[ECO_PUBLISHED_MAX_FRONT];
};

/**
 * The published optimizer over the grid: every candidate is computed once, nothing is kept but the
 * result. ECO_E_RANGE: a value outside ECO_PUBLISHED_PARAMS, a budget that is not above 0 or a
 * floor below 0; ECO_E_UNSUPPORTED: no precision of the grid has a curve; ECO_E_TOO_LARGE: an axis
 * over ECO_PUBLISHED_MAX_GRID or a front over ECO_PUBLISHED_MAX_FRONT.
 */
int eco_published_optimize(const struct eco_published_tables *t, const struct eco_published_grid *g,
                           struct eco_published_optimum *out, struct eco_err *err);

#ifdef __cplusplus
}
#endif
#endif
