/* Compute: the change, the joules, the time, the memory, the traps, the bill. */
#include "core/predict_fit.h"
#include "dataset/dataset.h"
#include "dataset/predictor_default.h"
#include "steps.h"

#include <math.h>
#include <string.h>

size_t eco_step_data_points(void)
{
    return (size_t)eco_predictor_default.n_fit;
}

size_t eco_step_data_sessions(void)
{
    return (size_t)eco_predictor_default.n_sessions;
}

struct eco_opt eco_some(double v)
{
    return (struct eco_opt){isfinite(v) ? v : 0.0, isfinite(v)};
}

struct eco_span eco_span_of(double lo, double hi)
{
    bool have = isfinite(lo) && isfinite(hi);
    return (struct eco_span){have ? lo : 0.0, have ? hi : 0.0, have};
}

void eco_step_pct_band(double mu, double sd, struct eco_band *out)
{
    eco_physics_band(mu, sd, out);
    double *v[] = {&out->median, &out->lo50, &out->hi50, &out->lo80,
                   &out->hi80,   &out->lo95, &out->hi95};
    for (size_t i = 0; i < ECO_COUNT(v); i++) {
        *v[i] = 100.0 * (*v[i] - 1.0);
    }
}

static const struct eco_gpu *card(const struct eco_question *q)
{
    return q->gpu ? q->gpu : &q->class_gpu;
}

static enum eco_engine engine_of(const struct eco_question *q, enum eco_precision p)
{
    return q->engine != ECO_ENGINE_UNKNOWN ? q->engine : eco_predict_usual_engine(p);
}

static struct eco_workload workload_of(const struct eco_question *q, enum eco_precision p)
{
    struct eco_workload w = {.precision = p,
                             .engine = engine_of(q, p),
                             .batch = (int)q->batch,
                             .prompt_tokens = q->prompt_tokens,
                             .gen_tokens = q->gen_tokens};
    if (q->context_given) { /* the window in use is prompt + generated, as in the optimizer */
        double prompt = q->context_tokens - q->gen_tokens;
        w.prompt_tokens = prompt > 0 ? (int)prompt : 0;
    }
    return w;
}

/* 16 bit against itself: zero by definition, no data needed. */
static void no_change(struct eco_predict_answer *a)
{
    memset(a, 0, sizeof(*a));
    a->basis = ECO_BASIS_COMPUTED;
    a->confidence = ECO_CONF_HIGH;
    a->recommendation = ECO_REC_BASELINE;
}

struct eco_predict_query eco_step_query(const struct eco_question *q, enum eco_precision p)
{
    double total = (double)q->model.params_total / 1e9;
    struct eco_predict_query pq = {
        .precision = p,
        .gpu = q->gpu,
        .arch = q->arch,
        .params_total_b = total > 0 ? total : q->model.params_b,
        .params_active_b = q->model.experts > 0 ? (double)q->model.params_active / 1e9 : 0.0,
        .model_id = q->known_model ? q->model.name : NULL,
        .engine = q->engine,
        .batch = q->batch,
    };
    if (q->known_model) {
        pq.linear_b = (double)q->model.params_linear / 1e9;
        pq.layers = q->model.layers;
    }
    if (q->context_given || q->batch > 1) { /* one sequence: as in the measurements */
        struct eco_workload w = workload_of(q, p);
        pq.context_tokens = w.prompt_tokens + w.gen_tokens / 2.0;
        pq.kv_bytes_per_token = eco_memory_kv_bytes(&q->model, 1.0);
    }
    return pq;
}

static bool is_baseline(enum eco_precision p)
{
    return p == ECO_PREC_FP16 || p == ECO_PREC_BF16;
}

static int answer_memory(struct eco_question *q, struct eco_answer *out, struct eco_err *err)
{
    struct eco_memory_query mq = {.model = &q->model,
                                  .precision = out->precision,
                                  .batch = q->batch,
                                  .context_tokens = q->context_tokens,
                                  .engine = out->engine};
    return eco_memory_estimate(&mq, &out->memory, err);
}

