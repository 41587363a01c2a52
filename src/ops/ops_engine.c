/* The embedded engine by hand: speed of each precision, text or ids, perplexity, quantizing. */
#include "engine/engine.h"
#include "engine/quantize.h"
#include "engine_text.h"
#include "runs.h"
#include "steps.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Sorts v. */
static struct eco_opt median(double *v, int64_t n)
{
    if (n == 0) {
        return (struct eco_opt){0};
    }
    qsort(v, (size_t)n, sizeof(*v), by_value);
    double m = n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
    return (struct eco_opt){m, m > 0.0};
}

/* The prompt of every sequence: the asked one, or a seeded one. */
static int *make_prompt(struct eco_ctx *ctx, const struct eco_args_engine *a,
                        const struct eco_engine_input *in, const struct eco_decoder *e, int *n)
{
    *n = in->ids.n > 0 ? (int)in->ids.n : (int)a->prompt_tokens;
    int *p = eco_arena_array(ctx->arena, (size_t)a->batch * (size_t)*n, sizeof(*p));
    if (p && in->ids.n > 0) {
        for (int64_t i = 0; i < a->batch * *n; i++) {
            p[i] = in->ids.v[i % *n];
        }
    } else if (p) {
        eco_engine_prompt(e, (uint64_t)a->seed, *n, p);
    }
    return p;
}

static int bench(struct eco_ctx *ctx, const struct eco_args_engine *a,
                 const struct eco_engine_input *in, struct eco_decoder *e,
                 struct eco_res_engine_arm *out, struct eco_err *err)
{
    int n = 0, *prompt = make_prompt(ctx, a, in, e, &n);
    double *v = eco_arena_array(ctx->arena, 4 * (size_t)a->runs, sizeof(*v));
    if (!prompt || !v) {
        return no_memory(err);
    }
    double *rate = v, *tpot = v + a->runs, *ttft = tpot + a->runs, *pre = ttft + a->runs;
    for (int64_t i = 0; i < a->runs; i++) {
        struct eco_engine_timing t;
        int rc = eco_engine_generate(e, prompt, n, (int)a->gen_tokens, NULL, NULL, &t, err);
        if (rc) {
            return rc;
        }
        rate[i] = t.decode_tokens_per_s;
        tpot[i] = t.tpot_s * 1e3;
        ttft[i] = t.ttft_s * 1e3;
        pre[i] = t.prefill_tokens_per_s;
    }
    out->runs = a->runs;
    out->tokens_per_s = median(rate, a->runs);
    out->tokens_per_s_range = (struct eco_span){rate[0], rate[a->runs - 1], out->tokens_per_s.have};
    out->tpot_ms = median(tpot, a->runs);
    out->ttft_ms = median(ttft, a->runs);
    out->prefill_tokens_per_s = median(pre, a->runs);
    out->weights_gbps = (struct eco_opt){(double)eco_engine_info(e)->read_bytes_per_token * 1e-6 /
                                             (out->tpot_ms.have ? out->tpot_ms.v : 1.0),
                                         out->tpot_ms.have};
    return 0;
}

static int generate(struct eco_ctx *ctx, const struct eco_args_engine *a,
                    const struct eco_engine_input *in, struct eco_decoder *e,
                    struct eco_res_engine_arm *out, struct eco_err *err)
{
    int n = 0, gen = in->gen, *prompt = make_prompt(ctx, a, in, e, &n);
    int *ids = eco_arena_array(ctx->arena, (size_t)a->batch * (size_t)gen, sizeof(*ids));
    struct eco_sampling how = {a->temperature, a->top_p, (int)a->top_k, (uint64_t)a->seed};
    struct eco_buf text = ECO_BUF_INIT;
    if (!prompt || !ids) {
        return no_memory(err);
    }
    if (in->tok) {
        return eco_engine_write(ctx, a, e, in, prompt, out, err);
    }
    int rc = eco_engine_sample(e, &how, prompt, n, gen, ids, NULL, NULL, err);
    for (int64_t i = 0; rc == 0 && i < a->batch * gen; i++) {
        eco_buf_printf(&text, "%s%d", i == 0 ? "" : i % gen ? " " : "\n", ids[i]);
    }
    out->ids =
        eco_buf_ok(&text) ? eco_arena_strdup(ctx->arena, eco_buf_str(&text), text.len) : NULL;
    eco_buf_done(&text);
    out->prompt_tokens = a->batch * n;
    out->generated_tokens = a->batch * gen;
    return rc ? rc : out->ids ? 0 : no_memory(err);
}

