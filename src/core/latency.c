/*
 * Step time, time to first token and throughput: the roofline divided by the efficiency that was
 * measured for the engine, plus the host time that eager engines cannot hide.
 *   serial engine (graphs):  step = max(memory, compute) + launch * layers + per_seq * batch
 *   eager engine:            step = max(memory, compute, launch * layers) + per_seq * batch
 * Constants and their spread: data/fitted/physics_engine.csv; method: docs/method-physics.md.
 */
#include "core/latency.h"
#include "eco_memory.h"

#include <math.h>
#include <string.h>

#define GIGA 1e9
#define SD_PREFILL 0.30   /* of ln prefill time, beside the engine's own: not fitted */
#define SD_MULTI_GPU 0.20 /* spread of the 2..8-card series around the single-card law */
#define SD_NO_PEAK 0.30   /* datasheet has no FP16 peak */
#define SD_OTHER_VENDOR                                                                            \
    1.0 /* constants are of NVIDIA cards; early ports ran 2 to 10 times slower */
/* Tensor parallel: reductions a layer, times log2(cards); from the series of vLLM 0.11. */
#define REDUCE_S_PER_LAYER 10e-6

const char *eco_bound_name(enum eco_bound b)
{
    static const char *const names[] = {"memory", "compute", "launch"};
    return (unsigned)b < 3u ? names[b] : "unknown";
}

void eco_physics_band(double mu_ln, double sd_ln, struct eco_band *out)
{
    /* Normal quantiles 0.75, 0.90, 0.975. */
    static const double z50 = 0.674489750196082, z80 = 1.281551565544600, z95 = 1.959963984540054;
    out->median = exp(mu_ln);
    out->lo50 = exp(mu_ln - z50 * sd_ln);
    out->hi50 = exp(mu_ln + z50 * sd_ln);
    out->lo80 = exp(mu_ln - z80 * sd_ln);
    out->hi80 = exp(mu_ln + z80 * sd_ln);
    out->lo95 = exp(mu_ln - z95 * sd_ln);
    out->hi95 = exp(mu_ln + z95 * sd_ln);
}

void eco_latency_point_band(double mu_ln, struct eco_band *out)
{
    *out = (struct eco_band){.median = exp(mu_ln),
                             .lo50 = NAN,
                             .hi50 = NAN,
                             .lo80 = NAN,
                             .hi80 = NAN,
                             .lo95 = NAN,
                             .hi95 = NAN};
}

/* 3: exact precision, 2: family, 1: any; 0: this row does not answer. */
static int match(enum eco_precision row_p, enum eco_precision_family row_f, enum eco_precision p,
                 enum eco_precision_family f)
{
    if (row_p != ECO_PREC_NONE) {
        return row_p == p ? 3 : 0;
    }
    if (row_f != ECO_FAM_NONE) {
        return row_f == f ? 2 : 0;
    }
    return 1;
}

const struct eco_engine_row *eco_latency_row(const struct eco_physics *ph, enum eco_engine engine,
                                             enum eco_precision precision, double rows)
{
    const struct eco_engine_row *best = NULL, *pooled = NULL;
    enum eco_precision_family family = eco_precision_family(precision);
    int best_score = 0;
    for (size_t i = 0; i < ph->n_engines; i++) {
        const struct eco_engine_row *r = &ph->engines[i];
        if (r->engine == ECO_ENGINE_UNKNOWN) {
            pooled = r;
        }
        if (r->engine != engine || rows < r->batch_lo || rows > r->batch_hi) {
            continue;
        }
        int score = match(r->precision, r->family, precision, family);
        if (score > best_score) {
            best_score = score;
            best = r;
        }
    }
    return best != NULL ? best : pooled;
}

static void step_of(const struct eco_model *model, const struct eco_workload *w,
                    const struct eco_roofline *roof, const struct eco_engine_row *r,
                    struct eco_step *out)
{
    struct eco_step s = {0};
    s.memory_s = roof->memory_s / r->eff_memory;
    s.compute_s = isfinite(roof->compute_s) ? roof->compute_s / r->eff_compute : 0;
    s.launch_s = r->launch_s * model->layers;
    s.per_seq_s = r->per_seq_s * w->batch;
    bool compute = s.compute_s > s.memory_s;
    double work_s = compute ? s.compute_s : s.memory_s;
    s.bound = compute ? ECO_BOUND_COMPUTE : ECO_BOUND_MEMORY;
    if (s.launch_s > work_s) {
        s.bound = ECO_BOUND_LAUNCH;
    }
    double reduce_s = w->n_gpus > 1 ? REDUCE_S_PER_LAYER * log2(w->n_gpus) * model->layers : 0;
    s.total_s = (r->serial ? work_s + s.launch_s : fmax(work_s, s.launch_s)) + s.per_seq_s;
    s.total_s += reduce_s;
    *out = s;
}

