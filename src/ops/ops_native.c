/* The operations that touch the machine: probe power sources, measure, write reports. */
#include "args.h"
#include "base/buf.h"
#include "base/file.h"
#include "chart_data.h"
#include "fallback.h"
#include "power/power.h"
#include "report/chart_svg.h"
#include "report/report.h"
#include "runs.h"

#include <stdio.h>
#include <string.h>

#define MAX_SOURCES 32

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static struct eco_list source_rows(struct eco_ctx *ctx, const struct eco_run_source *s, size_t n)
{
    struct eco_res_source *rows = eco_arena_array(ctx->arena, n + 1, sizeof(*rows));
    for (size_t i = 0; rows && i < n; i++) {
        rows[i] = (struct eco_res_source){.name = s[i].name,
                                          .status = s[i].status,
                                          .device = s[i].device,
                                          .boundary = eco_run_boundary_name(s[i].boundary),
                                          .reason = s[i].reason};
    }
    return (struct eco_list){rows, rows ? n : 0};
}

/* One output file, remembered in the result. */
static int write_out(struct eco_ctx *ctx, const char *dir, const char *name, struct eco_buf *b,
                     bool force, const char **files, size_t *n, struct eco_err *err)
{
    char *path = eco_step_fmt(ctx, "%s/%s", dir, name);
    int rc = !path || !eco_buf_ok(b) ? no_memory(err)
                                     : eco_file_write(path, eco_buf_str(b), b->len, force, err);
    if (rc == 0) {
        files[(*n)++] = path;
    }
    eco_buf_done(b);
    return rc;
}

/* All three names are looked at before the first is written. */
static int none_there(struct eco_ctx *ctx, const char *dir, bool force, struct eco_err *err)
{
    static const char *const names[] = {"energy.json", "chart.svg", "summary.md"};
    for (size_t i = 0; !force && i < ECO_COUNT(names); i++) {
        const char *path = eco_step_fmt(ctx, "%s/%s", dir, names[i]);
        if (path && eco_file_exists(path)) {
            return eco_err_set(err, ECO_E_EXISTS, "out", "'%.200s' is already there", path);
        }
    }
    return 0;
}

/* Nothing may be half there: all texts are made before the first file is written. */
static int write_reports(struct eco_ctx *ctx, struct eco_fallback *f, const char *dir, bool force,
                         struct eco_res_measure *out, struct eco_err *err)
{
    const char **files = eco_arena_array(ctx->arena, 3, sizeof(*files));
    struct eco_buf report = ECO_BUF_INIT, chart = ECO_BUF_INIT, summary = ECO_BUF_INIT;
    struct eco_chart_crossover c;
    size_t n = 0;
    int rc = files ? eco_report_build(&f->run, 1, &report, err) : no_memory(err);
    rc = rc ? rc : eco_report_markdown(report.data, report.len, &summary, err);
    rc = rc ? rc : eco_chart_data_crossover(&f->question, &f->answer, &c, err);
    rc = rc ? rc : eco_chart_svg_crossover(&c, eco_chart_data_look(ctx), &chart, err);
    rc = rc ? rc : eco_file_mkdirs(dir, err);
    rc = rc ? rc : none_there(ctx, dir, force, err);
    rc = rc ? rc : write_out(ctx, dir, "energy.json", &report, force, files, &n, err);
    rc = rc ? rc : write_out(ctx, dir, "chart.svg", &chart, force, files, &n, err);
    rc = rc ? rc : write_out(ctx, dir, "summary.md", &summary, force, files, &n, err);
    eco_buf_done(&report);
    eco_buf_done(&chart);
    eco_buf_done(&summary);
    for (size_t i = 0; rc && i < n; i++) { /* a set that is not whole is none */
        remove(files[i]);
    }
    out->files = (struct eco_strs){files, n};
    return rc;
}

#define AT(member) offsetof(struct eco_args_measure, member)

