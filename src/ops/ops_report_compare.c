/* report compare: two reports, their surroundings and the differences. */
#include "report/compare.h"
#include "report_actions.h"

#include <math.h>
#include <string.h>

static struct eco_opt opt(double v)
{
    return (struct eco_opt){v, isfinite(v)};
}

static int second(struct eco_ctx *ctx, const struct eco_args_report *a, struct eco_str *out,
                  struct eco_err *err)
{
    const char *path = a->other ? a->other : a->target.model; /* the second bare word */
    if (a->other_document) {
        *out = (struct eco_str){a->other_document, strlen(a->other_document)};
        return 0;
    }
    if (!path || !ctx->read_file) {
        return eco_err_set(err, ECO_E_MISSING, "other",
                           "say with which report: report compare A.json B.json");
    }
    return ctx->read_file(ctx, path, out, err);
}

static void fill(struct eco_ctx *ctx, const struct eco_comparison *c, struct eco_res_report *out)
{
    struct eco_res_report_row *rows = eco_arena_array(ctx->arena, c->row_count + 1, sizeof(*rows));
    struct eco_res_report_aspect *aspects =
        eco_arena_array(ctx->arena, c->aspect_count + 1, sizeof(*aspects));
    for (size_t i = 0; rows && i < c->row_count; i++) {
        const struct eco_compare_row *r = &c->rows[i];
        rows[i] = (struct eco_res_report_row){.quantity = r->quantity,
                                              .unit = r->unit,
                                              .a = opt(r->a),
                                              .b = opt(r->b),
                                              .difference = opt(r->diff),
                                              .difference_unit = r->points ? "points" : "%",
                                              .ci95 = eco_span_of(r->lo95, r->hi95),
                                              .verdict = r->verdict,
                                              .reason = r->reason};
    }
    for (size_t i = 0; aspects && i < c->aspect_count; i++) {
        const struct eco_compare_aspect *s = &c->aspects[i];
        aspects[i] = (struct eco_res_report_aspect){s->name, eco_step_fmt(ctx, "%s", s->a),
                                                    eco_step_fmt(ctx, "%s", s->b), s->same};
    }
    out->differences = (struct eco_list){rows, rows ? c->row_count : 0};
    out->aspects = (struct eco_list){aspects, aspects ? c->aspect_count : 0};
    out->valid = c->comparable;
    out->verdict = eco_step_fmt(ctx, "%s", c->verdict);
}

int eco_report_do_compare(struct eco_ctx *ctx, const struct eco_args_report *a,
                          const struct eco_str *text, struct eco_res_report *out,
                          struct eco_err *err)
{
    struct eco_comparison *c = eco_arena_alloc(ctx->arena, sizeof(*c));
    struct eco_str other;
    if (!c) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    int rc = second(ctx, a, &other, err);
    rc = rc ? rc : eco_report_compare(text->s, text->len, other.s, other.len, c, err);
    if (rc == 0) {
        fill(ctx, c, out);
    }
    return rc;
}
