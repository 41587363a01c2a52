/*
 * Known energy traps: the one table, its conditions, and the mood rule. Effects are the caller's
 * own estimates; the ranges cited here are what was measured, on gross board power, with n.
 */
#include "eco_alerts.h"

#include <math.h>
#include <string.h>

#define SMALL_MODEL_B 3.0 /* the published rule of thumb; the crossover rule is the exact one */
#define EFFECT_CRITICAL_PCT 30.0
#define EFFECT_WARNING_PCT 10.0
#define GREEN_PCT 10.0
#define YELLOW_PCT 30.0
#define ORANGE_PCT 150.0

static bool eager_engine(const struct eco_alert_request *r)
{
    return r->engine == ECO_ENGINE_TRANSFORMERS || r->engine == ECO_ENGINE_UNKNOWN;
}

static bool is_nf4(const struct eco_alert_request *r)
{
    return eco_precision_family(r->precision) == ECO_FAM_BNB_NF4;
}

static bool is_int8_mixed(const struct eco_alert_request *r)
{
    return r->precision == ECO_PREC_INT8_MIXED;
}

static bool is_small_nf4(const struct eco_alert_request *r)
{
    return is_nf4(r) && r->model != NULL && r->model->params_b <= SMALL_MODEL_B && r->batch <= 1;
}

static bool is_batched_nf4(const struct eco_alert_request *r)
{
    return is_nf4(r) && r->batch >= 2;
}

static bool is_batch1(const struct eco_alert_request *r)
{
    return r->production && r->batch <= 1;
}

static bool is_fp8_eager(const struct eco_alert_request *r)
{
    return r->precision == ECO_PREC_FP8 && (r->eager || eager_engine(r));
}

/*
 * Only where the curve falls with size, so that smaller models pay: there is no such trap below a
 * crossover that quantization saves beneath. And only where this model's own figure is a loss,
 * since the crossover of a wide curve proves nothing about one point. Traps with a mechanism of
 * their own have already said so.
 */
static bool is_below_crossover(const struct eco_alert_request *r)
{
    bool quantized =
        r->precision != ECO_PREC_NONE && eco_precision_family(r->precision) != ECO_FAM_FLOAT;
    bool pays = r->have[ECO_EFFECT_PRECISION] && r->effect_pct[ECO_EFFECT_PRECISION].median > 0;
    bool below = r->model != NULL && isfinite(r->crossover_b) && r->saves_above &&
                 r->model->params_b < r->crossover_b;
    return quantized && pays && below && !is_int8_mixed(r) && !is_fp8_eager(r) &&
           !is_batched_nf4(r) && !is_small_nf4(r);
}

static bool is_below_nf4(const struct eco_alert_request *r)
{
    return is_nf4(r) && is_below_crossover(r);
}

static bool is_below_int8(const struct eco_alert_request *r)
{
    return eco_precision_family(r->precision) == ECO_FAM_BNB_INT8 && is_below_crossover(r);
}

static bool is_below_gguf(const struct eco_alert_request *r)
{
    return eco_precision_family(r->precision) == ECO_FAM_GGUF && is_below_crossover(r);
}

static bool is_below_served(const struct eco_alert_request *r)
{
    return !is_below_nf4(r) && !is_below_int8(r) && !is_below_gguf(r) && is_below_crossover(r);
}

static bool is_unverified(const struct eco_alert_request *r)
{
    return r->unverified_build;
}

static bool is_double_quant(const struct eco_alert_request *r)
{
    return r->precision == ECO_PREC_NF4_DQ;
}

static bool is_too_large(const struct eco_alert_request *r)
{
    return r->gpu != NULL && r->need_gb * 1e9 > eco_gpu_memory_bytes(r->gpu); /* false for NAN */
}

static bool is_cache_off(const struct eco_alert_request *r)
{
    return r->kv_cache_off;
}

