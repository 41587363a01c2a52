/*
 * What to deploy: the default optimizer over card x precision x batch x context, the published one
 * (--compat), and the cost operation, which compares today's bill with the optimizer's answer.
 */
#include "args.h"
#include "base/num.h"
#include "chart_data.h"
#include "dataset/dataset.h"
#include "dataset/predictor_default.h"
#include "eco_optimize.h"
#include "optimize_parts.h"
#include "report/chart_svg.h"
#include "runs.h"
#include "texts.h"

#include <math.h>
#include <string.h>

#define MAX_CARDS 64
#define MAX_SEARCHED 250000 /* about 50 MB of columns */
#define MAX_ARMS 40
#define MAX_FRONT_SHOWN 64
#define ROOM_BUDGET ECO_ROOM_NAME

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static int make_lists(struct eco_ctx *ctx, const struct eco_args_optimize *a,
                      struct eco_optimize_lists *l, struct eco_err *err)
{
    double *one = eco_arena_array(ctx->arena, 2, sizeof(*one));
    const char **name = eco_arena_array(ctx->arena, 1, sizeof(*name));
    if (!one || !name) {
        return no_memory(err);
    }
    *l = (struct eco_optimize_lists){a->precisions, a->batches, a->contexts};
    bool batch_given =
        eco_args_have(eco_op_find("optimize"), a, offsetof(struct eco_args_optimize, load.batch));
    one[0] = (double)a->load.batch;
    one[1] = (double)a->load.ctx;
    name[0] = a->precision;
    bool both = (a->precision && a->precisions.n) || (batch_given && a->batches.n) ||
                (a->load.ctx > 0 && a->contexts.n);
    if (both && !a->compat) { /* the published optimizer lets the list win, unsaid */
        return eco_err_set(err, ECO_E_INVALID, "batches",
                           "give one value or a list, not both (precision, batch, ctx)");
    }
    if (a->precision && !a->precisions.n) {
        l->precisions = (struct eco_strs){name, 1};
    }
    if (batch_given && !a->batches.n) {
        l->batches = (struct eco_f64s){one, 1};
    }
    if (a->load.ctx > 0 && !a->contexts.n) {
        l->contexts = (struct eco_f64s){one + 1, 1};
    }
    return 0;
}

/* ---- the search space ---------------------------------------------------------------------- */

struct search {
    struct eco_optimize_setup setup;
    struct eco_optimize_card cards[MAX_CARDS];
    struct eco_optimize_arm arms[MAX_ARMS];
    struct eco_quality quality[MAX_ARMS]; /* of each arm */
    struct eco_own_rows own[MAX_ARMS];    /* measured rows of the model, looked up when shown */
    bool have_own[MAX_ARMS];
    struct eco_optimize_table table;
    struct eco_optimize_query query;
    struct eco_optimize_result found;
    size_t *front;
};

static const double default_batches[] = {1, 2, 4, 8, 16, 32, 64};
/* What bitsandbytes offers. Not INT8-PURE, which raised perplexity by up to 23 %, and not FP8 in
 * eager mode, which only costs: both are searched when asked for. */
static const enum eco_precision default_arms[] = {ECO_PREC_FP16, ECO_PREC_NF4, ECO_PREC_INT8_MIXED};
static const enum eco_precision vllm_arms[] = {ECO_PREC_FP16, ECO_PREC_FP8, ECO_PREC_GPTQ_INT4,
                                               ECO_PREC_AWQ_INT4, ECO_PREC_NVFP4};
static const enum eco_precision llamacpp_arms[] = {ECO_PREC_FP16, ECO_PREC_GGUF_Q8_0,
                                                   ECO_PREC_GGUF_Q6_K, ECO_PREC_GGUF_Q5_K_M,
                                                   ECO_PREC_GGUF_Q4_K_M};

/* Refused by every card, or too large for the largest even alone: then it is not searched. */
static bool no_card_runs(struct eco_question *q, const struct search *s, enum eco_precision p,
                         struct eco_res_left_out *out)
{
    enum eco_engine e = q->engine != ECO_ENGINE_UNKNOWN ? q->engine : eco_predict_usual_engine(p);
    struct eco_memory_query mq = {&q->model, p, 1.0, 1.0, 0.0, e};
    struct eco_memory m;
    const char *why = NULL;
    const struct eco_gpu *refuses = NULL, *largest = NULL;
    bool sized = eco_memory_estimate(&mq, &m, NULL) == 0;
    for (size_t i = 0; i < s->setup.n_cards; i++) {
        const struct eco_gpu *g = s->cards[i].gpu;
        const char *reason;
        if (!eco_precision_runs(p, e, g, g->arch, &reason) || reason) {
            why = reason;
            refuses = g;
        } else if (!sized || !(eco_memory_room(g, 1, m.total_bytes) > 1)) {
            return false;
        } else {
            largest = !largest || g->vram_gb > largest->vram_gb ? g : largest;
        }
    }
    *out = (struct eco_res_left_out){.precision = eco_precision_name(p),
                                     .engine = eco_engine_name(e),
                                     .why = eco_word(q->ctx->lang, why)};
    if (largest) {
        struct eco_question there = *q;
        there.gpu = largest;
        out->why = eco_step_too_large(&there, m.total_bytes);
        out->need_gb = eco_some(eco_num_round(m.total_bytes / 1e9, 2));
        return s->setup.n_cards > 1; /* on one card the search says how near it comes */
    }
    return refuses != NULL;
}

