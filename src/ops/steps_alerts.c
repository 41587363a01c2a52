/* Traps: which the configuration matches, what each costs here, and what lies beside it. */
#include "dataset/predictor_default.h"
#include "steps.h"
#include "texts.h"

#include <math.h>
#include <string.h>

/* The change of another precision or batch on the same question, as ln. */
static bool other_change(struct eco_question *q, enum eco_precision p, double batch, double *mu,
                         double *sd)
{
    struct eco_predict_query pq = eco_step_query(q, p);
    pq.batch = batch;
    struct eco_predict_answer a;
    if (eco_predict_parts(&eco_predictor_default, &pq, 0, &a, NULL)) {
        return false;
    }
    *mu = a.mu;
    *sd = a.sd;
    return true;
}

static void set_effect(struct eco_alert_request *r, enum eco_effect e, double mu, double sd)
{
    r->have[e] = true;
    eco_step_pct_band(mu, sd, &r->effect_pct[e]);
}

static void effects_of_precision(struct eco_question *q, const struct eco_answer *a,
                                 struct eco_alert_request *r)
{
    double mu, sd;
    if (a->baseline) {
        return;
    }
    set_effect(r, ECO_EFFECT_PRECISION, a->change.mu, a->change.sd);
    set_effect(r, ECO_EFFECT_TO_FP16, -a->change.mu, a->change.sd);
    if (a->precision == ECO_PREC_INT8_MIXED &&
        other_change(q, ECO_PREC_INT8_PURE, q->batch, &mu, &sd)) {
        set_effect(r, ECO_EFFECT_INT8_PURE, mu, sd);
        /* the two share card and size, so adding both variances makes the range wide, not narrow */
        set_effect(r, ECO_EFFECT_INT8_FIX, mu - a->change.mu, hypot(sd, a->change.sd));
    }
    if (a->precision == ECO_PREC_NF4_DQ && other_change(q, ECO_PREC_NF4, q->batch, &mu, &sd)) {
        set_effect(r, ECO_EFFECT_NF4_PLAIN, mu - a->change.mu, hypot(sd, a->change.sd));
    }
}

static void effects_of_run(struct eco_question *q, const struct eco_answer *a,
                           struct eco_alert_request *r)
{
    struct eco_workload w = eco_step_workload(q, a->precision);
    struct eco_batch_answer up;
    double factor;
    if (q->batch == 1 && eco_batch_factor(NULL, a->engine, a->precision, 8.0, &up, NULL) == 0) {
        set_effect(r, ECO_EFFECT_BATCH_UP, log(up.ratio), up.sd_ln);
    }
    double missing = q->gpu ? a->memory.total_bytes - eco_memory_limit_bytes(q->gpu, 1) : 0.0;
    if (missing > 0) {
        const double link_bytes_per_s = 25e9; /* PCIe 4.0 x16, achieved by host-to-device copies */
        if (eco_latency_factor_offload(NULL, &q->model, q->gpu, &w, missing, link_bytes_per_s,
                                       &factor, NULL) == 0) {
            set_effect(r, ECO_EFFECT_OFFLOAD, log(factor), 0.3);
        }
    }
    if (r->kv_cache_off && q->gpu &&
        eco_latency_factor_no_cache(NULL, &q->model, q->gpu, &w, &factor, NULL) == 0) {
        set_effect(r, ECO_EFFECT_NO_CACHE, log(factor), 0.3);
    }
}

/* The effect is part of the predicted joules already, or comes on top of them. */
static bool is_in_the_bill(enum eco_effect e)
{
    return e == ECO_EFFECT_PRECISION || e == ECO_EFFECT_DQ;
}

const char *eco_step_code(enum eco_precision p, enum eco_engine engine)
{
    bool torch = engine == ECO_ENGINE_TRANSFORMERS || engine == ECO_ENGINE_UNKNOWN;
    if (p == ECO_PREC_FP16 || p == ECO_PREC_BF16) {
        bool bf16 = p == ECO_PREC_BF16;
        return torch && bf16
                   ? "AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)"
               : torch ? "AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.float16)"
               : engine == ECO_ENGINE_LLAMACPP ? "llama-server -m MODEL-F16.gguf"
               : engine == ECO_ENGINE_VLLM     ? (bf16 ? "vllm serve MODEL --dtype bfloat16"
                                                       : "vllm serve MODEL --dtype float16")
                                               : NULL;
    }
    if (p == ECO_PREC_NF4 && torch) {
        return "BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type=\"nf4\")";
    }
    return NULL;
}