static int perplexity(struct eco_ctx *ctx, const struct eco_args_engine *a,
                      const struct eco_engine_input *in, struct eco_decoder *e,
                      struct eco_res_engine_arm *out, struct eco_err *err)
{
    int n = 0, *text = make_prompt(ctx, a, in, e, &n);
    int context = eco_engine_info(e)->context_tokens;
    if (!text) {
        return no_memory(err);
    }
    int window = a->window < context ? (int)a->window : context;
    int rc =
        eco_engine_perplexity(e, text, n, window, &out->perplexity.v, &out->scored_tokens, err);
    out->perplexity.have = rc == 0;
    return rc;
}

static void describe(struct eco_ctx *ctx, const struct eco_decoder *e, struct eco_res_engine *out,
                     struct eco_res_engine_arm *arm)
{
    const struct eco_engine_info *i = eco_engine_info(e);
    out->model = eco_step_fmt(ctx, "%s", i->model.name);
    out->architecture = eco_step_fmt(ctx, "%s", i->architecture);
    out->backend = eco_step_fmt(ctx, "%s", i->backend);
    out->isa = eco_step_fmt(ctx, "%s", i->isa);
    out->threads = i->threads;
    out->cpus = i->cpus;
    out->synthetic = i->synthetic;
    out->warning = i->warning[0] ? eco_step_fmt(ctx, "%s", i->warning) : out->warning;
    arm->precision = eco_precision_name(i->precision);
    arm->batch = i->batch;
    arm->linear_bytes = (int64_t)i->class_bytes[ECO_TENSOR_LINEAR];
    arm->embedding_bytes = (int64_t)i->class_bytes[ECO_TENSOR_EMBEDDING];
    arm->lm_head_bytes = (int64_t)i->class_bytes[ECO_TENSOR_LM_HEAD];
    arm->norm_bytes = (int64_t)i->class_bytes[ECO_TENSOR_NORM];
    arm->constant_bytes = (int64_t)i->class_bytes[ECO_TENSOR_CONSTANT];
    arm->kv_bytes = (int64_t)i->kv_bytes;
    arm->read_bytes = (int64_t)i->read_bytes_per_token;
    arm->load_s = i->load_s;
}

/* What the arm of precision p opens. */
static struct eco_engine_options options_of(const struct eco_args_engine *a,
                                            const struct eco_engine_input *in, enum eco_precision p)
{
    bool ok = true;
    int64_t n = in->ids.n > 0 ? (int64_t)in->ids.n : a->prompt_tokens;
    int64_t room = strcmp(a->action, "perplexity") != 0 ? n + in->gen
                   : a->window < n                      ? a->window
                                                        : n;
    return (struct eco_engine_options){
        .model = a->model,
        .precision = p,
        .batch = (int)a->batch,
        .context_tokens = room < ECO_ENGINE_MAX_CONTEXT ? (int)room : ECO_ENGINE_MAX_CONTEXT,
        .threads = (int)a->threads,
        .pin = a->pin,
        .isa = eco_engine_isa_parse(a->isa, strlen(a->isa), &ok),
        .seed = (uint64_t)a->seed};
}

static int run_arm(struct eco_ctx *ctx, const struct eco_args_engine *a,
                   const struct eco_engine_input *in, enum eco_precision p,
                   struct eco_res_engine *out, struct eco_res_engine_arm *arm, struct eco_err *err)
{
    struct eco_engine_options o = options_of(a, in, p);
    struct eco_decoder *e = NULL;
    int rc = eco_engine_open(&o, &e, err);
    if (rc) {
        return rc;
    }
    describe(ctx, e, out, arm);
    if (strcmp(a->action, "bench") == 0) {
        rc = bench(ctx, a, in, e, arm, err);
    } else {
        rc = strcmp(a->action, "perplexity") == 0 ? perplexity(ctx, a, in, e, arm, err)
                                                  : generate(ctx, a, in, e, arm, err);
    }
    eco_engine_close(e);
    return rc;
}

