/*
 * The steps that operations are made of, each with a name a non-programmer can say: understand the
 * question, predict, price, warn, put into words. Everything lives in the request's arena.
 */
#ifndef ECO_OPS_STEPS_H
#define ECO_OPS_STEPS_H

#include "eco_capability.h"
#include "eco_memory.h"
#include "eco_physics.h"
#include "eco_predict.h"
#include "params.h"
#include "records.h"

#define ECO_MAX_NOTES 24
/* A sign change far beyond every measured size is arithmetic, not advice: it is not told. */
#define ECO_CROSSOVER_SHOWN_B 100.0
#define ECO_DEFAULT_GPU "RTX 4090D" /* the published default, said in a note when it is used */

struct eco_notes {
    const char *v[ECO_MAX_NOTES];
    size_t n;
};

struct eco_region;

/* X(NAME, parameter): what an answer rests on and a default may stand for, in the order told. */
#define ECO_ASSUMPTIONS(X)                                                                         \
    X(MODEL, "model") /* a size that stands for any: only ask does that */                         \
    X(GPU, "gpu")                                                                                  \
    X(PRECISION, "precision")                                                                      \
    X(ENGINE, "engine")                                                                            \
    X(BATCH, "batch")                                                                              \
    X(PROMPT, "prompt_tokens")                                                                     \
    X(GEN, "gen_tokens")                                                                           \
    X(CTX, "ctx")                                                                                  \
    X(REQUESTS, "requests")                                                                        \
    X(REGION, "region")                                                                            \
    X(PRICE, "price")                                                                              \
    X(CARBON, "carbon_intensity")                                                                  \
    X(PUE, "pue")

enum eco_assumption {
#define X(name, text) ECO_ASSUMPTION_##name,
    ECO_ASSUMPTIONS(X)
#undef X
        ECO_ASSUMPTION_COUNT
};

/** What nobody said, as bits. */
enum eco_assumed {
#define X(name, text) ECO_ASSUMED_##name = 1 << ECO_ASSUMPTION_##name,
    ECO_ASSUMPTIONS(X)
#undef X
        ECO_ASSUMED_ALL = (1 << ECO_ASSUMPTION_COUNT) - 1,
    ECO_ASSUMED_TARIFF =
        ECO_ASSUMED_REGION | ECO_ASSUMED_PRICE | ECO_ASSUMED_CARBON | ECO_ASSUMED_PUE
};

/** The question as understood: which model, which card, how it is run. */
struct eco_question {
    struct eco_ctx *ctx;
    struct eco_model model;
    bool known_model;          /* by name or from files; else a size only */
    const struct eco_gpu *gpu; /* NULL: only a class, or a card that is not in the table */
    struct eco_gpu class_gpu;  /* stands in for a card when only the class is known */
    const char *gpu_name;      /* as shown; NULL when only a class was given */
    enum eco_arch arch;
    enum eco_precision precision;
    enum eco_engine engine; /* UNKNOWN: the usual one of each precision */
    double batch, context_tokens;
    bool context_given;
    int prompt_tokens, gen_tokens;
    const struct eco_args_risk *risk;   /* may be NULL */
    const struct eco_args_money *money; /* may be NULL */
    const struct eco_region *region;    /* looked up once, by the first bill */
    struct eco_notes notes;
    unsigned assumed; /* enum eco_assumed: nobody said it */
    bool listing;     /* precisions side by side: a refused one is listed, not noted */
};

/** What the engine says about one precision at the question's batch and context. */
struct eco_answer {
    enum eco_precision precision;
    enum eco_engine engine;
    bool baseline;      /* 16 bit: the change is zero by definition */
    const char *unsure, /* not known whether it runs, and why; NULL: known */
        *cannot_run;    /* why this card or engine does not run it; NULL: it does, or not known */
    struct eco_predict_answer change;
    bool have_energy, have_latency;
    struct eco_energy fp16, energy;
    struct eco_latency latency;
    struct eco_memory memory;
};

/* ---- understand ---------------------------------------------------------------------------- */
int eco_step_target(struct eco_ctx *ctx, const struct eco_args_target *t, struct eco_question *q,
                    struct eco_err *err);
/** ECO_E_MISSING where only a class is known and absolute figures (joules, dollars) are asked. */
int eco_step_need_card(const struct eco_question *q, struct eco_err *err);
int eco_step_load(const struct eco_args_load *l, struct eco_question *q, struct eco_err *err);
/** The class of this name; an error that names the nearest, or those there are. */
int eco_step_class(const char *name, enum eco_arch *out, struct eco_err *err);
/** What else is known of the deployment and its tariffs; after eco_step_load. */
void eco_step_circumstances(struct eco_question *q, const struct eco_args_risk *risk,
                            const struct eco_args_money *money);