/* Joules and seconds need the card's datasheet; without it they are absent, not an error. */
static void answer_absolute(struct eco_question *q, struct eco_answer *out)
{
    struct eco_workload w = workload_of(q, out->precision), base = w;
    const struct eco_physics *ph = eco_physics_default();
    struct eco_latency base_latency;
    base.precision = ECO_PREC_FP16;
    out->have_energy = eco_energy_absolute(ph, &q->model, card(q), &base, &out->fp16, NULL) == 0;
    out->have_latency =
        q->gpu && eco_latency_predict(ph, &q->model, q->gpu, &w, &out->latency, NULL) == 0;
    if (out->have_energy && q->gpu &&
        eco_latency_predict(ph, &q->model, q->gpu, &base, &base_latency, NULL) == 0) {
        eco_physics_reconcile(q->gpu, 1, &out->fp16, &base_latency, NULL);
    }
    if (out->have_energy && out->baseline) {
        out->energy = out->fp16;
        out->latency = out->have_latency ? base_latency : out->latency;
    } else if (out->have_energy) {
        out->have_energy = eco_energy_quantized(&out->fp16, out->change.mu, out->change.sd,
                                                &out->energy, NULL) == 0;
    }
    double shift_ln = 0.0;
    if (out->have_energy && out->have_latency && !out->baseline) {
        eco_physics_reconcile(q->gpu, 1, &out->energy, &out->latency, &shift_ln);
    }
    if (shift_ln > log(1.1)) {
        eco_step_note(
            q,
            "%s at batch %g: energy and speed together would need %.0f %% of the %g W limit; "
            "both were moved onto it, the less certain one more",
            eco_precision_name(out->precision), q->batch, 100.0 * exp(shift_ln), q->gpu->tdp_w);
    }
}

int eco_step_answer(struct eco_question *q, enum eco_precision precision, struct eco_answer *out,
                    struct eco_err *err)
{
    memset(out, 0, sizeof(*out));
    out->precision = precision;
    out->engine = engine_of(q, precision);
    out->baseline = is_baseline(precision);
    const char *why = NULL;
    if (!eco_precision_runs(precision, out->engine, q->gpu, q->arch, &why)) {
        out->cannot_run = why;
        eco_step_note(q, "%s: %s", eco_precision_name(precision), why);
    }
    int rc = 0;
    if (out->baseline) {
        no_change(&out->change);
    } else {
        struct eco_predict_query pq = eco_step_query(q, precision);
        rc = eco_predict(&eco_predictor_default, &pq, &out->change, err);
    }
    if (rc == 0) {
        rc = answer_memory(q, out, err);
    }
    if (rc == 0) {
        answer_absolute(q, out);
    }
    return rc;
}

bool eco_step_fits(const struct eco_question *q, const struct eco_answer *a)
{
    return !q->gpu || a->memory.total_bytes <= eco_gpu_memory_bytes(q->gpu);
}

/* ---- traps --------------------------------------------------------------------------------- */

