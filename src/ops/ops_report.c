/*
 * Reports: build the data-set-derived energy.json, validate, show, Markdown, share link, overlay.
 * Bytes in, bytes out; reading and writing files is a hook of the native program.
 */
#include "base/num.h"
#include "dataset/dataset.h"
#include "eco_published.h"
#include "fallback.h"
#include "report/report.h"
#include "report/report_read.h"
#include "report_actions.h"
#include "runs.h"

#include <math.h>
#include <string.h>

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

/* The document the user means: the text itself, or a file. */
static int input_document(struct eco_ctx *ctx, const struct eco_args_report *a, struct eco_str *out,
                          struct eco_err *err)
{
    if (a->document) {
        *out = (struct eco_str){a->document, strlen(a->document)};
        return 0;
    }
    if (!ctx->read_file) {
        return eco_err_set(err, ECO_E_MISSING, "document", "'document' is missing: the report");
    }
    if (!a->file) {
        return eco_err_set(err, ECO_E_MISSING, "file",
                           "say which report: report %s FILE ('-' for "
                           "standard input)",
                           a->action);
    }
    return ctx->read_file(ctx, a->file, out, err);
}

int eco_report_keep(struct eco_ctx *ctx, struct eco_buf *b, const char **out, struct eco_err *err)
{
    *out = eco_buf_ok(b) ? eco_arena_strdup(ctx->arena, eco_buf_str(b), b->len) : NULL;
    eco_buf_done(b);
    return *out ? 0 : no_memory(err);
}

static struct eco_list issues(struct eco_ctx *ctx, const struct eco_report_finding *f, size_t n)
{
    n = n > ECO_REPORT_MAX_FINDINGS ? ECO_REPORT_MAX_FINDINGS : n;
    struct eco_res_issue *rows = eco_arena_array(ctx->arena, n + 1, sizeof(*rows));
    for (size_t i = 0; rows && i < n; i++) {
        rows[i] = (struct eco_res_issue){eco_step_fmt(ctx, "%s", f[i].pointer), f[i].keyword,
                                         eco_message_tell(ctx, f[i].message)};
    }
    return (struct eco_list){rows, rows ? n : 0};
}

static int validate(struct eco_ctx *ctx, const struct eco_str *text, struct eco_res_report *out,
                    struct eco_err *err)
{
    struct eco_report_check *c = eco_arena_alloc(ctx->arena, sizeof(*c));
    if (!c) {
        return no_memory(err);
    }
    int rc = eco_report_validate(text->s, text->len, c, err);
    out->valid = rc == 0;
    out->errors = issues(ctx, c->errors, c->error_count);
    out->advice = issues(ctx, c->advice, c->advice_count);
    for (size_t i = 1; rc && ctx->warnings && i < out->errors.n; i++) {
        const struct eco_res_issue *e = (const struct eco_res_issue *)out->errors.items + i;
        eco_buf_printf(ctx->warnings, "%s: %s\n", e->pointer[0] ? e->pointer : "/", e->message);
    }
    return rc;
}

/* The published curve at a point, so that an overlay says whether it fits. */
static void against_curve(const struct eco_published_tables *t, const struct eco_report_point *p,
                          struct eco_res_point *out)
{
    struct eco_published_query q = {.params_b = p->params_b,
                                    .arch = p->arch,
                                    .precision = eco_precision_published(p->prec),
                                    .batch = 1,
                                    .ctx = 2048};
    struct eco_published_answer a;
    bool curve = q.precision == ECO_PUB_NF4 || q.precision == ECO_PUB_INT8;
    if (curve && eco_published_estimate(t, &q, &a, NULL) == 0) {
        out->curve_pct = (struct eco_opt){a.delta_pct, true};
        out->inside = p->delta_pct >= a.ci_pct[0] && p->delta_pct <= a.ci_pct[1];
    }
}

/* Published curves are of sampled energies, so are points on them; a headline may be another. */
static void name_instrument(struct eco_ctx *ctx, const struct eco_str *text)
{
    struct eco_json_doc doc;
    if (!ctx->warnings || eco_report_open(text->s, text->len, &doc, NULL)) {
        return;
    }
    struct eco_report_headline h = eco_report_headline_of(doc.root);
    if (h.counter) {
        eco_buf_printf(ctx->warnings,
                       "the point is the change by sampled power, %+.2f %%, as the published "
                       "curves are; by the energy counter it is %+.2f %%\n",
                       eco_report_value(h.other, "vs_fp16_energy_pct"),
                       eco_report_value(h.own, "vs_fp16_energy_pct"));
    }
    eco_json_done(&doc);
}

