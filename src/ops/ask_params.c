/* A parsed question as a result, as parameters of an operation, as a command line. */
#include "args.h"
#include "ask.h"
#include "base/num.h"
#include "texts.h"

#include <stdio.h>
#include <string.h>

static const char *text_or_null(struct eco_ctx *ctx, const char *s)
{
    return s[0] ? eco_arena_strdup(ctx->arena, s, strlen(s)) : NULL;
}

static const char *number_text(struct eco_ctx *ctx, double v)
{
    char text[ECO_NUM_MAX];
    size_t n = eco_num_format(v, text);
    return eco_arena_strdup(ctx->arena, text, n);
}

const char *eco_ask_reason(struct eco_ctx *ctx, const struct eco_query_missed *m)
{
    char lo[ECO_NUM_MAX], hi[ECO_NUM_MAX];
    if (!m->what) {
        return eco_word(ctx->lang, m->why);
    }
    eco_args_bound(m->lo, lo);
    eco_args_bound(m->hi, hi);
    return eco_step_fmt(ctx, TX(ctx, outside_reason), m->what, lo, hi, m->unit[0] ? " " : "",
                        eco_word(ctx->lang, m->unit));
}

static struct eco_opt number(const struct eco_query *q, enum eco_query_number n)
{
    return eco_query_has(q, n) ? (struct eco_opt){q->number[n], true} : (struct eco_opt){0};
}

static struct eco_strs names(struct eco_ctx *ctx, const struct eco_query *q, char what)
{
    size_t n = what == 'g' ? q->n_gpus : what == 's' ? q->n_sizes : q->n_precisions;
    const char **v = eco_arena_array(ctx->arena, n + 1, sizeof(*v));
    for (size_t i = 0; v && i < n; i++) {
        v[i] = what == 'g'   ? text_or_null(ctx, q->gpus[i])
               : what == 's' ? number_text(ctx, q->sizes[i])
                             : eco_precision_name(q->precisions[i]);
    }
    return (struct eco_strs){v, v ? n : 0};
}

static bool is_nvidia(enum eco_arch arch)
{
    return strcmp(eco_arch_vendor(arch), "nvidia") == 0;
}

static void fill_numbers(const struct eco_query *q, struct eco_res_ask_params *out)
{
    out->params_b = number(q, ECO_QUERY_PARAMS_B);
    out->batch = number(q, ECO_QUERY_BATCH);
    out->ctx = number(q, ECO_QUERY_CTX);
    out->prompt_tokens = number(q, ECO_QUERY_PROMPT_TOKENS);
    out->gen_tokens = number(q, ECO_QUERY_GEN_TOKENS);
    out->requests = number(q, ECO_QUERY_REQUESTS);
    out->tokens = number(q, ECO_QUERY_TOKENS);
    out->hours_per_day = number(q, ECO_QUERY_HOURS_PER_DAY);
    out->price = number(q, ECO_QUERY_PRICE);
    out->gpu_usd_per_hour = number(q, ECO_QUERY_GPU_USD_PER_HOUR);
    out->pue = number(q, ECO_QUERY_PUE);
    out->carbon_intensity = number(q, ECO_QUERY_CARBON);
    out->max_latency_ms = number(q, ECO_QUERY_MAX_LATENCY_MS);
    out->max_vram_gb = number(q, ECO_QUERY_MAX_VRAM_GB);
    out->throughput = number(q, ECO_QUERY_THROUGHPUT);
    out->power_w = number(q, ECO_QUERY_POWER_W);
    out->energy_j_per_1k = number(q, ECO_QUERY_ENERGY);
    out->n_gpus = number(q, ECO_QUERY_N_GPUS);
}

void eco_ask_fill(struct eco_ctx *ctx, const struct eco_query *q, struct eco_res_ask_params *out)
{
    *out = (struct eco_res_ask_params){
        .model = text_or_null(ctx, q->model),
        .gpu = text_or_null(ctx, q->gpu),
        .arch = is_nvidia(q->arch) ? eco_arch_name(q->arch) : NULL,
        .precision = q->precision,
        .precision_exact = q->precision_exact ? eco_precision_name(q->precision_exact) : NULL,
        .sizes = names(ctx, q, 's'),
        .gpus = names(ctx, q, 'g'),
        .precisions = names(ctx, q, 'p'),
        .region = text_or_null(ctx, q->region),
        .engine = q->engine ? eco_engine_name(q->engine) : NULL,
        .production = q->production,
        .eager = q->eager,
        .nightly = q->nightly,
        .no_kv_cache = q->no_kv_cache};
    fill_numbers(q, out);
}

static void put(const struct eco_op *op, struct eco_ask_params *p, const char *name,
                const char *value)
{
    if (eco_args_find(op, name, strlen(name)) && p->n < ECO_ASK_MAX_PARAMS) {
        p->p[p->n].name = name;
        p->p[p->n++].value = value;
    }
}

static void put_list(struct eco_ctx *ctx, const struct eco_op *op, struct eco_ask_params *p,
                     const char *name, struct eco_strs list)
{
    struct eco_buf b = ECO_BUF_INIT;
    for (size_t i = 0; i < list.n; i++) {
        eco_buf_printf(&b, "%s%s", i ? "," : "", list.v[i]);
    }
    if (list.n && eco_buf_ok(&b)) {
        put(op, p, name, eco_arena_strdup(ctx->arena, eco_buf_str(&b), b.len));
    }
    eco_buf_done(&b);
}

