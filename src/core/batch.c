/*
 * Batch law E(b) = a + c/b: the part c of a decode step's energy that is paid once (weights,
 * launches) is shared by b sequences, the part a is paid by each. In units of E(1):
 *   E(b)/E(1) = exp(step [b >= 2]) * (1 + k g(b)/b) / (1 + k),   k = c/a
 * g(b) is 1 for a dense model, and the weights that b sequences read over those that one reads for
 * a mixture of experts (more sequences wake more experts).
 * `step` is the switch of kernels from one row to several (bitsandbytes NF4: GEMV, then
 * dequantize and multiply). Constants: data/fitted/physics_batch.csv.
 */
#include "core/latency.h"

#include <math.h>

#define GIGA 1e9
#define REFERENCE_CONTEXT 256 /* context of the eager sweeps that ln_c_over_a was fitted on */
#define LN_K_MIN (-2.0)
#define LN_K_MAX 8.0

const struct eco_batch_row *eco_batch_row_for(const struct eco_physics *ph, enum eco_engine engine,
                                              enum eco_precision precision)
{
    const struct eco_batch_row *best = NULL, *pooled = NULL;
    int best_score = 0;
    for (size_t i = 0; i < ph->n_batches; i++) {
        const struct eco_batch_row *r = &ph->batches[i];
        int score = 0;
        if (r->engine == ECO_ENGINE_UNKNOWN) {
            pooled = r;
        }
        if (r->engine != engine) {
            continue;
        }
        if (r->precision != ECO_PREC_NONE) {
            score = r->precision == precision ? 3 : 0;
        } else if (r->family != ECO_FAM_NONE) {
            score = r->family == eco_precision_family(precision) ? 2 : 0;
        } else {
            score = 1;
        }
        if (score > best_score) {
            best_score = score;
            best = r;
        }
    }
    return best != NULL ? best : pooled;
}

/* `growth`: weights read by this batch / by one sequence; over 1 when it meets more experts. */
static void answer(const struct eco_batch_row *row, enum eco_engine engine, double batch,
                   double growth, double ln_k, double sd_k, struct eco_batch_answer *out)
{
    double k = exp(fmin(LN_K_MAX, fmax(LN_K_MIN, ln_k)));
    struct eco_batch_answer a = {0};
    a.c_over_a = k;
    a.limit = 1 / (1 + k);
    a.power_rise = row->power_rise;
    a.own_row = row->engine == engine;
    a.n_series = row->n_series;
    double shared = k * growth / batch;
    a.ratio = (1 + shared) / (1 + k);
    /* d ln ratio / d ln k: 0 at b = 1, -k/(1+k) for b -> infinity. */
    double slope = shared / (1 + shared) - k / (1 + k);
    double var = slope * slope * sd_k * sd_k;
    if (batch >= 2) {
        a.ratio *= exp(row->step_ln);
        a.limit *= exp(row->step_ln);
        var += row->step_sd * row->step_sd + row->resid_sd_ln * row->resid_sd_ln;
    }
    a.sd_ln = sqrt(var);
    *out = a;
}

int eco_batch_factor(const struct eco_physics *ph, enum eco_engine engine,
                     enum eco_precision precision, double batch, struct eco_batch_answer *out,
                     struct eco_err *err)
{
    if (!(batch >= 1) || !(batch <= ECO_PHYSICS_BATCH_MAX)) {
        return eco_err_set(err, ECO_E_RANGE, "batch", "batch must be 1..%d", ECO_PHYSICS_BATCH_MAX);
    }
    ph = ph != NULL ? ph : eco_physics_default();
    const struct eco_batch_row *row = eco_batch_row_for(ph, engine, precision);
    answer(row, engine, batch, 1, row->ln_c_over_a, row->sd_ln, out);
    return 0;
}

/* ln(time paid once / time paid by each sequence) of the roofline; NAN without an FP16 peak. */
static double ln_roofline_k(const struct eco_physics *ph, const struct eco_model *model,
                            const struct eco_gpu *gpu, const struct eco_workload *w)
{
    struct eco_workload one = *w;
    struct eco_traffic t;
    one.batch = 1;
    if (eco_latency_traffic(model, &one, &t, NULL) != 0) {
        return NAN;
    }
    /* The offsets were fitted against the engine's 16-bit constants, whatever the precision. */
    const struct eco_engine_row *r = eco_latency_row(ph, w->engine, ECO_PREC_FP16, 1);
    double bw = gpu->mem_bw_gbps * GIGA * w->n_gpus * r->eff_memory;
    double flops = eco_roofline_peak_flops(gpu) * w->n_gpus * r->eff_compute;
    double launch = r->launch_s * model->layers, weights = t.weight_bytes / bw;
    double once = r->serial ? weights + launch : fmax(weights, launch);
    double each = t.kv_bytes / bw + t.step_flops / flops + r->per_seq_s +
                  t.prefill_flops / flops / w->gen_tokens;
    return log(once / each);
}

int eco_batch_factor_for(const struct eco_physics *ph, const struct eco_model *model,
                         const struct eco_gpu *gpu, const struct eco_workload *work,
                         struct eco_batch_answer *out, struct eco_err *err)
{
    struct eco_workload w, alone;
    struct eco_roofline roof;
    struct eco_traffic all, one;
    ph = ph != NULL ? ph : eco_physics_default();
    int rc = eco_latency_normalize(model, work, &w, err);
    alone = w;
    alone.batch = 1;
    if (rc != 0 || (rc = eco_latency_traffic(model, &w, &all, err)) != 0 ||
        (rc = eco_latency_floor(gpu, &w, &all, &roof, err)) != 0 ||
        (rc = eco_latency_traffic(model, &alone, &one, err)) != 0) {
        return rc;
    }
    const struct eco_batch_row *row = eco_batch_row_for(ph, w.engine, w.precision);
    bool moe = model->experts > 1;
    bool eager = w.engine == ECO_ENGINE_TRANSFORMERS;
    double x = ln_roofline_k(ph, model, gpu, &w);
    double sd = moe ? row->offset_moe_sd : row->offset_sd;
    double ln_k = row->ln_c_over_a;
    if (!isfinite(x)) {
        sd = fmax(sd, row->sd_ln);
    } else if (eager) {
        /* Launch bound: time says little about k, only how the context moves it. */
        struct eco_workload ref = w;
        ref.prompt_tokens = 0;
        ref.gen_tokens = 2 * REFERENCE_CONTEXT;
        ln_k += x - ln_roofline_k(ph, model, gpu, &ref);
    } else {
        ln_k = x + (moe ? row->offset_moe_ln : row->offset_ln);
    }
    answer(row, w.engine, w.batch, all.weight_bytes / one.weight_bytes, ln_k, sd, out);
    return 0;
}
