#include "chart_json.h"

#include "base/csv.h"
#include "ops/args.h"
#include "ops/chart_data.h"
#include "ops/records.h"
#include "report/chart_svg.h"

#include <math.h>
#include <string.h>

#define TRACE_SOURCES 64

struct trace {
    struct eco_arena *arena;
    struct eco_str name[TRACE_SOURCES];
    double last_w[TRACE_SOURCES];
    size_t sources, n;
    double *t_s, *power_w;
};

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

/* ---- members --------------------------------------------------------------------------------- */

static double number(const struct eco_json *object, const char *key)
{
    const struct eco_json *v = eco_json_get(object, key);
    return v && v->type == ECO_JSON_NUMBER ? v->num : (double)NAN;
}

static const char *text(struct eco_ctx *ctx, const struct eco_json *object, const char *key)
{
    const struct eco_json *v = eco_json_get(object, key);
    return v && v->type == ECO_JSON_STRING ? eco_arena_strdup(ctx->arena, v->str, v->len) : NULL;
}

static bool truth(const struct eco_json *object, const char *key)
{
    const struct eco_json *v = eco_json_get(object, key);
    return v && v->type == ECO_JSON_TRUE;
}

/* The array called `key`; an absent one is empty. */
static int list(const struct eco_json *object, const char *key, const struct eco_json **first,
                size_t *n, struct eco_err *err)
{
    const struct eco_json *v = eco_json_get(object, key);
    *first = NULL, *n = 0;
    if (!v) {
        return 0;
    }
    if (v->type != ECO_JSON_ARRAY || v->count > ECO_CHART_MAX_POINTS) {
        return eco_err_set(err, ECO_E_INVALID, key, "'%s' is a list of at most %d", key,
                           ECO_CHART_MAX_POINTS);
    }
    *first = v->child, *n = v->count;
    return 0;
}

static int marks(struct eco_ctx *ctx, const struct eco_json *object, const char *key,
                 const struct eco_chart_mark **out, size_t *n, struct eco_err *err)
{
    const struct eco_json *at;
    int rc = list(object, key, &at, n, err);
    struct eco_chart_mark *m = eco_arena_array(ctx->arena, *n + 1, sizeof(*m));
    if (rc || !m) {
        return rc ? rc : no_memory(err);
    }
    *out = m;
    for (; at; at = at->next, m++) {
        double trials = number(at, "n");
        *m = (struct eco_chart_mark){number(at, "params_b"), number(at, "delta_pct"),
                                     trials >= 2 ? 2 : 1, text(ctx, at, "label")};
        if (!(m->params_b > 0) || !isfinite(m->delta_pct)) {
            return eco_err_set(err, ECO_E_INVALID, key, "a point needs a size and a change");
        }
    }
    return 0;
}

/* How it looks: the page's width and language, or an error. */
static int look(struct eco_ctx *ctx, const struct eco_json *json, struct eco_chart_look *out,
                struct eco_err *err)
{
    const struct eco_json *width = eco_json_get(json, "width");
    const char *lang = text(ctx, json, "lang");
    if (width && width->type != ECO_JSON_NUMBER) {
        return eco_err_set(err, ECO_E_INVALID, "width", "'width' is a number of pixels");
    }
    ctx->lang = lang && strcmp(lang, "zh") == 0 ? ECO_LANG_ZH : ECO_LANG_EN;
    const struct eco_chart_look *words = eco_chart_data_look(ctx);
    *out = words ? *words : (struct eco_chart_look){0};
    out->width_px = width ? width->num : 0;
    return 0;
}

/* ---- charts of answers ----------------------------------------------------------------------- */

static int run(struct eco_ctx *ctx, const char *verb, const struct eco_json *json, void **result,
               struct eco_err *err)
{
    const struct eco_op *op = eco_op_find(verb);
    const struct eco_json *given = eco_json_get(json, "args");
    void *args = eco_arena_alloc(ctx->arena, op->args_size);
    *result = eco_arena_alloc(ctx->arena, op->result->size);
    if (!args || !*result) {
        return no_memory(err);
    }
    ctx->want_chart = true;
    int rc = eco_args_init(op, args, ctx->arena, err);
    rc = rc || !given ? rc : eco_args_set_json(op, args, ctx->arena, given, false, err);
    const struct eco_param *svg = eco_args_find(op, "svg", 3);
    rc = rc || !svg ? rc : eco_args_set(op, args, ctx->arena, svg, "chart.svg", 9, err);
    rc = rc ? rc : eco_args_finish(op, args, err);
    return rc ? rc : op->run(ctx, args, *result, err);
}

