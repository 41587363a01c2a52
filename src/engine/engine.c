/* An engine: opening, its memory, and its description. */
#include "decoder.h"

#include "base/clock.h"
#include "cpus.h"
#include "half.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tokens of a prefill pass: enough to use a weight row many times, small enough that the work
 * space stays far below the weights. */
#define PREFILL_TOKENS 64
#define LOGIT_ROWS 8

struct eco_plan {
    int batch, context, threads, cpus, tokens, logit_rows;
    bool half_kv;
    uint64_t weights, kv, scratch;
};

static uint64_t mul3(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t r = 0;
    if (__builtin_mul_overflow(a, b, &r) || __builtin_mul_overflow(r, c, &r)) {
        return UINT64_MAX / 4;
    }
    return r;
}

static uint64_t scratch_floats(const struct eco_shape *s, int tokens, int logit_rows)
{
    uint64_t q = (uint64_t)s->heads * (uint64_t)s->head_dim;
    uint64_t kv = (uint64_t)s->kv_heads * (uint64_t)s->head_dim;
    uint64_t a_token = 2 * (uint64_t)s->hidden + 2 * q + 2 * kv + 2 * (uint64_t)s->intermediate;
    return (uint64_t)tokens * a_token + (uint64_t)logit_rows * (uint64_t)s->vocab;
}

static int plan(const struct eco_engine_options *o, const struct eco_opened *m,
                const struct eco_source *source, struct eco_plan *out, struct eco_err *err)
{
    const struct eco_shape *s = &m->shape;
    struct eco_plan p = {.batch = o->batch > 0 ? o->batch : 1, .cpus = eco_engine_cpus()};
    int usual = s->max_context < 2048 ? s->max_context : 2048;
    p.context = o->context_tokens > 0 ? o->context_tokens : usual;
    p.threads = o->threads > 0 ? o->threads : p.cpus;
    if (o->batch < 0 || p.batch > ECO_ENGINE_MAX_BATCH) {
        return eco_err_set(err, ECO_E_RANGE, "batch", "batch must be 1 to %d",
                           ECO_ENGINE_MAX_BATCH);
    }
    if (o->context_tokens < 0 || p.context > ECO_ENGINE_MAX_CONTEXT) {
        return eco_err_set(err, ECO_E_RANGE, "context", "context must be 1 to %d tokens",
                           ECO_ENGINE_MAX_CONTEXT);
    }
    if (o->threads < 0 || p.threads > ECO_ENGINE_MAX_THREADS) {
        return eco_err_set(err, ECO_E_RANGE, "threads", "threads must be 1 to %d",
                           ECO_ENGINE_MAX_THREADS);
    }
    p.threads = p.threads > p.cpus ? p.cpus : p.threads;
    p.tokens = p.batch > PREFILL_TOKENS ? p.batch : PREFILL_TOKENS;
    p.logit_rows = p.batch > LOGIT_ROWS ? p.batch : LOGIT_ROWS;
    p.half_kv = (o->precision != ECO_PREC_NONE ? o->precision : m->stored) != ECO_PREC_FP32;
    p.kv = mul3(2 * mul3((uint64_t)s->layers, (uint64_t)p.batch, (uint64_t)s->kv_heads),
                mul3((uint64_t)p.context, (uint64_t)s->head_dim, 1), p.half_kv ? 2 : 4);
    p.scratch = scratch_floats(s, p.tokens, p.logit_rows) * sizeof(float) +
                eco_engine_backend_cpu.scratch_bytes(s, p.threads, p.tokens, p.context);
    int rc = eco_engine_weight_bytes(s, o->precision, source, &p.weights, err);
    if (rc == 0) {
        *out = p;
    }
    return rc;
}

static int fits(const struct eco_engine_options *o, const struct eco_plan *p, struct eco_err *err)
{
    uint64_t need = p->weights + p->kv + p->scratch;
    uint64_t have = o->memory_bytes > 0 ? o->memory_bytes : eco_engine_memory_free();
    if (have > 0 && need > have) {
        return eco_err_set(err, ECO_E_NO_FIT, "model",
                           "needs %.2f GB (weights %.2f, KV cache %.2f, work space %.2f), but "
                           "%.2f GB are free: take a smaller model, batch or context",
                           (double)need / 1e9, (double)p->weights / 1e9, (double)p->kv / 1e9,
                           (double)p->scratch / 1e9, (double)have / 1e9);
    }
    return 0;
}

