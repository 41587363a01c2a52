/* Compute: the change, the joules, the time, the memory, the traps, the bill. */
#include "core/predict_fit.h"
#include "dataset/dataset.h"
#include "dataset/predictor_default.h"
#include "steps.h"
#include "texts.h"

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

struct eco_workload eco_step_workload(const struct eco_question *q, enum eco_precision p)
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
        struct eco_workload w = eco_step_workload(q, p);
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
    struct eco_workload w = eco_step_workload(q, out->precision), base = w;
    const struct eco_physics *ph = eco_physics_default();
    struct eco_latency base_latency;
    base.precision = ECO_PREC_FP16;
    out->have_energy = eco_energy_absolute(ph, &q->model, card(q), &base, &out->fp16, NULL) == 0;
    const struct eco_energy as_modelled = out->fp16; /* what the limit moves is moved once */
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
        out->have_energy = eco_energy_quantized(&as_modelled, out->change.mu, out->change.sd,
                                                &out->energy, NULL) == 0;
    }
    double shift_ln = 0.0;
    if (out->have_energy && out->have_latency && !out->baseline) {
        eco_physics_reconcile(q->gpu, 1, &out->energy, &out->latency, &shift_ln);
    }
    if (shift_ln > log(1.1)) {
        eco_step_note(q, TX(q->ctx, moved_to_limit), eco_precision_name(out->precision), q->batch,
                      100.0 * exp(shift_ln), q->gpu->tdp_w);
    }
}

int eco_step_answer(struct eco_question *q, enum eco_precision precision, struct eco_answer *out,
                    struct eco_err *err)
{
    return eco_step_answer_parts(q, precision, ECO_PREDICT_ALL, out, err);
}

int eco_step_answer_parts(struct eco_question *q, enum eco_precision precision, unsigned parts,
                          struct eco_answer *out, struct eco_err *err)
{
    memset(out, 0, sizeof(*out));
    out->precision = precision;
    out->engine = engine_of(q, precision);
    out->baseline = is_baseline(precision);
    const char *why = NULL;
    if (!eco_precision_runs(precision, out->engine, q->gpu, q->arch, &why)) {
        out->cannot_run = why;
    } else {
        out->unsure = why;
    }
    if (why && !q->listing) {
        eco_step_note(q, TX(q->ctx, precision_reason), eco_precision_name(precision),
                      eco_word(q->ctx->lang, why));
    }
    int rc = 0;
    if (out->baseline) {
        no_change(&out->change);
    } else {
        struct eco_predict_query pq = eco_step_query(q, precision);
        rc = eco_predict_parts(&eco_predictor_default, &pq, parts, &out->change, err);
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
    return eco_step_fits_bytes(q, a->memory.total_bytes);
}

bool eco_step_fits_bytes(const struct eco_question *q, double bytes)
{
    return !q->gpu || !(eco_memory_room(q->gpu, 1, bytes) > 1);
}

void eco_step_note_fit(struct eco_question *q)
{
    if (q->gpu && q->gpu->vram_gb > 0) {
        eco_step_note(q, TX(q->ctx, fit_rule), 100.0 * ECO_MEMORY_SHARE, q->gpu->name,
                      eco_step_num(q->ctx, eco_gpu_memory_bytes(q->gpu) / 1e9, 3), q->gpu->vram_gb,
                      eco_step_num(q->ctx, eco_memory_limit_bytes(q->gpu, 1) / 1e9, 3));
    }
}

const char *eco_step_too_large(struct eco_question *q, double bytes)
{
    return eco_step_fmt(q->ctx, TX(q->ctx, too_large), eco_step_num(q->ctx, bytes / 1e9, 3),
                        eco_step_num(q->ctx, eco_memory_limit_bytes(q->gpu, 1) / 1e9, 3),
                        q->gpu->name);
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
    if (m && isfinite(m->price)) {
        in->price_usd_per_kwh = m->price;
        out->price_source = "given";
    }
    if (!isfinite(in->price_usd_per_kwh)) {
        eco_step_note(q, TX(q->ctx, no_tariff), region->name);
    }
    if (m && isfinite(m->carbon_intensity)) {
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
        in->gpu_usd_per_hour = m->gpu_usd_per_hour;
    }
}

static struct eco_res_amount amount(const struct eco_cost_amount *a)
{
    return (struct eco_res_amount){.kwh = eco_step_round(a->kwh, 4),
                                   .usd = eco_some(eco_step_round(a->usd, 4)),
                                   .kgco2 = eco_some(eco_step_round(a->kgco2, 4)),
                                   .rental_usd = eco_some(eco_step_round(a->rental_usd, 4))};
}

struct eco_strs eco_step_equivalents(struct eco_ctx *ctx, double kwh, double kgco2)
{
    const struct eco_cost_amount used = {.kwh = kwh, .kgco2 = kgco2};
    size_t n = eco_cost_equivalent_count(), kept = 0;
    const char **v = eco_arena_array(ctx->arena, n + 1, sizeof(*v));
    for (size_t i = 0; v && i < n; i++) {
        const struct eco_equivalent *e = eco_cost_equivalent_at(i);
        double value = eco_cost_equivalent_value(e, &used);
        if (isfinite(value) && value > 0) { /* "0 km" says nothing */
            v[kept++] = eco_step_fmt(ctx, TX(ctx, equivalent), eco_step_num(ctx, value, 3),
                                     eco_word(ctx->lang, e->text), eco_word(ctx->lang, e->source));
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
    v[0] = eco_step_fmt(q->ctx, TX(q->ctx, assume_requests),
                        eco_step_num(q->ctx, in->requests_per_month, 15), q->prompt_tokens,
                        q->gen_tokens);
    v[1] = eco_step_fmt(q->ctx, TX(q->ctx, assume_pue), in->pue);
    v[2] = in->host_overhead_w > 0
               ? eco_step_fmt(q->ctx, TX(q->ctx, assume_host), in->host_overhead_w)
               : TX(q->ctx, assume_no_host);
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

int eco_step_month_usd(struct eco_question *q, const struct eco_answer *a, struct eco_opt *out,
                       struct eco_err *err)
{
    struct eco_res_bill ignore = {0};
    struct eco_cost_input in;
    struct eco_cost cost;
    int rc = one_bill(q, a, &in, &ignore, &cost, err);
    if (rc == 0) {
        *out = amount(&cost.month).usd;
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
    out->equivalents = eco_step_equivalents(q->ctx, cost.month.kwh, cost.month.kgco2);
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