/* What the crossover's rows have in common; they differ in command and evidence by format. */
#define CROSSOVER                                                                                  \
    .id = "below-crossover", .name = "below the crossover size of this card",                      \
    .severity = ECO_SEV_WARNING, .effect = ECO_EFFECT_PRECISION, .fix_effect = ECO_EFFECT_TO_FP16, \
    .why = "on this card this precision starts to save energy only above the crossover size",      \
    .fix = "run 16 bit below the crossover, if it fits"
#define UNPUBLISHED                                                                                \
    "no crossover of this format is published: the size is this estimator's own, from the "        \
    "measured pairs behind the estimate"

static const struct eco_alert_rule rules[] = {
    {.id = "int8-paradox",
     .name = "INT8 energy paradox",
     .matches = is_int8_mixed,
     .severity = ECO_SEV_CRITICAL,
     .effect = ECO_EFFECT_PRECISION,
     .fix_effect = ECO_EFFECT_INT8_FIX,
     .why = "default LLM.int8() splits every linear layer into an INT8 part and a 16-bit outlier "
            "part and waits for the host in between",
     .fix = "run 16 bit if it fits; where memory forces 8 bit, set the threshold to 0.0, which "
            "costs less than the default and still more than 16 bit",
     .fix_code = "BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)",
     .measured = "gross, batch 1 to 8: +40 to +595 % against FP16 (39 rows A-C, 6 cards, "
                 "11 sessions; sessions differ by a factor of two)",
     .evidence = "a800-mistral-7b-instruct-v0-3-int8-mixed-b1-2026-02-13-a800-bs-validation "
                 "rtx-4090d-mistral-7b-instruct-v0-3-int8-mixed-b1-2026-02-12-rtx4090d-phase2",
     .contradiction = "threshold=0.0 is published as saving 3 to 8 % against FP16: that is net of "
                      "idle on one card. Gross it costs +3 to +11 % on the RTX 4090D at 6-7B and "
                      "+33 % on the A800 (up to +148 % at 0.5B), yet beats default INT8 in every "
                      "pair"},
    {.id = "nf4-small-model",
     .name = "small model in NF4",
     .matches = is_small_nf4,
     .severity = ECO_SEV_WARNING,
     .effect = ECO_EFFECT_PRECISION,
     .fix_effect = ECO_EFFECT_TO_FP16,
     .why = "decoding 4-bit codes costs more than the bytes it saves while the host, not the "
            "memory, sets the pace",
     .fix = "run 16 bit if it fits",
     .fix_code = "AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)",
     .measured = "gross, up to 4B, batch 1: -15 to +84 %, median +24 % (31 rows A-C, 5 cards); "
                 "the -15 % was not reproduced",
     .evidence = "rtx-5090-tinyllama-1-1b-chat-v1-0-nf4-b1-2026-01-15-rtx5090-phase1",
     .contradiction = ""},
    {CROSSOVER, .matches = is_below_nf4,
     .fix_code = "AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)",
     .measured = "published NF4 crossovers: Turing 2.1 to 3.4B, Ada 2.5 to 4.2B, Blackwell 1.8 to "
                 "5.2B; on the A800 (Ampere) NF4 changes -4 to +3 % at 7-14B: no crossover",
     .evidence = "a800-sxm4-80gb-qwen2-5-14b-nf4-b1-2026-02-26-a800-large-models",
     .contradiction = "one threshold a class is published; the sources disagree by a factor of two "
                      "to three, so this card's own estimate is used instead"},
    {CROSSOVER, .matches = is_below_int8,
     .fix_code = "AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)",
     .measured = UNPUBLISHED, .evidence = "", .contradiction = ""},
    {CROSSOVER, .matches = is_below_gguf, .fix_code = "llama-server -m MODEL-F16.gguf",
     .measured = UNPUBLISHED, .evidence = "", .contradiction = ""},
    {CROSSOVER, .matches = is_below_served, .fix_code = "vllm serve MODEL --dtype bfloat16",
     .measured = UNPUBLISHED, .evidence = "", .contradiction = ""},
    {.id = "nf4-batch",
     .name = "NF4 with more than one sequence",
     .matches = is_batched_nf4,
     .severity = ECO_SEV_CRITICAL,
     .effect = ECO_EFFECT_PRECISION,
     .fix_effect = ECO_EFFECT_TO_FP16,
     .why = "bitsandbytes multiplies 4-bit weights directly only for one row; from two rows on it "
            "unpacks every matrix to 16 bit first",
     .fix = "serve 16 bit, or a 4-bit format with a batched kernel (GPTQ, AWQ with Marlin)",
     .fix_code = "vllm serve MODEL --dtype bfloat16",
     .measured = "gross, batch 2 to 128: +28 to +210 % against 16 bit (5 rows on T4 and RTX PRO "
                 "6000, 10 pairs on A2), where batch 1 of the A2 saved 25 %",
     .evidence = "t4-qwen2-5-3b-nf4-b2-2026-04-17-t4-kaggle "
                 "rtx-pro-6000-yi-1-5-6b-nf4-b8-2026-06-03-rtxpro6000-phase",
     .contradiction = "bitsandbytes releases of 2026-05 on change batches 2 to 64: measure yours"},
    {.id = "batch1-production",
     .name = "batch 1 in production",
     .matches = is_batch1,
     .severity = ECO_SEV_WARNING,
     .effect = ECO_EFFECT_NONE,
     .fix_effect = ECO_EFFECT_BATCH_UP,
     .why = "every generated token reads all weights once, whether one sequence uses them or many",
     .fix = "batch concurrent requests (continuous batching does it by itself)",
     .fix_code = "vllm serve MODEL --max-num-seqs 32",
     .measured = "A800, 7B: -84 % at batch 8 and -95.7 % at batch 64 against batch 1 (INT8-PURE, "
                 "n = 10 each); FP16 -86 % at batch 8 on A800 and RTX PRO 6000",
     .evidence = "a800-sweep-b1 a800-sweep-b8 a800-sweep-b64",
     .contradiction = "a published optimizer assumes that only 35 % of the energy is shared and "
                      "so claims -34 % at batch 32, where -94 % was measured"},
    {.id = "fp8-eager",
     .name = "FP8 without compiled kernels",
     .matches = is_fp8_eager,
     .severity = ECO_SEV_CRITICAL,
     .effect = ECO_EFFECT_PRECISION,
     .fix_effect = ECO_EFFECT_TO_FP16,
     .why = "without fused kernels every weight is converted back to 16 bit for each token",
     .fix = "run 16 bit here, or FP8 in an engine that has kernels for it",
     .fix_code = "vllm serve MODEL --quantization fp8",
     .measured = "torchao eager, extensions off, RTX 5090, 0.5-7B, batch 1: +158 to +701 % "
                 "(4 rows, one session, n = 3)",
     .evidence = "rtx-5090-qwen2-5-7b-instruct-fp8-b1-2026-03-17-rtx5090-five-precision",
     .contradiction = "that is one kernel path, not FP8: in vLLM large mixtures go from +58 % at "
                      "batch 8 to -15 % at 256 (44 pairs)"},
    {.id = "unverified-build",
     .name = "nightly or dev build",
     .matches = is_unverified,
     .severity = ECO_SEV_WARNING,
     .effect = ECO_EFFECT_NONE,
     .fix_effect = ECO_EFFECT_NONE,
     .why = "development builds may lack compiled extensions and fall back to slow paths silently",
     .fix = "use a release, and measure after every change of version",
     .fix_code = "pip install --upgrade torch bitsandbytes",
     .measured = "the same INT8 code on the same card model cost a factor of two more in one "
                 "session than in another (RTX 4090, July and August); the cause is not settled",
     .evidence = "rtx-4090-qwen2-7b-int8-mixed-b1-2026-07-24-rtx4090-container-july "
                 "rtx-4090-qwen2-7b-int8-mixed-b1-2026-08-20-rtx4090-int8-repeats",
     .contradiction = ""},
    {.id = "double-quant",
     .name = "double quantization",
     .matches = is_double_quant,
     .severity = ECO_SEV_WARNING,
     .effect = ECO_EFFECT_DQ,
     .fix_effect = ECO_EFFECT_NF4_PLAIN,
     .why = "the scales are quantized too, so each block is decoded twice; memory falls by 0.37 "
            "bits a weight only",
     .fix = "switch double quantization off unless those bits decide whether the model fits",
     .fix_code = "BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_use_double_quant=False)",
     .measured = "gross, batch 1: +14 to +18 % against plain NF4 in the same session (6 pairs, "
                 "RTX 4090D and A800); no difference in vLLM on A2 (12 pairs)",
     .evidence = "a800-sxm4-80gb-qwen2-5-14b-nf4-dq-b1-2026-02-26-a800-large-models "
                 "rtx-4090d-tinyllama-1-1b-chat-v1-0-nf4-dq-b1-2026-02-25-rtx4090d-5config",
     .contradiction = ""},
    {.id = "offload",
     .name = "model larger than the card's memory",
     .matches = is_too_large,
     .severity = ECO_SEV_CRITICAL,
     .effect = ECO_EFFECT_OFFLOAD,
     .fix_effect = ECO_EFFECT_NONE,
     .why = "weights outside the card cross the bus for every token while the board stays powered",
     .fix = "take whatever fits whole: fewer bits a weight where those fit, a smaller model, a "
            "shorter context, a smaller batch, or more memory",
     .fix_code = "ecocompute optimize MODEL GPU",
     .measured = "no energy of an offloaded run is in the data; the effect is modelled from bus "
                 "and memory bandwidth",
     .evidence = "",
     .contradiction = ""},
    {.id = "kv-cache-off",
     .name = "KV cache switched off",
     .matches = is_cache_off,
     .severity = ECO_SEV_CRITICAL,
     .effect = ECO_EFFECT_NO_CACHE,
     .fix_effect = ECO_EFFECT_NONE,
     .why = "without the cache every token computes the whole context again",
     .fix = "switch the cache on",
     .fix_code = "model.generate(..., use_cache=True)",
     .measured = "not measured in the data; the effect is modelled and grows with the context",
     .evidence = "",
     .contradiction = ""},
};

