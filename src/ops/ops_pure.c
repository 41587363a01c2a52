/*
 * The predicting operations. Every line of a run function is a step with a name: understand the
 * question, answer it, look for traps, price it, say it. Pure: no files, no devices.
 */
#include "base/num.h"
#include "chart_data.h"
#include "report/chart_svg.h"
#include "runs.h"

#include <math.h>
#include <string.h>

static bool own_data(const struct eco_answer *a)
{
    return a->baseline || a->change.n_card > 0 || a->change.n_precision > 0;
}

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
        eco_step_note(q,
                      "%s was never measured: what is known of other precisions answers, with "
                      "a range as wide as that",
                      eco_precision_name(a->precision));
    } else if (!a->baseline && q->gpu && c->n_card == 0) {
        eco_step_note(q, "%s was not measured on %s (%d pairs on other cards)",
                      eco_precision_name(a->precision), q->gpu->name, c->n_precision);
    }
    if (a->precision == ECO_PREC_FP8 && a->engine == ECO_ENGINE_TRANSFORMERS) {
        eco_step_note(q,
                      "FP8 in eager PyTorch was measured with torchao's compiled extensions off: "
                      "no statement about FP8 with compiled kernels (try --engine vllm)");
    }
    if (!q->known_model) {
        eco_step_note(q,
                      "only a size is known: layers and heads are interpolated between models of "
                      "similar size");
    }
    if (q->gpu && !eco_step_fits(q, a)) {
        eco_step_note(q, "needs %.1f GB, %s has %g GB: it does not fit on one card",
                      a->memory.total_bytes / 1e9, q->gpu->name, q->gpu->vram_gb);
    }
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
    }
    if (rc) {
        return rc;
    }
    double above = a.change.delta_pct.median;
    note_limits(q, &a);
    fill_change(q, &a, out);
    out->calibration = "ecocompute";
    out->verdict = eco_step_verdict(q, &a);
    out->reason = eco_step_reason(q, &a);
    out->mood =
        eco_step_mood(q, a.change.basis, trap, eco_some(above > 0 ? above : 0.0), own_data(&a));
    out->energy = eco_step_energy(q, &a);
    out->latency = eco_step_latency(q, &a);
    out->memory = eco_step_memory(q, &a);
    out->weight_gb = eco_num_round(a.memory.weights_bytes / 1e9, 2);
    out->weight_gb_fp16 = eco_num_round(a.memory.weights_fp16_bytes / 1e9, 2);
    eco_step_fill_input(q, &out->input);
    eco_step_provenance(q, (int)eco_step_data_points(), (int)eco_step_data_sessions(), &out->data);
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
    int rc = eco_chart_svg_crossover(out->chart, &b, err);
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
        eco_step_circumstances(&q, &a->risk, &a->money);
        ctx->want_chart = ctx->want_chart || a->svg;
        rc = eco_step_estimate(&q, result, err);
    }
    return rc ? rc : write_svg(ctx, a, result, err);
}

/* ---- compare ------------------------------------------------------------------------------- */

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
                             double best, double best_here, bool trap,
                             struct eco_res_compare_row *row)
{
    const struct eco_predict_answer *c = &a->change;
    double excess = 100.0 * expm1(log_relative(a) - best_here); /* on its own engine */
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
        .mood = eco_step_mood(q, c->basis, trap, eco_some(excess), own_data(a))};
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
    }
    return rc;
}

