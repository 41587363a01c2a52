/*
 * `ask`: a question in words. Parse it, say the same as a command, run that operation. What the
 * question leaves open is not filled in: without a size the answer is given by size, without a
 * model and a card for what needs them the reason is said.
 */
#include "args.h"
#include "ask.h"
#include "base/num.h"
#include "runs.h"
#include "texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_TOKENS (512.0 + 256.0) /* of one request, as the operations' defaults */
#define SECONDS_PER_HOUR 3600.0
#define CROSSOVER_TOLD 30.0 /* a range wider than this factor tells nothing */

/* Sizes that stand for the range when none is named, billions. */
static const double usual_sizes[] = {1, 3, 7, 14, 32, 70};

struct asked {
    struct eco_ctx *ctx;
    struct eco_query q;
    const struct eco_op *op; /* NULL: not one that ask runs */
    struct eco_ask_params params;
    const char *conversions[ECO_QUERY_MAX_CONVERSIONS + 2];
    size_t n_conversions;
    struct eco_res_ask *out;
    enum eco_precision general; /* what an answer without a model is about; NONE: nothing */
};

static void convert(struct asked *a, const char *text)
{
    if (text && a->n_conversions < ECO_COUNT(a->conversions)) {
        a->conversions[a->n_conversions++] = text;
    }
}

static const char *amount(struct asked *a, double v)
{
    char text[ECO_NUM_MAX];
    size_t n = eco_num_format(v >= 1e4 ? eco_step_round(v, 6) : v, text);
    return eco_arena_strdup(a->ctx->arena, text, n);
}