static int check_precision(enum eco_precision p, struct eco_err *err)
{
    switch (p) {
    case ECO_PREC_NONE:
    case ECO_PREC_FP32:
    case ECO_PREC_FP16:
    case ECO_PREC_BF16:
    case ECO_PREC_NF4:
    case ECO_PREC_NF4_DQ:
    case ECO_PREC_NF4_A8:
    case ECO_PREC_INT8_MIXED:
    case ECO_PREC_INT8_PURE:
    case ECO_PREC_GGUF_Q8_0:
    case ECO_PREC_GGUF_Q4_0:
        return 0;
    default:
        return eco_err_set(err, ECO_E_UNSUPPORTED, "precision",
                           "the engine has FP32, FP16, BF16, NF4, NF4-DQ, NF4-A8, INT8-MIXED, "
                           "INT8-PURE, Q8_0 and Q4_0, not '%s'",
                           eco_precision_name(p));
    }
}

int eco_engine_need(const struct eco_engine_options *o, uint64_t *bytes, struct eco_err *err)
{
    struct eco_opened m = {0};
    struct eco_plan p = {0};
    int rc = check_precision(o->precision, err);
    rc = rc ? rc : eco_engine_open_model(o->model, o->seed, false, &m, err);
    rc = rc ? rc : plan(o, &m, NULL, &p, err);
    if (rc == 0) {
        *bytes = p.weights + p.kv + p.scratch;
    }
    eco_engine_opened_done(&m);
    return rc;
}

