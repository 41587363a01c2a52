/*
 * Precisions side by side: every one answered, ranked by energy, priced; the best that fits and
 * runs is recommended, with what it gains against each other one.
 */
#include "base/num.h"
#include "dataset/dataset.h"
#include "runs.h"
#include "texts.h"

#include <math.h>
#include <string.h>

#define MAX_COMPARED 40

static const enum eco_precision usual_precisions[] = {ECO_PREC_FP16,      ECO_PREC_NF4,
                                                      ECO_PREC_INT8_PURE, ECO_PREC_INT8_MIXED,
                                                      ECO_PREC_FP8,       ECO_PREC_GGUF_Q4_K_M};

static int precision_list(const struct eco_strs *given, enum eco_precision *out, size_t *n,
                          struct eco_err *err)
{
    *n = 0;
    if (given->n == 0) {
        memcpy(out, usual_precisions, sizeof(usual_precisions));
        *n = ECO_COUNT(usual_precisions);
        return 0;
    }
    for (size_t i = 0; i < given->n && *n < MAX_COMPARED - 1; i++) {
        enum eco_precision p;
        int rc = eco_step_precision(given->v[i], ECO_PREC_NONE, "precisions", &p, err);
        if (rc) {
            return rc;
        }
        bool seen = false;
        for (size_t k = 0; k < *n; k++) {
            seen |= out[k] == p;
        }
        if (!seen) {
            out[(*n)++] = p;
        }
    }
    return 0;
}

/* What ranks: ln of the joules where the card is known, else ln of the change. Engines differ in
 * their 16-bit baselines, so changes alone do not compare across them. */
static double log_relative(const struct eco_answer *a)
{
    return a->have_energy ? log(a->energy.j_per_1k.median) : a->baseline ? 0.0 : a->change.mu;
}

static void rank_answers(struct eco_answer *a, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct eco_answer moving = a[i];
        size_t k = i;
        for (; k > 0 && log_relative(&a[k - 1]) > log_relative(&moving); k--) {
            a[k] = a[k - 1];
        }
        a[k] = moving;
    }
}

/*
 * The one rule behind lights, alerts, mood and quick fix. Each engine has a calm row: the least
 * energy of 16 bit and of what saves against it for certain, free of traps. A row's light is its
 * energy above that row, and at least orange with a trap; the fix of a trap is to take that row.
 */
static size_t calm_row(const struct eco_answer *a, const bool *trap, size_t n, enum eco_engine e)
{
    size_t i = 0;
    while (i < n && (a[i].engine != e || trap[i] ||
                     !(a[i].baseline || a[i].change.recommendation == ECO_REC_QUANTIZE))) {
        i++;
    }
    return i; /* ranked: the first is the least; n: none */
}

static void fill_compare_row(struct eco_question *q, const struct eco_answer *a, size_t rank,
                             double best, double excess, bool trap, struct eco_res_compare_row *row)
{
    const struct eco_predict_answer *c = &a->change;
    *row = (struct eco_res_compare_row){
        .rank = (int64_t)rank,
        .precision = eco_precision_name(a->precision),
        .engine = eco_engine_name(a->engine),
        .delta_pct = eco_num_round(c->delta_pct.median, 1),
        .delta_ci =
            eco_span_of(eco_num_round(c->delta_pct.lo95, 1), eco_num_round(c->delta_pct.hi95, 1)),
        .efficiency_pct = eco_num_round(100.0 * exp(best - log_relative(a)), 0),
        .vram_gb = eco_some(eco_num_round(a->memory.total_bytes / 1e9, 2)),
        .fits = eco_step_fits(q, a),
        .basis = eco_basis_name(c->basis),
        .confidence = eco_confidence_name(c->confidence),
        .rows = a->baseline ? 0 : c->n_card,
        .mood = eco_step_mood(q, c->basis, trap, eco_some(excess), eco_step_own_data(q, a))};
    struct eco_quality quality;
    eco_step_quality(q, a->precision, &quality);
    row->quality_loss_pct = quality.loss_pct;
    row->quality_basis = eco_step_quality_words(q->ctx, &quality);
    if (!a->baseline) {
        row->p_saves = eco_some(eco_num_round(c->p_saves, 3));
    }
    if (a->have_energy) {
        double j = a->energy.j_per_1k.median;
        row->energy_j_per_1k = eco_some(eco_step_round(j, 4));
        row->energy_ci = eco_span_of(eco_step_round(a->energy.j_per_1k.lo95, 3),
                                     eco_step_round(a->energy.j_per_1k.hi95, 3));
        row->tokens_per_j = eco_some(eco_step_round(1000.0 / j, 3));
        row->power_w = eco_step_implied_power(q, a);
    }
    if (a->have_latency) {
        row->tokens_per_s = eco_some(eco_step_round(a->latency.tokens_per_s.median, 3));
        row->tokens_per_s_ci = eco_span_of(eco_step_round(a->latency.tokens_per_s.lo95, 3),
                                           eco_step_round(a->latency.tokens_per_s.hi95, 3));
        row->tpot_ms = eco_some(eco_step_round(a->latency.tpot_s.median * 1e3, 3));
    }
}