static int overlay(struct eco_ctx *ctx, const struct eco_str *text, bool is_report,
                   struct eco_res_report *out, struct eco_err *err)
{
    struct eco_report_points points = {0};
    if (is_report) {
        name_instrument(ctx, text);
    }
    int rc = is_report ? eco_report_point(text->s, text->len, &points, err)
                       : eco_report_overlay(text->s, text->len, &points, err);
    if (rc == 0 && points.count == 0) {
        rc = eco_err_set(err, ECO_E_CONTENT, "file", "no point to overlay%s%.180s",
                         points.refused ? ": " : "", points.first_refusal);
    }
    struct eco_res_point *rows = eco_arena_array(ctx->arena, points.count + 1, sizeof(*rows));
    for (size_t i = 0; rc == 0 && rows && i < points.count; i++) {
        const struct eco_report_point *p = &points.items[i];
        rows[i] = (struct eco_res_point){.N = p->params_b,
                                         .dE = p->delta_pct,
                                         .model = eco_step_fmt(ctx, "%s", p->model),
                                         .gpu = eco_step_fmt(ctx, "%s", p->gpu),
                                         .arch = eco_report_point_arch(p),
                                         .precision = eco_step_fmt(ctx, "%s", p->precision),
                                         .basis = eco_step_fmt(ctx, "%s", p->basis)};
        against_curve(eco_dataset_published(), p, &rows[i]);
    }
    out->points = (struct eco_list){rows, rc == 0 && rows ? points.count : 0};
    out->valid = rc == 0;
    eco_report_points_done(&points);
    return rc;
}

static int build(struct eco_ctx *ctx, const struct eco_args_report *a, struct eco_res_report *out,
                 struct eco_err *err)
{
    struct eco_fallback f;
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_args_target target = a->target;
    target.model = target.model ? target.model : a->file; /* the first bare word is a model here */
    int rc = eco_fallback_prepare(ctx, &target, a->precision, (double)a->batch,
                                  ECO_FALLBACK_INSTEAD, NULL, 0, &f, err);
    rc = rc ? rc : eco_report_build(&f.run, 1, &text, err);
    if (rc) {
        eco_buf_done(&text);
        return rc;
    }
    out->valid = true;
    return eco_report_keep(ctx, &text, &out->document, err);
}

static int transform(struct eco_ctx *ctx, const struct eco_args_report *a,
                     const struct eco_str *text, struct eco_res_report *out, struct eco_err *err)
{
    const char *what = a->action;
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_report_style style = {.width = 80};
    int rc;
    if (eco_str_ieq(what, strlen(what), "show")) {
        rc = eco_report_show(text->s, text->len, &style, &b, err);
    } else if (eco_str_ieq(what, strlen(what), "markdown")) {
        rc = eco_report_markdown(text->s, text->len, &b, err);
    } else {
        name_instrument(ctx, text);
        rc = eco_report_share(text->s, text->len, a->site, &b, err);
        eco_buf_puts(&b, rc ? "" : "\n");
    }
    if (rc) {
        eco_buf_done(&b);
        return rc;
    }
    rc = eco_report_keep(ctx, &b, &out->document, err);
    if (rc == 0 && eco_str_ieq(what, strlen(what), "share")) {
        out->link = eco_arena_strdup(ctx->arena, out->document, strlen(out->document) - 1);
    }
    out->valid = rc == 0;
    return rc;
}

static bool is(const struct eco_args_report *a, const char *action)
{
    return eco_str_ieq(a->action, strlen(a->action), action);
}

/* A link on the command line, where a file name may stand too. */
static bool looks_like_link(const char *s)
{
    return s && (strstr(s, "overlay=") || strncmp(s, "http", 4) == 0);
}

/* What came from a file or from standard input: a report is JSON, anything else must be a link. */
static struct eco_str trimmed(struct eco_str text)
{
    while (text.len && strchr(" \t\r\n", text.s[text.len - 1]))
        text.len--;
    while (text.len && strchr(" \t\r\n", text.s[0])) {
        text.s++;
        text.len--;
    }
    return text;
}