static const char *compare_verdict(struct eco_question *q, const struct eco_answer *a, size_t n)
{
    size_t first = 0;
    while (first < n && (a[first].cannot_run || !eco_step_fits(q, &a[first]))) {
        first++;
    }
    if (first == n) {
        return eco_step_fmt(q->ctx, "none of these fits and runs on %s", eco_step_where(q));
    }
    const struct eco_answer *best = &a[first];
    if (best->baseline) {
        return eco_step_fmt(q->ctx,
                            "%s uses the least energy here: no quantization among these is "
                            "expected to save on %s",
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
        fill_compare_row(q, &a[i], i + 1, log_relative(&a[0]), log_relative(&a[here]), trap,
                         &rows[i]);
        rc = compare_bill(q, &a[i], &rows[i], err);
        if (rc) {
            return rc;
        }
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

int eco_run_compare(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_compare *a = args;
    struct eco_res_compare *out = result;
    struct eco_question q;
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
    if (rc == 0) {
        q.precision = answers[0].precision;
        out->verdict = compare_verdict(&q, answers, n);
        eco_step_fill_input(&q, &out->input);
        eco_step_provenance(&q, (int)eco_step_data_points(), (int)eco_step_data_sessions(),
                            &out->data);
        out->notes = eco_step_notes(&q);
    }
    return rc;
}

/* ---- diagnose ------------------------------------------------------------------------------ */

static const enum eco_precision suspects[] = {ECO_PREC_INT8_MIXED, ECO_PREC_INT8_PURE, ECO_PREC_NF4,
                                              ECO_PREC_FP8};

static int diagnose_deltas(struct eco_question *q, struct eco_diagnose_delta *out, size_t *n,
                           struct eco_err *err)
{
    *n = 0;
    for (size_t i = 0; i < ECO_COUNT(suspects) + 1; i++) {
        enum eco_precision p = i < ECO_COUNT(suspects) ? suspects[i] : q->precision;
        bool seen = false;
        for (size_t k = 0; k < *n; k++) {
            seen |= out[k].precision == p;
        }
        struct eco_answer a;
        int rc = seen ? 0 : eco_step_answer(q, p, &a, err);
        if (rc) {
            return rc;
        }
        if (!seen) {
            out[(*n)++] = (struct eco_diagnose_delta){p, a.change.mu, a.change.sd};
        }
    }
    return 0;
}

/* What to do to see that a fix helped, with the figures to look for. */
static const char *verify_text(struct eco_question *q, const char *id, const struct eco_diagnose *d)
{
    if (strcmp(id, "check-throughput") == 0) {
        return eco_step_fmt(q->ctx,
                            "throughput should come near %.3g tokens per second (you saw %.3g)",
                            d->expect_tokens_per_s.median, d->tokens_per_s);
    }
    if (strcmp(id, "check-power") == 0) {
        return eco_step_fmt(q->ctx,
                            "energy should come near %.3g J per 1000 tokens, gross board power",
                            d->expect_j_per_1k.median);
    }
    return eco_verify_text(id);
}

static void fill_diagnose(struct eco_question *q, const struct eco_diagnose *d,
                          struct eco_res_diagnose *out)
{
    struct eco_res_pattern *patterns =
        eco_arena_array(q->ctx->arena, d->n_patterns + 1, sizeof(*patterns));
    struct eco_res_fix *fixes = eco_arena_array(q->ctx->arena, d->n_fixes + 1, sizeof(*fixes));
    const char **verify = eco_arena_array(q->ctx->arena, d->n_verify + 1, sizeof(*verify));
    if (!patterns || !fixes || !verify) {
        return;
    }
    for (size_t i = 0; i < d->n_patterns; i++) {
        const struct eco_diagnose_pattern *p = &d->pattern[i];
        patterns[i] = (struct eco_res_pattern){
            .cause = eco_cause_name(p->cause),
            .probability = eco_num_round(p->probability_frac, 3),
            .expect_tokens_per_s = eco_some(eco_step_round(p->expect_tokens_per_s, 3)),
            .expect_j_per_1k = eco_some(eco_step_round(p->expect_j_per_1k, 3)),
            .text = eco_cause_text(p->cause)};
    }
    for (size_t i = 0; i < d->n_fixes; i++) {
        fixes[i] =
            (struct eco_res_fix){.id = d->fix[i].id,
                                 .text = d->fix[i].text,
                                 .code = d->fix[i].code,
                                 .energy_pct = eco_some(eco_step_round(d->fix[i].energy_pct, 3)),
                                 .speed_pct = eco_some(eco_step_round(d->fix[i].speed_pct, 3))};
    }
    for (size_t i = 0; i < d->n_verify; i++) {
        verify[i] = verify_text(q, d->verify[i], d);
    }
    out->patterns = (struct eco_list){patterns, d->n_patterns};
    out->fixes = (struct eco_list){fixes, d->n_fixes};
    out->verify = (struct eco_strs){verify, d->n_verify};
}

static void fill_observed(const struct eco_diagnose *d, struct eco_res_diagnose *out)
{
    const struct eco_band *s = &d->expect_tokens_per_s, *e = &d->expect_j_per_1k;
    out->tokens_per_s = eco_some(d->tokens_per_s);
    out->power_w = eco_some(eco_step_round(d->power_w, 4));
    out->j_per_1k = eco_some(eco_step_round(d->j_per_1k, 4));
    out->inconsistency_pct = eco_some(eco_step_round(d->inconsistency_pct, 2));
    out->expect_tokens_per_s = eco_some(eco_step_round(s->median, 3));
    out->expect_tokens_per_s_ci =
        eco_span_of(eco_step_round(s->lo95, 3), eco_step_round(s->hi95, 3));
    out->expect_j_per_1k = eco_some(eco_step_round(e->median, 3));
    out->expect_j_per_1k_ci = eco_span_of(eco_step_round(e->lo95, 3), eco_step_round(e->hi95, 3));
    out->speed_dev_pct = eco_some(eco_step_round(d->speed_dev_pct, 3));
    out->energy_dev_pct = eco_some(eco_step_round(d->energy_dev_pct, 3));
    out->pattern = eco_cause_name(d->cause);
    out->confidence = eco_confidence_name(d->confidence);
    out->root_cause = eco_cause_text(d->cause);
}

static int diagnose_input(const struct eco_args_diagnose *a, struct eco_question *q,
                          struct eco_workload *work, struct eco_diagnose_input *in,
                          struct eco_err *err)
{
    if (!(a->throughput > 0) && !(a->power_w > 0) && !(a->energy_j_per_1k > 0)) {
        return eco_err_set(err, ECO_E_MISSING, "throughput",
                           "say what you see: 'throughput' (tokens per s), 'power_w' or "
                           "'energy_j_per_1k'");
    }
    *work = (struct eco_workload){.precision = q->precision,
                                  .engine = q->engine,
                                  .batch = (int)q->batch,
                                  .prompt_tokens = q->prompt_tokens,
                                  .gen_tokens = q->gen_tokens};
    *in = (struct eco_diagnose_input){
        .model = &q->model,
        .gpu = q->gpu ? q->gpu : &q->class_gpu,
        .work = work,
        .tokens_per_s = a->throughput > 0 ? a->throughput : (double)NAN,
        .power_w = a->power_w > 0 ? a->power_w : (double)NAN,
        .j_per_1k = a->energy_j_per_1k > 0 ? a->energy_j_per_1k : (double)NAN,
        .eager = a->risk.eager,
        .kv_cache_off = a->risk.no_kv_cache,
        .production = a->risk.production,
        .unverified_build = a->risk.nightly};
    return 0;
}

int eco_run_diagnose(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_diagnose *a = args;
    struct eco_res_diagnose *out = result;
    struct eco_question q;
    struct eco_workload work;
    struct eco_diagnose_input in;
    struct eco_diagnose_delta deltas[ECO_COUNT(suspects) + 1];
    struct eco_diagnose d;
    struct eco_answer answer;
    bool trap;
    int rc = eco_step_target(ctx, &a->target, &q, err);
    if (rc == 0) {
        rc = eco_step_load(&a->load, &q, err);
    }
    if (rc == 0) {
        rc = eco_step_precision(a->precision, ECO_PREC_FP16, "precision", &q.precision, err);
    }
    if (rc == 0) {
        eco_step_circumstances(&q, &a->risk, &a->money);
        rc = diagnose_input(a, &q, &work, &in, err);
    }
    if (rc == 0) {
        rc = diagnose_deltas(&q, deltas, &in.n_deltas, err);
    }
    if (rc == 0) {
        rc = eco_step_answer(&q, q.precision, &answer, err);
    }
    if (rc == 0) {
        in.deltas = deltas;
        in.need_gb = answer.memory.total_bytes / 1e9;
        rc = eco_diagnose_run(&in, &d, err);
    }
    if (rc == 0) {
        rc = eco_step_alerts(&q, &answer, &out->alerts, &trap, err);
    }
    if (rc) {
        return rc;
    }
    fill_observed(&d, out);
    fill_diagnose(&q, &d, out);
    out->verdict =
        eco_step_fmt(ctx, "%s (%s confidence): %s", out->pattern, out->confidence, out->root_cause);
    eco_step_fill_input(&q, &out->input);
    eco_step_provenance(&q, (int)eco_step_data_points(), (int)eco_step_data_sessions(), &out->data);
    out->notes = eco_step_notes(&q);
    return 0;
}