static int compare_known(struct eco_question *q, const struct eco_answer *a,
                         struct eco_res_compare_row *row, struct eco_err *err)
{
    struct eco_res_known *k = eco_arena_alloc(q->ctx->arena, sizeof(*k));
    struct eco_measured m;
    int rc = k ? 0 : ECO_E_NO_MEMORY;
    if (k) {
        *k = (struct eco_res_known){.energy_basis = a->have_energy ? eco_basis_name(a->energy.basis)
                                                                   : "unavailable",
                                    .speed_basis = a->have_latency ? "modelled" : "unavailable"};
        rc = eco_step_measured(q, a->precision, a->engine, &m) ? eco_step_known(q->ctx, &m, k) : 0;
    }
    row->known = k;
    return rc ? eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory") : 0;
}

static int compare_bill(struct eco_question *q, const struct eco_answer *a,
                        struct eco_res_compare_row *row, struct eco_err *err)
{
    struct eco_res_bill bill;
    if (!a->have_energy) {
        return 0;
    }
    int rc = eco_step_bill(q, a, NULL, &bill, err);
    if (rc == 0) {
        row->month_usd = bill.month.usd;
        row->month_kgco2 = bill.month.kgco2;
    }
    return rc;
}

/* ---- what is not ranked -------------------------------------------------------------------- */

static bool is_usable(const struct eco_question *q, const struct eco_answer *a)
{
    return !a->cannot_run && !a->unsure && eco_step_fits(q, a);
}

/* Keeps what fits and runs; the rest is listed with its reason. `small` is the least of what runs
 * and does not fit; NULL: everything that runs fits. */