static void put_target(struct eco_ctx *ctx, const struct eco_op *op, const struct eco_query *q,
                       struct eco_ask_params *p)
{
    if (q->model[0]) {
        put(op, p, "model", text_or_null(ctx, q->model));
    } else if (eco_query_has(q, ECO_QUERY_PARAMS_B)) {
        put(op, p, "params_b", number_text(ctx, q->number[ECO_QUERY_PARAMS_B]));
    }
    if (q->n_gpus > 1) {
        put_list(ctx, op, p, "gpus", names(ctx, q, 'g'));
    } else if (q->gpu[0]) {
        put(op, p, "gpu", text_or_null(ctx, q->gpu));
    } else if (q->arch != ECO_ARCH_UNKNOWN) {
        put(op, p, "arch", eco_arch_name(q->arch));
    }
    bool list = q->n_precisions > 1 && eco_args_find(op, "precisions", strlen("precisions"));
    if (list) {
        put_list(ctx, op, p, "precisions", names(ctx, q, 'p'));
    } else if (q->precision_exact != ECO_PREC_NONE) {
        put(op, p, "precision", eco_precision_name(q->precision_exact));
    }
}

void eco_ask_params_of(struct eco_ctx *ctx, const struct eco_op *op, const struct eco_query *q,
                       double requests, struct eco_ask_params *out)
{
    static const enum eco_query_number numbers[] = {ECO_QUERY_BATCH,
                                                    ECO_QUERY_CTX,
                                                    ECO_QUERY_PROMPT_TOKENS,
                                                    ECO_QUERY_GEN_TOKENS,
                                                    ECO_QUERY_MAX_LATENCY_MS,
                                                    ECO_QUERY_MAX_VRAM_GB,
                                                    ECO_QUERY_THROUGHPUT,
                                                    ECO_QUERY_POWER_W,
                                                    ECO_QUERY_ENERGY,
                                                    ECO_QUERY_PRICE,
                                                    ECO_QUERY_GPU_USD_PER_HOUR,
                                                    ECO_QUERY_PUE,
                                                    ECO_QUERY_CARBON};
    out->n = 0;
    put_target(ctx, op, q, out);
    for (size_t i = 0; i < ECO_COUNT(numbers); i++) {
        if (eco_query_has(q, numbers[i])) {
            put(op, out, eco_query_number_name(numbers[i]),
                number_text(ctx, q->number[numbers[i]]));
        }
    }
    if (q->engine != ECO_ENGINE_UNKNOWN) {
        put(op, out, "engine", eco_engine_name(q->engine));
    }
    if (requests > 0) {
        put(op, out, "requests", number_text(ctx, requests));
    }
    if (q->region[0]) {
        put(op, out, "region", text_or_null(ctx, q->region));
    }
    const bool flags[] = {q->production, q->eager, q->nightly, q->no_kv_cache};
    static const char *const flag_names[] = {"production", "eager", "nightly", "no_kv_cache"};
    for (size_t i = 0; i < ECO_COUNT(flags); i++) {
        if (flags[i]) {
            put(op, out, flag_names[i], NULL);
        }
    }
}

/* An option's name with '-', its value quoted when a shell would cut it. */
static void put_option(struct eco_buf *b, const char *name, const char *value)
{
    eco_buf_puts(b, " --");
    for (; *name; name++) {
        eco_buf_putc(b, *name == '_' ? '-' : *name);
    }
    if (!value) {
        return;
    }
    bool plain = strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "._,/+-") == strlen(value);
    bool quotable = !strchr(value, '"') && !strchr(value, '$') && !strchr(value, '`');
    eco_buf_printf(b, plain ? " %s" : quotable ? " \"%s\"" : " '%s'", value);
}

static bool is_audited(const char *name, size_t n)
{
    static const char *const ends[] = {".py",   ".ipynb", ".yaml",      ".yml",
                                       ".toml", ".sh",    "Dockerfile", "requirements.txt"};
    for (size_t i = 0; i < ECO_COUNT(ends); i++) {
        size_t m = strlen(ends[i]);
        if (n >= m && name[0] != '-' && eco_str_ieq(name + n - m, m, ends[i])) {
            return n > m || ends[i][0] != '.';
        }
    }
    return false;
}

const char *eco_ask_audit(struct eco_ctx *ctx, const char *text)
{
    struct eco_buf b = ECO_BUF_INIT;
    eco_buf_puts(&b, "audit");
    for (const char *p = text; *p;) {
        size_t n = strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/");
        const char *next = p + (n ? n : 1);
        while (n && p[n - 1] == '.') { /* of the sentence */
            n--;
        }
        if (is_audited(p, n)) {
            eco_buf_printf(&b, " %.*s", (int)n, p);
        }
        p = next;
    }
    eco_buf_puts(&b, b.len == strlen("audit") ? " PATH" : "");
    const char *s = eco_buf_ok(&b) ? eco_arena_strdup(ctx->arena, eco_buf_str(&b), b.len) : NULL;
    eco_buf_done(&b);
    return s ? s : "audit PATH";
}

const char *eco_ask_command(struct eco_ctx *ctx, const char *verb, const struct eco_ask_params *p)
{
    struct eco_buf b = ECO_BUF_INIT;
    eco_buf_printf(&b, "ecocompute %s", verb);
    for (size_t i = 0; i < p->n; i++) {
        put_option(&b, p->p[i].name, p->p[i].value);
    }
    const char *s = eco_buf_ok(&b) ? eco_arena_strdup(ctx->arena, eco_buf_str(&b), b.len) : NULL;
    eco_buf_done(&b);
    return s;
}