/** Marks what `args` of `verb` leave to a default, of the kinds in `mask`; after the target. */
void eco_step_assume(struct eco_question *q, const char *verb, const void *args, unsigned mask);
/** NULL text: `fallback`. */
int eco_step_precision(const char *text, enum eco_precision fallback, const char *arg,
                       enum eco_precision *out, struct eco_err *err);
void eco_step_note(struct eco_question *q, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
struct eco_strs eco_step_notes(const struct eco_question *q);
void eco_step_fill_input(const struct eco_question *q, struct eco_res_input *out);

/* ---- compute ------------------------------------------------------------------------------- */
/** The predictor's question for this precision. */
struct eco_predict_query eco_step_query(const struct eco_question *q, enum eco_precision p);
/** How it is run, for the physics. */
struct eco_workload eco_step_workload(const struct eco_question *q, enum eco_precision p);
int eco_step_answer(struct eco_question *q, enum eco_precision precision, struct eco_answer *out,
                    struct eco_err *err);
/** The same without anchors and crossings that `parts` (enum eco_predict_part) does not name. */
int eco_step_answer_parts(struct eco_question *q, enum eco_precision precision, unsigned parts,
                          struct eco_answer *out, struct eco_err *err);
/** Perplexity above the 16-bit baseline on the same text; absent where nobody measured it. */
struct eco_quality {
    struct eco_opt loss_pct; /* median */
    double lo_pct, hi_pct;   /* of the n runs */
    int n;
    bool same_model; /* else runs of other models stand in */
};
void eco_step_quality(const struct eco_question *q, enum eco_precision p, struct eco_quality *out);
const char *eco_step_quality_words(struct eco_ctx *ctx, const struct eco_quality *q);
/** Traps the configuration matches; effects computed for this very card and size. */
int eco_step_traps(struct eco_ctx *ctx, struct eco_list *out, struct eco_err *err); /* all known */
int eco_step_alerts(struct eco_question *q, const struct eco_answer *a, struct eco_list *out,
                    bool *trap, struct eco_err *err);
/** How 16 bit, or another precision, is switched on in that engine; NULL: not in one line. */
const char *eco_step_code(enum eco_precision p, enum eco_engine engine);
/** What is left beside 16 bit for that trap, in words; NULL: nothing. */
const char *eco_step_other_way(struct eco_ctx *ctx, const char *trap_id);
/** Is one mood hotter than another? Gray is none. */
bool eco_step_worse(const char *mood, const char *than);
/** Dollars a month of each alert, given what the configuration costs a month with it. */
void eco_step_price_alerts(struct eco_list *alerts, struct eco_opt month_usd);
/** Traps beside this configuration that are not among `told`: priced, effects computed. */
struct eco_list eco_step_pitfalls(struct eco_question *q, const struct eco_list *told);
/**
 * The mood's word. `excess_pct`: energy above the best choice that was looked at, 0 for the best;
 * `own_data`: see eco_step_own_data.
 */
/** Is anything of this card, or on its vendor's cards of this precision, behind the answer? */
bool eco_step_own_data(const struct eco_question *q, const struct eco_answer *a);
/* The excess that the mood is about: what does not fit runs from host memory, as the alert says. */
double eco_step_excess(const struct eco_question *q, const struct eco_answer *a,
                       const struct eco_list *alerts, double excess_pct);
const char *eco_step_mood(const struct eco_question *q, enum eco_basis basis, bool trap,
                          struct eco_opt excess_pct, bool own_data);
#define ECO_MEASURED_SESSIONS 16
/** This very configuration as measured: model, card, precision, engine and batch, at any length. */
struct eco_measured {
    double tokens_per_s, j_per_1k; /* median of the sessions, NAN: not in them */
    double sd_ln;                  /* of one more session */
    int sessions, trials;
    double prompt_lo, prompt_hi, gen_lo, gen_hi; /* tokens of a sequence; lo > hi: not stated */
    const char *session[ECO_MEASURED_SESSIONS];
};
bool eco_step_measured(const struct eco_question *q, enum eco_precision p, enum eco_engine engine,
                       struct eco_measured *out);
/** The `measured_…` fields of `out`; NULL where `m` is. */
struct eco_res_known;
int eco_step_known(struct eco_ctx *ctx, const struct eco_measured *m, struct eco_res_known *out);
/** The rows of one model and precision, looked up once for many cards and batches. */
struct eco_own_rows {
    enum eco_precision precision;
    size_t n;
    const uint16_t *row; /* for eco_dataset_row, in the question's arena */
};
struct eco_own_rows eco_step_own_rows(const struct eco_question *q, enum eco_precision p);
bool eco_step_measured_of(const struct eco_own_rows *own, const struct eco_gpu *gpu,
                          enum eco_engine engine, double batch, struct eco_measured *out);
/** The measured rows of this precision that are closest to the question; eco_res_evidence. */
struct eco_list eco_step_evidence(struct eco_question *q, enum eco_precision p);
/** How the answer is known, by which rows, and what it does not cover. */
void eco_step_transparency(struct eco_question *q, enum eco_precision p, enum eco_basis basis,
                           struct eco_res_transparency *out);
/** Board power measured on this card, of this precision, batch and size; absent: not measured. */
struct eco_span eco_step_power_range(const struct eco_question *q, enum eco_precision p);
struct eco_opt eco_step_gpu_util(const struct eco_question *q, enum eco_precision p);
/** Everyday equivalents of an amount, as sentences with the factor's source. */
struct eco_strs eco_step_equivalents(struct eco_ctx *ctx, double kwh, double kgco2);
/** 100 (exp(y) - 1) of y ~ N(mu, sd). */
void eco_step_pct_band(double mu, double sd, struct eco_band *out);
/** The month's bill of `a`; `fp16` (may be NULL) is what it is compared with. */
int eco_step_bill(struct eco_question *q, const struct eco_answer *a, const struct eco_answer *fp16,
                  struct eco_res_bill *out, struct eco_err *err);
/** Only the dollars of that month. */
int eco_step_month_usd(struct eco_question *q, const struct eco_answer *a, struct eco_opt *out,
                       struct eco_err *err);
bool eco_step_has_money(const struct eco_question *q);

/* ---- into results and words ---------------------------------------------------------------- */
struct eco_list eco_step_anchors(struct eco_question *q, const struct eco_predict_answer *p);
const struct eco_res_band *eco_step_band(struct eco_question *q, const struct eco_band *b);
const struct eco_res_energy *eco_step_energy(struct eco_question *q, const struct eco_answer *a);
const struct eco_res_latency *eco_step_latency(struct eco_question *q, const struct eco_answer *a);
/**
 * Mean board power that energy and speed imply together. Absent where that is no possible power of
 * this card. Never a limit used as power.
 */
struct eco_opt eco_step_implied_power(struct eco_question *q, const struct eco_answer *a);
const struct eco_res_memory *eco_step_memory(struct eco_question *q, const struct eco_answer *a);
/** Pairs and sessions in the default predictor. */
size_t eco_step_data_points(void);
size_t eco_step_data_sessions(void);
void eco_step_provenance(struct eco_question *q, int n_points, int n_sessions,
                         struct eco_res_provenance *out);
const char *eco_step_verdict(struct eco_question *q, const struct eco_answer *a);
const char *eco_step_reason(struct eco_question *q, const struct eco_answer *a);
/** "above" or "below": the side of a crossover that saves, by the curve, not by one model. */
const char *eco_step_saving_side(bool saves_above);
/** True when it fits on one card (eco_memory_room), or no card is known. */
bool eco_step_fits(const struct eco_question *q, const struct eco_answer *a);
/** The same for a number of bytes. */
bool eco_step_fits_bytes(const struct eco_question *q, double bytes);
/** Says the rule of fitting with this card's figures, once. */
void eco_step_note_fit(struct eco_question *q);
/** "43.6 GB needed, a run may fill 23.2 GB of RTX 4090" */
const char *eco_step_too_large(struct eco_question *q, double bytes);
/** "RTX 4090", or "an ada card". */
const char *eco_step_where(const struct eco_question *q);

/** A rounded number as text in the arena: digits follow the width of its 95 % range. */
const char *eco_step_pct(struct eco_ctx *ctx, double v, double lo, double hi);
char *eco_step_fmt(struct eco_ctx *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** v with `significant` digits as text, never an exponent. */
const char *eco_step_num(struct eco_ctx *ctx, double v, int significant);
double eco_step_round(double v, int significant); /* significant digits, for results */

struct eco_opt eco_some(double v); /* absent when not finite */
struct eco_span eco_span_of(double lo, double hi);

#endif