static int leave_out(struct eco_question *q, struct eco_answer *a, size_t *n,
                     struct eco_res_compare *out, struct eco_answer *small, bool *have_small,
                     struct eco_err *err)
{
    struct eco_res_left_out *v = eco_arena_array(q->ctx->arena, *n + 1, sizeof(*v));
    size_t kept = 0, left = 0;
    *have_small = false;
    for (size_t i = 0; v && i < *n; i++) {
        if (is_usable(q, &a[i])) {
            a[kept++] = a[i];
            continue;
        }
        const char *why = a[i].cannot_run ? a[i].cannot_run : a[i].unsure;
        bool big = !why, told = false;
        for (size_t k = 0; k < left; k++) { /* 16 bit of another engine takes as much */
            told |= big && strcmp(v[k].precision, eco_precision_name(a[i].precision)) == 0;
        }
        if (big && (!*have_small || a[i].memory.total_bytes < small->memory.total_bytes)) {
            *small = a[i];
            *have_small = true;
        }
        if (!told) {
            v[left++] = (struct eco_res_left_out){
                .precision = eco_precision_name(a[i].precision),
                .engine = eco_engine_name(a[i].engine),
                .why = big ? eco_step_too_large(q, a[i].memory.total_bytes)
                           : eco_word(q->ctx->lang, why),
                .need_gb = big ? eco_some(eco_num_round(a[i].memory.total_bytes / 1e9, 2))
                               : (struct eco_opt){0}};
        }
    }
    *n = v ? kept : *n;
    out->left_out = (struct eco_list){v, left};
    return v ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

/* The most bits that do fit on this card, of the precisions that nobody asked about. */
static const char *other_precision(struct eco_question *q)
{
    enum eco_precision best = ECO_PREC_NONE;
    enum eco_engine on = ECO_ENGINE_UNKNOWN;
    double most = 0;
    for (int i = 1; i < ECO_PREC_COUNT; i++) {
        enum eco_precision p = (enum eco_precision)i;
        enum eco_engine e =
            q->engine != ECO_ENGINE_UNKNOWN ? q->engine : eco_predict_usual_engine(p);
        struct eco_memory_query mq = {&q->model, p, q->batch, q->context_tokens, 0.0, e};
        struct eco_memory m;
        const char *why;
        if (!eco_precision_runs(p, e, q->gpu, q->arch, &why) || why ||
            eco_memory_estimate(&mq, &m, NULL) || !eco_step_fits_bytes(q, m.total_bytes) ||
            m.total_bytes <= most) {
            continue;
        }
        most = m.total_bytes;
        best = p;
        on = e;
    }
    return best == ECO_PREC_NONE ? NULL
                                 : eco_step_fmt(q->ctx, TX(q->ctx, instead_precision),
                                                eco_precision_name(best), eco_engine_name(on),
                                                q->gpu->name, eco_step_num(q->ctx, most / 1e9, 3));
}

#define CARDS_NAMED 3

/* The smallest cards on which `a` fits and runs. */
static const char *other_cards(struct eco_question *q, const struct eco_answer *a)
{
    double least = INFINITY;
    const char *names[CARDS_NAMED];
    size_t n = 0;
    for (size_t i = 0; i < eco_dataset_gpu_count(); i++) {
        const struct eco_gpu *g = eco_dataset_gpu(i);
        const char *why;
        bool holds = g->vram_gb > 0 && eco_memory_room(g, 1, a->memory.total_bytes) <= 1 &&
                     eco_precision_runs(a->precision, a->engine, g, g->arch, &why) && !why;
        if (!holds || g->vram_gb > least) {
            continue;
        }
        n = g->vram_gb < least ? 0 : n;
        least = g->vram_gb;
        if (n < CARDS_NAMED) {
            names[n++] = g->name;
        }
    }
    if (n == 0) {
        return NULL;
    }
    struct eco_gpu any = {.vram_gb = least};
    const char *list = names[0];
    for (size_t i = 1; i < n; i++) {
        list = eco_step_fmt(q->ctx, "%s%s%s", list, TX(q->ctx, list_comma), names[i]);
    }
    return eco_step_fmt(q->ctx, TX(q->ctx, instead_cards), eco_precision_name(a->precision),
                        eco_step_num(q->ctx, eco_gpu_memory_bytes(&any) / 1e9, 3), list);
}

/* Nothing fits: that first, with the trap of running it nevertheless, and what would fit. */
static int nothing_fits(struct eco_question *q, const struct eco_answer *small,
                        struct eco_res_compare *out, struct eco_err *err)
{
    const char **v = eco_arena_array(q->ctx->arena, 2, sizeof(*v));
    struct eco_list alerts;
    size_t n = 0;
    bool trap = false;
    int rc = v ? eco_step_alerts(q, small, &alerts, &trap, err)
               : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    if (rc) {
        return rc;
    }
    const char *said[] = {other_precision(q), other_cards(q, small)};
    for (size_t i = 0; i < ECO_COUNT(said); i++) {
        if (said[i]) {
            v[n++] = said[i];
        }
    }
    struct eco_res_alert *rows = (struct eco_res_alert *)(uintptr_t)alerts.items;
    size_t kept = 0;
    for (size_t i = 0; i < alerts.n; i++) {
        if (strcmp(rows[i].id, "offload") == 0) { /* the others are about what does not run */
            rows[kept] = rows[i];
            rows[kept].fix = n ? v[0] : rows[i].fix;
            rows[kept++].fix_code = NULL;
        }
    }
    out->instead = (struct eco_strs){v, n};
    out->alerts = (struct eco_list){rows, kept};
    out->mood = eco_step_mood(q, small->change.basis, trap,
                              eco_some(eco_step_excess(q, small, &alerts, 0.0)), true);
    out->verdict = eco_step_fmt(
        q->ctx, TX(q->ctx, none_fits), eco_step_where(q), eco_precision_name(small->precision),
        eco_step_too_large(q, small->memory.total_bytes), n ? v[0] : TX(q->ctx, none_at_all));
    return 0;
}

/* ---- the ranked ---------------------------------------------------------------------------- */

static const char *compare_verdict(struct eco_question *q, const struct eco_answer *best)
{
    if (best->baseline) {
        return eco_step_fmt(q->ctx, TX(q->ctx, best_is_baseline),
                            eco_precision_name(best->precision), eco_step_where(q));
    }
    return eco_step_fmt(q->ctx, TX(q->ctx, compare_least), eco_precision_name(best->precision),
                        eco_engine_name(best->engine), eco_step_verdict(q, best));
}

/* The trap's fix is the calm row, with what taking it changes in this very table. */
static void fix_by_row(struct eco_question *q, const struct eco_answer *from,
                       const struct eco_answer *to, const struct eco_res_compare_row *now,
                       const struct eco_res_compare_row *then, struct eco_res_alert *alert)
{
    struct eco_ctx *ctx = q->ctx;
    const struct eco_alert_rule *rule = eco_alerts_find(alert->id);
    const char *other = eco_step_other_way(ctx, alert->id);
    bool about = rule && (rule->fix_effect == ECO_EFFECT_TO_FP16 ||
                          rule->fix_effect == ECO_EFFECT_INT8_FIX ||
                          rule->fix_effect == ECO_EFFECT_NF4_PLAIN);
    if (!about) {
        return;
    }
    const char *run =
        q->gpu ? eco_step_fmt(ctx, TX(ctx, fix_row), then->precision, then->engine,
                              eco_step_num(ctx, then->vram_gb.v, 3),
                              eco_step_num(ctx, eco_memory_limit_bytes(q->gpu, 1) / 1e9, 3))
               : eco_step_fmt(ctx, TX(ctx, fix_row_only), then->precision, then->engine);
    alert->fix = other ? eco_step_fmt(ctx, TX(ctx, fix_also), run, other) : run;
    alert->fix_code = eco_step_code(to->precision, to->engine);
    alert->fix_effect_pct =
        eco_some(eco_step_round(100.0 * expm1(log_relative(to) - log_relative(from)), 3));
    alert->fix_saving_usd = now->month_usd.have && then->month_usd.have
                                ? eco_some(eco_step_round(now->month_usd.v - then->month_usd.v, 3))
                                : (struct eco_opt){0};
}

static double alert_order(const struct eco_res_alert *a)
{
    double severity = strcmp(a->severity, "critical") == 0  ? 2e9
                      : strcmp(a->severity, "warning") == 0 ? 1e9
                                                            : 0.0;
    return severity + (a->effect_pct.have ? fmin(a->effect_pct.v, 1e8) : 0.0);
}

/* The worst first. */
static void add_alert(struct eco_res_alert *list, size_t *n, const struct eco_res_alert *alert)
{
    size_t at = (*n)++;
    for (; at > 0 && alert_order(&list[at - 1]) < alert_order(alert); at--) {
        list[at] = list[at - 1];
    }
    list[at] = *alert;
}

struct ranked {
    const struct eco_answer *a;
    size_t n;
    bool trap[2 * MAX_COMPARED];
    struct eco_list found[2 * MAX_COMPARED];
    struct eco_res_compare_row *rows;
};

static int fill_rows(struct eco_question *q, struct ranked *r, struct eco_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < r->n; i++) {
        rc = eco_step_alerts(q, &r->a[i], &r->found[i], &r->trap[i], err);
    }
    for (size_t i = 0; rc == 0 && i < r->n; i++) {
        const struct eco_answer *a = &r->a[i];
        size_t calm = calm_row(r->a, r->trap, r->n, a->engine);
        double over = calm < r->n ? 100.0 * expm1(log_relative(a) - log_relative(&r->a[calm]))
                                  : a->change.delta_pct.median;
        fill_compare_row(q, a, i + 1, log_relative(&r->a[0]), fmax(over, 0.0), r->trap[i],
                         &r->rows[i]);
        rc = compare_known(q, a, &r->rows[i], err);
        rc = rc ? rc : compare_bill(q, a, &r->rows[i], err);
        eco_step_price_alerts(&r->found[i], rc ? (struct eco_opt){0} : r->rows[i].month_usd);
    }
    return rc;
}

