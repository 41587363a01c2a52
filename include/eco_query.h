/*
 * A question in English or Chinese -> an operation and its parameters. Deterministic: tokens, a
 * lexicon, and scored candidates for each parameter; no model, no network, no state.
 * Memory: the caller's work area (eco_query_work_size bytes, aligned as malloc does) and result;
 * nothing is allocated. Names of cards, models and regions come through look-ups of the caller, so
 * that core needs no tables. Threads: any, with one work area each.
 * What is not said stays absent; what is said and not understood is listed, never guessed.
 * Errors: ECO_E_TOO_LARGE when the text is over ECO_QUERY_MAX_BYTES, ECO_E_INVALID without names.
 */
#ifndef ECO_QUERY_H
#define ECO_QUERY_H

#include "eco_err.h"
#include "eco_limits.h"
#include "eco_types.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ECO_QUERY_MAX_BYTES 4096
#define ECO_QUERY_NAME 96
#define ECO_QUERY_MAX_LIST 8
#define ECO_QUERY_MAX_MISSED 12
#define ECO_QUERY_MAX_CONVERSIONS 6
#define ECO_QUERY_DAYS_PER_MONTH 30.0

/* X(NAME, "text"): NONE is "cannot be placed". */
#define ECO_QUERY_OPS(X)                                                                           \
    X(NONE, "none")                                                                                \
    X(ESTIMATE, "estimate")                                                                        \
    X(OPTIMIZE, "optimize")                                                                        \
    X(COMPARE, "compare")                                                                          \
    X(DIAGNOSE, "diagnose")                                                                        \
    X(COST, "cost")                                                                                \
    X(AUDIT, "audit")                                                                              \
    X(MEASURE, "measure")

enum eco_query_op {
#define X(name, text) ECO_QUERY_##name,
    ECO_QUERY_OPS(X)
#undef X
        ECO_QUERY_OP_COUNT
};

/* X(NAME, "text", lo, hi, unit): the numbers a question may carry, and the range believed. */
#define ECO_QUERY_NUMBERS(X)                                                                       \
    X(PARAMS_B, "params_b", ECO_SIZE_MIN_B, ECO_SIZE_MAX_B, "billion")                             \
    X(BATCH, "batch", 1, ECO_BATCH_MAX, "sequences")                                               \
    X(CTX, "ctx", 1, ECO_CTX_MAX, "tokens")                                                        \
    X(PROMPT_TOKENS, "prompt_tokens", 1, ECO_TOKENS_MAX, "tokens")                                 \
    X(GEN_TOKENS, "gen_tokens", 1, ECO_TOKENS_MAX, "tokens")                                       \
    X(REQUESTS, "requests", 1e-3, ECO_ANY_MAX, "requests a month")                                 \
    X(TOKENS, "tokens", 1, ECO_ANY_MAX, "tokens") /* all, or of a month */                         \
    X(HOURS_PER_DAY, "hours_per_day", 1e-3, 24, "hours")                                           \
    X(PRICE, "price", 0, ECO_PRICE_MAX, "USD per kWh")                                             \
    X(GPU_USD_PER_HOUR, "gpu_usd_per_hour", 1e-6, ECO_RENT_MAX, "USD per hour")                    \
    X(PUE, "pue", 1, ECO_PUE_MAX, "")                                                              \
    X(CARBON, "carbon_intensity", 0, ECO_CARBON_MAX, "g CO2 per kWh")                              \
    X(MAX_LATENCY_MS, "max_latency_ms", 1e-6, ECO_LATENCY_MS_MAX, "ms per token")                  \
    X(MAX_VRAM_GB, "max_vram_gb", 1e-3, ECO_VRAM_GB_MAX, "GB")                                     \
    X(THROUGHPUT, "throughput", 1e-6, ECO_THROUGHPUT_MAX, "tokens per s") /* observed */           \
    X(POWER_W, "power_w", 1e-3, ECO_POWER_W_MAX, "W")                     /* observed */           \
    X(ENERGY, "energy_j_per_1k", 1e-6, ECO_ENERGY_MAX, "J per 1k tokens") /* observed */           \
    X(N_GPUS, "n_gpus", 2, 1e6, "cards")

enum eco_query_number {
#define X(name, text, lo, hi, unit) ECO_QUERY_##name,
    ECO_QUERY_NUMBERS(X)
#undef X
        ECO_QUERY_NUMBER_COUNT
};

/** A card as a look-up understood it. */
struct eco_query_card {
    enum eco_arch arch;        /* UNKNOWN: not a card, or not one with a class */
    char name[ECO_QUERY_NAME]; /* for --gpu; "": only the class is known */
};

struct eco_query_model {
    char name[ECO_QUERY_NAME]; /* for --model */
    double params_b;
    bool moe; /* its size is not what the name says: the table's size counts */
};

/** Look-ups; each false on a miss. Texts are not NUL-terminated. */
struct eco_query_names {
    void *self;
    bool (*card)(void *self, const char *text, size_t len, struct eco_query_card *out);
    bool (*model)(void *self, const char *text, size_t len, struct eco_query_model *out);
    bool (*region)(void *self, const char *text, size_t len, char out[ECO_QUERY_NAME]);
};

/** Something said that was not used, with the reason (static text). */
struct eco_query_missed {
    char text[ECO_QUERY_NAME];
    const char *why;  /* "outside" with the bounds of `bounds` */
    const char *what; /* "outside": the number's name ("batch"), its unit; else NULL */
    const char *unit;
    double lo, hi;
};

/** A volume put into other units; `rule` is static text: "characters at 2 a token". */
struct eco_query_conversion {
    const char *from_unit, *to_unit, *rule;
    double from, to;
};

/** The question as understood. Strings are "" when absent. */
struct eco_query {
    enum eco_query_op op;
    unsigned have; /* bit of enum eco_query_number */
    double number[ECO_QUERY_NUMBER_COUNT];
    char model[ECO_QUERY_NAME];
    char gpu[ECO_QUERY_NAME]; /* as --gpu takes it */
    enum eco_arch arch;
    char gpus[ECO_QUERY_MAX_LIST][ECO_QUERY_NAME]; /* when several are named */
    size_t n_gpus;
    double sizes[ECO_QUERY_MAX_LIST]; /* when several are named, billions */
    size_t n_sizes;
    const char *precision;              /* class: FP32 FP16 FP8 INT8 NF4 …; NULL: absent */
    enum eco_precision precision_exact; /* NONE: absent */
    enum eco_precision precisions[ECO_QUERY_MAX_LIST]; /* when several are asked about */
    size_t n_precisions;
    bool counted; /* "all 5 precisions": the five of the skill, none was named */
    char region[ECO_QUERY_NAME];
    enum eco_engine engine;
    bool production, eager, nightly, no_kv_cache;
    bool explain; /* asks why or what: an answer over sizes helps more than one number */
    struct eco_query_missed missed[ECO_QUERY_MAX_MISSED];
    size_t n_missed;
    struct eco_query_conversion conversions[ECO_QUERY_MAX_CONVERSIONS];
    size_t n_conversions;
};

/** Bytes of the work area. About 150 kB. */
size_t eco_query_work_size(void);

/** Reads text[0..len), UTF-8 (bad bytes count as blanks). Linear in len times the lexicon. */
int eco_query_parse(const char *text, size_t len, const struct eco_query_names *names, void *work,
                    struct eco_query *out, struct eco_err *err);

const char *eco_query_op_name(enum eco_query_op op);
const char *eco_query_number_name(enum eco_query_number n);
bool eco_query_has(const struct eco_query *q, enum eco_query_number n);

#ifdef __cplusplus
}
#endif
#endif
