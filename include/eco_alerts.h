/*
 * Known energy traps, the mood of a configuration, and the diagnosis of an observed run.
 *
 * Pure: one const table of traps; a condition looks at the request, the effect is whatever the
 * caller's estimator answered for this card and size (passed in as bands), and the measured range
 * is only cited. Texts are static. Results are plain values in the caller's arrays. Errors:
 * ECO_E_INVALID, ECO_E_RANGE.
 */
#ifndef ECO_ALERTS_H
#define ECO_ALERTS_H

#include "eco_err.h"
#include "eco_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct eco_physics;
struct eco_workload;

/* ---- alerts ---------------------------------------------------------------------------------- */

enum eco_severity { ECO_SEV_INFO = 0, ECO_SEV_WARNING, ECO_SEV_CRITICAL };
const char *eco_severity_name(enum eco_severity s); /* "info", "warning", "critical" */

/** Slots of predicted effects, all as ΔE in percent; the caller fills what it can compute. */
enum eco_effect {
    ECO_EFFECT_NONE = 0,
    ECO_EFFECT_PRECISION, /* the asked precision against FP16 at the same batch */
    ECO_EFFECT_INT8_PURE, /* INT8-PURE against FP16 */
    ECO_EFFECT_INT8_FIX,  /* INT8-PURE against INT8-MIXED */
    ECO_EFFECT_NF4_PLAIN, /* NF4 against the asked NF4-DQ */
    ECO_EFFECT_BATCH_UP,  /* batch 8 against batch 1, same precision */
    ECO_EFFECT_OFFLOAD,   /* with weights outside the card, against all inside */
    ECO_EFFECT_NO_CACHE,  /* without KV cache against with it */
    ECO_EFFECT_TO_FP16,   /* FP16 against the asked precision */
    ECO_EFFECT_DQ,        /* the asked NF4-DQ against NF4: core inverts NF4_PLAIN if not given */
    ECO_EFFECT_COUNT
};

struct eco_alert_request {
    const struct eco_model *model; /* borrowed */
    const struct eco_gpu *gpu;     /* borrowed */
    enum eco_precision precision;
    enum eco_engine engine;
    int batch;
    bool production;       /* the user said it serves requests */
    bool eager;            /* FP8: no compiled kernels (torchao eager, extensions off) */
    bool unverified_build; /* nightly or dev version of torch, torchao, bitsandbytes */
    bool kv_cache_off;     /* use_cache=False */
    double need_gb;        /* memory the estimate says is needed; NAN: not known */
    double crossover_b;    /* estimator's crossover of this precision; NAN: none */
    bool saves_above;      /* ΔE falls with size there: the precision saves above crossover_b */
    bool have[ECO_EFFECT_COUNT];
    struct eco_band effect_pct[ECO_EFFECT_COUNT];
};

/** Rows may share an id where the same trap needs other words for another format: one matches. */
struct eco_alert_rule {
    const char *id; /* "int8-paradox" */
    const char *name;
    bool (*matches)(const struct eco_alert_request *r);
    enum eco_severity severity;
    enum eco_effect effect;     /* cost of leaving it as it is */
    enum eco_effect fix_effect; /* what the fix does */
    const char *why;
    const char *fix;           /* words */
    const char *fix_code;      /* one line */
    const char *measured;      /* the measured range with n, cited */
    const char *evidence;      /* ids or id prefixes of data rows, separated by spaces */
    const char *contradiction; /* what published advice says otherwise; "" none */
    struct eco_alert_words {   /* the same in Chinese; command and evidence have no language */
        const char *name, *why, *fix, *measured, *contradiction;
    } zh;
};

struct eco_alert {
    const struct eco_alert_rule *rule;
    enum eco_severity severity; /* raised or lowered by the computed effect */
    bool have_effect, have_fix_effect;
    struct eco_band effect_pct, fix_effect_pct;
};

size_t eco_alerts_count(void);
const struct eco_alert_rule *eco_alerts_rule(size_t i);       /* NULL past the end */
const struct eco_alert_rule *eco_alerts_find(const char *id); /* first with the id; or NULL */
#define ECO_ALERTS_MAX 16
/**
 * Fills out[0..*n), most severe first; cap >= eco_alerts_count() never truncates. An alert whose
 * own computed effect is no loss is a note (info); one whose fix, computed, would not help either
 * is left out. "below-crossover" needs a computed ΔE over 0 and saves_above, and is silent where
 * int8-paradox, fp8-eager, nf4-batch or nf4-small-model says the same.
 */
int eco_alerts_check(const struct eco_alert_request *r, struct eco_alert *out, size_t cap,
                     size_t *n, struct eco_err *err);

/* ---- mood ------------------------------------------------------------------------------------ */

enum eco_mood { ECO_MOOD_GREEN = 0, ECO_MOOD_YELLOW, ECO_MOOD_ORANGE, ECO_MOOD_RED, ECO_MOOD_GRAY };
const char *eco_mood_name(enum eco_mood m); /* "Green" … */

struct eco_mood_input {
    double excess_pct; /* energy above the best feasible choice, 0 for the best */
    bool have_excess;
    bool trap; /* an alert with severity >= warning, other than batch 1 */
    bool batch1_production;
    bool unverified_build;
    enum eco_basis basis;
    bool own_data; /* any row of this card or precision behind the answer */
};
/** Gray first (unknown ground), then Red > Orange > Yellow > Green by section 6 of the method. */
enum eco_mood eco_mood_of(const struct eco_mood_input *in);