static int compare_rows(struct eco_question *q, const struct eco_answer *a, size_t n,
                        struct eco_res_compare *out, struct eco_err *err)
{
    struct ranked *r = eco_arena_alloc(q->ctx->arena, sizeof(*r));
    struct eco_res_alert *alerts =
        eco_arena_array(q->ctx->arena, n * ECO_ALERTS_MAX + 1, sizeof(*alerts));
    size_t n_alerts = 0;
    if (!r || !alerts) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    r->a = a;
    r->n = n;
    r->rows = eco_arena_array(q->ctx->arena, n + 1, sizeof(*r->rows));
    int rc =
        r->rows ? fill_rows(q, r, err) : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    if (rc) {
        return rc;
    }
    for (size_t i = 0; i < n; i++) {
        size_t calm = calm_row(a, r->trap, n, a[i].engine);
        struct eco_res_alert *own = (struct eco_res_alert *)(uintptr_t)r->found[i].items;
        for (size_t k = 0; k < r->found[i].n; k++) {
            if (calm < n) {
                fix_by_row(q, &a[i], &a[calm], &r->rows[i], &r->rows[calm], &own[k]);
            }
            add_alert(alerts, &n_alerts, &own[k]);
        }
    }
    out->rows = (struct eco_list){r->rows, n};
    out->alerts = (struct eco_list){alerts, n_alerts};
    return 0;
}