static int draw_estimate(struct eco_ctx *ctx, const struct eco_json *json,
                         const struct eco_chart_look *look, struct eco_buf *out,
                         struct eco_err *err)
{
    void *result;
    int rc = run(ctx, "estimate", json, &result, err);
    if (rc) {
        return rc;
    }
    const struct eco_chart_crossover *drawn = ((const struct eco_res_estimate *)result)->chart;
    if (!drawn) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "precision",
                           "there is no chart of a 16-bit baseline or of the published "
                           "calibration");
    }
    struct eco_chart_crossover chart = *drawn;
    rc = marks(ctx, json, "points", &chart.yours, &chart.yours_count, err);
    if (rc == 0 && chart.yours_count && truth(json, "only_points")) {
        chart.point_b = chart.point_pct = (double)NAN;
    }
    return rc ? rc : eco_chart_svg_crossover(&chart, look, out, err);
}

static int draw_optimize(struct eco_ctx *ctx, const struct eco_json *json,
                         const struct eco_chart_look *look, struct eco_buf *out,
                         struct eco_err *err)
{
    void *result;
    int rc = run(ctx, "optimize", json, &result, err);
    const struct eco_chart_pareto *drawn = rc ? NULL : ((struct eco_res_optimize *)result)->chart;
    if (rc == 0 && !drawn) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "compat",
                           "there is no chart of the published optimizer's answer");
    }
    return rc ? rc : eco_chart_svg_pareto(drawn, look, out, err);
}

/* ---- charts of data -------------------------------------------------------------------------- */

static int draw_measured(struct eco_ctx *ctx, const struct eco_json *json,
                         const struct eco_chart_look *look, struct eco_buf *out,
                         struct eco_err *err)
{
    struct eco_chart_measured c = {text(ctx, json, "title"), text(ctx, json, "subtitle"),
                                   text(ctx, json, "source"), NULL, 0};
    const struct eco_json *at;
    int rc = list(json, "series", &at, &c.series_count, err);
    struct eco_chart_series *s = eco_arena_array(ctx->arena, c.series_count + 1, sizeof(*s));
    if (rc || !s) {
        return rc ? rc : no_memory(err);
    }
    c.series = s;
    for (; rc == 0 && at; at = at->next, s++) {
        s->label = text(ctx, at, "label");
        s->highlight = truth(at, "highlight");
        s->loose = truth(at, "loose");
        rc = marks(ctx, at, "marks", &s->marks, &s->mark_count, err);
    }
    return rc ? rc : eco_chart_svg_measured(&c, look, out, err);
}

static int draw_bars(struct eco_ctx *ctx, const struct eco_json *json,
                     const struct eco_chart_look *look, struct eco_buf *out, struct eco_err *err)
{
    struct eco_chart_bars c = {text(ctx, json, "title"),
                               text(ctx, json, "subtitle"),
                               text(ctx, json, "source"),
                               text(ctx, json, "unit"),
                               NULL,
                               0};
    const struct eco_json *at;
    int rc = list(json, "bars", &at, &c.bar_count, err);
    struct eco_chart_bar *b = eco_arena_array(ctx->arena, c.bar_count + 1, sizeof(*b));
    if (rc || !b) {
        return rc ? rc : no_memory(err);
    }
    c.bars = b;
    for (; at; at = at->next, b++) {
        *b = (struct eco_chart_bar){
            text(ctx, at, "label"), number(at, "value"),   number(at, "lo"),       number(at, "hi"),
            truth(at, "highlight"), truth(at, "measured"), text(ctx, at, "detail")};
    }
    return eco_chart_svg_bars(&c, look, out, err);
}

/* Power of all sources together whenever one of them was read; each keeps its last value. */
static int trace_row(struct eco_csv *csv, const int at[3], struct trace *t, struct eco_err *err)
{
    double time_s, power_w;
    const struct eco_csv_cell name = csv->cell[at[1]];
    size_t k = 0;
    int have_t = eco_csv_num(csv, at[0], &time_s, err);
    int have_w = have_t < 0 ? have_t : eco_csv_num(csv, at[2], &power_w, err);
    if (have_t < 0 || have_w < 0) {
        return ECO_E_CONTENT;
    }
    while (k < t->sources &&
           (t->name[k].len != name.len || memcmp(t->name[k].s, name.s, name.len) != 0)) {
        k++;
    }
    if (have_t == 0 || have_w == 0 || k == TRACE_SOURCES) {
        return 0; /* this source has no such field */
    }
    if (k == t->sources) {
        char *copy = eco_arena_strdup(t->arena, name.s, name.len);
        t->name[t->sources++] = (struct eco_str){copy, copy ? name.len : 0};
    }
    t->last_w[k] = power_w;
    double sum_w = 0;
    for (size_t i = 0; i < t->sources; i++) {
        sum_w += t->last_w[i];
    }
    t->t_s[t->n] = t->n ? fmax(time_s, t->t_s[t->n - 1]) : time_s;
    t->power_w[t->n++] = sum_w;
    return 0;
}

