/* Understand the question: which model, which card, how it is run. */
#include "args.h"
#include "base/buf.h"
#include "base/format.h"
#include "base/num.h"
#include "dataset/dataset.h"
#include "model/model.h"
#include "steps.h"
#include "texts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char *eco_step_fmt(struct eco_ctx *ctx, const char *fmt, ...)
{
    char text[512]; /* holds nearly every text: one pass instead of two */
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = eco_format(text, sizeof text, fmt, ap);
    n = n < 0 ? vsnprintf(text, sizeof text, fmt, ap) : n;
    va_end(ap);
    char *s = n < 0 ? NULL : eco_arena_alloc(ctx->arena, (size_t)n + 1);
    if (s && (size_t)n < sizeof text) {
        memcpy(s, text, (size_t)n + 1);
    } else if (s) {
        vsnprintf(s, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    return s;
}

void eco_step_note(struct eco_question *q, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    if (eco_format(text, sizeof text, fmt, ap) < 0) {
        vsnprintf(text, sizeof(text), fmt, ap);
    }
    va_end(ap);
    for (size_t i = 0; i < q->notes.n; i++) {
        if (strcmp(q->notes.v[i], text) == 0) {
            return;
        }
    }
    const char *copy = eco_arena_strdup(q->ctx->arena, text, strlen(text));
    if (copy && q->notes.n < ECO_MAX_NOTES) {
        q->notes.v[q->notes.n++] = copy;
    }
}

struct eco_strs eco_step_notes(const struct eco_question *q)
{
    const char **v = eco_arena_array(q->ctx->arena, q->notes.n + 1, sizeof(*v));
    if (!v) {
        return (struct eco_strs){NULL, 0};
    }
    memcpy(v, q->notes.v, q->notes.n * sizeof(*v));
    return (struct eco_strs){v, q->notes.n};
}

/* "7B", "1.5b", "350M", "0.5 B": a size said where a model's name could stand. */
static bool size_text(const char *text, double *params_b)
{
    size_t len = strlen(text);
    if (len < 2) {
        return false;
    }
    char unit = text[len - 1];
    double scale = unit == 'B' || unit == 'b' ? 1.0 : unit == 'M' || unit == 'm' ? 1e-3 : 0.0;
    len--;
    if (len > 1 && text[len - 1] == ' ') {
        len--;
    }
    double v;
    if (scale == 0.0 || eco_num_parse_lenient(text, len, &v) || !(v > 0) || v * scale > 1e6) {
        return false;
    }
    *params_b = v * scale;
    return true;
}

static int model_by_name(struct eco_ctx *ctx, const char *name, struct eco_question *q,
                         struct eco_err *err)
{
    if (ctx->open_model) {
        return ctx->open_model(name, &q->model, err);
    }
    const struct eco_model *known;
    int rc = eco_dataset_find_model(name, strlen(name), &known, err);
    if (rc == 0) {
        q->model = *known;
    }
    return rc;
}

static int model_by_size(double params_b, const char *name, struct eco_question *q,
                         struct eco_err *err)
{
    int rc = eco_model_from_size(params_b, name, &q->model, err);
    if (rc == 0) {
        q->known_model = false;
    }
    return rc;
}

/* A name, a size, or both: a name nobody knows is fine when the size is given beside it. */
static int target_model(struct eco_ctx *ctx, const struct eco_args_target *t,
                        struct eco_question *q, struct eco_err *err)
{
    double size = t->params_b;
    bool have_size = size > 0;
    if (!t->model) {
        if (!have_size) {
            return eco_err_set(err, ECO_E_MISSING, "model",
                               "no model: name one (Qwen2.5-7B), a folder, a .gguf file, or a size "
                               "(params_b 7)");
        }
        return model_by_size(size, NULL, q, err);
    }
    if (!have_size && size_text(t->model, &size)) {
        return model_by_size(size, NULL, q, err);
    }
    int rc = model_by_name(ctx, t->model, q, err);
    if (rc == 0) {
        q->known_model = true;
        if (have_size && fabs(log(size / q->model.params_b)) > 0.2) {
            return eco_err_set(err, ECO_E_INVALID, "params_b",
                               "'params_b' %g contradicts the model '%s' of %g billion", size,
                               q->model.name, q->model.params_b);
        }
        return 0;
    }
    return have_size ? model_by_size(size, t->model, q, err) : rc;
}

static void stand_in(struct eco_question *q)
{
    q->class_gpu = (struct eco_gpu){.name = "",
                                    .arch = q->arch,
                                    .vram_gb = (double)NAN,
                                    .mem_bw_gbps = (double)NAN,
                                    .fp16_tflops = (double)NAN,
                                    .tdp_w = (double)NAN,
                                    .idle_w = (double)NAN,
                                    .source = "",
                                    .note = ""};
}

/* One card has one name: a list or a count is no card, however much of it is known. */
static bool is_list(const char *name)
{
    const char *x = strpbrk(name, "xX");
    bool count =
        x && x > name && x[-1] >= '0' && x[-1] <= '9' && x[1] >= '1' && x[1] <= '9' && x[2] == '\0';
    return strpbrk(name, ",;|&+") || strstr(name, " or ") || strstr(name, " and ") || count;
}

/* Which cards there are besides is said in English only: their names are its figures. */
static void note_default(struct eco_question *q, const char *name, const char *note)
{
    if (q->ctx->lang == ECO_LANG_EN) {
        eco_step_note(q, "%s", note);
    } else {
        eco_step_note(q, TX(q->ctx, card_taken), 32, name, q->gpu->name);
    }
}

static int card_by_name(const char *name, struct eco_question *q, struct eco_err *err)
{
    if (is_list(name)) {
        return eco_err_set(err, ECO_E_INVALID, "gpu",
                           "'gpu' is one card, not '%.60s'; optimize takes several: --gpus a,b",
                           name);
    }
    struct eco_match match;
    int rc = eco_dataset_match_gpu(name, strlen(name), &match, err);
    if (rc == 0) {
        q->gpu = eco_dataset_gpu(match.index);
        q->gpu_name = q->gpu->name;
        q->arch = q->gpu->arch;
        if (match.kind == ECO_MATCH_DEFAULT) {
            note_default(q, name, match.note);
        }
        return 0;
    }
    enum eco_arch arch = eco_dataset_detect_any_arch(name, strlen(name), NULL);
    if (arch == ECO_ARCH_UNKNOWN) {
        return rc;
    }
    q->arch = arch;
    q->gpu_name = eco_arena_strdup(q->ctx->arena, name, strlen(name));
    eco_step_note(q, TX(q->ctx, card_class_only), name, eco_arch_name(arch));
    return 0;
}

int eco_step_class(const char *name, enum eco_arch *out, struct eco_err *err)
{
    *out = eco_arch_parse(name, strlen(name));
    if (*out != ECO_ARCH_UNKNOWN) {
        return 0;
    }
    struct eco_nearest near = eco_nearest_start(name, strlen(name));
    for (int i = 1; i < ECO_ARCH_COUNT; i++) {
        eco_nearest_offer(&near, eco_arch_name((enum eco_arch)i));
    }
    return eco_err_set(
        err, ECO_E_UNKNOWN_NAME, "arch",
        near.best ? "unknown arch '%.40s': did you mean '%s'?"
                  : "unknown arch '%.40s': one of turing, ampere, ada, hopper, blackwell …",
        name, near.best ? near.best : "");
}

static int target_card(struct eco_ctx *ctx, const struct eco_args_target *t, struct eco_question *q,
                       struct eco_err *err)
{
    int rc;
    if (t->gpu) {
        rc = card_by_name(t->gpu, q, err);
        enum eco_arch arch = ECO_ARCH_UNKNOWN;
        if (rc == 0 && t->arch) {
            rc = eco_step_class(t->arch, &arch, err);
        }
        if (rc == 0 && t->arch && arch != q->arch) {
            return eco_err_set(err, ECO_E_INVALID, "arch", "'arch' %s contradicts the card %s (%s)",
                               eco_arch_name(arch), q->gpu_name, eco_arch_name(q->arch));
        }
    } else if (t->arch) {
        rc = eco_step_class(t->arch, &q->arch, err);
    } else if (ctx->host_gpu) {
        q->gpu = ctx->host_gpu;
        q->gpu_name = q->gpu->name;
        q->arch = q->gpu->arch;
        eco_step_note(q, TX(q->ctx, card_found), q->gpu->name);
        rc = 0;
    } else {
        rc = card_by_name(ECO_DEFAULT_GPU, q, err);
        eco_step_note(q, TX(q->ctx, card_default), ECO_DEFAULT_GPU);
    }
    return rc;
}

/* Where the data end, the honest advice is to measure. */
static void advise_to_measure(struct eco_question *q)
{
    const char *vendor = eco_arch_vendor(q->arch);
    if (strcmp(vendor, "nvidia") != 0) {
        eco_step_note(q, TX(q->ctx, vendor_unmeasured), vendor[0] ? vendor : TX(q->ctx, such),
                      q->model.name);
    }
}

int eco_step_target(struct eco_ctx *ctx, const struct eco_args_target *t, struct eco_question *q,
                    struct eco_err *err)
{
    memset(q, 0, sizeof(*q));
    q->ctx = ctx;
    q->batch = 1;
    q->prompt_tokens = (int)ECO_COST_PROMPT_DEFAULT;
    q->gen_tokens = (int)ECO_COST_GEN_DEFAULT;
    int rc = target_card(ctx, t, q, err);
    if (rc == 0) {
        rc = target_model(ctx, t, q, err);
    }
    if (rc == 0) {
        stand_in(q);
        advise_to_measure(q);
    }
    return rc;
}

static const char *const assumptions[] = {
#define X(name, text) text,
    ECO_ASSUMPTIONS(X)
#undef X
};

void eco_step_assume(struct eco_question *q, const char *verb, const void *args, unsigned mask)
{
    const struct eco_op *op = eco_op_find(verb);
    for (size_t i = ECO_ASSUMPTION_GPU; i < ECO_COUNT(assumptions); i++) {
        const struct eco_param *p = eco_args_find(op, assumptions[i], strlen(assumptions[i]));
        if (p && !eco_args_have(op, args, p->offset)) {
            q->assumed |= 1u << i & mask;
        }
    }
    if (!q->gpu || q->gpu == q->ctx->host_gpu) { /* a class was named, or the card is here */
        q->assumed &= ~(unsigned)ECO_ASSUMED_GPU;
    }
    if (!(q->assumed & ECO_ASSUMED_REGION)) { /* they are the named region's */
        q->assumed &= ~(unsigned)(ECO_ASSUMED_PRICE | ECO_ASSUMED_CARBON);
    }
    if (!(q->assumed & (ECO_ASSUMED_PROMPT | ECO_ASSUMED_GEN))) { /* their sum */
        q->assumed &= ~(unsigned)ECO_ASSUMED_CTX;
    }
}

static struct eco_strs assumed_names(const struct eco_question *q)
{
    const char **v = eco_arena_array(q->ctx->arena, ECO_COUNT(assumptions), sizeof(*v));
    size_t n = 0;
    for (size_t i = 0; v && i < ECO_COUNT(assumptions); i++) {
        if (q->assumed & (1u << i)) {
            v[n++] = assumptions[i];
        }
    }
    return (struct eco_strs){v, n};
}

void eco_step_circumstances(struct eco_question *q, const struct eco_args_risk *risk,
                            const struct eco_args_money *money)
{
    q->risk = risk;
    q->money = money;
    if (risk && risk->eager && q->engine == ECO_ENGINE_UNKNOWN) {
        q->engine = ECO_ENGINE_TRANSFORMERS; /* eager is PyTorch's word */
        q->assumed &= ~(unsigned)ECO_ASSUMED_ENGINE;
    }
}

int eco_step_load(const struct eco_args_load *l, struct eco_question *q, struct eco_err *err)
{
    q->batch = (double)l->batch;
    q->prompt_tokens = (int)l->prompt_tokens;
    q->gen_tokens = (int)l->gen_tokens;
    q->context_given = l->ctx > 0;
    q->context_tokens =
        q->context_given ? (double)l->ctx : (double)(l->prompt_tokens + l->gen_tokens);
    q->engine = l->engine ? eco_engine_parse(l->engine, strlen(l->engine)) : ECO_ENGINE_UNKNOWN;
    if (q->context_given && q->context_tokens < (double)(l->prompt_tokens + l->gen_tokens)) {
        eco_step_note(q, TX(q->ctx, window_short), q->context_tokens, (long long)l->prompt_tokens,
                      (long long)l->gen_tokens);
    }
    if (q->batch > ECO_PREDICT_MAX_BATCH) {
        return eco_err_set(err, ECO_E_RANGE, "batch",
                           "'batch' must be from 1 to %g sequences, not %g", ECO_PREDICT_MAX_BATCH,
                           q->batch);
    }
    if (q->context_tokens > ECO_PREDICT_MAX_CONTEXT) {
        return eco_err_set(err, ECO_E_RANGE, "ctx", "'ctx' must be from 1 to %g tokens, not %g",
                           ECO_PREDICT_MAX_CONTEXT, q->context_tokens);
    }
    if (q->model.max_context > 0 && q->context_tokens > q->model.max_context) {
        eco_step_note(q, TX(q->ctx, window_over), q->context_tokens, q->model.name,
                      q->model.max_context);
    }
    if (q->batch > 64 || q->context_tokens > 4096) {
        eco_step_note(q, "%s", TX(q->ctx, beyond_data));
    }
    return 0;
}

/* "nearest valid names" for a precision nobody knows. */
static int unknown_precision(const char *text, const char *arg, struct eco_err *err)
{
    const char *best = NULL;
    int nearest = strlen(text) < 4 ? 2 : 4; /* of "Q8", FP8 is as far as all else */
    for (int i = 1; i < ECO_PREC_COUNT; i++) {
        const char *known = eco_precision_name((enum eco_precision)i);
        int d = eco_str_distance(text, strlen(text), known, strlen(known), 3);
        if (d < nearest) {
            nearest = d, best = known;
        }
    }
    if (best) {
        return eco_err_set(err, ECO_E_UNKNOWN_NAME, arg,
                           "unknown precision '%.40s': did you mean %s?", text, best);
    }
    return eco_err_set(err, ECO_E_UNKNOWN_NAME, arg,
                       "unknown precision '%.40s': FP16, FP8, INT8-MIXED, INT8-PURE, NF4, NF4-DQ, "
                       "GPTQ-INT4, AWQ-INT4, NVFP4, MXFP4, GGUF-Q8_0, GGUF-Q4_K_M …",
                       text);
}

int eco_step_precision(const char *text, enum eco_precision fallback, const char *arg,
                       enum eco_precision *out, struct eco_err *err)
{
    if (!text) {
        *out = fallback;
        return 0;
    }
    enum eco_precision p = eco_precision_parse(text, strlen(text));
    if (p == ECO_PREC_NONE) {
        return unknown_precision(text, arg, err);
    }
    *out = p;
    return 0;
}

void eco_step_fill_input(const struct eco_question *q, struct eco_res_input *out)
{
    bool moe = q->model.experts > 0 && q->model.params_active > 0;
    *out = (struct eco_res_input){
        .model = q->known_model || !q->model.name[0] ? q->model.name : NULL,
        .params_b = q->model.params_b,
        .params_total_b = {(double)q->model.params_total / 1e9, q->known_model},
        .params_active_b = {(double)q->model.params_active / 1e9, moe},
        .shape = eco_basis_name(q->model.shape_basis),
        .gpu = q->gpu_name,
        .arch = eco_arch_name(q->arch),
        .precision = q->precision == ECO_PREC_NONE ? NULL : eco_precision_name(q->precision),
        .batch = (int64_t)q->batch,
        .ctx = (int64_t)q->context_tokens,
        .prompt_tokens = q->prompt_tokens,
        .gen_tokens = q->gen_tokens,
        .engine = q->engine != ECO_ENGINE_UNKNOWN
                      ? eco_engine_name(q->engine)
                      : eco_engine_name(eco_predict_usual_engine(q->precision)),
        .assumed = assumed_names(q),
    };
    char *name = eco_arena_strdup(q->ctx->arena, q->model.name, strlen(q->model.name));
    out->model = q->known_model ? name : NULL;
}

int eco_step_need_card(const struct eco_question *q, struct eco_err *err)
{
    return q->gpu ? 0
                  : eco_err_set(err, ECO_E_MISSING, "gpu",
                                "joules and dollars are those of one card: 'gpu' (see 'ecocompute "
                                "gpus')");
}