/* The worst light of the rows that an alert is about; without one, that of the recommended row. */
static const char *compare_mood(const struct eco_res_compare *out)
{
    const struct eco_res_compare_row *rows = out->rows.items;
    const struct eco_res_alert *a = out->alerts.items;
    const char *worst = NULL;
    for (size_t i = 0; i < out->alerts.n; i++) {
        for (size_t k = 0; k < out->rows.n; k++) {
            bool about = strcmp(a[i].severity, "info") != 0 &&
                         strcmp(rows[k].precision, a[i].precision) == 0 &&
                         strcmp(rows[k].engine, a[i].engine) == 0;
            if (about && (!worst || eco_step_worse(rows[k].mood, worst))) {
                worst = rows[k].mood;
            }
        }
    }
    return worst ? worst : rows[0].mood;
}

/* Engines differ in their 16-bit baselines: each engine's own is a row too. */
static int add_baselines(struct eco_question *q, struct eco_answer *a, size_t *n, size_t cap,
                         struct eco_err *err)
{
    size_t asked = *n;
    bool wanted = false;
    for (size_t i = 0; i < asked; i++) {
        wanted |= a[i].baseline;
    }
    for (size_t i = 0; wanted && i < asked && *n < cap; i++) {
        bool there = false;
        for (size_t k = 0; k < *n; k++) {
            there |= a[k].baseline && a[k].engine == a[i].engine;
        }
        if (!there) {
            enum eco_engine was = q->engine;
            q->engine = a[i].engine;
            int rc = eco_step_answer(q, ECO_PREC_FP16, &a[(*n)++], err);
            q->engine = was;
            if (rc) {
                return rc;
            }
        }
    }
    return 0;
}