static int add_arms(const struct eco_optimize_lists *a, struct eco_question *q, struct search *s,
                    struct eco_res_optimize *out, struct eco_err *err)
{
    const enum eco_precision *list = default_arms;
    size_t n = ECO_COUNT(default_arms);
    if (q->engine == ECO_ENGINE_VLLM || q->engine == ECO_ENGINE_SGLANG ||
        q->engine == ECO_ENGINE_TENSORRT_LLM) {
        list = vllm_arms, n = ECO_COUNT(vllm_arms);
    } else if (q->engine == ECO_ENGINE_LLAMACPP) {
        list = llamacpp_arms, n = ECO_COUNT(llamacpp_arms);
    }
    if (a->precisions.n > MAX_ARMS) {
        return eco_err_set(err, ECO_E_TOO_LARGE, "precisions", "'precisions' has over %d members",
                           MAX_ARMS);
    }
    n = a->precisions.n ? a->precisions.n : n;
    struct eco_res_left_out *left = eco_arena_array(q->ctx->arena, n + 1, sizeof(*left));
    size_t kept = 0, n_left = 0;
    if (!left) {
        return no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        enum eco_precision p = ECO_PREC_NONE;
        int rc = a->precisions.n
                     ? eco_step_precision(a->precisions.v[i], ECO_PREC_NONE, "precisions", &p, err)
                     : 0;
        if (rc) {
            return rc;
        }
        p = a->precisions.n ? p : list[i];
        if (no_card_runs(q, s, p, &left[n_left])) {
            n_left++;
            continue;
        }
        struct eco_quality *quality = &s->quality[kept];
        eco_step_quality(q, p, quality);
        s->arms[kept++] = (struct eco_optimize_arm){
            .precision = p,
            .engine = q->engine,
            .quality_loss_pct = quality->loss_pct.have ? quality->loss_pct.v : (double)NAN};
    }
    s->setup.arms = s->arms;
    s->setup.n_arms = kept;
    out->left_out = (struct eco_list){left, n_left};
    return 0;
}

static int add_cards(const struct eco_args_optimize *a, struct eco_question *q, struct search *s,
                     struct eco_err *err)
{
    double pue = a->money.pue > 0 ? a->money.pue : 0.0;
    double rent = a->money.gpu_usd_per_hour;
    if (a->gpus.n > MAX_CARDS) {
        return eco_err_set(err, ECO_E_TOO_LARGE, "gpus", "'gpus' has over %d members", MAX_CARDS);
    }
    if (a->gpus.n && a->target.gpu) {
        return eco_err_set(err, ECO_E_INVALID, "gpus", "give 'gpu' or 'gpus', not both");
    }
    size_t n = 0;
    for (size_t i = 0; i < a->gpus.n; i++) {
        const struct eco_gpu *gpu;
        int rc = eco_dataset_find_gpu(a->gpus.v[i], strlen(a->gpus.v[i]), &gpu, err);
        if (rc) {
            return rc;
        }
        s->cards[n++] = (struct eco_optimize_card){gpu, 1, pue, rent};
    }
    if (n == 0 && !q->gpu) {
        return eco_err_set(err, ECO_E_MISSING, "gpu",
                           "the optimizer needs a card with known memory and bandwidth: 'gpu' (see "
                           "'ecocompute gpus'), or --calibration published --compat for a class");
    }
    if (n == 0) {
        s->cards[n++] = (struct eco_optimize_card){q->gpu, 1, pue, rent};
    }
    s->setup.cards = s->cards;
    s->setup.n_cards = n;
    return 0;
}

static int add_tariff(const struct eco_args_money *m, struct eco_optimize_setup *s,
                      struct eco_err *err)
{
    const struct eco_region *region;
    int rc = eco_dataset_find_region(m->region, strlen(m->region), &region, err);
    if (rc == 0) {
        s->price_usd_per_kwh = isfinite(m->price)        ? m->price
                               : region->price_is_tariff ? region->price_usd_per_kwh
                                                         : (double)NAN;
        s->carbon_gco2_per_kwh =
            isfinite(m->carbon_intensity) ? m->carbon_intensity : region->carbon_gco2_per_kwh;
        s->requests_per_month = m->requests;
    }
    return rc;
}

