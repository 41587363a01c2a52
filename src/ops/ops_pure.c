/*
 * The predicting operations. Every line of a run function is a step with a name: understand the
 * question, answer it, look for traps, price it, say it. Pure: no files, no devices.
 */
#include "base/num.h"
#include "chart_data.h"
#include "report/chart_svg.h"
#include "runs.h"
#include "texts.h"

#include <math.h>
#include <string.h>

/* The headline figures of the change. */
static void fill_change(struct eco_question *q, const struct eco_answer *a,
                        struct eco_res_estimate *out)
{
    const struct eco_predict_answer *c = &a->change;
    out->delta_pct = eco_num_round(c->delta_pct.median, 1);
    out->ci = eco_span_of(eco_num_round(c->delta_pct.lo95, 1), eco_num_round(c->delta_pct.hi95, 1));
    out->bands = a->baseline ? NULL : eco_step_band(q, &c->delta_pct);
    out->p_saves = a->baseline ? (struct eco_opt){0} : eco_some(eco_num_round(c->p_saves, 3));
    out->basis = eco_basis_name(c->basis);
    out->confidence = eco_confidence_name(c->confidence);
    out->recommendation = eco_recommendation_name(c->recommendation);
    out->modelled = c->modelled;
    out->arch_used = eco_arch_name(q->arch);
    if (c->crossover.have && c->crossover.median <= ECO_CROSSOVER_SHOWN_B) {
        out->crossover_b = eco_some(eco_step_round(c->crossover.median, 3));
        out->crossover_ci =
            eco_span_of(eco_step_round(c->crossover.lo, 3), eco_step_round(c->crossover.hi, 3));
        out->crossover_saves = eco_step_saving_side(c->crossover.saves_above);
    }
    if (c->flip_batch.have) {
        out->flip_batch = eco_some(eco_step_round(c->flip_batch.median, 2));
        out->flip_batch_ci =
            eco_span_of(eco_step_round(c->flip_batch.lo, 2), eco_step_round(c->flip_batch.hi, 2));
    }
    out->anchors = eco_step_anchors(q, c);
}

/* What a careful reader wants to know beside the number. */
static void note_limits(struct eco_question *q, const struct eco_answer *a)
{
    const struct eco_predict_answer *c = &a->change;
    if (!a->baseline && c->n_precision == 0) {
        eco_step_note(q, TX(q->ctx, never_measured), eco_precision_name(a->precision));
    } else if (!a->baseline && q->gpu && c->n_card == 0) {
        eco_step_note(q, TX(q->ctx, not_on_card), eco_precision_name(a->precision), q->gpu->name,
                      c->n_precision);
    }
    if (a->precision == ECO_PREC_FP8 && a->engine == ECO_ENGINE_TRANSFORMERS) {
        eco_step_note(q, "%s", TX(q->ctx, fp8_scope));
    }
    if (!q->known_model) {
        eco_step_note(q, "%s", TX(q->ctx, size_only));
    }
    if (q->gpu && !eco_step_fits(q, a)) {
        eco_step_note(q, TX(q->ctx, not_fitting), eco_step_too_large(q, a->memory.total_bytes));
    }
    eco_step_note_fit(q);
}

static int add_chart(struct eco_question *q, const struct eco_answer *a,
                     struct eco_res_estimate *out, struct eco_err *err)
{
    if (!q->ctx->want_chart || a->baseline) {
        return 0;
    }
    struct eco_chart_crossover *chart = eco_arena_alloc(q->ctx->arena, sizeof(*chart));
    if (!chart) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    out->chart = chart;
    return eco_chart_data_crossover(q, a, chart, err);
}

int eco_step_estimate(struct eco_question *q, struct eco_res_estimate *out, struct eco_err *err)
{
    struct eco_answer a, fp16;
    bool trap = false;
    int rc = eco_step_answer(q, q->precision, &a, err);
    if (rc == 0) {
        rc = eco_step_alerts(q, &a, &out->alerts, &trap, err);
    }
    if (rc == 0 && a.have_energy && q->money) {
        struct eco_res_bill *bill = eco_arena_alloc(q->ctx->arena, sizeof(*bill));
        fp16 = a; /* the same load at the baseline's energy */
        fp16.energy = a.fp16;
        rc = bill ? eco_step_bill(q, &a, a.baseline ? NULL : &fp16, bill, err)
                  : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        out->cost = bill;
        eco_step_price_alerts(&out->alerts, bill ? bill->month.usd : (struct eco_opt){0});
    }
    if (rc) {
        return rc;
    }
    double above = eco_step_excess(q, &a, &out->alerts, a.change.delta_pct.median);
    note_limits(q, &a);
    fill_change(q, &a, out);
    out->calibration = "ecocompute";
    out->verdict = eco_step_verdict(q, &a);
    out->reason = eco_step_reason(q, &a);
    out->mood = eco_step_mood(q, a.change.basis, trap, eco_some(above > 0 ? above : 0.0),
                              eco_step_own_data(q, &a));
    out->energy = eco_step_energy(q, &a);
    out->latency = eco_step_latency(q, &a);
    out->power_w = eco_step_implied_power(q, &a);
    out->memory = eco_step_memory(q, &a);
    out->weight_gb = eco_num_round(a.memory.weights_bytes / 1e9, 2);
    out->weight_gb_fp16 = eco_num_round(a.memory.weights_fp16_bytes / 1e9, 2);
    eco_step_fill_input(q, &out->input);
    eco_step_provenance(q, (int)eco_step_data_points(), (int)eco_step_data_sessions(), &out->data);
    eco_step_transparency(q, a.precision, a.change.basis, &out->transparency);
    out->notes = eco_step_notes(q);
    return add_chart(q, &a, out, err);
}

/* --svg: the same chart as a file. */
static int write_svg(struct eco_ctx *ctx, const struct eco_args_estimate *a,
                     const struct eco_res_estimate *out, struct eco_err *err)
{
    if (!a->svg || !ctx->write_file) {
        return 0;
    }
    if (!out->chart) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "svg",
                           "there is no chart of a 16-bit baseline or "
                           "of the published calibration");
    }
    struct eco_buf b = ECO_BUF_INIT;
    int rc = eco_chart_svg_crossover(out->chart, eco_chart_data_look(ctx), &b, err);
    rc = rc ? rc : ctx->write_file(a->svg, eco_buf_str(&b), b.len, a->force, err);
    eco_buf_done(&b);
    return rc;
}

int eco_run_estimate(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_estimate *a = args;
    struct eco_question q;
    if (a->q) {
        return eco_run_asked(ctx, "estimate", args, result, err);
    }
    eco_voice_set(ctx, &a->voice);
    if (eco_str_ieq(a->calibration, strlen(a->calibration), "published")) {
        return eco_step_published(ctx, a, result, err);
    }
    int rc = eco_step_target(ctx, &a->target, &q, err);
    if (rc == 0) {
        rc = eco_step_precision(a->precision, ECO_PREC_NF4, "precision", &q.precision, err);
    }
    if (rc == 0) {
        rc = eco_step_load(&a->load, &q, err);
    }
    if (rc == 0) {
        eco_step_assume(&q, "estimate", a, ECO_ASSUMED_ALL);
        eco_step_circumstances(&q, &a->risk, &a->money);
        ctx->want_chart = ctx->want_chart || a->svg;
        rc = eco_step_estimate(&q, result, err);
    }
    return rc ? rc : write_svg(ctx, a, result, err);
}