_Static_assert(sizeof rules / sizeof rules[0] <= ECO_ALERTS_MAX, "raise ECO_ALERTS_MAX");

const char *eco_severity_name(enum eco_severity s)
{
    static const char *const names[] = {"info", "warning", "critical"};
    return (unsigned)s < 3u ? names[s] : "unknown";
}

size_t eco_alerts_count(void)
{
    return sizeof rules / sizeof rules[0];
}

const struct eco_alert_rule *eco_alerts_rule(size_t i)
{
    return i < eco_alerts_count() ? &rules[i] : NULL;
}

const struct eco_alert_rule *eco_alerts_find(const char *id)
{
    for (size_t i = 0; id != NULL && i < eco_alerts_count(); i++) {
        if (strcmp(rules[i].id, id) == 0) {
            return &rules[i];
        }
    }
    return NULL;
}

/* The computed effect outranks the rule: a trap that saves here is only worth a note. */
static enum eco_severity severity_of(const struct eco_alert *a)
{
    if (!a->have_effect) {
        return a->rule->severity;
    }
    double median = a->effect_pct.median;
    if (median >= EFFECT_CRITICAL_PCT) {
        return ECO_SEV_CRITICAL;
    }
    if (median >= EFFECT_WARNING_PCT || (median > 0 && a->effect_pct.lo80 > 0)) {
        return ECO_SEV_WARNING;
    }
    return ECO_SEV_INFO;
}