static void add_axes(const struct eco_optimize_lists *a, struct eco_question *q, struct search *s)
{
    s->setup.model = &q->model;
    s->setup.predictor = &eco_predictor_default;
    s->setup.physics = eco_physics_default();
    s->setup.batches = a->batches.n ? a->batches.v : default_batches;
    s->setup.n_batches = a->batches.n ? a->batches.n : ECO_COUNT(default_batches);
    s->setup.contexts = a->contexts.n ? a->contexts.v : &q->context_tokens;
    s->setup.n_contexts = a->contexts.n ? a->contexts.n : 1;
    s->setup.usual_context = a->contexts.n == 0 && !q->context_given;
    s->setup.gen_tokens = q->gen_tokens;
}

static void add_budget(struct search *s, enum eco_optimize_metric m, bool have, double limit)
{
    s->query.have[m] = have;
    s->query.limit[m] = limit;
}

static int add_query(const struct eco_args_optimize *a, struct search *s, struct eco_err *err)
{
    if (!eco_optimize_objective_parse(a->objective, strlen(a->objective), &s->query.objective)) {
        return eco_err_set(err, ECO_E_INTERNAL, "objective", "objective without a meaning");
    }
    add_budget(s, ECO_OPTIMIZE_LATENCY, a->max_latency_ms > 0, a->max_latency_ms / 1e3);
    add_budget(s, ECO_OPTIMIZE_THROUGHPUT, a->min_throughput > 0, a->min_throughput);
    add_budget(s, ECO_OPTIMIZE_MEMORY, a->max_vram_gb > 0, a->max_vram_gb * 1e9);
    add_budget(s, ECO_OPTIMIZE_ENERGY, a->max_energy_j_per_1k > 0, a->max_energy_j_per_1k);
    add_budget(s, ECO_OPTIMIZE_COST, a->max_cost_usd > 0, a->max_cost_usd);
    add_budget(s, ECO_OPTIMIZE_QUALITY,
               eco_args_have(eco_op_find("optimize"), a,
                             offsetof(struct eco_args_optimize, max_quality_loss_pct)),
               a->max_quality_loss_pct);
    s->query.n_alternatives = 3;
    s->query.batches = s->setup.batches;
    s->query.n_batches = s->setup.n_batches;
    s->query.n_precisions = s->setup.n_arms;
    s->query.n_cards = s->setup.n_cards;
    return 0;
}

/* Columns and ranking on arena memory. */
static int search_all(struct eco_ctx *ctx, struct search *s, struct eco_err *err)
{
    size_t n = eco_optimize_count(&s->setup), filled = 0;
    if (n > MAX_SEARCHED) {
        return eco_err_set(err, ECO_E_RANGE, "batches",
                           "%zu candidates; one search takes up to %d: give fewer values", n,
                           MAX_SEARCHED);
    }
    if (n == 0) {
        return eco_err_set(err, ECO_E_TOO_LARGE, "batches", "the search space is empty or over %u",
                           ECO_OPTIMIZE_MAX_CANDIDATES);
    }
    struct eco_optimize_columns c = {eco_arena_array(ctx->arena, n, sizeof(*c.label)), {NULL}};
    bool ok = c.label != NULL;
    for (int m = 0; m < ECO_OPTIMIZE_METRIC_COUNT; m++) {
        bool wanted = m < ECO_OPTIMIZE_COST || s->query.have[m] ||
                      (m == ECO_OPTIMIZE_COST && s->query.objective == ECO_OPTIMIZE_MIN_COST) ||
                      (m == ECO_OPTIMIZE_CARBON && s->query.objective == ECO_OPTIMIZE_MIN_CARBON);
        c.value[m] = wanted ? eco_arena_array(ctx->arena, n, sizeof(double)) : NULL;
        ok = ok && (!wanted || c.value[m]);
        s->table.value[m] = c.value[m];
    }
    size_t scratch_size = eco_optimize_scratch_size(n);
    void *scratch = eco_arena_alloc(ctx->arena, scratch_size);
    s->front = eco_arena_array(ctx->arena, n, sizeof(*s->front));
    if (!ok || !scratch || !s->front) {
        return no_memory(err);
    }
    int rc = eco_optimize_fill(&s->setup, &c, &filled, err);
    s->table.n = filled;
    s->table.label = c.label;
    return rc ? rc
              : eco_optimize_run(&s->table, &s->query, scratch, scratch_size, s->front, n,
                                 &s->found, err);
}

/* ---- results ------------------------------------------------------------------------------- */