int eco_latency_step(const struct eco_physics *ph, const struct eco_model *model,
                     const struct eco_gpu *gpu, const struct eco_workload *w, struct eco_step *out,
                     struct eco_err *err)
{
    struct eco_roofline roof;
    int rc = eco_roofline_floor(model, gpu, w, &roof, err);
    if (rc == 0) {
        step_of(model, w, &roof, eco_latency_row(ph, w->engine, w->precision, w->batch), out);
    }
    return rc;
}
double eco_latency_resident(const struct eco_model *model, const struct eco_gpu *gpu,
                            const struct eco_workload *w)
{
    double tokens = w->prompt_tokens + w->gen_tokens / 2.0;
    double kv = eco_memory_kv_bytes(model, tokens);
    double room =
        eco_memory_limit_bytes(gpu, w->n_gpus) - eco_memory_weight_bytes(model, w->precision);
    if (!(kv > 0) || !isfinite(room) || room <= 0) {
        return w->batch;
    }
    double fit = floor(room / kv);
    return fmin(w->batch, fmax(1, fit));
}

/* Prefill of `w->batch` prompts: compute bound when long, one reading of the weights when short. */
static double prefill(const struct eco_physics *ph, const struct eco_model *model,
                      const struct eco_gpu *gpu, const struct eco_workload *w,
                      const struct eco_traffic *t, enum eco_bound *bound)
{
    double rows = fmax(1, (double)w->batch * w->prompt_tokens);
    const struct eco_engine_row *r = eco_latency_row(ph, w->engine, w->precision, rows);
    double n = w->n_gpus, peak = eco_roofline_peak_flops(gpu);
    double memory_s = t->weight_bytes / (gpu->mem_bw_gbps * GIGA * n * r->eff_memory);
    double compute_s = isfinite(peak) ? t->prefill_flops / (peak * n * r->eff_compute) : 0;
    double launch_s = r->launch_s * model->layers;
    double work_s = fmax(memory_s, compute_s);
    *bound = compute_s > memory_s ? ECO_BOUND_COMPUTE : ECO_BOUND_MEMORY;
    if (launch_s > work_s) {
        *bound = ECO_BOUND_LAUNCH;
    }
    return (r->serial ? work_s + launch_s : fmax(work_s, launch_s)) + r->per_seq_s * w->batch;
}

/* The engine's own spread, wider where the fit saw nothing like it. */
static double spread(const struct eco_engine_row *row, const struct eco_gpu *gpu,
                     const struct eco_workload *w)
{
    double sd = row->sd_ln;
    sd = w->n_gpus > 1 ? hypot(sd, SD_MULTI_GPU) : sd;
    sd = isfinite(eco_roofline_peak_flops(gpu)) ? sd : hypot(sd, SD_NO_PEAK);
    bool nvidia = strcmp(eco_arch_vendor(gpu->arch), "nvidia") == 0;
    return nvidia ? sd : hypot(sd, SD_OTHER_VENDOR);
}

double eco_latency_sd(const struct eco_physics *ph, const struct eco_gpu *gpu,
                      const struct eco_workload *w)
{
    return spread(eco_latency_row(ph, w->engine, w->precision, w->batch), gpu, w);
}

static void set_band(double mu_ln, double sd_ln, bool whole, struct eco_band *out)
{
    if (whole) {
        eco_physics_band(mu_ln, sd_ln, out);
    } else {
        eco_latency_point_band(mu_ln, out);
    }
}

static void fill_bands(struct eco_latency *l, const struct eco_workload *w, double ttft_s,
                       double step_s, double sd, bool whole)
{
    double waves = ceil(w->batch / l->batch_resident);
    double request_s = waves * (ttft_s + w->gen_tokens * step_s);
    set_band(log(ttft_s), hypot(sd, SD_PREFILL), whole, &l->ttft_s);
    set_band(log(step_s), sd, whole, &l->tpot_s);
    set_band(log(l->batch_resident / step_s), sd, whole, &l->tokens_per_s);
    set_band(log(request_s), sd, whole, &l->request_s);
    l->decode_s = waves * w->gen_tokens * step_s;
    l->request_tokens_per_s = (double)w->batch * w->gen_tokens / request_s;
    l->sd_ln_step = sd;
}