/* The same ratio seen from the other side: 1 / (1 + x), ends swapped. */
static struct eco_band inverse_pct(const struct eco_band *b)
{
    struct eco_band out = {b->median, b->hi50, b->lo50, b->hi80, b->lo80, b->hi95, b->lo95};
    double *v[] = {&out.median, &out.lo50, &out.hi50, &out.lo80, &out.hi80, &out.lo95, &out.hi95};
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        *v[i] = 100 * (1 / (1 + *v[i] / 100) - 1);
    }
    return out;
}

static bool effect_of(const struct eco_alert_request *r, enum eco_effect e, struct eco_band *out)
{
    if (e == ECO_EFFECT_NONE) {
        return false;
    }
    if (r->have[e]) {
        *out = r->effect_pct[e];
        return true;
    }
    bool inverse = e == ECO_EFFECT_DQ && r->have[ECO_EFFECT_NF4_PLAIN] &&
                   r->effect_pct[ECO_EFFECT_NF4_PLAIN].lo95 > -100;
    if (inverse) {
        *out = inverse_pct(&r->effect_pct[ECO_EFFECT_NF4_PLAIN]);
    }
    return inverse;
}

/* False: the figures say that there is nothing to lose here and nothing to gain by the fix. */
static bool fill(struct eco_alert *a, const struct eco_alert_rule *rule,
                 const struct eco_alert_request *r)
{
    memset(a, 0, sizeof *a);
    a->rule = rule;
    a->have_effect = effect_of(r, rule->effect, &a->effect_pct);
    a->have_fix_effect = effect_of(r, rule->fix_effect, &a->fix_effect_pct);
    a->severity = severity_of(a);
    bool loss = a->have_effect && a->effect_pct.median > 0;
    return loss || !a->have_fix_effect || a->fix_effect_pct.median < 0;
}