static void fill_config(const struct eco_optimize_config *c, struct eco_res_config *out)
{
    double j = c->energy.j_per_1k.median;
    bool fp16 = c->precision == ECO_PREC_FP16 || c->precision == ECO_PREC_BF16;
    *out = (struct eco_res_config){
        .gpu = c->gpu->name,
        .precision = eco_precision_name(c->precision),
        .engine = eco_engine_name(c->engine),
        .batch = (int64_t)c->batch,
        .context = (int64_t)c->context_tokens,
        .latency_ms_per_token = eco_step_round(c->latency.tpot_s.median * 1e3, 3),
        .throughput_tok_s = eco_step_round(c->latency.tokens_per_s.median, 3),
        .bound = eco_bound_name(c->latency.bound),
        .vram_gb = eco_num_round(c->memory_bytes / 1e9, 2),
        .month_usd = eco_some(eco_step_round(c->cost_usd_per_month, 4)),
        .month_kgco2 = eco_some(eco_step_round(c->carbon_kg_per_month, 4)),
        .recommendation = fp16 ? "baseline" : "depends",
        .confidence = "low",
        .energy_basis = "unavailable",
        .energy_rel_fp16 = {1.0, fp16}};
    if (c->have_energy) {
        out->energy_j_per_1k_tokens = out->energy_mj_per_token = eco_some(eco_step_round(j, 4));
        out->energy_ci = eco_span_of(eco_step_round(c->energy.j_per_1k.lo95, 3),
                                     eco_step_round(c->energy.j_per_1k.hi95, 3));
        out->energy_basis = eco_basis_name(c->energy.basis);
        out->confidence = fp16 ? "medium" : "low";
    }
    if (c->have_delta && !fp16) {
        const struct eco_predict_answer *d = &c->delta;
        out->energy_rel_fp16 = eco_some(eco_num_round(exp(d->mu), 3));
        out->delta_pct_vs_fp16 = eco_num_round(d->delta_pct.median, 1);
        out->delta_ci =
            eco_span_of(eco_num_round(d->delta_pct.lo95, 1), eco_num_round(d->delta_pct.hi95, 1));
        out->confidence = eco_confidence_name(d->confidence);
        out->recommendation = eco_recommendation_name(d->recommendation);
    }
}

static struct eco_opt percent_of(double v, double base)
{
    return base > 0 ? eco_some(eco_num_round(100.0 * (v / base - 1.0), 1)) : (struct eco_opt){0};
}

static void fill_versus(const struct eco_res_config *c, const struct eco_res_config *best,
                        struct eco_res_versus *v)
{
    if (c->energy_j_per_1k_tokens.have && best->energy_j_per_1k_tokens.have) {
        v->energy_pct = percent_of(c->energy_j_per_1k_tokens.v, best->energy_j_per_1k_tokens.v);
    }
    v->latency_pct = percent_of(c->latency_ms_per_token, best->latency_ms_per_token);
    v->throughput_pct = percent_of(c->throughput_tok_s, best->throughput_tok_s);
    v->vram_pct = percent_of(c->vram_gb, best->vram_gb);
}

/* What was measured of a candidate stands beside the figures that rank it; docs/protocols.md. */
static const struct eco_res_known *known(struct eco_question *q, struct search *s, size_t arm,
                                         const struct eco_optimize_config *c, const char *basis)
{
    struct eco_res_known *k = eco_arena_alloc(q->ctx->arena, sizeof(*k));
    struct eco_measured m;
    if (!s->have_own[arm]) {
        s->own[arm] = eco_step_own_rows(q, c->precision);
        s->have_own[arm] = true;
    }
    if (!k) {
        return NULL;
    }
    *k = (struct eco_res_known){.energy_basis = basis, .speed_basis = "modelled"};
    if (eco_step_measured_of(&s->own[arm], c->gpu, c->engine, c->batch, &m) &&
        eco_step_known(q->ctx, &m, k)) {
        return NULL;
    }
    return k;
}

static int describe(struct eco_question *q, struct search *s, size_t index,
                    struct eco_res_config *out, struct eco_err *err)
{
    struct eco_optimize_config c;
    struct eco_optimize_label label = s->table.label[index];
    int rc = eco_optimize_describe(&s->setup, label, &c, err);
    if (rc == 0) {
        const struct eco_quality *quality = &s->quality[label.precision];
        fill_config(&c, out);
        out->quality_loss_pct = quality->loss_pct;
        out->quality_basis = eco_step_quality_words(q->ctx, quality);
        out->known = known(q, s, label.precision, &c, out->energy_basis);
        rc = out->known ? 0 : no_memory(err);
    }
    return rc;
}