/* ---- the recommendation -------------------------------------------------------------------- */

static struct eco_opt percent_of(struct eco_opt v, struct eco_opt base)
{
    bool have = v.have && base.have && base.v > 0;
    return have ? eco_some(eco_num_round(100.0 * (v.v / base.v - 1.0), 1)) : (struct eco_opt){0};
}

static const char *shown(struct eco_question *q, struct eco_opt v, int digits)
{
    return eco_step_num(q->ctx, v.v, digits);
}

static struct eco_strs reasons(struct eco_question *q, const struct eco_answer *a,
                               const struct eco_res_compare_row *row)
{
    struct eco_ctx *ctx = q->ctx;
    const char **v = eco_arena_array(ctx->arena, 3, sizeof(*v));
    size_t n = 0;
    if (v && row->energy_j_per_1k.have) {
        v[n++] = eco_step_fmt(ctx, TX(ctx, why_least), shown(q, row->energy_j_per_1k, 4));
    }
    if (v && !a->baseline) {
        double lo = row->delta_ci.lo, hi = row->delta_ci.hi;
        v[n++] = eco_step_fmt(
            ctx, TX(ctx, why_against_16), eco_step_pct(ctx, row->delta_pct, lo, hi),
            eco_step_pct(ctx, lo, lo, hi), eco_step_pct(ctx, hi, lo, hi), eco_step_reason(q, a));
    }
    if (v && row->tokens_per_s.have && row->tpot_ms.have) {
        v[n++] = eco_step_fmt(ctx, TX(ctx, why_speed), shown(q, row->tokens_per_s, 3),
                              shown(q, row->tpot_ms, 3));
    }
    return (struct eco_strs){v, n};
}

static struct eco_list rivals(struct eco_question *q, const struct eco_res_compare_row *rows,
                              size_t n, size_t best)
{
    struct eco_res_rival *v = eco_arena_array(q->ctx->arena, n, sizeof(*v));
    size_t kept = 0;
    for (size_t i = 0; v && i < n; i++) {
        const struct eco_res_compare_row *r = &rows[i], *b = &rows[best];
        if (i == best) {
            continue;
        }
        v[kept] =
            (struct eco_res_rival){.precision = r->precision,
                                   .engine = r->engine,
                                   .energy_pct = percent_of(b->energy_j_per_1k, r->energy_j_per_1k),
                                   .speed_pct = percent_of(b->tokens_per_s, r->tokens_per_s)};
        if (r->month_usd.have && b->month_usd.have) {
            v[kept].saving_usd = eco_some(eco_step_round(r->month_usd.v - b->month_usd.v, 3));
        }
        kept++;
    }
    return (struct eco_list){v, kept};
}

/* The row with the least of something; n: none has it. */
static size_t least(const struct eco_res_compare_row *rows, size_t n, size_t offset)
{
    size_t best = n;
    double low = INFINITY;
    for (size_t i = 0; i < n; i++) {
        const struct eco_opt *v = (const struct eco_opt *)((const char *)&rows[i] + offset);
        if (v->have && v->v < low) {
            low = v->v;
            best = i;
        }
    }
    return best;
}

#define LEAST(member) least(rows, n, offsetof(struct eco_res_compare_row, member))

