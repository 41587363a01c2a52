/*
 * Bytes and operations of a decode step, and the datasheet's limits on its time. Weight and KV
 * bytes come from eco_memory.h, so that memory and traffic can never disagree.
 */
#include "core/latency.h"
#include "eco_memory.h"
#include "eco_predict.h"

#include <math.h>

#define GIGA 1e9
#define TERA 1e12

int eco_latency_normalize(const struct eco_model *model, const struct eco_workload *in,
                          struct eco_workload *out, struct eco_err *err)
{
    if (model == NULL || in == NULL) {
        return eco_err_set(err, ECO_E_MISSING, "model", "a model and a workload are needed");
    }
    if (model->params_total == 0 || model->layers <= 0 || model->hidden <= 0) {
        return eco_err_set(err, ECO_E_INVALID, "model", "model '%s' has no shape", model->name);
    }
    struct eco_workload w = *in;
    if (w.n_gpus == 0) {
        w.n_gpus = 1;
    }
    if (w.batch < 1 || w.batch > ECO_PHYSICS_BATCH_MAX) {
        return eco_err_set(err, ECO_E_RANGE, "batch", "batch must be 1..%d", ECO_PHYSICS_BATCH_MAX);
    }
    if (w.prompt_tokens < 0 || w.prompt_tokens > ECO_PHYSICS_TOKENS_MAX) {
        return eco_err_set(err, ECO_E_RANGE, "prompt_tokens", "prompt tokens must be 0..%d",
                           ECO_PHYSICS_TOKENS_MAX);
    }
    if (w.gen_tokens < 1 || w.gen_tokens > ECO_PHYSICS_TOKENS_MAX) {
        return eco_err_set(err, ECO_E_RANGE, "gen_tokens", "generated tokens must be 1..%d",
                           ECO_PHYSICS_TOKENS_MAX);
    }
    if (w.n_gpus < 1 || w.n_gpus > 1024) {
        return eco_err_set(err, ECO_E_RANGE, "n_gpus", "number of cards must be 1..1024");
    }
    if (w.precision <= ECO_PREC_NONE || w.precision >= ECO_PREC_COUNT) {
        return eco_err_set(err, ECO_E_INVALID, "precision", "a precision is needed");
    }
    if (w.engine == ECO_ENGINE_UNKNOWN) {
        w.engine = eco_predict_usual_engine(w.precision);
    }
    if (w.engine == ECO_ENGINE_UNKNOWN) {
        w.engine = ECO_ENGINE_TRANSFORMERS;
    }
    *out = w;
    return 0;
}

/* Parameters that a token is multiplied with; a tied head is the embedding table again. */
static double active_params(const struct eco_model *m)
{
    double table = (double)(m->tied ? m->params_embedding : m->params_lm_head);
    double dense = (double)m->params_linear + (double)m->params_norm + table;
    bool experts = m->experts > m->experts_per_token && m->params_active > 0;
    return experts || m->params_linear == 0 ? (double)m->params_active : dense;
}

int eco_roofline_traffic(const struct eco_model *model, const struct eco_workload *work,
                         struct eco_traffic *out, struct eco_err *err)
{
    struct eco_workload w;
    int rc = eco_latency_normalize(model, work, &w, err);
    return rc != 0 ? rc : eco_latency_traffic(model, &w, out, err);
}

int eco_latency_traffic(const struct eco_model *model, const struct eco_workload *w,
                        struct eco_traffic *out, struct eco_err *err)
{
    double b = w->batch, p = w->prompt_tokens;
    double kv_share =
        w->kv_precision == ECO_PREC_NONE ? 1.0 : eco_precision_bits(w->kv_precision) / 16;
    double active = active_params(model);
    double width = model->n_heads > 0 && model->head_dim > 0
                       ? (double)model->n_heads * model->head_dim
                       : (double)model->hidden;
    struct eco_traffic t = {0};
    t.mean_context = p + w->gen_tokens / 2.0;
    t.weight_bytes = eco_memory_read_bytes(model, w->precision, b);
    t.kv_bytes = kv_share * eco_memory_kv_bytes(model, t.mean_context);
    t.kv_bytes_per_token = kv_share * eco_memory_kv_bytes(model, 1.0);
    t.step_bytes = t.weight_bytes + b * t.kv_bytes;
    /* Scores and weighted sum: 2 * 2 * context * width a layer and token. */
    t.step_flops = b * (2 * active + 4.0 * model->layers * width * t.mean_context);
    t.prefill_flops = b * (2 * active * p + 2.0 * model->layers * width * p * p);
    if (!(t.weight_bytes > 0) || !isfinite(t.step_bytes)) {
        return eco_err_set(err, ECO_E_INVALID, "model", "model '%s' reads no weights", model->name);
    }
    t.context_factor = t.step_bytes / t.weight_bytes;
    *out = t;
    return 0;
}

double eco_roofline_peak_flops(const struct eco_gpu *gpu)
{
    if (gpu == NULL || !(gpu->fp16_tflops > 0)) {
        return NAN;
    }
    return gpu->fp16_tflops * TERA * (gpu->accumulate_fp32 ? 1.0 : 0.5);
}

int eco_roofline_floor(const struct eco_model *model, const struct eco_gpu *gpu,
                       const struct eco_workload *work, struct eco_roofline *out,
                       struct eco_err *err)
{
    struct eco_traffic t;
    int rc = eco_roofline_traffic(model, work, &t, err);
    return rc != 0 ? rc : eco_latency_floor(gpu, work, &t, out, err);
}

int eco_latency_floor(const struct eco_gpu *gpu, const struct eco_workload *work,
                      const struct eco_traffic *t, struct eco_roofline *out, struct eco_err *err)
{
    if (gpu == NULL || !(gpu->mem_bw_gbps > 0)) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "gpu", "memory bandwidth of '%s' is not known",
                           gpu == NULL ? "?" : gpu->name);
    }
    double n = work->n_gpus > 0 ? work->n_gpus : 1;
    struct eco_roofline r = {0};
    r.memory_s = t->step_bytes / (gpu->mem_bw_gbps * GIGA * n);
    r.compute_s = t->step_flops / (eco_roofline_peak_flops(gpu) * n);
    r.floor_s = isfinite(r.compute_s) && r.compute_s > r.memory_s ? r.compute_s : r.memory_s;
    r.tokens_per_s_max = work->batch / r.floor_s;
    *out = r;
    return 0;
}