/* As describe, or a copy of what is described already: the front has the best and others in it. */
static int describe_front(struct eco_question *q, struct search *s, size_t index,
                          const struct eco_res_optimize *done, const struct eco_res_config *alt,
                          struct eco_res_config *out, struct eco_err *err)
{
    const struct eco_optimize_result *f = &s->found;
    const struct eco_res_config *same =
        done->recommended && f->best == index ? done->recommended : NULL;
    for (size_t i = 0; !same && i < f->n_alternatives; i++) {
        same = f->alternative[i].index == index ? &alt[i] : NULL;
    }
    if (!same) {
        return describe(q, s, index, out, err);
    }
    *out = *same;
    out->vs_recommended = NULL;
    return 0;
}

static int fill_lists(struct eco_question *q, struct search *s, struct eco_res_optimize *out,
                      struct eco_err *err)
{
    const struct eco_optimize_result *f = &s->found;
    size_t n_front = f->n_front > MAX_FRONT_SHOWN ? MAX_FRONT_SHOWN : f->n_front;
    struct eco_res_config *alt =
        eco_arena_array(q->ctx->arena, f->n_alternatives + 1, sizeof(*alt));
    struct eco_res_versus *vs = eco_arena_array(q->ctx->arena, f->n_alternatives + 1, sizeof(*vs));
    struct eco_res_config *front = eco_arena_array(q->ctx->arena, n_front + 1, sizeof(*front));
    if (!alt || !vs || !front) {
        return no_memory(err);
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < f->n_alternatives; i++) {
        rc = describe(q, s, f->alternative[i].index, &alt[i], err);
        if (rc == 0 && out->recommended) {
            fill_versus(&alt[i], out->recommended, &vs[i]);
            alt[i].vs_recommended = &vs[i];
        }
    }
    for (size_t i = 0; rc == 0 && i < n_front; i++) { /* a long front is shown evenly thinned */
        size_t at = n_front < f->n_front ? i * (f->n_front - 1) / (n_front - 1) : i;
        rc = describe_front(q, s, s->front[at], out, alt, &front[i], err);
    }
    out->alternatives = (struct eco_list){alt, f->n_alternatives};
    out->pareto_energy_latency = (struct eco_list){front, n_front};
    return rc;
}

static const struct {
    enum eco_optimize_metric metric;
    const char *name, *unit;
    double scale;
} budgets[] = {{ECO_OPTIMIZE_LATENCY, "max_latency_ms", "ms per token", 1e3},
               {ECO_OPTIMIZE_THROUGHPUT, "min_throughput", "tokens per s", 1},
               {ECO_OPTIMIZE_MEMORY, "max_vram_gb", "GB", 1e-9},
               {ECO_OPTIMIZE_ENERGY, "max_energy_j_per_1k", "J per 1k tokens", 1},
               {ECO_OPTIMIZE_COST, "max_cost_usd", "USD a month", 1},
               {ECO_OPTIMIZE_QUALITY, "max_quality_loss_pct", "% perplexity", 1},
               {ECO_OPTIMIZE_ROOM, ROOM_BUDGET, "GB", 1}};

/* The last row's is that of "GB of the card" too, which miss_row() makes of it. */
static const char *budget_unit(const char *name)
{
    size_t i = 0;
    while (i + 1 < ECO_COUNT(budgets) && strcmp(budgets[i].name, name) != 0) {
        i++;
    }
    return budgets[i].unit;
}

/* A broken budget by the name and unit the user gave it in. */
static struct eco_res_miss miss_row(const struct search *s, enum eco_optimize_metric m)
{
    const struct eco_optimize_binding *b = &s->found.binding[m];
    double scale = 1;
    const char *name = eco_optimize_metric_name(m);
    for (size_t i = 0; i < ECO_COUNT(budgets); i++) {
        if (budgets[i].metric == m) {
            name = budgets[i].name;
            scale = budgets[i].scale;
        }
    }
    if (m == ECO_OPTIMIZE_ROOM && s->setup.n_cards == 1) { /* a share says little: say gigabytes */
        scale = eco_memory_limit_bytes(s->cards[0].gpu, 1) / 1e9;
    }
    return (struct eco_res_miss){
        name, eco_step_round(b->limit * scale, 4),
        isfinite(b->closest) ? eco_step_round(b->closest * scale, 4) : b->limit * scale,
        isfinite(b->closest_excess) ? eco_step_round(100.0 * b->closest_excess, 3) : 100.0};
}