/* Given, although it is about generating tokens, and nothing was asked to. NULL: nothing. */
static const char *stray(const struct eco_args_measure *a)
{
    return a->url               ? "url"
           : a->served_model    ? "served_model"
           : a->key_env         ? "key_env"
           : a->power_limits.n  ? "power_limits"
           : a->lock_clocks > 0 ? "lock_clocks"
           : a->corpus          ? "corpus"
           : a->null            ? "null"
           : a->batch.n > 1     ? "batch"
                                : NULL;
}

/* What changes nothing of the data set's answer is said; what asks for more than it is refused. */
static int check_no_workload(struct eco_ctx *ctx, const struct eco_args_measure *a,
                             struct eco_err *err)
{
    static const struct {
        size_t at;
        const char *name;
    } unused[] = {{AT(source), "source"},         {AT(device), "device"},
                  {AT(profile), "profile"},       {AT(blocks), "blocks"},
                  {AT(iterations), "iterations"}, {AT(gen_tokens), "gen_tokens"},
                  {AT(quick), "quick"},           {AT(seed), "seed"}};
    const char *needs = "a workload: worker:COMMAND, openai or builtin (--workload)";
    const char *name = stray(a), *list = "";
    if (a->precision && strchr(a->precision, ',')) {
        return eco_err_set(err, ECO_E_INVALID, "precision",
                           "'precision' %.60s is a list, and a list needs %s", a->precision, needs);
    }
    if (name) {
        return eco_err_set(err, ECO_E_INVALID, name, "'%s'%s needs %s", name,
                           a->batch.n > 1 ? " of several values" : "", needs);
    }
    if (a->source && strncmp(a->source, "sim:", 4) == 0) {
        return eco_err_set(err, ECO_E_INVALID, "source",
                           "'%.60s' is a simulation: there is nothing to measure", a->source);
    }
    int rc = a->source ? eco_power_check_name(a->source, err) : 0;
    for (size_t i = 0; rc == 0 && list && i < ECO_COUNT(unused); i++) {
        if (eco_args_have(eco_op_find("measure"), a, unused[i].at)) {
            list = eco_step_fmt(ctx, "%s%s%s", list, list[0] ? ", " : "", unused[i].name);
        }
    }
    if (rc == 0 && list && list[0] && ctx->warnings) {
        eco_buf_printf(ctx->warnings, "not used, since nothing generates tokens (--workload): %s\n",
                       list);
    }
    return rc;
}

int eco_run_measure(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_measure *a = args;
    struct eco_res_measure *out = result;
    if (a->resume || eco_measure_workload(a)) {
        return eco_measure_here(ctx, a, out, err);
    }
    int rc = check_no_workload(ctx, a, err);
    if (rc) {
        return rc;
    }
    struct eco_run_source *s = eco_arena_array(ctx->arena, MAX_SOURCES, sizeof(*s));
    struct eco_fallback *f = eco_arena_alloc(ctx->arena, sizeof(*f));
    if (!s || !f) {
        return no_memory(err);
    }
    struct eco_power_options roots = {.nvml_library = a->nvml_library,
                                      .sysfs = a->sysfs,
                                      .visible_devices = ctx->visible_devices};
    size_t n = eco_power_probe_all(&roots, ctx->arena, s, MAX_SOURCES);
    rc = eco_fallback_prepare(ctx, &a->target, a->precision, a->batch.n ? a->batch.v[0] : 1,
                              ECO_FALLBACK_INSTEAD, s, n, f, err);
    if (rc) {
        return rc;
    }
    out->sources = source_rows(ctx, s, n);
    out->measurement_source = f->run.measurement_source;
    if (a->require_measurement) {
        return eco_err_set(err, ECO_E_DEVICE, "require_measurement", "nothing was measured: %.200s",
                           out->measurement_source);
    }
    out->estimate = f->estimate;
    out->basis = eco_basis_name(f->arms[1].basis);
    out->verdict = eco_step_fmt(ctx, "not measured; the data set says: %s", f->estimate.verdict);
    out->notes = f->estimate.notes;
    if (ctx->warnings) {
        eco_buf_printf(ctx->warnings, "nothing was measured: the answer comes from the %s\n",
                       out->measurement_source);
    }
    return write_reports(ctx, f, a->out, a->force, out, err);
}