int eco_alerts_check(const struct eco_alert_request *r, struct eco_alert *out, size_t cap,
                     size_t *n, struct eco_err *err)
{
    if (r == NULL || out == NULL || n == NULL) {
        return eco_err_set(err, ECO_E_MISSING, "request", "a request and room for alerts needed");
    }
    if (r->batch < 0) {
        return eco_err_set(err, ECO_E_RANGE, "batch", "batch must not be negative");
    }
    size_t count = 0;
    for (size_t i = 0; i < eco_alerts_count() && count < cap; i++) {
        if (!rules[i].matches(r)) {
            continue;
        }
        struct eco_alert a;
        if (!fill(&a, &rules[i], r)) {
            continue;
        }
        size_t at = count++;
        /* Insertion keeps the table's order among equals. */
        for (; at > 0 && out[at - 1].severity < a.severity; at--) {
            out[at] = out[at - 1];
        }
        out[at] = a;
    }
    *n = count;
    return 0;
}

const char *eco_mood_name(enum eco_mood m)
{
    static const char *const names[] = {"Green", "Yellow", "Orange", "Red", "Gray"};
    return (unsigned)m < 5u ? names[m] : "Gray";
}

enum eco_mood eco_mood_of(const struct eco_mood_input *in)
{
    bool unknown = in->basis == ECO_BASIS_UNAVAILABLE ||
                   (in->basis == ECO_BASIS_EXTRAPOLATED && !in->own_data);
    if (unknown || in->unverified_build) {
        return ECO_MOOD_GRAY;
    }
    double excess = in->have_excess ? in->excess_pct : 0;
    if (excess > ORANGE_PCT) {
        return ECO_MOOD_RED;
    }
    if (in->trap || excess > YELLOW_PCT) {
        return ECO_MOOD_ORANGE;
    }
    if (in->batch1_production || excess > GREEN_PCT) {
        return ECO_MOOD_YELLOW;
    }
    return ECO_MOOD_GREEN;
}