/* What is left to do where 16 bit does not fit, or beside it; by trap. */
static const char *other_way(const char *id)
{
    static const char *const ways[][2] = {
        {"int8-paradox", "where memory forces 8 bit, set llm_int8_threshold to 0.0: less than the "
                         "default, still more than 16 bit"},
        {"fp8-eager", "or FP8 in an engine that has kernels for it (vLLM)"},
        {"nf4-batch", "or a 4-bit format with a batched kernel (GPTQ, AWQ with Marlin)"}};
    for (size_t i = 0; i < ECO_COUNT(ways); i++) {
        if (strcmp(ways[i][0], id) == 0) {
            return ways[i][1];
        }
    }
    return NULL;
}

const char *eco_step_other_way(struct eco_ctx *ctx, const char *trap_id)
{
    return eco_word(ctx->lang, other_way(trap_id));
}

/* "Run 16 bit if it fits": whether it does is known here, so it is said, with its own effect. */
static void fix_by_memory(struct eco_question *q, const struct eco_answer *a,
                          const struct eco_alert_request *r, const struct eco_alert_rule *rule,
                          struct eco_res_alert *row)
{
    struct eco_ctx *ctx = q->ctx;
    bool sixteen =
        rule->fix_effect == ECO_EFFECT_TO_FP16 || rule->fix_effect == ECO_EFFECT_INT8_FIX;
    double with16 = a->memory.total_bytes + a->memory.weights_fp16_bytes - a->memory.weights_bytes;
    if (!sixteen || !q->gpu || !(q->gpu->vram_gb > 0)) {
        return;
    }
    const char *other = eco_step_other_way(ctx, rule->id);
    const char *need = eco_step_num(ctx, with16 / 1e9, 3);
    const char *has = eco_step_num(ctx, eco_memory_limit_bytes(q->gpu, 1) / 1e9, 3);
    if (eco_step_fits_bytes(q, with16)) {
        row->fix = other ? eco_step_fmt(ctx, TX(ctx, fix_16bit_or), need, has, other)
                         : eco_step_fmt(ctx, TX(ctx, fix_16bit), need, has);
        row->fix_code = eco_step_code(ECO_PREC_FP16, a->engine);
        row->fix_effect_pct =
            r->have[ECO_EFFECT_TO_FP16]
                ? eco_some(eco_step_round(r->effect_pct[ECO_EFFECT_TO_FP16].median, 3))
                : (struct eco_opt){0};
        return;
    }
    row->fix = other ? eco_step_fmt(ctx, TX(ctx, fix_tight_or), need, has, other)
                     : eco_step_fmt(ctx, TX(ctx, fix_tight), need, has);
    if (rule->fix_effect == ECO_EFFECT_TO_FP16) { /* of a fix that cannot be taken */
        row->fix_effect_pct = (struct eco_opt){0};
        row->fix_code = other ? rule->fix_code : NULL;
    }
}

static void alert_row(struct eco_ctx *ctx, const struct eco_alert *a, struct eco_res_alert *out)
{
    const struct eco_alert_rule *r = a->rule;
    const struct eco_alert_words en = {r->name, r->why, r->fix, r->measured, r->contradiction};
    const struct eco_alert_words *w = ctx->lang == ECO_LANG_ZH ? &r->zh : &en;
    *out = (struct eco_res_alert){.id = r->id,
                                  .name = w->name,
                                  .severity = eco_severity_name(a->severity),
                                  .why = w->why,
                                  .fix = w->fix,
                                  .fix_code = r->fix_code,
                                  .measured = w->measured,
                                  .evidence = r->evidence,
                                  .contradiction = w->contradiction};
    if (a->have_effect) {
        out->effect_pct = eco_some(eco_step_round(a->effect_pct.median, 3));
        out->effect_ci = eco_span_of(eco_step_round(a->effect_pct.lo95, 3),
                                     eco_step_round(a->effect_pct.hi95, 3));
    }
    if (a->have_fix_effect) {
        out->fix_effect_pct = eco_some(eco_step_round(a->fix_effect_pct.median, 3));
    }
}

