/*
 * What the page calls: an operation of the one table with JSON arguments, its tables, a chart.
 * The page writes the texts of a call into eco_wasm_in(), calls, and reads eco_wasm_out(); both
 * stay where they are until the next call. One caller, no threads.
 * Status: 0 done, 1 done and the answer is no, else the exit status of the error, which is then the
 * output ({"error": {"code", "message", "param"}}).
 */
#include "chart_json.h"
#include "core/predict_fit.h"
#include "dataset/predictor_default.h"
#include "ops/args.h"
#include "ops/doc.h"
#include "ops/result.h"
#include "ops/voice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT(name) __attribute__((export_name(name)))
#define ARENA_LIMIT ((size_t)64 << 20)
#define IN_LIMIT ((size_t)20 << 20)
#define TEXT_WIDTH 100
#define POINTS "points.csv"

static struct eco_buf in, out;
static struct eco_arena arena;
static struct eco_json_doc args_doc;
static struct eco_str points; /* the one "file" of a page: the CSV of a fit, as its text */

/* Exports are called by name; nothing in C calls them. */
int eco_wasm_start(void);
char *eco_wasm_in(size_t len);
const char *eco_wasm_out(void);
size_t eco_wasm_out_len(void);
int eco_wasm_schema(void);
void eco_wasm_speak(int zh);
int eco_wasm_call(size_t op_len, size_t args_len, int format, double now_unix_ms);
int eco_wasm_chart(size_t kind_len, size_t args_len, double now_unix_ms);

static enum eco_lang spoken;  /* the page's language */
static enum eco_lang told_in; /* of this call: what its arguments say, else the page's */

static int failed(const struct eco_err *err)
{
    struct eco_json_writer w;
    struct eco_err told = *err;
    eco_error_tell(told_in, &told);
    eco_buf_clear(&out);
    eco_jw_init(&w, &out, 0);
    eco_error_json(&told, &w);
    return eco_err_exit_status(err->code);
}

static void read_lang(const struct eco_json *args)
{
    const struct eco_json *lang = eco_json_get(args, "lang");
    if (lang && lang->type == ECO_JSON_STRING) {
        told_in = ECO_LANG_EN;
        eco_lang_named(lang->str, lang->len, &told_in);
    }
}

/** Builds the predictor's tables from its pairs; half a megabyte that need not be loaded. */
EXPORT("start") int eco_wasm_start(void)
{
    struct eco_predictor *p = &eco_predictor_default;
    struct eco_err err = {0};
    double theta[ECO_PG_COUNT];
    memcpy(theta, p->theta, sizeof(theta));
    size_t bytes = eco_predict_build_bytes(p->n_points);
    void *memory = malloc(bytes); /* for as long as the page lives */
    int rc = memory ? eco_predict_build(p->points, p->n_points, theta, memory, bytes, p, &err)
                    : eco_err_set(&err, ECO_E_NO_MEMORY, "", "out of memory");
    eco_arena_init(&arena, ARENA_LIMIT);
    return rc ? failed(&err) : 0;
}

/** Room for `len` bytes of input, or NULL. */
EXPORT("in") char *eco_wasm_in(size_t len)
{
    eco_buf_clear(&in);
    return len <= IN_LIMIT && eco_buf_reserve(&in, len + 1) ? in.data : NULL;
}

EXPORT("out") const char *eco_wasm_out(void)
{
    return eco_buf_str(&out);
}

EXPORT("out_len") size_t eco_wasm_out_len(void)
{
    return out.len;
}

static void add_choice(void *to, const char *choice)
{
    eco_jw_str(to, choice);
}

/* The choices that the JSON Schema of the parameters leaves out: {"gpu": "@gpu", ...}. */
static void put_lists(const struct eco_op *op, struct eco_json_writer *w)
{
    eco_jw_object(w);
    for (size_t i = 0; i < op->n_params; i++) {
        const struct eco_param *p = &op->params[i];
        if (p->choices && p->choices[0] == '@') {
            eco_jw_kv_str(w, p->name, p->choices);
        }
    }
    eco_jw_object_end(w);
}

/**
 * {"operations": [{name, summary, about, parameters, lists}], "lists": {"@gpu": [...], ...}}:
 * names, kinds, ranges, choices, defaults and help of every parameter.
 */
EXPORT("schema") int eco_wasm_schema(void)
{
    static const char *const lists[] = {"@arch", "@gpu", "@model", "@precision", "@region"};
    struct eco_json_writer w;
    eco_buf_clear(&out);
    eco_jw_init(&w, &out, 0);
    eco_jw_object(&w);
    eco_jw_key(&w, "operations");
    eco_jw_array(&w);
    for (size_t i = 0; i < eco_ops_count; i++) {
        const struct eco_op *op = &eco_ops[i];
        eco_jw_object(&w);
        eco_jw_kv_str(&w, "name", op->name);
        eco_jw_kv_str(&w, "summary", op->summary);
        eco_jw_kv_str(&w, "about", op->about);
        eco_jw_key(&w, "parameters");
        eco_params_schema(op, false, &w);
        eco_jw_key(&w, "lists");
        put_lists(op, &w);
        eco_jw_object_end(&w);
    }
    eco_jw_array_end(&w);
    eco_jw_key(&w, "lists");
    eco_jw_object(&w);
    for (size_t i = 0; i < ECO_COUNT(lists); i++) {
        struct eco_param p = {.choices = lists[i]};
        eco_jw_key(&w, lists[i]);
        eco_jw_array(&w);
        eco_args_each_choice(&p, add_choice, &w);
        eco_jw_array_end(&w);
    }
    eco_jw_object_end(&w);
    eco_jw_object_end(&w);
    return 0;
}

