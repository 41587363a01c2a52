/* report compare: two reports, their surroundings and the differences. */
#include "args.h"
#include "report/compare.h"
#include "report_actions.h"

#include <math.h>
#include <stddef.h>
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
    if (!ctx->read_file) {
        return eco_err_set(err, ECO_E_MISSING, "other_document",
                           "'other_document' is missing: the report to compare with");
    }
    if (!path) {
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
    const struct eco_compare_sessions *s = &c->sessions;
    if (s->n) {
        out->sessions = s->n;
        out->between_sd_pct = opt(s->sd_pct);
        out->session_mean_pct = opt(s->mean_pct);
        out->session_ci = eco_span_of(s->lo95, s->hi95);
    }
    out->valid = c->comparable;
    out->verdict = eco_step_fmt(ctx, "%s", c->verdict);
}

/* The gate closes only on what is sure: one noisy run must not fail a build. */
static void gate(struct eco_ctx *ctx, double limit, struct eco_res_report *out)
{
    const struct eco_res_report_row *row = NULL;
    for (size_t i = 0; i < out->differences.n && !row; i++) {
        const struct eco_res_report_row *r =
            (const struct eco_res_report_row *)out->differences.items + i;
        row = strcmp(r->quantity, "energy per token") == 0 ? r : NULL;
    }
    if (!out->valid || !row || !row->difference.have) {
        out->gate = "cannot tell";
        out->verdict = eco_step_fmt(ctx, "gate cannot tell: %s", out->verdict);
        return;
    }
    bool known = row->ci95.have;
    double low = row->ci95.lo, high = row->ci95.hi;
    out->gate = known && low > limit ? "failed" : known && high <= limit ? "passed" : "cannot tell";
    if (!known) {
        out->verdict = eco_step_fmt(ctx,
                                    "gate cannot tell: %+.3g %% energy per token without an "
                                    "interval; allowed %+.3g %%",
                                    row->difference.v, limit);
        return;
    }
    out->verdict = eco_step_fmt(ctx,
                                "gate %s: %+.3g %% energy per token (95 %% %+.3g to %+.3g %%); "
                                "allowed %+.3g %%",
                                out->gate, row->difference.v, low, high, limit);
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
        if (eco_args_have(eco_op_find("report"), a,
                          offsetof(struct eco_args_report, max_increase))) {
            gate(ctx, a->max_increase, out);
        }
    }
    return rc;
}