/* The text of a trace.csv, as `ecocompute measure` writes it. */
static int read_trace(struct eco_ctx *ctx, const char *csv_text, struct eco_chart_power *out,
                      struct eco_err *err)
{
    static const char *const names[] = {"t_s", "source", "power_default_w"};
    struct trace t = {.arena = ctx->arena};
    struct eco_csv *csv = eco_arena_alloc(ctx->arena, sizeof(*csv));
    size_t lines = 1;
    int at[3];
    for (const char *c = csv_text; *c; c++) {
        lines += *c == '\n';
    }
    t.t_s = eco_arena_array(ctx->arena, lines, sizeof(double));
    t.power_w = eco_arena_array(ctx->arena, lines, sizeof(double));
    if (!csv || !t.t_s || !t.power_w) {
        return no_memory(err);
    }
    int rc = eco_csv_open(csv, "trace.csv", csv_text, strlen(csv_text), err);
    if (rc) {
        return rc;
    }
    for (size_t i = 0; rc == 0 && i < ECO_COUNT(names); i++) {
        at[i] = eco_csv_column(csv, names[i]);
        rc = at[i] < 0 ? eco_err_set(err, ECO_E_CONTENT, "trace", "trace.csv has no column '%s'",
                                     names[i])
                       : 0;
    }
    while (rc == 0 && (rc = eco_csv_next(csv, err)) == 1) {
        rc = trace_row(csv, at, &t, err);
    }
    eco_csv_done(csv);
    out->t_s = t.t_s, out->power_w = t.power_w, out->count = t.n;
    return rc;
}

static int draw_power(struct eco_ctx *ctx, const struct eco_json *json,
                      const struct eco_chart_look *look, struct eco_buf *out, struct eco_err *err)
{
    struct eco_chart_power c = {.title = text(ctx, json, "title"),
                                .subtitle = text(ctx, json, "subtitle"),
                                .source = text(ctx, json, "source"),
                                .idle_w = number(json, "idle_w")};
    const struct eco_json *at;
    const char *trace = text(ctx, json, "trace");
    int rc = trace ? read_trace(ctx, trace, &c, err)
                   : eco_err_set(err, ECO_E_MISSING, "trace", "give the text of a trace.csv");
    rc = rc ? rc : list(json, "windows", &at, &c.window_count, err);
    struct eco_chart_window *w = eco_arena_array(ctx->arena, c.window_count + 1, sizeof(*w));
    if (rc || !w) {
        return rc ? rc : no_memory(err);
    }
    c.windows = w;
    for (; at; at = at->next, w++) {
        *w = (struct eco_chart_window){number(at, "start_s"), number(at, "end_s"),
                                       text(ctx, at, "label"), text(ctx, at, "detail")};
    }
    return eco_chart_svg_power(&c, look, out, err);
}

int eco_chart_json(struct eco_ctx *ctx, const char *kind, const struct eco_json *json,
                   struct eco_buf *out, struct eco_err *err)
{
    static const struct {
        const char *kind;
        int (*draw)(struct eco_ctx *ctx, const struct eco_json *json,
                    const struct eco_chart_look *look, struct eco_buf *out, struct eco_err *err);
    } kinds[] = {{"estimate", draw_estimate},
                 {"optimize", draw_optimize},
                 {"measured", draw_measured},
                 {"bars", draw_bars},
                 {"power", draw_power}};
    struct eco_chart_look looks;
    for (size_t i = 0; i < ECO_COUNT(kinds); i++) {
        if (strcmp(kinds[i].kind, kind) == 0) {
            int rc = look(ctx, json, &looks, err);
            return rc ? rc : kinds[i].draw(ctx, json, &looks, out, err);
        }
    }
    return eco_err_set(err, ECO_E_UNKNOWN_NAME, "kind", "no chart of kind '%s'", kind);
}