static int make_kv(struct eco_forward *f, const struct eco_plan *p, struct eco_err *err)
{
    const struct eco_shape *s = &f->shape;
    size_t cells = (size_t)p->batch * (size_t)s->kv_heads * (size_t)p->context *
                   (size_t)s->head_dim * (p->half_kv ? 2 : 4);
    f->kv = calloc((size_t)s->layers, sizeof(*f->kv));
    for (int i = 0; f->kv && i < s->layers; i++) {
        f->kv[i] = (struct eco_kv){.k = calloc(cells, 1),
                                   .v = calloc(cells, 1),
                                   .half = p->half_kv,
                                   .context = p->context,
                                   .kv_heads = s->kv_heads,
                                   .head_dim = s->head_dim};
        if (!f->kv[i].k || !f->kv[i].v) {
            return eco_err_set(err, ECO_E_NO_MEMORY, "context", "%.2f GB of KV cache cannot be had",
                               (double)p->kv / 1e9);
        }
    }
    return f->kv ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static int make_scratch(struct eco_decoder *e, const struct eco_plan *p, struct eco_err *err)
{
    const struct eco_shape *s = &e->f.shape;
    size_t n = (size_t)p->tokens, q = n * (size_t)s->heads * (size_t)s->head_dim;
    size_t kv = n * (size_t)s->kv_heads * (size_t)s->head_dim;
    size_t h = n * (size_t)s->hidden, inner = n * (size_t)s->intermediate;
    size_t bytes = (size_t)scratch_floats(s, p->tokens, p->logit_rows) * sizeof(float);
    float *at = aligned_alloc(64, (bytes + 63) / 64 * 64);
    e->step = malloc(3 * n * sizeof(int));
    e->scratch_memory = at;
    if (!at || !e->step) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    struct eco_scratch *w = &e->f.scratch;
    w->x = at;
    w->h = w->x + h;
    w->q = w->h + h;
    w->o = w->q + q;
    w->k = w->o + q;
    w->v = w->k + kv;
    w->gate = w->v + kv;
    w->up = w->gate + inner;
    w->logits = w->up + inner;
    w->tokens = p->tokens;
    w->logit_rows = p->logit_rows;
    return 0;
}

/* Tokens that the model's positions are sound for: what it was trained on, stretched as it says. */
static double sound_context(const struct eco_shape *s)
{
    double own = s->max_context, stretched = own;
    if (s->rope.kind == ECO_ROPE_LINEAR) {
        stretched = own * s->rope.factor;
    } else if (s->rope.kind == ECO_ROPE_YARN) {
        stretched = s->rope.original_context * s->rope.factor;
    }
    return stretched > own ? stretched : own;
}

static void warn(struct eco_decoder *e, const struct eco_engine_options *o)
{
    struct eco_engine_info *i = &e->info;
    int busy = eco_engine_runnable();
    double sound = sound_context(&e->f.shape);
    if (!i->synthetic && i->context_tokens > sound) {
        snprintf(
            i->warning, sizeof(i->warning),
            "a context of %d tokens, the model was made for %.0f: what it writes beyond is not "
            "sound",
            i->context_tokens, sound);
    } else if (o->threads > i->cpus) {
        snprintf(i->warning, sizeof(i->warning),
                 "%d threads were asked for, this process may use %d CPU%s: no more are started",
                 o->threads, i->cpus, i->cpus == 1 ? "" : "s");
    } else if (busy + i->threads > i->cpus) {
        snprintf(i->warning, sizeof(i->warning),
                 "%d other process%s on %d CPU%s: speed and energy are not this engine's alone",
                 busy, busy == 1 ? " runs" : "es run", i->cpus, i->cpus == 1 ? "" : "s");
    }
}

static void describe(struct eco_decoder *e, const struct eco_engine_options *o,
                     const struct eco_opened *m, const struct eco_plan *p)
{
    struct eco_engine_info *i = &e->info;
    i->model = m->model;
    i->synthetic = m->synthetic;
    i->precision = o->precision != ECO_PREC_NONE ? o->precision : m->stored;
    snprintf(i->architecture, sizeof(i->architecture), "%s", m->shape.architecture);
    snprintf(i->backend, sizeof(i->backend), "%s", e->f.backend->name);
    snprintf(i->isa, sizeof(i->isa), "%s", eco_engine_isa_name(e->f.backend->isa(e->f.device)));
    i->threads = p->threads;
    i->cpus = p->cpus;
    i->batch = p->batch;
    i->context_tokens = p->context;
    i->kv_bytes = p->kv;
    i->scratch_bytes = p->scratch;
    i->mapped_bytes = e->f.weights.mapped_bytes;
    i->read_bytes_per_token = e->f.weights.read_bytes;
    for (int c = 0; c < ECO_TENSOR_CLASSES; c++) {
        i->class_bytes[c] = e->f.weights.class_bytes[c];
        i->weight_bytes += i->class_bytes[c];
    }
    warn(e, o);
}

static int load(struct eco_decoder *e, const struct eco_engine_options *o, struct eco_err *err)
{
    struct eco_plan p;
    e->f.backend = &eco_engine_backend_cpu;
    int rc = eco_engine_open_model(o->model, o->seed, true, &e->opened, err);
    rc = rc ? rc : plan(o, &e->opened, &e->opened.source, &p, err);
    rc = rc ? rc : fits(o, &p, err);
    if (rc) {
        return rc;
    }
    e->f.shape = e->opened.shape;
    e->f.shape.rope.beyond = (double)p.context > e->f.shape.rope.original_context;
    e->batch = p.batch;
    e->context = p.context;
    rc = eco_engine_pool_new(p.threads, o->pin, &e->pool, err);
    rc = rc ? rc
            : e->f.backend->open(&e->f.device, &e->f.shape, o->isa, e->pool, p.tokens, p.context,
                                 err);
    rc = rc ? rc
            : eco_engine_weights_build(&e->f.shape, o->precision, &e->opened.source, e->pool,
                                       &e->f.weights, err);
    rc = rc ? rc : make_kv(&e->f, &p, err);
    rc = rc ? rc : make_scratch(e, &p, err);
    if (rc == 0) {
        describe(e, o, &e->opened, &p);
    }
    return rc;
}

int eco_engine_open(const struct eco_engine_options *o, struct eco_decoder **out,
                    struct eco_err *err)
{
    int64_t start = eco_clock_mono_ns();
    int rc = check_precision(o->precision, err);
    struct eco_decoder *e = rc ? NULL : calloc(1, sizeof(*e));
    if (!e) {
        return rc ? rc : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    rc = load(e, o, err);
    if (rc) {
        eco_engine_close(e);
        return rc;
    }
    e->info.load_s = (double)(eco_clock_mono_ns() - start) * 1e-9;
    *out = e;
    return 0;
}

void eco_engine_close(struct eco_decoder *e)
{
    if (!e) {
        return;
    }
    for (int i = 0; e->f.kv && i < e->f.shape.layers; i++) {
        free(e->f.kv[i].k);
        free(e->f.kv[i].v);
    }
    free(e->f.kv);
    free(e->step);
    free(e->scratch_memory);
    if (e->f.device) {
        e->f.backend->close(e->f.device);
    }
    eco_engine_weights_done(&e->f.weights);
    eco_engine_pool_free(e->pool);
    eco_engine_opened_done(&e->opened);
    free(e);
}

const struct eco_engine_info *eco_engine_info(const struct eco_decoder *e)
{
    return &e->info;
}