/* Nothing real passes the datasheet: the spread alone must not claim it. */
static void cut_to_floor(struct eco_latency *l, double floor_s)
{
    double *low[] = {&l->tpot_s.lo50, &l->tpot_s.lo80, &l->tpot_s.lo95};
    double *high[] = {&l->tokens_per_s.hi50, &l->tokens_per_s.hi80, &l->tokens_per_s.hi95};
    for (size_t i = 0; i < 3; i++) {
        *low[i] = fmax(*low[i], floor_s);
        *high[i] = fmin(*high[i], l->batch_resident / floor_s);
    }
}

int eco_latency_predict(const struct eco_physics *ph, const struct eco_model *model,
                        const struct eco_gpu *gpu, const struct eco_workload *work,
                        struct eco_latency *out, struct eco_err *err)
{
    return eco_latency_point(ph, model, gpu, work, true, out, err);
}

int eco_latency_point(const struct eco_physics *ph, const struct eco_model *model,
                      const struct eco_gpu *gpu, const struct eco_workload *work, bool bands,
                      struct eco_latency *out, struct eco_err *err)
{
    struct eco_workload w, now;
    struct eco_step step;
    struct eco_latency l = {0};
    struct eco_traffic t;
    struct eco_roofline roof;
    ph = ph != NULL ? ph : eco_physics_default();
    int rc = eco_latency_normalize(model, work, &w, err);
    if (rc != 0 || (rc = eco_latency_traffic(model, &w, &t, err)) != 0 ||
        (rc = eco_latency_floor(gpu, &w, &t, &roof, err)) != 0) {
        return rc;
    }
    now = w;
    l.batch_resident = eco_latency_resident(model, gpu, &w);
    now.batch = (int)l.batch_resident;
    if (now.batch != w.batch && ((rc = eco_latency_traffic(model, &now, &t, err)) != 0 ||
                                 (rc = eco_latency_floor(gpu, &now, &t, &roof, err)) != 0)) {
        return rc;
    }
    const struct eco_engine_row *row = eco_latency_row(ph, w.engine, w.precision, now.batch);
    step_of(model, &now, &roof, row, &step);
    l.memory_s = step.memory_s;
    l.compute_s = step.compute_s;
    l.launch_s = step.launch_s;
    l.bound = step.bound;
    l.basis = ECO_BASIS_MODELLED;
    l.engine_known = row->engine == w.engine;
    fill_bands(&l, &w, prefill(ph, model, gpu, &now, &t, &l.prefill_bound), step.total_s,
               spread(row, gpu, &now), bands);
    if (bands) {
        cut_to_floor(&l, roof.floor_s);
    }
    *out = l;
    return 0;
}

int eco_latency_factor_no_cache(const struct eco_physics *ph, const struct eco_model *model,
                                const struct eco_gpu *gpu, const struct eco_workload *work,
                                double *factor, struct eco_err *err)
{
    struct eco_workload w;
    struct eco_step step;
    struct eco_traffic t;
    enum eco_bound bound;
    ph = ph != NULL ? ph : eco_physics_default();
    int rc = eco_latency_normalize(model, work, &w, err);
    if (rc == 0) {
        rc = eco_latency_step(ph, model, gpu, &w, &step, err);
    }
    if (rc != 0) {
        return rc;
    }
    struct eco_workload again = w;
    again.prompt_tokens = w.prompt_tokens + w.gen_tokens / 2 + 1;
    rc = eco_roofline_traffic(model, &again, &t, err);
    if (rc == 0) {
        *factor = fmax(1, prefill(ph, model, gpu, &again, &t, &bound) / step.total_s);
    }
    return rc;
}

int eco_latency_factor_offload(const struct eco_physics *ph, const struct eco_model *model,
                               const struct eco_gpu *gpu, const struct eco_workload *work,
                               double missing_bytes, double link_bytes_per_s, double *factor,
                               struct eco_err *err)
{
    struct eco_workload w;
    struct eco_step step;
    ph = ph != NULL ? ph : eco_physics_default();
    if (!(missing_bytes >= 0) || !isfinite(missing_bytes) || !(link_bytes_per_s > 0)) {
        return eco_err_set(err, ECO_E_RANGE, "missing_bytes",
                           "offloaded bytes must be >= 0 over a link faster than 0");
    }
    int rc = eco_latency_normalize(model, work, &w, err);
    if (rc == 0) {
        rc = eco_latency_step(ph, model, gpu, &w, &step, err);
    }
    if (rc == 0) {
        *factor = 1 + missing_bytes / link_bytes_per_s / step.total_s;
    }
    return rc;
}
