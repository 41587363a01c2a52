/*
 * The default optimizer: every card x precision x batch x context, budgets, one objective; the best
 * configuration, alternatives that really differ, the whole energy-latency Pareto front, and for an
 * impossible set of budgets the closest configuration and which budget binds by how much.
 *
 * Three steps on the caller's memory: eco_optimize_fill computes columns of figures from the
 * predictor, the physics and the memory model; eco_optimize_run ranks columns (any columns: they
 * may come from elsewhere); eco_optimize_describe answers for one candidate in full. Pure: nothing
 * allocated, no state, any thread. Errors: 0 or a negative enum eco_code, outputs untouched.
 * Latency is the time per output token (TPOT); a context is the prompt + generated tokens of one
 * sequence.
 */
#ifndef ECO_OPTIMIZE_H
#define ECO_OPTIMIZE_H

#include "eco_err.h"
#include "eco_physics.h"
#include "eco_predict.h"
#include "eco_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ECO_OPTIMIZE_MAX_AXIS 4096           /* values of one axis */
#define ECO_OPTIMIZE_MAX_CANDIDATES 4000000u /* of one run */
#define ECO_OPTIMIZE_MAX_ALTERNATIVES 8
#define ECO_OPTIMIZE_MAX_GROUPS 4096 /* cards x precisions of one run */

/* X(NAME, "name", unit, floor): what a candidate is judged by; floor: more is better. */
#define ECO_OPTIMIZE_METRICS(X)                                                                    \
    X(ENERGY, "energy_j_per_1k_tokens", "J per 1k tokens", false) /* = mJ per token */             \
    X(LATENCY, "latency_s", "s per token", false)                                                  \
    X(THROUGHPUT, "throughput_tok_s", "tokens per s", true)                                        \
    X(MEMORY, "memory_bytes", "bytes", false)                                                      \
    X(ROOM, "card_memory_share", "share of the card's memory", false)                              \
    X(COST, "cost_usd_per_month", "USD a month", false)                                            \
    X(CARBON, "carbon_kg_per_month", "kg CO2 a month", false)                                      \
    X(QUALITY, "quality_loss_pct", "percent", false)

enum eco_optimize_metric {
#define X(name, text, unit, floor) ECO_OPTIMIZE_##name,
    ECO_OPTIMIZE_METRICS(X)
#undef X
        ECO_OPTIMIZE_METRIC_COUNT
};

const char *eco_optimize_metric_name(enum eco_optimize_metric m);
const char *eco_optimize_metric_unit(enum eco_optimize_metric m);
bool eco_optimize_metric_is_floor(enum eco_optimize_metric m);

enum eco_optimize_objective {
    ECO_OPTIMIZE_MIN_ENERGY = 0,
    ECO_OPTIMIZE_MIN_LATENCY,
    ECO_OPTIMIZE_MAX_THROUGHPUT,
    ECO_OPTIMIZE_MIN_VRAM,
    ECO_OPTIMIZE_MIN_COST,
    ECO_OPTIMIZE_MIN_CARBON,
    ECO_OPTIMIZE_OBJECTIVE_COUNT
};

/** "min_energy" …; parse returns false for any other text. */
const char *eco_optimize_objective_name(enum eco_optimize_objective o);
bool eco_optimize_objective_parse(const char *text, size_t len, enum eco_optimize_objective *out);

/* ---- ranking columns ------------------------------------------------------------------------ */

/** Which values of the axes a candidate has. */
struct eco_optimize_label {
    uint16_t card, precision, batch, context;
};

/** n candidates as columns. A NULL column: nobody's figure is known; NAN in one: this one's. */
struct eco_optimize_table {
    size_t n;
    const struct eco_optimize_label *label;         /* [n] */
    const double *value[ECO_OPTIMIZE_METRIC_COUNT]; /* [n] each, or NULL */
};

struct eco_optimize_query {
    enum eco_optimize_objective objective;
    /* A budget is an upper limit, or a floor for THROUGHPUT. A candidate whose figure is not known
     * does not keep it. ROOM's limit is 1 unless given. */
    bool have[ECO_OPTIMIZE_METRIC_COUNT];
    double limit[ECO_OPTIMIZE_METRIC_COUNT];
    size_t n_alternatives; /* wanted, 0..MAX_ALTERNATIVES */
    const double *batches; /* the batch axis: an alternative's batch differs by a factor of two */
    size_t n_batches;
    size_t n_precisions; /* of the axis, and */
    size_t n_cards;      /* of the axis */
};

enum eco_optimize_role {
    ECO_OPTIMIZE_OTHER_PRECISION, /* same card */
    ECO_OPTIMIZE_OTHER_CARD,
    ECO_OPTIMIZE_OTHER_BATCH /* same card and precision, at least a factor of two away */
};

struct eco_optimize_alternative {
    size_t index;
    enum eco_optimize_role role;
};

/** What one budget did. Valid where the query has it (ROOM: always). */
struct eco_optimize_binding {
    double limit;
    size_t n_over;    /* candidates that break it */
    size_t n_unknown; /* … of which the figure is not known */
    size_t n_only;    /* candidates that break this budget alone: feasible without it */
    bool have_best;
    double best;           /* the best value any candidate has, budgets aside */
    double closest;        /* the closest candidate's value; NAN: not known */
    double closest_excess; /* relative, 0: kept: (value - limit)/limit, floors the other way */
};

