/* report import: another tool's file as a report. */
#include "dataset/dataset.h"
#include "report/import.h"
#include "report/report.h"
#include "report_actions.h"

#include <stdio.h>
#include <string.h>

#define MAX_SHOWN 64

static int read_more(const struct eco_args_report *a, struct eco_import_more *out,
                     struct eco_err *err)
{
    *out = (struct eco_import_more){.row = (size_t)a->row,
                                    .model = a->target.model,
                                    .gpu = a->target.gpu,
                                    .params_b = a->target.params_b,
                                    .tokens = a->tokens};
    return a->precision
               ? eco_step_precision(a->precision, ECO_PREC_NF4, "precision", &out->precision, err)
               : 0;
}

static void list(struct eco_ctx *ctx, const struct eco_import *im, size_t taken,
                 struct eco_res_report *out)
{
    size_t n = im->count < MAX_SHOWN ? im->count : MAX_SHOWN;
    struct eco_res_import_row *rows = eco_arena_array(ctx->arena, n + 1, sizeof(*rows));
    for (size_t i = 0; rows && i < n; i++) {
        rows[i] = (struct eco_res_import_row){(int64_t)i + 1, i == taken, im->runs[i].what};
    }
    out->rows = (struct eco_list){rows, rows ? n : 0};
    if (im->count > 1 && ctx->warnings) {
        eco_buf_printf(ctx->warnings,
                       "the file holds %zu runs; taken: %zu, %.160s (--row N takes "
                       "another)\n",
                       im->count, taken + 1, im->runs[taken].what);
    }
}

int eco_report_do_import(struct eco_ctx *ctx, const struct eco_args_report *a,
                         const struct eco_str *text, struct eco_res_report *out,
                         struct eco_err *err)
{
    struct eco_import im;
    struct eco_import_more more;
    struct eco_run *run = eco_arena_alloc(ctx->arena, sizeof(*run));
    char *at = eco_arena_alloc(ctx->arena, 32);
    struct eco_buf b = ECO_BUF_INIT;
    size_t index = 0;
    if (!run || !at) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    snprintf(at, 32, "1970-01-01T00:00:00.000Z");
    if (ctx->timestamp) {
        ctx->timestamp(ctx->now_unix_ms, at);
    }
    int rc = read_more(a, &more, err);
    rc = rc ? rc
            : eco_import_read(eco_import_kind_parse(a->as), text->s, text->len, ctx->arena, &im,
                              err);
    rc = rc ? rc : eco_import_pick(&im, &more, &index, err);
    rc = rc ? rc : eco_import_fill(&im, index, &more, ctx->arena, run, err);
    if (rc) {
        return rc;
    }
    run->tool_version = ECO_VERSION;
    run->timestamp_utc = at;
    run->data_sha256 = eco_dataset_digest_all();
    rc = eco_report_build(run, 0, &b, err);
    if (rc) {
        eco_buf_done(&b);
        return rc;
    }
    list(ctx, &im, index, out);
    out->valid = true;
    return eco_report_keep(ctx, &b, &out->document, err);
}