static int fill_misses(struct eco_ctx *ctx, const struct search *s, struct eco_res_optimize *out,
                       struct eco_err *err)
{
    struct eco_res_miss *rows =
        eco_arena_array(ctx->arena, ECO_OPTIMIZE_METRIC_COUNT, sizeof(*rows));
    size_t n = 0;
    if (!rows) {
        return no_memory(err);
    }
    for (int m = 0; m < ECO_OPTIMIZE_METRIC_COUNT; m++) {
        const struct eco_optimize_binding *b = &s->found.binding[m];
        bool asked = s->query.have[m] || m == ECO_OPTIMIZE_ROOM;
        if (asked && !(b->closest_excess <= 0)) {
            rows[n++] = miss_row(s, (enum eco_optimize_metric)m);
        }
    }
    for (size_t i = 1; i < n; i++) { /* what does not fit cannot be fast or cheap: that first */
        if (strcmp(rows[i].budget, ROOM_BUDGET) == 0) {
            struct eco_res_miss room = rows[i];
            memmove(&rows[1], &rows[0], i * sizeof(*rows));
            rows[0] = room;
        }
    }
    out->misses = (struct eco_list){rows, n};
    return 0;
}

static const char *optimize_verdict(struct eco_question *q, const struct eco_res_optimize *out)
{
    const struct eco_res_config *r = out->recommended;
    if (!r) {
        const struct eco_res_miss *m = out->misses.items;
        return out->misses.n     ? eco_step_fmt(q->ctx, TX(q->ctx, nothing_fits),
                                                eco_step_num(q->ctx, m->best, 4),
                                                eco_word(q->ctx->lang, budget_unit(m->budget)),
                                                eco_step_num(q->ctx, m->limit, 4))
               : out->left_out.n ? eco_step_fmt(q->ctx, TX(q->ctx, none_runs), eco_step_where(q))
                                 : TX(q->ctx, nothing_keeps);
    }
    const char *energy = r->energy_j_per_1k_tokens.have
                             ? eco_step_fmt(q->ctx, TX(q->ctx, optimize_energy),
                                            eco_step_num(q->ctx, r->energy_j_per_1k_tokens.v, 4))
                             : "";
    const char *range = r->energy_ci.have ? eco_step_fmt(q->ctx, TX(q->ctx, optimize_range),
                                                         eco_step_num(q->ctx, r->energy_ci.lo, 3),
                                                         eco_step_num(q->ctx, r->energy_ci.hi, 3))
                                          : "";
    return eco_step_fmt(q->ctx, TX(q->ctx, optimize_verdict), r->precision,
                        r->gpu && !(q->assumed & ECO_ASSUMED_GPU) ? r->gpu : eco_step_where(q),
                        (long long)r->batch, energy, range,
                        eco_step_num(q->ctx, r->latency_ms_per_token, 3),
                        eco_step_num(q->ctx, r->vram_gb, 4));
}

/* Traps and the bill of the recommended configuration. */
static int price_best(struct eco_question *q, const struct search *s, struct eco_res_optimize *out,
                      struct eco_err *err)
{
    struct eco_optimize_label label = s->table.label[s->found.best];
    struct eco_res_bill *bill = eco_arena_alloc(q->ctx->arena, sizeof(*bill));
    struct eco_answer a;
    bool trap = false;
    q->gpu = s->cards[label.card].gpu;
    q->gpu_name = q->gpu->name;
    q->arch = q->gpu->arch;
    q->batch = s->setup.batches[label.batch];
    q->context_tokens = s->setup.contexts[label.context];
    q->context_given = !s->setup.usual_context;
    q->precision = s->arms[label.precision].precision;
    int rc = bill ? eco_step_answer(q, q->precision, &a, err) : no_memory(err);
    if (rc == 0) {
        rc = eco_step_alerts(q, &a, &out->alerts, &trap, err);
    }
    if (rc == 0 && a.have_energy) {
        struct eco_answer fp16 = a;
        fp16.energy = a.fp16;
        rc = eco_step_bill(q, &a, a.baseline ? NULL : &fp16, bill, err);
        out->cost = bill;
        eco_step_price_alerts(&out->alerts, bill->month.usd);
    }
    return rc ? rc : eco_optimize_explain(q, &a, trap, out, err);
}

static void note_search(struct eco_question *q, const struct search *s)
{
    if (s->found.n_objective_unknown) {
        eco_step_note(q, TX(q->ctx, search_unknown), s->found.n_objective_unknown);
    }
    if (s->query.have[ECO_OPTIMIZE_QUALITY] && s->found.binding[ECO_OPTIMIZE_QUALITY].n_unknown) {
        eco_step_note(q, TX(q->ctx, search_quality),
                      s->found.binding[ECO_OPTIMIZE_QUALITY].n_unknown);
    }
    if (s->found.have_best) {
        eco_step_note(q, "%s", TX(q->ctx, search_batch));
    }
    if (q->engine == ECO_ENGINE_UNKNOWN && s->setup.arms == s->arms && s->setup.n_arms == 3) {
        eco_step_note(q, "%s", TX(q->ctx, search_engines));
    }
    const struct eco_optimize_binding *room = &s->found.binding[ECO_OPTIMIZE_ROOM];
    if (room->n_over) {
        eco_step_note(q, TX(q->ctx, search_room), room->n_over, s->found.n);
    }
    if (s->found.n_front > MAX_FRONT_SHOWN) {
        eco_step_note(q, TX(q->ctx, search_front), s->found.n_front, MAX_FRONT_SHOWN);
    }
}