static struct eco_strs advice(struct eco_question *q, const struct eco_answer *a,
                              const struct eco_res_compare_row *rows, size_t n, size_t best)
{
    struct eco_ctx *ctx = q->ctx;
    const char **v = eco_arena_array(ctx->arena, 4, sizeof(*v));
    size_t kept = 0, small = LEAST(vram_gb), fast = LEAST(tpot_ms), cheap = LEAST(month_usd);
    if (!v) {
        return (struct eco_strs){NULL, 0};
    }
    if (small < n) {
        v[kept++] = eco_step_fmt(ctx, TX(ctx, advice_memory), rows[small].precision,
                                 rows[small].engine, shown(q, rows[small].vram_gb, 3));
    }
    if (fast < n) {
        v[kept++] = eco_step_fmt(ctx, TX(ctx, advice_latency), rows[fast].precision,
                                 rows[fast].engine, shown(q, rows[fast].tpot_ms, 3));
    }
    if (cheap < n) {
        v[kept++] = eco_step_fmt(ctx, TX(ctx, advice_cost), rows[cheap].precision,
                                 rows[cheap].engine, shown(q, rows[cheap].month_usd, 3));
    }
    if (!a[best].baseline) {
        v[kept++] = eco_step_fmt(ctx, TX(ctx, advice_accuracy), rows[best].precision,
                                 rows[best].quality_basis);
    }
    return (struct eco_strs){v, kept};
}

static int recommend(struct eco_question *q, const struct eco_answer *a, size_t n,
                     struct eco_res_compare *out, struct eco_err *err)
{
    const struct eco_res_compare_row *rows = out->rows.items;
    struct eco_res_bill *bill = eco_arena_alloc(q->ctx->arena, sizeof(*bill));
    if (!bill) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    out->recommended = rows[0].precision;
    out->recommended_engine = rows[0].engine;
    out->mood = compare_mood(out);
    out->verdict = compare_verdict(q, &a[0]);
    out->why = reasons(q, &a[0], &rows[0]);
    out->versus = rivals(q, rows, n, 0);
    out->advice = advice(q, a, rows, n, 0);
    if (!a[0].have_energy) {
        return 0;
    }
    out->cost = bill;
    return eco_step_bill(q, &a[0], NULL, bill, err);
}

/* Everything ranked, or why there is nothing to rank. */
static int rank_all(struct eco_question *q, struct eco_answer *a, size_t n,
                    struct eco_res_compare *out, struct eco_err *err)
{
    struct eco_answer small, first = a[0];
    bool have_small;
    int rc = leave_out(q, a, &n, out, &small, &have_small, err);
    if (rc) {
        return rc;
    }
    const struct eco_answer *about = n ? &a[0] : have_small ? &small : &first;
    rank_answers(a, n);
    if (n) {
        rc = compare_rows(q, a, n, out, err);
        rc = rc ? rc : recommend(q, a, n, out, err);
    } else if (have_small) {
        rc = nothing_fits(q, &small, out, err);
    } else {
        out->mood = "Gray";
        out->verdict = eco_step_fmt(q->ctx, TX(q->ctx, none_runs), eco_step_where(q));
    }
    q->precision = about->precision;
    eco_step_transparency(q, q->precision, about->change.basis, &out->transparency);
    return rc;
}

int eco_run_compare(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_compare *a = args;
    struct eco_res_compare *out = result;
    struct eco_question q;
    eco_voice_set(ctx, &a->voice);
    enum eco_precision list[MAX_COMPARED];
    size_t n = 0;
    int rc = eco_step_target(ctx, &a->target, &q, err);
    if (rc == 0) {
        rc = eco_step_load(&a->load, &q, err);
    }
    if (rc == 0) {
        rc = precision_list(&a->precisions, list, &n, err);
    }
    struct eco_answer *answers = eco_arena_array(ctx->arena, 2 * n + 1, sizeof(*answers));
    if (rc || !answers) {
        return rc ? rc : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    eco_step_assume(&q, "compare", a, ECO_ASSUMED_ALL);
    eco_step_circumstances(&q, &a->risk, &a->money);
    q.listing = true;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = eco_step_answer(&q, list[i], &answers[i], err);
    }
    rc = rc ? rc : add_baselines(&q, answers, &n, 2 * n, err);
    rc = rc ? rc : rank_all(&q, answers, n, out, err);
    if (rc == 0) {
        eco_step_note_fit(&q);
        eco_step_fill_input(&q, &out->input);
        eco_step_provenance(&q, (int)eco_step_data_points(), (int)eco_step_data_sessions(),
                            &out->data);
        out->notes = eco_step_notes(&q);
    }
    return rc;
}