/* ---- diagnosis ------------------------------------------------------------------------------- */

/** ln(1 + ΔE) of a precision against FP16 at the request's batch, as the estimator says. */
struct eco_diagnose_delta {
    enum eco_precision precision;
    double mu_ln, sd_ln;
};

struct eco_diagnose_input {
    const struct eco_physics *physics; /* NULL: built in */
    const struct eco_model *model;
    const struct eco_gpu *gpu;
    const struct eco_workload *work;        /* as the user believes it is */
    double tokens_per_s, power_w, j_per_1k; /* observed; NAN: not given; at least one */
    double need_gb;                         /* NAN: not known */
    double need_fp16_gb;                    /* the same load in 16 bit; 0 or NAN: not known */
    bool eager, kv_cache_off, production, unverified_build;
    const struct eco_diagnose_delta *deltas;
    size_t n_deltas;
    /* This very configuration as measured; then these are the expectation, not the model. */
    struct eco_diagnose_measured {
        bool have;
        double tokens_per_s, j_per_1k; /* NAN: not measured */
        double sd_ln;                  /* of one more session */
    } measured;
};

enum eco_cause {
    ECO_CAUSE_AS_EXPECTED = 0, /* the run is what this configuration gives */
    ECO_CAUSE_INT8_MIXED,      /* default LLM.int8() decomposition */
    ECO_CAUSE_NF4,             /* 4-bit below its crossover, or silently active */
    ECO_CAUSE_FP8_EAGER,
    ECO_CAUSE_BATCH1, /* requests are not batched */
    ECO_CAUSE_OFFLOAD,
    ECO_CAUSE_NO_CACHE,
    ECO_CAUSE_THROTTLED,  /* power or clocks capped: slow at usual energy */
    ECO_CAUSE_UNKNOWN,    /* fits nothing in the table */
    ECO_CAUSE_IMPOSSIBLE, /* the figures cannot be true of this card and configuration */
    ECO_CAUSE_COUNT
};
const char *eco_cause_name(enum eco_cause c); /* "int8-mixed" … */
const char *eco_cause_text(enum eco_cause c); /* root cause, one sentence */

struct eco_diagnose_pattern {
    enum eco_cause cause;
    double probability_frac;                     /* posterior over the table, sums to 1 */
    double expect_tokens_per_s, expect_j_per_1k; /* medians under it; NAN: not computed */
};

/** Which bound an observation breaks; see eco_diagnose.impossible. */
enum eco_impossible {
    ECO_IMPOSSIBLE_NONE = 0,
    ECO_IMPOSSIBLE_ROOFLINE, /* tokens/s over what the datasheet's bandwidth and peak allow */
    ECO_IMPOSSIBLE_POWER,    /* watts well over the boards' limit */
    ECO_IMPOSSIBLE_IDLE      /* watts, or joules a token, far below what idle boards draw */
};
const char *eco_impossible_name(enum eco_impossible i); /* "above-roofline" …, "" for NONE */
const char *eco_impossible_text(enum eco_impossible i); /* one sentence, "" for NONE */

#define ECO_DIAGNOSE_FIXES_MAX 6
struct eco_diagnose_fix {
    const char *id; /* "threshold-0" … */
    const char *text, *code;
    double energy_pct, speed_pct; /* computed change; NAN: not computed */
};

#define ECO_DIAGNOSE_STEPS_MAX 4
struct eco_diagnose {
    double tokens_per_s, power_w, j_per_1k; /* observed, with the third derived from two; NAN */
    double inconsistency_pct; /* of P/throughput against J, when all three came; else NAN */
    struct eco_band expect_tokens_per_s, expect_j_per_1k; /* of the configuration as given */
    double speed_dev_pct, energy_dev_pct;                 /* observed against median; NAN */
    bool speed_outside, energy_outside;                   /* outside the 95 % band */
    struct eco_diagnose_pattern pattern[ECO_CAUSE_COUNT]; /* most probable first */
    size_t n_patterns;
    /* The most probable; UNKNOWN when nothing reaches 0.4; IMPOSSIBLE (then the only pattern) where
     * an observation breaks a bound of the datasheet, whatever the probabilities say. */
    enum eco_cause cause;
    enum eco_confidence confidence; /* high >= 0.8, medium >= 0.5, else low; UNKNOWN: low */
    /* One figure alone that does not settle it: the further one that tells the two most probable
     * causes best apart, and what each of them would show. */
    struct eco_diagnose_decide {
        enum eco_observe { ECO_OBSERVE_NOTHING = 0, ECO_OBSERVE_SPEED, ECO_OBSERVE_POWER } what;
        enum eco_cause cause[2];
        double value[2]; /* tokens/s or W */
    } decide;
    enum eco_impossible impossible; /* NONE: the figures may be true */
    double impossible_bound;        /* tokens/s, W, or J per 1k that it breaks; NAN for NONE */
    struct eco_diagnose_fix fix[ECO_DIAGNOSE_FIXES_MAX];
    size_t n_fixes;
    const char *verify[ECO_DIAGNOSE_STEPS_MAX]; /* ids: "remeasure", "check-power" … */
    size_t n_verify;
};
/** What a verify id asks to do, one sentence; an id that is not known is returned itself. */
const char *eco_verify_text(const char *id);
int eco_diagnose_run(const struct eco_diagnose_input *in, struct eco_diagnose *out,
                     struct eco_err *err);

#ifdef __cplusplus
}
#endif
#endif
