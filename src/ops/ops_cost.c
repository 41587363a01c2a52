/*
 * What a deployment costs, and what it could cost: today's configuration, the best precision at
 * today's batch, and the best one when requests are batched.
 */
#include "base/num.h"
#include "cost_volume.h"
#include "runs.h"
#include "texts.h"

#include <math.h>
#include <string.h>

#define BATCHED 8.0 /* a batch that most services can fill; the page and --batch try others */

static const enum eco_precision options[] = {ECO_PREC_FP16, ECO_PREC_NF4};

static bool fits(const struct eco_question *q, const struct eco_answer *a)
{
    return eco_step_fits(q, a);
}

/* The least energy among today's precision and the usual ones, of those that fit. */
static int best_at(struct eco_question *q, double batch, struct eco_answer *best,
                   struct eco_err *err)
{
    double was = q->batch;
    bool have = false;
    int rc = 0;
    q->batch = batch;
    for (size_t i = 0; rc == 0 && i <= ECO_COUNT(options); i++) {
        struct eco_answer a;
        enum eco_precision p = i < ECO_COUNT(options) ? options[i] : q->precision;
        rc = eco_step_answer(q, p, &a, err);
        bool better = rc == 0 && a.have_energy && !a.cannot_run && fits(q, &a) &&
                      (!have || a.energy.j_per_1k.median < best->energy.j_per_1k.median);
        if (better) {
            *best = a;
            have = true;
        }
    }
    q->batch = was;
    if (rc == 0 && !have) {
        rc = eco_step_need_card(q, err);
        rc = rc ? rc
                : eco_err_set(err, ECO_E_NO_FIT, "gpu",
                              "no usual precision of this model fits on %s", q->gpu->name);
    }
    return rc;
}

static int add_option(struct eco_question *q, const char *label, double batch,
                      const struct eco_answer *a, struct eco_res_cost_option *row,
                      struct eco_res_bill *bill, struct eco_err *err)
{
    double was = q->batch;
    q->batch = batch;
    int rc = eco_step_bill(q, a, NULL, bill, err);
    q->batch = was;
    if (rc == 0) {
        *row =
            (struct eco_res_cost_option){.label = label,
                                         .precision = eco_precision_name(a->precision),
                                         .batch = (int64_t)batch,
                                         .j_per_1k = eco_step_round(a->energy.j_per_1k.median, 4),
                                         .month_kwh = bill->month.kwh,
                                         .month_usd = bill->month.usd,
                                         .month_kgco2 = bill->month.kgco2,
                                         .year_usd = bill->year.usd,
                                         .rental_usd = bill->month.rental_usd};
    }
    return rc;
}

static struct eco_opt difference(struct eco_opt a, struct eco_opt b)
{
    return a.have && b.have ? eco_some(eco_step_round(a.v - b.v, 4)) : (struct eco_opt){0};
}

static void fill_saving(struct eco_ctx *ctx, const struct eco_res_cost_option *now,
                        const struct eco_res_cost_option *same,
                        const struct eco_res_cost_option *then, struct eco_res_cost *out)
{
    out->saving_usd = difference(now->month_usd, then->month_usd);
    out->saving_kgco2 = difference(now->month_kgco2, then->month_kgco2);
    out->saving_kwh = eco_some(eco_step_round(now->month_kwh - then->month_kwh, 4));
    out->saving_pct = eco_some(eco_num_round(100.0 * (1.0 - then->month_kwh / now->month_kwh), 1));
    out->saving_year_usd = difference(now->year_usd, then->year_usd);
    if (out->saving_kwh.v > 0) {
        double kgco2 = out->saving_kgco2.have ? out->saving_kgco2.v : (double)NAN;
        out->saving_equivalents = eco_step_equivalents(ctx, out->saving_kwh.v, kgco2);
    }
    const char **v = eco_arena_array(ctx->arena, 3, sizeof(*v));
    size_t n = 0;
    if (v && strcmp(now->precision, same->precision) != 0) {
        double less = 100.0 * (1.0 - same->month_kwh / now->month_kwh);
        v[n++] = eco_step_fmt(ctx, TX(ctx, change_precision), same->precision, now->precision,
                              eco_step_num(ctx, less, 3));
    }
    if (v && now->batch != then->batch) {
        v[n++] = eco_step_fmt(ctx, TX(ctx, change_batch), (long long)then->batch,
                              (long long)now->batch, then->precision);
    }
    out->changes = (struct eco_strs){v, n};
}