/* Precision i of the list; NONE, as stored, when there is none. */
static int arm_precision(const struct eco_args_engine *a, size_t i, enum eco_precision *out,
                         struct eco_err *err)
{
    const char *name = a->precision.n > 0 ? a->precision.v[i] : NULL;
    return eco_step_precision(name, ECO_PREC_NONE, "precision", out, err);
}

/* Every arm before the first one runs, and before a text is read: a mistake costs no minutes. */
static int check_arms(const struct eco_args_engine *a, struct eco_err *err)
{
    const struct eco_engine_input none = {0};
    size_t n = a->precision.n > 0 ? a->precision.n : 1;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        enum eco_precision p = ECO_PREC_NONE;
        uint64_t bytes = 0;
        rc = arm_precision(a, i, &p, err);
        struct eco_engine_options o = options_of(a, &none, p);
        rc = rc ? rc : eco_engine_need(&o, &bytes, err);
    }
    return rc;
}

static int run_arms(struct eco_ctx *ctx, const struct eco_args_engine *a,
                    const struct eco_engine_input *in, struct eco_res_engine *out,
                    struct eco_err *err)
{
    size_t n = a->precision.n > 0 ? a->precision.n : 1;
    struct eco_res_engine_arm *arms = eco_arena_array(ctx->arena, n, sizeof(*arms));
    enum eco_precision p = ECO_PREC_NONE;
    int rc = arms ? 0 : no_memory(err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = arm_precision(a, i, &p, err);
        rc = rc ? rc : run_arm(ctx, a, in, p, out, &arms[i], err);
    }
    if (rc == 0) {
        out->arms = (struct eco_list){arms, n};
    }
    return rc;
}

static int quantize(struct eco_ctx *ctx, const struct eco_args_engine *a,
                    struct eco_res_engine *out, struct eco_err *err)
{
    struct eco_quantized q;
    struct eco_res_engine_arm *arm = eco_arena_alloc(ctx->arena, sizeof(*arm));
    if (!a->out || a->precision.n != 1) {
        return eco_err_set(err, ECO_E_MISSING, a->out ? "precision" : "out",
                           "quantize MODEL OUT.gguf --precision %s: say %s",
                           "Q8_0|Q4_0|F16|BF16|F32",
                           a->out ? "one precision" : "which file to write");
    }
    enum eco_precision p = ECO_PREC_NONE;
    int rc = arm ? arm_precision(a, 0, &p, err) : no_memory(err);
    rc = rc ? rc : eco_engine_quantize(a->model, a->out, p, (int)a->threads, a->force, &q, err);
    if (rc) {
        return rc;
    }
    arm->precision = eco_precision_name(p);
    arm->load_s = q.seconds;
    out->model = a->model;
    out->written = a->out;
    out->written_bytes = (int64_t)q.file_bytes;
    out->written_tensors = q.tensors;
    out->warning = q.warning[0] ? eco_step_fmt(ctx, "%s", q.warning) : NULL;
    out->arms = (struct eco_list){arm, 1};
    return 0;
}

int eco_run_engine(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_engine *a = args;
    struct eco_res_engine *out = result;
    struct eco_engine_input in = {0};
    bool arms = strcmp(a->action, "quantize") != 0;
    int rc = arms ? check_arms(a, err) : 0;
    rc = rc ? rc : eco_engine_input(ctx, a, &in, err);
    if (rc == 0) {
        rc = arms ? run_arms(ctx, a, &in, out, err) : quantize(ctx, a, out, err);
    }
    if (rc == 0 && out->warning && ctx->warnings) {
        eco_buf_printf(ctx->warnings, "%s\n", out->warning);
    }
    eco_engine_input_done(&in);
    return rc;
}