int eco_step_traps(struct eco_ctx *ctx, struct eco_list *out, struct eco_err *err)
{
    size_t n = eco_alerts_count();
    struct eco_res_alert *rows = eco_arena_array(ctx->arena, n, sizeof(*rows));
    if (!rows) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    for (size_t i = 0; i < n; i++) {
        const struct eco_alert a = {.rule = eco_alerts_rule(i),
                                    .severity = eco_alerts_rule(i)->severity};
        alert_row(ctx, &a, &rows[i]);
    }
    *out = (struct eco_list){rows, n};
    return 0;
}

int eco_step_alerts(struct eco_question *q, const struct eco_answer *a, struct eco_list *out,
                    bool *trap, struct eco_err *err)
{
    const struct eco_args_risk *risk = q->risk;
    struct eco_alert_request r = {.model = &q->model,
                                  .gpu = q->gpu,
                                  .precision = a->precision,
                                  .engine = a->engine,
                                  .batch = (int)q->batch,
                                  .production = risk && risk->production,
                                  .eager = risk && risk->eager,
                                  .unverified_build = risk && risk->nightly,
                                  .kv_cache_off = risk && risk->no_kv_cache,
                                  .need_gb = a->memory.total_bytes / 1e9,
                                  .crossover_b = (double)NAN};
    if (a->change.crossover.have && a->change.crossover.median <= ECO_CROSSOVER_SHOWN_B) {
        r.crossover_b = a->change.crossover.median;
        r.saves_above = a->change.crossover.saves_above;
    }
    effects_of_precision(q, a, &r);
    effects_of_run(q, a, &r);
    struct eco_alert found[ECO_ALERTS_MAX];
    size_t n = 0;
    int rc = eco_alerts_check(&r, found, ECO_ALERTS_MAX, &n, err);
    struct eco_res_alert *rows = rc ? NULL : eco_arena_array(q->ctx->arena, n + 1, sizeof(*rows));
    if (rc || !rows) {
        return rc ? rc : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    *trap = false;
    for (size_t i = 0; i < n; i++) {
        alert_row(q->ctx, &found[i], &rows[i]);
        rows[i].precision = eco_precision_name(a->precision);
        rows[i].engine = eco_engine_name(a->engine);
        fix_by_memory(q, a, &r, found[i].rule, &rows[i]);
        *trap |=
            found[i].severity >= ECO_SEV_WARNING && strcmp(rows[i].id, "batch1-production") != 0;
    }
    *out = (struct eco_list){rows, n};
    return 0;
}

void eco_step_price_alerts(struct eco_list *alerts, struct eco_opt month_usd)
{
    struct eco_res_alert *rows = (struct eco_res_alert *)(uintptr_t)alerts->items;
    for (size_t i = 0; month_usd.have && i < alerts->n; i++) {
        const struct eco_alert_rule *r = eco_alerts_find(rows[i].id);
        double effect = rows[i].effect_pct.v / 100.0, fix = rows[i].fix_effect_pct.v / 100.0;
        if (r && rows[i].effect_pct.have && effect > -1.0) {
            double share = is_in_the_bill(r->effect) ? effect / (1.0 + effect) : effect;
            rows[i].month_usd = eco_some(eco_step_round(month_usd.v * share, 3));
        }
        if (rows[i].fix_effect_pct.have) {
            rows[i].fix_saving_usd = eco_some(eco_step_round(-month_usd.v * fix, 3));
        }
    }
}

/* What lies beside the chosen configuration: the usual wrong turns from here. */
static const struct {
    enum eco_precision precision;
    bool batch1;
} turns[] = {{ECO_PREC_INT8_MIXED, false},
             {ECO_PREC_NF4, false},
             {ECO_PREC_FP8, false},
             {ECO_PREC_NONE, true}};

static bool is_told(const struct eco_res_alert *rows, size_t n, const char *id)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(rows[i].id, id) == 0) {
            return true;
        }
    }
    return false;
}