static int overlay_any(struct eco_ctx *ctx, const struct eco_args_report *a,
                       struct eco_res_report *out, struct eco_err *err)
{
    struct eco_str text = {NULL, 0};
    if (!a->document && looks_like_link(a->file)) {
        text = (struct eco_str){a->file, strlen(a->file)};
        return overlay(ctx, &text, false, out, err);
    }
    int rc = input_document(ctx, a, &text, err);
    if (rc) {
        return rc;
    }
    struct eco_str core = trimmed(text);
    bool report = core.len == 0 || *core.s == '{' || *core.s == '[' || !looks_like_link(core.s);
    return overlay(ctx, report ? &text : &core, report, out, err);
}

/*
 * Numbers that a report may not hold are told beside whatever is made of it; a link is for others,
 * who cannot see the file, so it is not made at all.
 */
static int check_first(struct eco_ctx *ctx, const struct eco_args_report *a,
                       const struct eco_str *text, struct eco_err *err)
{
    struct eco_report_check *c = eco_arena_alloc(ctx->arena, sizeof(*c));
    struct eco_json_doc doc;
    if (!c) {
        return no_memory(err);
    }
    if (eco_report_open(text->s, text->len, &doc, NULL)) {
        return 0;
    }
    bool report = eco_json_get(doc.root, "results") != NULL;
    eco_json_done(&doc);
    if (!report || eco_report_validate(text->s, text->len, c, NULL) == 0 || c->error_count == 0) {
        return 0; /* what is no report the action names */
    }
    const char *where = c->errors[0].pointer[0] ? c->errors[0].pointer : "/";
    if (is(a, "share")) {
        return eco_err_set(err, ECO_E_CONTENT, "file",
                           "not shared, since the report is not valid: %.100s: %.100s", where,
                           c->errors[0].message);
    }
    if (ctx->warnings) {
        eco_buf_printf(ctx->warnings, "the report is not valid: %s: %s%s\n", where,
                       c->errors[0].message, c->error_count > 1 ? " (and more)" : "");
    }
    return 0;
}

static int run_text_action(struct eco_ctx *ctx, const struct eco_args_report *a,
                           struct eco_res_report *out, struct eco_err *err)
{
    struct eco_str text = {NULL, 0};
    int rc = input_document(ctx, a, &text, err);
    if (rc == 0 && !is(a, "validate") && !is(a, "verify") && !is(a, "import")) {
        rc = check_first(ctx, a, &text, err);
    }
    if (rc) {
        return rc;
    }
    return is(a, "validate")  ? validate(ctx, &text, out, err)
           : is(a, "sign")    ? eco_report_do_sign(ctx, a, &text, out, err)
           : is(a, "verify")  ? eco_report_do_verify(ctx, a, &text, out, err)
           : is(a, "compare") ? eco_report_do_compare(ctx, a, &text, out, err)
           : is(a, "import")  ? eco_report_do_import(ctx, a, &text, out, err)
                              : transform(ctx, a, &text, out, err);
}

static int run_action(struct eco_ctx *ctx, const struct eco_args_report *a,
                      struct eco_res_report *out, struct eco_err *err)
{
    if (is(a, "build")) {
        return build(ctx, a, out, err);
    }
    if (is(a, "schema")) {
        struct eco_buf b = ECO_BUF_INIT;
        eco_report_schema_json(&b);
        out->valid = true;
        return eco_report_keep(ctx, &b, &out->document, err);
    }
    if (is(a, "keygen")) {
        return eco_report_do_keygen(ctx, a, out, err);
    }
    return is(a, "overlay") ? overlay_any(ctx, a, out, err) : run_text_action(ctx, a, out, err);
}

/* Two reports that may not be compared, or a gate that failed: done, and the answer is no. */
bool eco_report_says_no(const void *result)
{
    const struct eco_res_report *r = result;
    return (r->aspects.n && !r->valid) || (r->gate && strcmp(r->gate, "failed") == 0);
}

int eco_run_report(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_report *a = args;
    struct eco_res_report *out = result;
    out->action = a->action;
    int rc = run_action(ctx, a, out, err);
    if (rc == 0 && a->out) {
        if (!ctx->write_file || !out->document) {
            return eco_err_set(err, ECO_E_USAGE, "out", "'%s' has no document to write", a->action);
        }
        rc = ctx->write_file(a->out, out->document, strlen(out->document), a->force, err);
        out->written = rc ? NULL : a->out;
    }
    return rc;
}