/* The change of another precision or batch on the same question, as ln. */
static bool other_change(struct eco_question *q, enum eco_precision p, double batch, double *mu,
                         double *sd)
{
    struct eco_predict_query pq = eco_step_query(q, p);
    pq.batch = batch;
    struct eco_predict_answer a;
    if (eco_predict(&eco_predictor_default, &pq, &a, NULL)) {
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
    struct eco_workload w = workload_of(q, a->precision);
    struct eco_batch_answer up;
    double factor;
    if (q->batch == 1 && eco_batch_factor(NULL, a->engine, a->precision, 8.0, &up, NULL) == 0) {
        set_effect(r, ECO_EFFECT_BATCH_UP, log(up.ratio), up.sd_ln);
    }
    double missing = q->gpu ? a->memory.total_bytes - eco_gpu_memory_bytes(q->gpu) : 0.0;
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

static void alert_row(const struct eco_alert *a, struct eco_res_alert *out)
{
    const struct eco_alert_rule *r = a->rule;
    *out = (struct eco_res_alert){.id = r->id,
                                  .name = r->name,
                                  .severity = eco_severity_name(a->severity),
                                  .why = r->why,
                                  .fix = r->fix,
                                  .fix_code = r->fix_code,
                                  .measured = r->measured,
                                  .evidence = r->evidence,
                                  .contradiction = r->contradiction};
    if (a->have_effect) {
        out->effect_pct = eco_some(eco_step_round(a->effect_pct.median, 3));
        out->effect_ci = eco_span_of(eco_step_round(a->effect_pct.lo95, 3),
                                     eco_step_round(a->effect_pct.hi95, 3));
    }
    if (a->have_fix_effect) {
        out->fix_effect_pct = eco_some(eco_step_round(a->fix_effect_pct.median, 3));
    }
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
        alert_row(&found[i], &rows[i]);
        *trap |=
            found[i].severity >= ECO_SEV_WARNING && strcmp(rows[i].id, "batch1-production") != 0;
    }
    *out = (struct eco_list){rows, n};
    return 0;
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

/* ---- the bill ------------------------------------------------------------------------------ */

static int tariff(struct eco_question *q, struct eco_cost_input *in, struct eco_res_bill *out,
                  struct eco_err *err)
{
    const struct eco_args_money *m = q->money;
    const char *name = m ? m->region : "US average";
    int rc = q->region ? 0 : eco_dataset_find_region(name, strlen(name), &q->region, err);
    if (rc) {
        return rc;
    }
    const struct eco_region *region = q->region;
    out->region = region->name;
    in->price_usd_per_kwh = region->price_is_tariff ? region->price_usd_per_kwh : (double)NAN;
    out->price_source = region->price_is_tariff ? region->price_source : NULL;
    in->carbon_gco2_per_kwh = region->carbon_gco2_per_kwh;
    out->carbon_source = region->carbon_source;
    if (m && m->price > 0) {
        in->price_usd_per_kwh = m->price;
        out->price_source = "given";
    }
    if (!isfinite(in->price_usd_per_kwh)) {
        eco_step_note(q, "no electricity tariff is known for %s: give --price for dollars",
                      region->name);
    }
    if (m && m->carbon_intensity > 0) {
        in->carbon_gco2_per_kwh = m->carbon_intensity;
        out->carbon_source = "given";
    }
    return 0;
}

static void cost_input(const struct eco_question *q, const struct eco_answer *a,
                       struct eco_cost_input *in)
{
    const struct eco_args_money *m = q->money;
    in->decode_j_per_1k = a->energy.j_per_1k.median;
    in->decode_j_per_1k_lo = a->energy.j_per_1k.lo95;
    in->decode_j_per_1k_hi = a->energy.j_per_1k.hi95;
    in->prefill_j_per_1k = a->energy.prefill_j_per_1k;
    in->prompt_tokens = q->prompt_tokens;
    in->gen_tokens = q->gen_tokens;
    in->request_s = a->have_latency ? a->latency.request_s.median / q->batch : (double)NAN;
    if (m) {
        in->requests_per_month = m->requests;
        in->pue = m->pue > 0 ? m->pue : in->pue;
        in->host_overhead_w = a->have_latency ? m->host_overhead_w : 0.0;
        in->gpu_usd_per_hour = m->gpu_usd_per_hour > 0 ? m->gpu_usd_per_hour : (double)NAN;
    }
}

static struct eco_res_amount amount(const struct eco_cost_amount *a)
{
    return (struct eco_res_amount){.kwh = eco_step_round(a->kwh, 4),
                                   .usd = eco_some(eco_step_round(a->usd, 4)),
                                   .kgco2 = eco_some(eco_step_round(a->kgco2, 4)),
                                   .rental_usd = eco_some(eco_step_round(a->rental_usd, 4))};
}

static struct eco_strs equivalents(struct eco_ctx *ctx, const struct eco_cost_amount *month)
{
    size_t n = eco_cost_equivalent_count(), kept = 0;
    const char **v = eco_arena_array(ctx->arena, n + 1, sizeof(*v));
    for (size_t i = 0; v && i < n; i++) {
        const struct eco_equivalent *e = eco_cost_equivalent_at(i);
        double value = eco_cost_equivalent_value(e, month);
        if (isfinite(value)) {
            v[kept++] =
                eco_step_fmt(ctx, "%s %s (%s)", eco_step_num(ctx, value, 3), e->text, e->source);
        }
    }
    return (struct eco_strs){v, kept};
}

static struct eco_strs assumptions(struct eco_question *q, const struct eco_cost_input *in)
{
    const char **v = eco_arena_array(q->ctx->arena, 4, sizeof(*v));
    if (!v) {
        return (struct eco_strs){NULL, 0};
    }
    v[0] = eco_step_fmt(q->ctx, "%.0f requests a month of %d prompt + %d generated tokens",
                        in->requests_per_month, q->prompt_tokens, q->gen_tokens);
    v[1] = eco_step_fmt(q->ctx,
                        "PUE %.3g times GPU board energy: a lower bound of what the facility "
                        "draws",
                        in->pue);
    v[2] = in->host_overhead_w > 0
               ? eco_step_fmt(q->ctx, "host overhead %.4g W charged", in->host_overhead_w)
               : "host CPU, memory and network not included";
    return (struct eco_strs){v, 3};
}

bool eco_step_has_money(const struct eco_question *q)
{
    return q->money != NULL;
}

static int one_bill(struct eco_question *q, const struct eco_answer *a, struct eco_cost_input *in,
                    struct eco_res_bill *out, struct eco_cost *cost, struct eco_err *err)
{
    eco_cost_defaults(card(q), in);
    int rc = tariff(q, in, out, err);
    if (rc == 0) {
        cost_input(q, a, in);
        rc = eco_cost_compute(in, cost, err);
    }
    return rc;
}

int eco_step_bill(struct eco_question *q, const struct eco_answer *a, const struct eco_answer *fp16,
                  struct eco_res_bill *out, struct eco_err *err)
{
    struct eco_cost_input in;
    struct eco_cost cost, base;
    memset(out, 0, sizeof(*out));
    int rc = one_bill(q, a, &in, out, &cost, err);
    if (rc) {
        return rc;
    }
    out->month = amount(&cost.month);
    out->year = amount(&cost.year);
    out->month_usd_ci =
        eco_span_of(eco_step_round(cost.month_lo.usd, 4), eco_step_round(cost.month_hi.usd, 4));
    out->requests = in.requests_per_month;
    out->j_per_request = eco_step_round(cost.j_per_request, 4);
    out->price_usd_per_kwh = eco_some(in.price_usd_per_kwh);
    out->carbon_gco2_per_kwh = eco_some(in.carbon_gco2_per_kwh);
    out->pue = in.pue;
    out->equivalents = equivalents(q->ctx, &cost.month);
    out->assumptions = assumptions(q, &in);
    if (fp16) {
        struct eco_res_bill ignore = *out;
        struct eco_res_amount *month = eco_arena_alloc(q->ctx->arena, sizeof(*month));
        rc = one_bill(q, fp16, &in, &ignore, &base, err);
        if (rc || !month) {
            return rc ? rc : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        }
        struct eco_cost_saving saving;
        eco_cost_compare(&base.month, &cost.month, &saving);
        *month = amount(&base.month);
        out->fp16_month = month;
        out->saving_usd = eco_some(eco_step_round(saving.usd, 4));
        out->saving_pct = eco_some(eco_step_round(saving.saving_pct, 3));
    }
    return 0;
}