struct eco_optimize_result {
    size_t n, feasible;
    size_t n_objective_unknown; /* candidates without the objective's figure: ranked last */
    bool have_best;             /* some candidate keeps every budget */
    size_t best;
    size_t n_alternatives;
    struct eco_optimize_alternative alternative[ECO_OPTIMIZE_MAX_ALTERNATIVES];
    /* The front lies in the caller's array: by energy, over the candidates that keep every budget
     * but the ones on energy and latency (the front is that trade). */
    size_t n_front;
    bool have_closest; /* only without a best one */
    size_t closest;    /* least sum of relative excesses, then by the objective */
    double closest_excess;
    struct eco_optimize_binding binding[ECO_OPTIMIZE_METRIC_COUNT];
};

/** Scratch bytes that a run over n candidates needs, 8-byte aligned memory. */
size_t eco_optimize_scratch_size(size_t n);

/**
 * Ranks `t`: O(n log n) for the front, O(n) for the rest. Ties are broken by energy, memory,
 * latency, then index. `front` has room for `front_cap` indices; when the front is longer,
 * ECO_E_TOO_LARGE (n is always enough). ECO_E_RANGE: a limit that is not finite, below 0, or 0
 * where nothing could keep it; ECO_E_MISSING: no candidates.
 */
int eco_optimize_run(const struct eco_optimize_table *t, const struct eco_optimize_query *q,
                     void *scratch, size_t scratch_size, size_t *front, size_t front_cap,
                     struct eco_optimize_result *out, struct eco_err *err);

/* ---- filling columns ------------------------------------------------------------------------ */

struct eco_optimize_card {
    const struct eco_gpu *gpu; /* borrowed */
    int n_gpus;                /* tensor-parallel, 0: 1 */
    double pue;                /* 0: 1.1 data-centre, 1.0 other (eco_cost.h) */
    double gpu_usd_per_hour;   /* rent of one card; NAN: owned */
};

struct eco_optimize_arm {
    enum eco_precision precision;
    enum eco_engine engine;  /* UNKNOWN: the usual one for the precision */
    double quality_loss_pct; /* NAN: not known */
};

struct eco_optimize_setup {
    const struct eco_model *model;
    const struct eco_predictor *predictor; /* NULL: only 16-bit energies are known */
    const struct eco_physics *physics;     /* NULL: built in */
    const struct eco_optimize_card *cards;
    size_t n_cards;
    const struct eco_optimize_arm *arms;
    size_t n_arms;
    const double *batches; /* whole, 1..ECO_PHYSICS_BATCH_MAX */
    size_t n_batches;
    const double *contexts; /* whole tokens */
    size_t n_contexts;
    bool usual_context;        /* nobody asked for it: at batch 1 the change is as measured */
    int gen_tokens;            /* of each request; at most the context - 1 is used, 0: 256 */
    double requests_per_month; /* 0: eco_cost.h's default */
    double price_usd_per_kwh, carbon_gco2_per_kwh; /* NAN: not known */
};

/** Cards x arms x batches x contexts, 0 when an axis is empty or the product over the limit. */
size_t eco_optimize_count(const struct eco_optimize_setup *s);

/** The caller's columns, each of eco_optimize_count() doubles or NULL (not wanted). */
struct eco_optimize_columns {
    struct eco_optimize_label *label;
    double *value[ECO_OPTIMIZE_METRIC_COUNT];
};

/**
 * Computes the columns. Memory, latency and throughput are exact for every candidate; energies are
 * exact at up to ECO_OPTIMIZE_KNOTS contexts and interpolated between those when there are more (a
 * few percent at most; eco_optimize_describe is exact). Energy and time are reconciled with the
 * cards' power limit, as eco_physics_reconcile does. Combinations that do not run
 * (eco_precision_runs) or that the model cannot hold (a context over its window) are left out:
 * *n_filled <= eco_optimize_count.
 */
#define ECO_OPTIMIZE_KNOTS 8
int eco_optimize_fill(const struct eco_optimize_setup *s, const struct eco_optimize_columns *c,
                      size_t *n_filled, struct eco_err *err);

/** One candidate in full, computed exactly (no interpolation). */
struct eco_optimize_config {
    const struct eco_gpu *gpu;
    enum eco_precision precision;
    enum eco_engine engine;
    double batch, context_tokens;
    int prompt_tokens, gen_tokens;
    bool have_energy;
    struct eco_energy energy;        /* j_per_1k: J per 1 000 tokens = mJ per token */
    bool have_delta;                 /* against 16 bit at the same batch and context */
    struct eco_predict_answer delta; /* valid with have_delta */
    struct eco_latency latency;
    /* Energy times throughput, after eco_physics_reconcile: at most the cards' limit where that is
     * known. NAN without energy. */
    double implied_power_w;
    double memory_bytes, weights_bytes, kv_bytes, room_share;
    double quality_loss_pct;                        /* NAN: not known */
    double cost_usd_per_month, carbon_kg_per_month; /* NAN: not known */
};
int eco_optimize_describe(const struct eco_optimize_setup *s, struct eco_optimize_label label,
                          struct eco_optimize_config *out, struct eco_err *err);

/** eco_precision_runs for any engine: false where the card cannot; true where not known. */
bool eco_optimize_runs(enum eco_precision precision, const struct eco_gpu *gpu);

#ifdef __cplusplus
}
#endif
#endif