/* As eco_clock_iso8601, which needs the machine's clock beside it. */
static void timestamp(int64_t unix_ms, char text[32])
{
    time_t s = (time_t)(unix_ms / 1000);
    struct tm tm;
    text[0] = '\0';
    if (gmtime_r(&s, &tm)) {
        snprintf(text, 32, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1,
                 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(unix_ms % 1000));
    }
}

enum format { JSON, TEXT, MARKDOWN, HTML, CSV };

static void render(const struct eco_op *op, const struct eco_ctx *ctx, const void *result,
                   int format)
{
    static const enum eco_doc_kind kinds[] = {
        [TEXT] = ECO_DOC_TEXT, [MARKDOWN] = ECO_DOC_MARKDOWN, [HTML] = ECO_DOC_HTML};
    struct eco_doc doc;
    struct eco_json_writer w;
    if (format == CSV) {
        eco_result_csv(op->result, result, &out);
    } else if (format == TEXT || format == MARKDOWN || format == HTML) {
        eco_doc_init(&doc, kinds[format], &out, &arena, TEXT_WIDTH);
        doc.lang = ctx->lang;
        doc.persona = ctx->persona;
        op->view(&doc, result);
        eco_doc_end(&doc);
    } else {
        eco_jw_init(&w, &out, 0);
        eco_result_json(op->result, result, &w);
    }
}

static int read_points(struct eco_ctx *ctx, const char *path, struct eco_str *text,
                       struct eco_err *err)
{
    (void)ctx;
    if (!points.s || strcmp(path, POINTS) != 0) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "data", "a page reads no files");
    }
    *text = points;
    return 0;
}

static struct eco_ctx context(double now_unix_ms)
{
    eco_arena_reset(&arena);
    points = (struct eco_str){0};
    told_in = spoken;
    return (struct eco_ctx){.arena = &arena,
                            .lang = spoken,
                            .now_unix_ms = (int64_t)now_unix_ms,
                            .timestamp = timestamp,
                            .read_file = read_points};
}

/* `fit` reads a file on a command line; here its "data" is the text, known as POINTS. */
static bool take_points(const struct eco_op *op, const struct eco_json *root)
{
    struct eco_json *data = strcmp(op->name, "fit") == 0 && root->type == ECO_JSON_OBJECT
                                ? (struct eco_json *)eco_json_get(root, "data")
                                : NULL;
    if (!data || data->type != ECO_JSON_STRING) {
        return false;
    }
    points = (struct eco_str){data->str, data->len};
    data->str = POINTS;
    data->len = strlen(POINTS);
    return true;
}

/* The operation named in in[0..len). */
static const struct eco_op *operation(size_t len, struct eco_err *err)
{
    char name[32] = "";
    if (len < sizeof(name)) {
        memcpy(name, in.data, len);
    }
    const struct eco_op *op = eco_op_find(name);
    if (!op) {
        eco_err_set(err, ECO_E_UNKNOWN_NAME, "operation", "no operation '%s'", name);
    }
    return op;
}

static int set_args(const struct eco_op *op, const char *text, size_t len, void **args,
                    struct eco_err *err)
{
    *args = eco_arena_alloc(&arena, op->args_size);
    if (!*args) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    int rc = eco_args_init(op, *args, &arena, err);
    rc = rc ? rc : eco_json_reparse(&args_doc, text, len, err);
    if (rc == 0) {
        read_lang(args_doc.root);
    }
    bool native = rc == 0 && take_points(op, args_doc.root);
    rc = rc ? rc : eco_args_set_json(op, *args, &arena, args_doc.root, native, err);
    return rc ? rc : eco_args_finish(op, *args, err);
}

/** Errors and findings of operations without a language of their own are told in this one. */
EXPORT("speak") void eco_wasm_speak(int zh)
{
    spoken = zh ? ECO_LANG_ZH : ECO_LANG_EN;
}

/** in = the operation's name, then its arguments as a JSON object. */
EXPORT("call") int eco_wasm_call(size_t op_len, size_t args_len, int format, double now_unix_ms)
{
    struct eco_err err = {0};
    struct eco_ctx ctx = context(now_unix_ms);
    void *args, *result = NULL;
    eco_buf_clear(&out);
    const struct eco_op *op = operation(op_len, &err);
    int rc = op ? set_args(op, in.data + op_len, args_len, &args, &err) : err.code;
    if (rc == 0) {
        result = eco_arena_alloc(&arena, op->result->size);
        ctx.want_chart = format == TEXT || format == MARKDOWN || format == HTML;
        rc = result ? op->run(&ctx, args, result, &err)
                    : eco_err_set(&err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    if (rc) {
        return failed(&err);
    }
    render(op, &ctx, result, format);
    return op->says_no && op->says_no(result) ? eco_err_exit_status(ECO_E_ANSWER_NO) : 0;
}

/** in = the kind of chart, then its JSON (chart_json.h); out = SVG. */
EXPORT("chart") int eco_wasm_chart(size_t kind_len, size_t args_len, double now_unix_ms)
{
    struct eco_err err = {0};
    struct eco_ctx ctx = context(now_unix_ms);
    char kind[32] = "";
    eco_buf_clear(&out);
    if (kind_len < sizeof(kind)) {
        memcpy(kind, in.data, kind_len);
    }
    int rc = eco_json_reparse(&args_doc, in.data + kind_len, args_len, &err);
    if (rc == 0) {
        read_lang(args_doc.root);
    }
    rc = rc ? rc : eco_chart_json(&ctx, kind, args_doc.root, &out, &err);
    return rc ? failed(&err) : 0;
}