static int parse(struct eco_ctx *ctx, const char *text, struct eco_query *q, struct eco_err *err)
{
    void *work = eco_arena_alloc(ctx->arena, eco_query_work_size());
    return work ? eco_query_parse(text, strlen(text), &eco_ask_names, work, q, err)
                : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static struct eco_strs missed(struct eco_ctx *ctx, const struct eco_query *q)
{
    const char **v = eco_arena_array(ctx->arena, q->n_missed + 1, sizeof(*v));
    for (size_t i = 0; v && i < q->n_missed; i++) {
        v[i] = eco_step_fmt(ctx, TX(ctx, precision_reason), q->missed[i].text,
                            eco_ask_reason(ctx, &q->missed[i]));
    }
    return (struct eco_strs){v, v ? q->n_missed : 0};
}

/* An operation of another row with these parameters. */
static int run_with(struct asked *a, const struct eco_op *op, const struct eco_ask_params *p,
                    void **result, struct eco_err *err)
{
    struct eco_arena *arena = a->ctx->arena;
    void *args = eco_arena_alloc(arena, op->args_size);
    *result = eco_arena_alloc(arena, op->result->size);
    int rc = args && *result ? eco_args_init(op, args, arena, err)
                             : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    const struct eco_param *lang = eco_args_find(op, "lang", strlen("lang"));
    if (rc == 0 && lang) { /* the language of the question; who speaks is the view's */
        rc = eco_args_set(op, args, arena, lang, a->out->lang, strlen(a->out->lang), err);
    }
    for (size_t i = 0; rc == 0 && i < p->n; i++) {
        const char *name = p->p[i].name, *value = p->p[i].value ? p->p[i].value : "true";
        rc = eco_args_set(op, args, arena, eco_args_find(op, name, strlen(name)), value,
                          strlen(value), err);
    }
    rc = rc ? rc : eco_args_finish(op, args, err);
    struct eco_ctx there = *a->ctx; /* a run sets its voice; the question's own stays */
    return rc ? rc : op->run(&there, args, *result, err);
}

static bool has_model(const struct eco_query *q)
{
    return q->model[0] || eco_query_has(q, ECO_QUERY_PARAMS_B);
}

/* Requests a month from tokens, at the mix of prompt and answer in use. */
static double requests_of_tokens(struct asked *a)
{
    const struct eco_query *q = &a->q;
    double prompt =
        eco_query_has(q, ECO_QUERY_PROMPT_TOKENS) ? q->number[ECO_QUERY_PROMPT_TOKENS] : 512;
    double gen = eco_query_has(q, ECO_QUERY_GEN_TOKENS) ? q->number[ECO_QUERY_GEN_TOKENS] : 256;
    double n = ceil(q->number[ECO_QUERY_TOKENS] / (prompt + gen));
    convert(a,
            eco_step_fmt(a->ctx, TX(a->ctx, convert_tokens), amount(a, q->number[ECO_QUERY_TOKENS]),
                         amount(a, n), amount(a, prompt), amount(a, gen)));
    return n;
}

/* Requests a month that the card decodes in the hours given, one after the other. */
static double requests_of_hours(struct asked *a)
{
    const struct eco_op *op = eco_op_find("estimate");
    struct eco_ask_params p;
    void *result = NULL;
    double hours = a->q.number[ECO_QUERY_HOURS_PER_DAY];
    eco_ask_params_of(a->ctx, op, &a->q, 0, &p);
    if (!has_model(&a->q) || run_with(a, op, &p, &result, NULL)) {
        return 0;
    }
    const struct eco_res_estimate *e = result;
    if (!e->latency || !(e->latency->request_s > 0)) {
        return 0;
    }
    double batch = eco_query_has(&a->q, ECO_QUERY_BATCH) ? a->q.number[ECO_QUERY_BATCH] : 1;
    double n =
        floor(batch * hours * SECONDS_PER_HOUR * ECO_QUERY_DAYS_PER_MONTH / e->latency->request_s);
    convert(a, eco_step_fmt(a->ctx, TX(a->ctx, convert_hours), amount(a, hours), amount(a, n),
                            eco_step_num(a->ctx, e->latency->request_s, 3)));
    return n;
}

/* "All 5 precisions": which five are meant, and what else the data know. NULL: none was counted. */
static const char *counted(struct asked *a)
{
    const struct eco_query *q = &a->q;
    const char *list = "";
    unsigned gguf = 0;
    for (int i = 1; q->counted && i < ECO_PREC_COUNT; i++) {
        enum eco_precision p = (enum eco_precision)i;
        bool listed = eco_precision_family(p) == ECO_FAM_FLOAT; /* 16 bit is the baseline */
        for (size_t k = 0; k < q->n_precisions; k++) {
            listed |= q->precisions[k] == p;
        }
        if (listed || eco_ask_cards(a->ctx, p).n == 0) {
            continue;
        }
        if (eco_precision_family(p) == ECO_FAM_GGUF) {
            gguf++;
        } else {
            list =
                eco_step_fmt(a->ctx, "%s%s%s", list, eco_precision_name(p), TX(a->ctx, list_comma));
        }
    }
    return q->counted ? eco_step_fmt(a->ctx, TX(a->ctx, ask_counted), list, gguf,
                                     eco_precision_name(ECO_PREC_GGUF_Q4_K_M))
                      : NULL;
}

static const char *word(const struct asked *a, const char *english)
{
    return eco_word(a->ctx->lang, english);
}

static double volume(struct asked *a)
{
    for (size_t i = 0; i < a->q.n_conversions; i++) {
        const struct eco_query_conversion *c = &a->q.conversions[i];
        convert(a, eco_step_fmt(a->ctx, TX(a->ctx, convert_line), amount(a, c->from),
                                word(a, c->from_unit), amount(a, c->to), word(a, c->to_unit),
                                word(a, c->rule)));
    }
    if (eco_query_has(&a->q, ECO_QUERY_REQUESTS)) {
        return a->q.number[ECO_QUERY_REQUESTS];
    }
    if (eco_query_has(&a->q, ECO_QUERY_TOKENS)) {
        return requests_of_tokens(a);
    }
    return eco_query_has(&a->q, ECO_QUERY_HOURS_PER_DAY) ? requests_of_hours(a) : 0;
}

/* What the operation needs and the question does not say; NULL: nothing. */
static const char *lacks(struct asked *a)
{
    const struct eco_query *q = &a->q;
    bool named = q->precision_exact != ECO_PREC_NONE || q->n_precisions > 1;
    if (q->op == ECO_QUERY_NONE) {
        return word(a, "I cannot place this: ask about a model, a card, a precision or a bill");
    }
    if (q->op == ECO_QUERY_AUDIT) {
        return word(a, "the audit reads your files: start the command yourself");
    }
    if (q->op == ECO_QUERY_MEASURE) {
        return word(a, "a measurement runs on your machine: start the command yourself");
    }
    if (q->precision && !named) {
        return eco_step_fmt(a->ctx, TX(a->ctx, ask_no_precision), q->precision);
    }
    for (size_t i = 0; i < q->n_missed && q->arch == ECO_ARCH_UNKNOWN; i++) {
        if (strcmp(q->missed[i].why, "no data for this processor") == 0) {
            return eco_step_fmt(a->ctx, TX(a->ctx, ask_no_card), q->missed[i].text);
        }
    }
    if (q->gpu[0] && q->arch == ECO_ARCH_UNKNOWN) {
        return eco_step_fmt(a->ctx, TX(a->ctx, ask_no_card), q->gpu);
    }
    if (q->n_sizes > 1) {
        return word(a, "several models are named: ask for one, or run the command for each");
    }
    if (q->n_gpus > 1 && q->op != ECO_QUERY_OPTIMIZE) {
        return word(a, "several cards are named: ask for one, or for the best of them");
    }
    return has_model(q) ? NULL : word(a, "say which model, or its size (7B)");
}

/* What the rows say together: the sign at both ends, and where it changes when that is known. */
static const char *size_verdict(struct asked *a, const struct eco_res_ask_size *r, size_t n)
{
    const struct eco_res_ask *o = a->out;
    const char *name = eco_precision_name(a->general);
    const char *on = o->by_size_on;
    for (size_t i = 0; i < o->assumed.n; i++) {
        on = strcmp(o->assumed.v[i], "gpu") == 0
                 ? eco_step_fmt(a->ctx, TX(a->ctx, assumed_word), o->by_size_on)
                 : on;
    }
    bool rises = r[0].delta_pct > 0, falls = r[n - 1].delta_pct < 0;
    bool told = o->crossover_b.have && o->crossover_ci.have &&
                strcmp(o->crossover_saves, eco_step_saving_side(true)) == 0 &&
                o->crossover_ci.hi < o->crossover_ci.lo * CROSSOVER_TOLD;
    if (strcmp(r[0].recommendation, "baseline") == 0) {
        return eco_step_fmt(a->ctx, TX(a->ctx, sizes_baseline), name);
    }
    if (rises && falls && told) {
        return eco_step_fmt(a->ctx, TX(a->ctx, sizes_cross), name, on, o->crossover_b.v,
                            o->crossover_ci.lo, o->crossover_ci.hi);
    }
    if (rises && !falls) {
        return eco_step_fmt(a->ctx, TX(a->ctx, sizes_cost), name, on,
                            fmin(r[0].delta_pct, r[n - 1].delta_pct),
                            fmax(r[0].delta_pct, r[n - 1].delta_pct));
    }
    return eco_step_fmt(a->ctx, TX(a->ctx, sizes_depend), name, on, r[0].delta_pct, r[0].params_b,
                        r[n - 1].delta_pct, r[n - 1].params_b);
}

/* What stands for the card and the size that nobody named; both are called assumed. */
static void stand_ins(struct asked *a, struct eco_query *q)
{
    const char **v = eco_arena_array(a->ctx->arena, 5, sizeof(*v));
    size_t n = 0;
    bool guess = !q->gpu[0] && !a->ctx->host_gpu;
    const char *card =
        guess && q->arch != ECO_ARCH_UNKNOWN ? eco_ask_card_of(a->general, q->arch) : NULL;
    q->precision_exact = a->general;
    q->n_precisions = 0;
    if (card) { /* of a class, the card that was measured most: it has watts and dollars */
        snprintf(q->gpu, sizeof(q->gpu), "%s", card);
    }
    if (v) {
        v[n++] = "model";
    }
    if (v && guess && (card || q->arch == ECO_ARCH_UNKNOWN)) {
        v[n++] = "gpu";
    }
    if (v && !eco_query_has(q, ECO_QUERY_BATCH)) {
        v[n++] = "batch";
    }
    if (v && !(volume(a) > 0)) {
        v[n++] = "requests";
    }
    if (v && !q->region[0]) {
        v[n++] = "region";
    }
    a->out->assumed = (struct eco_strs){v, n};
}

#define EAGER_B 7.0 /* the largest size at which FP8 was measured in eager PyTorch */

/* FP8 is two things: nobody said which engine runs it, and in eager PyTorch it is a trap. */
static int add_eager(struct asked *a, struct eco_query q, struct eco_err *err)
{
    const struct eco_op *op = eco_op_find("estimate");
    struct eco_res_ask *out = a->out;
    struct eco_ask_params p;
    void *result = NULL;
    q.eager = true;
    q.number[ECO_QUERY_PARAMS_B] = EAGER_B;
    eco_ask_params_of(a->ctx, op, &q, 0, &p);
    int rc = run_with(a, op, &p, &result, err);
    const struct eco_res_estimate *e = result;
    if (rc || e->alerts.n == 0) {
        return rc;
    }
    out->alerts = e->alerts;
    out->alerts_b = eco_some(EAGER_B);
    out->mood = eco_step_worse(e->mood, out->mood) ? e->mood : out->mood;
    out->verdict =
        eco_step_fmt(a->ctx, TX(a->ctx, sizes_eager), e->delta_pct, EAGER_B,
                     eco_engine_name(eco_predict_usual_engine(a->general)), out->verdict);
    return 0;
}

/* Without a size: the change at the usual sizes, on the card named or the default one. */
static int by_size(struct asked *a, struct eco_err *err)
{
    const struct eco_op *op = eco_op_find("estimate");
    struct eco_res_ask_size *rows =
        eco_arena_array(a->ctx->arena, ECO_COUNT(usual_sizes), sizeof(*rows));
    if (!rows) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    struct eco_query q = a->q;
    stand_ins(a, &q);
    const char *worst = NULL;
    double most = 0;
    q.have |= 1u << ECO_QUERY_PARAMS_B;
    for (size_t i = 0; i < ECO_COUNT(usual_sizes); i++) {
        struct eco_ask_params p;
        void *result = NULL;
        q.number[ECO_QUERY_PARAMS_B] = usual_sizes[i];
        eco_ask_params_of(a->ctx, op, &q, 0, &p);
        int rc = run_with(a, op, &p, &result, err);
        if (rc) {
            return rc;
        }
        const struct eco_res_estimate *e = result;
        rows[i] = (struct eco_res_ask_size){.params_b = usual_sizes[i],
                                            .delta_pct = e->delta_pct,
                                            .ci = e->ci,
                                            .recommendation = e->recommendation,
                                            .basis = e->basis};
        if (e->cost) {
            rows[i].month_usd = e->cost->month.usd;
            rows[i].saving_usd = e->cost->saving_usd;
            a->out->by_size_requests = eco_some(e->cost->requests);
            a->out->by_size_region = e->cost->region;
        }
        if (i == 0 || e->delta_pct > most) {
            most = e->delta_pct;
            a->out->alerts = e->alerts;
            a->out->alerts_b = eco_some(usual_sizes[i]);
            a->out->data = &e->data;
        }
        bool fits = !e->memory || !e->memory->card_gb.have || e->memory->fits;
        if (i == 0 ||
            (fits && eco_step_worse(e->mood, worst))) { /* nobody asked for what does not fit */
            worst = e->mood;
        }
        a->out->by_size_on = e->input.gpu ? e->input.gpu : e->input.arch;
        a->out->crossover_b = e->crossover_b;
        a->out->crossover_ci = e->crossover_ci;
        a->out->crossover_saves = e->crossover_saves;
    }
    a->out->mood = worst;
    a->out->by_size = (struct eco_list){rows, ECO_COUNT(usual_sizes)};
    a->out->verdict = size_verdict(a, rows, ECO_COUNT(usual_sizes));
    a->out->cards = eco_ask_cards(a->ctx, a->general);
    bool path_open = a->general == ECO_PREC_FP8 && a->q.engine == ECO_ENGINE_UNKNOWN && !a->q.eager;
    return path_open ? add_eager(a, q, err) : 0;
}

/* The precision that a question without a model is about: the one named, or of several the first
 * that is not the 16 bit the others are compared with. */
static enum eco_precision general_precision(const struct eco_query *q)
{
    bool op =
        q->op == ECO_QUERY_ESTIMATE || q->op == ECO_QUERY_DIAGNOSE || q->op == ECO_QUERY_COMPARE;
    enum eco_precision p = q->precision_exact;
    for (size_t i = 0; i < q->n_precisions && i < ECO_QUERY_MAX_LIST; i++) {
        bool plain = eco_precision_family(q->precisions[i]) == ECO_FAM_FLOAT;
        if (!plain && (p == ECO_PREC_NONE || eco_precision_family(p) == ECO_FAM_FLOAT)) {
            p = q->precisions[i];
        }
    }
    return op ? p : ECO_PREC_NONE;
}

/* "Lobster, …": who is called by name answers. */
static bool calls_lobster(const char *text)
{
    static const char *const names[] = {
        "lobster",       "ecolobster",   "eco lobster", "hey lobster", "hi lobster",
        "hello lobster", "dear lobster", "龙虾",        "小龙虾",      "生态龙虾"};
    while (*text == ' ' || *text == '"' || *text == '\'') {
        text++;
    }
    for (size_t i = 0; i < ECO_COUNT(names); i++) {
        size_t n = strlen(names[i]);
        bool starts = strlen(text) >= n && eco_str_ieq(text, n, names[i]);
        unsigned char next = starts ? (unsigned char)text[n] : 0;
        bool longer =
            next < 0x80 && ((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') ||
                            (next >= '0' && next <= '9') || next == '-');
        if (starts && !longer) {
            return true;
        }
    }
    return false;
}

/* The answer, or why there is none: a question is never an error. */
static int answer(struct asked *a, struct eco_err *err)
{
    struct eco_res_ask *out = a->out;
    struct eco_err why = {0};
    void *result = NULL;
    bool sizes = a->general != ECO_PREC_NONE && !has_model(&a->q) && a->q.n_sizes == 0;
    out->problem = lacks(a);
    if (sizes && out->problem) {
        return by_size(a, err);
    }
    if (out->problem || !a->op) {
        return 0;
    }
    int rc = run_with(a, a->op, &a->params, &result, &why);
    if (rc == ECO_E_NO_MEMORY || rc == ECO_E_INTERNAL) {
        return eco_err_set(err, rc, why.arg, "%s", why.message);
    }
    if (rc) {
        eco_error_tell(a->ctx->lang, &why);
        out->problem = eco_arena_strdup(a->ctx->arena, why.message, strlen(why.message));
        return 0;
    }
    out->answer = (struct eco_any){a->op, result};
    return 0;
}

/* A wide character: the question is Chinese, whatever names of models and cards are in it. */
static bool has_chinese(const char *text)
{
    for (size_t i = 0; text[i]; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0xe4 && c <= 0xe9) { /* the lead bytes of U+4000 .. U+9FFF */
            return true;
        }
    }
    return false;
}

/* "Why is this so hungry?" without a figure to judge: the estimate says what this precision costs
 * there and why, which diagnose could not. */
static const struct eco_op *operation_of(const struct eco_query *q)
{
    bool seen = eco_query_has(q, ECO_QUERY_THROUGHPUT) || eco_query_has(q, ECO_QUERY_POWER_W) ||
                eco_query_has(q, ECO_QUERY_ENERGY);
    bool named = q->precision_exact != ECO_PREC_NONE;
    return q->op == ECO_QUERY_DIAGNOSE && !seen && named && has_model(q)
               ? eco_op_find("estimate")
               : eco_op_find(eco_query_op_name(q->op));
}

int eco_run_ask(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_ask *given = args;
    struct eco_res_ask *out = result;
    struct asked *a = eco_arena_alloc(ctx->arena, sizeof(*a));
    if (!a) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    *a = (struct asked){.ctx = ctx, .out = out};
    eco_voice_set(ctx, &given->voice);
    if (!given->voice.lang && has_chinese(given->q)) {
        ctx->lang = ECO_LANG_ZH;
    }
    bool chosen =
        eco_args_have(eco_op_find("ask"), given, offsetof(struct eco_args_ask, voice.persona));
    if (!chosen && calls_lobster(given->q)) {
        ctx->persona = ECO_PERSONA_LOBSTER;
    }
    int rc = parse(ctx, given->q, &a->q, err);
    if (rc) {
        return rc;
    }
    a->general = general_precision(&a->q);
    a->op = operation_of(&a->q);
    *out = (struct eco_res_ask){.lang = ctx->lang == ECO_LANG_ZH ? "zh" : "en",
                                .persona =
                                    ctx->persona == ECO_PERSONA_LOBSTER ? "ecolobster" : "plain",
                                .operation = eco_query_op_name(a->q.op),
                                .not_understood = missed(ctx, &a->q)};
    eco_ask_fill(ctx, &a->q, &out->params);
    out->counted = counted(a);
    double requests = volume(a);
    bool unnamed = a->q.precision && !a->q.precision_exact && a->q.n_precisions < 2;
    if (a->op && !unnamed) { /* a command without the precision would answer another question */
        eco_ask_params_of(ctx, a->op, &a->q, requests, &a->params);
        const char *verb = a->q.op == ECO_QUERY_AUDIT ? eco_ask_audit(ctx, given->q) : a->op->name;
        out->command = eco_ask_command(ctx, verb, &a->params);
    }
    const char **v = eco_arena_array(ctx->arena, a->n_conversions + 1, sizeof(*v));
    if (v) {
        memcpy(v, a->conversions, a->n_conversions * sizeof(*v));
        out->conversions = (struct eco_strs){v, a->n_conversions};
    }
    return given->parse_only ? 0 : answer(a, err);
}

bool eco_ask_says_no(const void *result)
{
    const struct eco_res_ask *r = result;
    return r->problem && r->by_size.n == 0;
}