static bool one_turn(struct eco_question *q, size_t turn, struct eco_res_alert *out)
{
    struct eco_args_risk risk = {.production = turns[turn].batch1,
                                 .eager = turns[turn].precision == ECO_PREC_FP8};
    struct eco_question there = *q;
    struct eco_answer a;
    struct eco_list found;
    struct eco_opt month_usd = {0};
    enum eco_precision p = turns[turn].batch1 ? q->precision : turns[turn].precision;
    bool trap;
    there.risk = &risk;
    there.batch = turns[turn].batch1 ? 1 : q->batch;
    there.engine = turns[turn].batch1 ? q->engine : ECO_ENGINE_UNKNOWN;
    if (eco_step_answer_parts(&there, p, ECO_PREDICT_CROSSOVER, &a, NULL) ||
        eco_step_alerts(&there, &a, &found, &trap, NULL) || found.n == 0) {
        return false;
    }
    const struct eco_res_alert *rows = found.items;
    size_t i = 0;
    while (i < found.n && ((turns[turn].batch1 && strcmp(rows[i].id, "batch1-production") != 0) ||
                           strcmp(rows[i].severity, "info") == 0)) {
        i++;
    }
    if (i == found.n) {
        return false;
    }
    *out = rows[i];
    if (a.have_energy && eco_step_month_usd(&there, &a, &month_usd, NULL) == 0) {
        eco_step_price_alerts(&(struct eco_list){out, 1}, month_usd);
    }
    q->region = there.region; /* looked up once for all turns */
    return true;
}

struct eco_list eco_step_pitfalls(struct eco_question *q, const struct eco_list *told)
{
    struct eco_res_alert *rows = eco_arena_array(q->ctx->arena, ECO_COUNT(turns), sizeof(*rows));
    size_t n = 0;
    for (size_t i = 0; rows && i < ECO_COUNT(turns); i++) {
        struct eco_res_alert found;
        if (turns[i].precision != q->precision && one_turn(q, i, &found) &&
            !is_told(told->items, told->n, found.id) && !is_told(rows, n, found.id)) {
            rows[n++] = found;
        }
    }
    return (struct eco_list){rows, n};
}

bool eco_step_worse(const char *mood, const char *than)
{
    static const char *const order[] = {"Gray", "Green", "Yellow", "Orange", "Red"};
    size_t a = 0, b = 0;
    for (size_t i = 0; i < ECO_COUNT(order); i++) {
        a = strcmp(order[i], mood) == 0 ? i : a;
        b = strcmp(order[i], than) == 0 ? i : b;
    }
    return a > b;
}

bool eco_step_own_data(const struct eco_question *q, const struct eco_answer *a)
{
    bool measured_vendor = strcmp(eco_arch_vendor(q->arch), "nvidia") == 0;
    return a->change.n_card > 0 || (measured_vendor && (a->baseline || a->change.n_precision > 0));
}

double eco_step_excess(const struct eco_question *q, const struct eco_answer *a,
                       const struct eco_list *alerts, double excess_pct)
{
    const struct eco_res_alert *rows = alerts->items;
    for (size_t i = 0; i < alerts->n && !eco_step_fits(q, a); i++) {
        if (strcmp(rows[i].id, "offload") == 0 && rows[i].effect_pct.have) {
            excess_pct = fmax(excess_pct, rows[i].effect_pct.v);
        }
    }
    return excess_pct;
}

const char *eco_step_mood(const struct eco_question *q, enum eco_basis basis, bool trap,
                          struct eco_opt excess_pct, bool own_data)
{
    struct eco_mood_input in = {.excess_pct = excess_pct.v,
                                .have_excess = excess_pct.have,
                                .trap = trap,
                                .batch1_production =
                                    q->risk && q->risk->production && q->batch == 1,
                                .unverified_build = q->risk && q->risk->nightly,
                                .basis = basis,
                                .own_data = own_data};
    return eco_mood_name(eco_mood_of(&in));
}
