/*
 * Precisions side by side: every one answered, ranked by energy, priced; the best that fits and
 * runs is recommended, with what it gains against each other one.
 */
#include "base/num.h"
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

static void fill_compare_row(struct eco_question *q, const struct eco_answer *a, size_t rank,
                             double best, double best_here, const struct eco_list *alerts,
                             bool trap, struct eco_res_compare_row *row)
{
    const struct eco_predict_answer *c = &a->change;
    double over = 100.0 * expm1(log_relative(a) - best_here); /* on its own engine */
    double excess = eco_step_excess(q, a, alerts, over);
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

/* The first of the ranked that fits and runs; n: none. */
static size_t first_usable(const struct eco_question *q, const struct eco_answer *a, size_t n)
{
    size_t first = 0;
    while (first < n && (a[first].cannot_run || !eco_step_fits(q, &a[first]))) {
        first++;
    }
    return first;
}

static const char *compare_verdict(struct eco_question *q, const struct eco_answer *a, size_t n)
{
    size_t first = first_usable(q, a, n);
    if (first == n) {
        return eco_step_fmt(q->ctx, TX(q->ctx, none_runs), eco_step_where(q));
    }
    const struct eco_answer *best = &a[first];
    if (best->baseline) {
        return eco_step_fmt(q->ctx, TX(q->ctx, best_is_baseline),
                            eco_precision_name(best->precision), eco_step_where(q));
    }
    return eco_step_verdict(q, best);
}

static int compare_rows(struct eco_question *q, struct eco_answer *a, size_t n,
                        struct eco_res_compare *out, struct eco_err *err)
{
    struct eco_res_compare_row *rows = eco_arena_array(q->ctx->arena, n, sizeof(*rows));
    struct eco_res_alert *alerts =
        eco_arena_array(q->ctx->arena, n * ECO_ALERTS_MAX, sizeof(*alerts));
    size_t n_alerts = 0;
    if (!rows || !alerts) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    for (size_t i = 0; i < n; i++) {
        struct eco_list found;
        bool trap = false;
        int rc = eco_step_alerts(q, &a[i], &found, &trap, err);
        if (rc) {
            return rc;
        }
        size_t here = 0; /* ranked: the first of this engine is its best */
        while (a[here].engine != a[i].engine) {
            here++;
        }
        fill_compare_row(q, &a[i], i + 1, log_relative(&a[0]), log_relative(&a[here]), &found, trap,
                         &rows[i]);
        rc = compare_bill(q, &a[i], &rows[i], err);
        if (rc) {
            return rc;
        }
        eco_step_price_alerts(&found, rows[i].month_usd);
        for (size_t k = 0; k < found.n; k++) { /* one trap is told once, for its worst precision */
            const struct eco_res_alert *f = (const struct eco_res_alert *)found.items + k;
            bool told = false;
            for (size_t t = 0; t < n_alerts; t++) {
                told |= strcmp(alerts[t].id, f->id) == 0;
            }
            if (!told) {
                alerts[n_alerts++] = *f;
            }
        }
    }
    out->rows = (struct eco_list){rows, n};
    out->alerts = (struct eco_list){alerts, n_alerts};
    return 0;
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

/* The usable row with the least of something; n: none has it. */
static size_t least(const struct eco_question *q, const struct eco_answer *a,
                    const struct eco_res_compare_row *rows, size_t n, size_t offset)
{
    size_t best = n;
    double low = INFINITY;
    for (size_t i = 0; i < n; i++) {
        const struct eco_opt *v = (const struct eco_opt *)((const char *)&rows[i] + offset);
        if (v->have && v->v < low && !a[i].cannot_run && eco_step_fits(q, &a[i])) {
            low = v->v;
            best = i;
        }
    }
    return best;
}

#define LEAST(member) least(q, a, rows, n, offsetof(struct eco_res_compare_row, member))

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
    size_t best = first_usable(q, a, n);
    q->precision = a[best < n ? best : 0].precision;
    out->mood = "Gray";
    eco_step_transparency(q, q->precision, a[best < n ? best : 0].change.basis, &out->transparency);
    if (best == n) {
        return 0;
    }
    struct eco_res_bill *bill = eco_arena_alloc(q->ctx->arena, sizeof(*bill));
    if (!bill) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    out->recommended = rows[best].precision;
    out->recommended_engine = rows[best].engine;
    out->mood = rows[best].mood;
    out->why = reasons(q, &a[best], &rows[best]);
    out->versus = rivals(q, rows, n, best);
    out->advice = advice(q, a, rows, n, best);
    if (!a[best].have_energy) {
        return 0;
    }
    out->cost = bill;
    return eco_step_bill(q, &a[best], NULL, bill, err);
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
    eco_step_circumstances(&q, &a->risk, &a->money);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = eco_step_answer(&q, list[i], &answers[i], err);
    }
    rc = rc ? rc : add_baselines(&q, answers, &n, 2 * n, err);
    if (rc == 0) {
        rank_answers(answers, n);
        rc = compare_rows(&q, answers, n, out, err);
    }
    rc = rc ? rc : recommend(&q, answers, n, out, err);
    if (rc == 0) {
        out->verdict = compare_verdict(&q, answers, n);
        eco_step_fill_input(&q, &out->input);
        eco_step_provenance(&q, (int)eco_step_data_points(), (int)eco_step_data_sessions(),
                            &out->data);
        out->notes = eco_step_notes(&q);
    }
    return rc;
}