static int fill_optimum(struct eco_question *q, struct search *s, struct eco_res_optimize *out,
                        struct eco_err *err)
{
    struct eco_res_config *one = eco_arena_alloc(q->ctx->arena, sizeof(*one));
    const struct eco_optimize_result *f = &s->found;
    int rc = one ? 0 : no_memory(err);
    if (rc == 0 && (f->have_best || f->have_closest)) {
        rc = describe(q, s, f->have_best ? f->best : f->closest, one, err);
        *(f->have_best ? &out->recommended : &out->closest_infeasible) = one;
    }
    if (rc == 0) {
        rc = fill_lists(q, s, out, err);
    }
    if (rc == 0 && !f->have_best) {
        rc = fill_misses(q->ctx, s, out, err);
    }
    out->candidates = (int64_t)f->n;
    out->feasible_count = (int64_t)f->feasible;
    out->basis = (struct eco_res_optimize_basis){one ? one->energy_basis : NULL, "modelled",
                                                 eco_basis_name(q->model.shape_basis)};
    note_search(q, s);
    if (one && one->quality_loss_pct.have && one->quality_loss_pct.v > 0) {
        eco_step_note(q, TX(q->ctx, limit_quality_loss), one->precision, one->quality_loss_pct.v,
                      one->quality_basis);
    }
    if (one && f->have_best && strcmp(one->recommendation, "depends") == 0) {
        eco_step_note(q, TX(q->ctx, not_certain), one->precision,
                      eco_step_pct(q->ctx, one->delta_ci.lo, one->delta_ci.lo, one->delta_ci.hi),
                      eco_step_pct(q->ctx, one->delta_ci.hi, one->delta_ci.lo, one->delta_ci.hi));
    }
    if (rc == 0 && f->have_best) {
        rc = price_best(q, s, out, err);
    }
    return rc;
}

/* ---- the chart ------------------------------------------------------------------------------ */

/* Candidates for the chart: all of them while a picture can show them, evenly thinned above. */
static int fill_chart(struct eco_question *q, const struct search *s, struct eco_res_optimize *out,
                      struct eco_err *err)
{
    size_t n = s->found.n, shown = n > ECO_CHART_MAX_POINTS / 2 ? ECO_CHART_MAX_POINTS / 2 : n;
    struct eco_chart_pareto *chart = eco_arena_alloc(q->ctx->arena, sizeof(*chart));
    struct eco_chart_candidate *items =
        eco_arena_array(q->ctx->arena, shown + s->found.n_front + 1, sizeof(*items));
    bool *front = eco_arena_array(q->ctx->arena, n + 1, sizeof(*front));
    if (!chart || !items || !front) {
        return no_memory(err);
    }
    for (size_t i = 0; i < s->found.n_front; i++) {
        front[s->front[i]] = true;
    }
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool best = s->found.have_best && i == s->found.best;
        bool drawn = best || front[i] || i % (n / shown + (n % shown > 0)) == 0;
        double energy = s->table.value[ECO_OPTIMIZE_ENERGY][i];
        if (!drawn || !isfinite(energy)) {
            continue;
        }
        struct eco_optimize_label l = s->table.label[i];
        const char *label =
            eco_step_fmt(q->ctx, TX(q->ctx, chart_candidate), s->cards[l.card].gpu->name,
                         eco_precision_name(s->arms[l.precision].precision),
                         s->setup.batches[l.batch], s->setup.contexts[l.context]);
        double ms = s->table.value[ECO_OPTIMIZE_LATENCY][i] * 1e3;
        items[kept++] = (struct eco_chart_candidate){
            .x = energy,
            .y = ms,
            .label = label,
            .detail = eco_step_fmt(q->ctx, TX(q->ctx, chart_candidate_detail), label,
                                   eco_step_round(energy, 3), eco_step_round(ms, 3)),
            .front = front[i],
            .feasible = s->table.value[ECO_OPTIMIZE_ROOM][i] <= 1.0,
            .best = best};
    }
    *chart = (struct eco_chart_pareto){
        .title = eco_step_fmt(q->ctx, TX(q->ctx, chart_pareto_title), q->model.name),
        .subtitle = TX(q->ctx, chart_pareto_subtitle),
        .source = TX(q->ctx, chart_pareto_source),
        .x_label = TX(q->ctx, chart_pareto_x),
        .y_label = TX(q->ctx, chart_pareto_y),
        .items = items,
        .count = kept};
    out->chart = chart;
    return 0;
}