static const char *verdict(struct eco_ctx *ctx, const struct eco_res_cost *out,
                           const struct eco_res_cost_option *rows)
{
    const char *now =
        rows[0].month_usd.have
            ? eco_step_fmt(ctx, TX(ctx, cost_usd), eco_step_num(ctx, rows[0].month_usd.v, 4))
            : eco_step_fmt(ctx, TX(ctx, cost_kwh), eco_step_num(ctx, rows[0].month_kwh, 4));
    if (out->saving_pct.v < 1.0) {
        return eco_step_fmt(ctx, TX(ctx, cost_least), now);
    }
    return eco_step_fmt(ctx, TX(ctx, cost_could), now, rows[2].precision, (long long)rows[2].batch,
                        eco_step_num(ctx, out->saving_pct.v, 3));
}

/* How each option does against the best of them, and how the current one feels about it. */
static void compare_options(struct eco_question *q, const struct eco_answer *now, bool trap,
                            struct eco_res_cost_option *rows, struct eco_res_cost *out)
{
    double best = INFINITY;
    for (size_t i = 0; i < 3; i++) {
        best = fmin(best, rows[i].j_per_1k);
    }
    for (size_t i = 0; i < 3; i++) {
        /* batching asks for traffic that may not be there: the mood compares at one batch */
        const struct eco_res_cost_option *peer =
            rows[i].batch == rows[1].batch ? &rows[1] : &rows[i];
        double excess = 100.0 * (rows[i].j_per_1k / peer->j_per_1k - 1.0);
        bool own = eco_step_own_data(q, now);
        rows[i].efficiency_pct = eco_num_round(100.0 * best / rows[i].j_per_1k, 0);
        rows[i].mood =
            i == 0 ? eco_step_mood(q, now->change.basis, trap, eco_some(excess), own) : "Green";
    }
    out->mood = rows[0].mood;
}

/* What each option costs a month, the current one in full. */
static int price_options(struct eco_question *q, const struct eco_answer *now,
                         struct eco_res_cost_option *rows, struct eco_res_cost *out,
                         struct eco_err *err)
{
    struct eco_answer same = {0}, batched = {0};
    struct eco_res_bill bill;
    double batch = q->batch > BATCHED ? q->batch : BATCHED;
    int rc = best_at(q, q->batch, &same, err);
    rc = rc ? rc : best_at(q, batch, &batched, err);
    rc = rc ? rc : add_option(q, "current", q->batch, now, &rows[0], &out->bill, err);
    rc = rc ? rc : add_option(q, "best precision", q->batch, &same, &rows[1], &bill, err);
    return rc ? rc : add_option(q, "batched", batch, &batched, &rows[2], &bill, err);
}

/* The tariffs with the volume that the parameters give in other units. */
static int choose_volume(struct eco_question *q, const struct eco_args_cost *a,
                         const struct eco_answer *now, struct eco_args_money *money,
                         struct eco_res_cost *out, struct eco_err *err)
{
    double requests, s = now->have_latency ? now->latency.request_s.median : (double)NAN;
    int rc = eco_cost_volume(q, a, s, &requests, out, err);
    *money = a->money;
    if (requests > 0) {
        money->requests = requests;
    }
    q->money = money;
    return rc;
}

int eco_run_cost(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_cost *a = args;
    struct eco_res_cost *out = result;
    struct eco_question q;
    struct eco_answer now;
    struct eco_args_money money;
    struct eco_res_cost_option *rows = eco_arena_array(ctx->arena, 3, sizeof(*rows));
    bool trap;
    eco_voice_set(ctx, &a->voice);
    int rc = rows ? eco_step_target(ctx, &a->target, &q, err)
                  : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    rc = rc ? rc : eco_step_load(&a->load, &q, err);
    rc = rc ? rc : eco_step_precision(a->precision, ECO_PREC_FP16, "precision", &q.precision, err);
    if (rc) {
        return rc;
    }
    eco_step_assume(&q, "cost", a, ECO_ASSUMED_ALL);
    eco_step_circumstances(&q, &a->risk, &a->money);
    rc = eco_step_answer(&q, q.precision, &now, err);
    rc = rc ? rc : choose_volume(&q, a, &now, &money, out, err);
    if (out->conversions.n) { /* the volume was said, in other units */
        q.assumed &= ~(unsigned)ECO_ASSUMED_REQUESTS;
    }
    rc = rc ? rc : price_options(&q, &now, rows, out, err);
    rc = rc ? rc : eco_step_alerts(&q, &now, &out->alerts, &trap, err);
    if (rc) {
        return rc;
    }
    eco_step_price_alerts(&out->alerts, rows[0].month_usd);
    out->options = (struct eco_list){rows, 3};
    compare_options(&q, &now, trap, rows, out);
    fill_saving(ctx, &rows[0], &rows[1], &rows[2], out);
    out->verdict = verdict(ctx, out, rows);
    eco_step_transparency(&q, q.precision, now.change.basis, &out->transparency);
    eco_step_note_fit(&q);
    eco_step_fill_input(&q, &out->input);
    eco_step_provenance(&q, (int)eco_step_data_points(), (int)eco_step_data_sessions(), &out->data);
    out->notes = eco_step_notes(&q);
    return 0;
}
