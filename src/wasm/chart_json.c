#include "chart_json.h"

#include "ops/args.h"
#include "ops/records.h"
#include "report/chart_svg.h"

#include <math.h>
#include <string.h>

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

/* ---- charts of answers ----------------------------------------------------------------------- */

/* The svg option of an operation "writes" here. */
static int nowhere(const char *path, const void *bytes, size_t len, bool force, struct eco_err *err)
{
    (void)path, (void)bytes, (void)len, (void)force, (void)err;
    return 0;
}

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
    ctx->write_file = nowhere;
    int rc = eco_args_init(op, args, ctx->arena, err);
    rc = rc || !given ? rc : eco_args_set_json(op, args, ctx->arena, given, false, err);
    const struct eco_param *svg = eco_args_find(op, "svg", 3);
    rc = rc || !svg ? rc : eco_args_set(op, args, ctx->arena, svg, "chart.svg", 9, err);
    rc = rc ? rc : eco_args_finish(op, args, err);
    return rc ? rc : op->run(ctx, args, *result, err);
}

static int draw_estimate(struct eco_ctx *ctx, const struct eco_json *json, struct eco_buf *out,
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
    return rc ? rc : eco_chart_svg_crossover(&chart, out, err);
}

static int draw_optimize(struct eco_ctx *ctx, const struct eco_json *json, struct eco_buf *out,
                         struct eco_err *err)
{
    void *result;
    int rc = run(ctx, "optimize", json, &result, err);
    const struct eco_chart_pareto *drawn = rc ? NULL : ((struct eco_res_optimize *)result)->chart;
    if (rc == 0 && !drawn) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "compat",
                           "there is no chart of the published optimizer's answer");
    }
    return rc ? rc : eco_chart_svg_pareto(drawn, out, err);
}

/* ---- charts of data -------------------------------------------------------------------------- */

static int draw_measured(struct eco_ctx *ctx, const struct eco_json *json, struct eco_buf *out,
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
    return rc ? rc : eco_chart_svg_measured(&c, out, err);
}

static int draw_bars(struct eco_ctx *ctx, const struct eco_json *json, struct eco_buf *out,
                     struct eco_err *err)
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
        *b = (struct eco_chart_bar){text(ctx, at, "label"), number(at, "value"),
                                    number(at, "lo"),       number(at, "hi"),
                                    truth(at, "highlight"), truth(at, "measured")};
    }
    return eco_chart_svg_bars(&c, out, err);
}

static int numbers(struct eco_ctx *ctx, const struct eco_json *json, const char *key,
                   const double **out, size_t *n, struct eco_err *err)
{
    const struct eco_json *v = eco_json_get(json, key);
    *n = v && v->type == ECO_JSON_ARRAY ? v->count : 0;
    double *d = eco_arena_array(ctx->arena, *n + 1, sizeof(*d));
    if (!d) {
        return no_memory(err);
    }
    *out = d;
    for (const struct eco_json *at = *n ? v->child : NULL; at; at = at->next, d++) {
        *d = at->type == ECO_JSON_NUMBER ? at->num : (double)NAN;
    }
    return 0;
}

static int draw_power(struct eco_ctx *ctx, const struct eco_json *json, struct eco_buf *out,
                      struct eco_err *err)
{
    struct eco_chart_power c = {.title = text(ctx, json, "title"),
                                .subtitle = text(ctx, json, "subtitle"),
                                .source = text(ctx, json, "source"),
                                .idle_w = number(json, "idle_w")};
    const struct eco_json *at;
    size_t n_times;
    int rc = numbers(ctx, json, "t_s", &c.t_s, &n_times, err);
    rc = rc ? rc : numbers(ctx, json, "power_w", &c.power_w, &c.count, err);
    rc = rc ? rc : list(json, "windows", &at, &c.window_count, err);
    struct eco_chart_window *w = eco_arena_array(ctx->arena, c.window_count + 1, sizeof(*w));
    if (rc || !w) {
        return rc ? rc : no_memory(err);
    }
    if (n_times != c.count) {
        return eco_err_set(err, ECO_E_INVALID, "t_s", "as many times as powers are needed");
    }
    c.windows = w;
    for (; at; at = at->next, w++) {
        *w = (struct eco_chart_window){number(at, "start_s"), number(at, "end_s"),
                                       text(ctx, at, "label")};
    }
    return eco_chart_svg_power(&c, out, err);
}

int eco_chart_json(struct eco_ctx *ctx, const char *kind, const struct eco_json *json,
                   struct eco_buf *out, struct eco_err *err)
{
    static const struct {
        const char *kind;
        int (*draw)(struct eco_ctx *ctx, const struct eco_json *json, struct eco_buf *out,
                    struct eco_err *err);
    } kinds[] = {{"estimate", draw_estimate},
                 {"optimize", draw_optimize},
                 {"measured", draw_measured},
                 {"bars", draw_bars},
                 {"power", draw_power}};
    for (size_t i = 0; i < ECO_COUNT(kinds); i++) {
        if (strcmp(kinds[i].kind, kind) == 0) {
            return kinds[i].draw(ctx, json, out, err);
        }
    }
    return eco_err_set(err, ECO_E_UNKNOWN_NAME, "kind", "no chart of kind '%s'", kind);
}