static int write_svg(struct eco_ctx *ctx, const struct eco_args_optimize *a,
                     const struct eco_res_optimize *out, struct eco_err *err)
{
    if (!a->svg || !ctx->write_file) {
        return 0;
    }
    if (!out->chart) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "svg",
                           "there is no chart of the published optimizer's answer");
    }
    struct eco_buf b = ECO_BUF_INIT;
    int rc = eco_chart_svg_pareto(out->chart, eco_chart_data_look(ctx), &b, err);
    rc = rc ? rc : ctx->write_file(a->svg, eco_buf_str(&b), b.len, a->force, err);
    eco_buf_done(&b);
    return rc;
}

/* ---- the operations ------------------------------------------------------------------------ */

static int published_target(struct eco_ctx *ctx, const struct eco_args_optimize *a,
                            struct eco_question *q, struct eco_err *err)
{
    if (!a->target.gpu && !a->target.arch) {
        return eco_err_set(err, ECO_E_MISSING, "arch",
                           "'arch' is missing: turing, ampere, ada, "
                           "blackwell or hopper");
    }
    if (!a->target.model && a->target.params_b > 0) { /* any size, even one without a shape */
        struct eco_args_target card = {.params_b = 1, .gpu = a->target.gpu, .arch = a->target.arch};
        int rc = eco_step_target(ctx, &card, q, err);
        q->model.params_b = a->target.params_b;
        return rc;
    }
    return eco_step_target(ctx, &a->target, q, err);
}

static int optimize_default(struct eco_ctx *ctx, const struct eco_args_optimize *a,
                            const struct eco_optimize_lists *l, struct eco_question *q,
                            struct eco_res_optimize *out, struct eco_err *err)
{
    struct search *s = eco_arena_alloc(ctx->arena, sizeof(*s));
    int rc = s ? add_cards(a, q, s, err) : no_memory(err);
    rc = rc ? rc : add_arms(l, q, s, out, err);
    if (rc == 0 && s->setup.n_arms == 0) { /* nothing to search: the reasons are the answer */
        out->basis =
            (struct eco_res_optimize_basis){NULL, "modelled", eco_basis_name(q->model.shape_basis)};
        return 0;
    }
    if (rc == 0) {
        add_axes(l, q, s);
        rc = add_tariff(&a->money, &s->setup, err);
    }
    if (rc == 0) {
        rc = add_query(a, s, err);
    }
    if (rc == 0) {
        rc = search_all(ctx, s, err);
    }
    rc = rc ? rc : fill_optimum(q, s, out, err);
    return rc || !a->svg ? rc : fill_chart(q, s, out, err);
}

bool eco_optimize_says_no(const void *result)
{
    return ((const struct eco_res_optimize *)result)->recommended == NULL;
}

int eco_run_optimize(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_optimize *a = args;
    struct eco_res_optimize *out = result;
    struct eco_question q;
    if (a->q) {
        return eco_run_asked(ctx, "optimize", args, result, err);
    }
    eco_voice_set(ctx, &a->voice);
    out->mood = "Gray";
    bool published = eco_str_ieq(a->calibration, strlen(a->calibration), "published");
    int rc =
        published ? published_target(ctx, a, &q, err) : eco_step_target(ctx, &a->target, &q, err);
    if (rc == 0) {
        rc = eco_step_load(&a->load, &q, err);
    }
    if (rc) {
        return rc;
    }
    eco_step_assume(&q, "optimize", a,
                    (a->gpus.n ? 0 : ECO_ASSUMED_GPU) | ECO_ASSUMED_ENGINE | ECO_ASSUMED_PROMPT |
                        ECO_ASSUMED_GEN | ECO_ASSUMED_CTX | ECO_ASSUMED_REQUESTS |
                        ECO_ASSUMED_TARIFF);
    eco_step_circumstances(&q, &a->risk, &a->money);
    out->objective = a->objective;
    out->calibration = published ? "published" : "ecocompute";
    struct eco_optimize_lists lists = {0};
    rc = make_lists(ctx, a, &lists, err);
    rc = rc          ? rc
         : published ? eco_optimize_published(ctx, a, &lists, &q, out, err)
                     : optimize_default(ctx, a, &lists, &q, out, err);
    if (rc == 0) {
        if (!published) {
            eco_step_note_fit(&q);
        }
        out->verdict = optimize_verdict(&q, out);
        eco_step_fill_input(&q, &out->input);
        eco_step_provenance(&q, (int)eco_step_data_points(), (int)eco_step_data_sessions(),
                            &out->data);
        out->notes = published ? out->notes : eco_step_notes(&q);
    }
    return rc ? rc : write_svg(ctx, a, out, err);
}
