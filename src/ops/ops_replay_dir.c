/*
 * replay DIR: a recorded run again, from its journal and its trace. Every statistic is computed
 * anew from the trials and must be the number in energy.json, digit for digit; every window is
 * integrated anew from the trace. The journal has a window's edges as the workload saw them and the
 * meter aligned its own to a counter's tick, so joules agree within what lies between: both edges
 * by EDGE_S at peak power. Nothing in the folder is written.
 */
#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "experiment/experiment.h"
#include "power/integral.h"
#include "replay_dir.h"
#include "report/report.h"
#include "runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EDGE_S 0.15 /* a counter's tick is waited for this long */
#define MAX_JOURNAL ((size_t)64 << 20)
#define MAX_TRACE ((size_t)1 << 30)
#define MAX_SOURCES 16
#define GAP_PERIODS 3
#define SHOWN 5

struct dir {
    struct eco_ctx *ctx;
    const char *path;
    struct eco_res_replay *out;
    struct eco_exp_plan plan;
    struct eco_experiment *experiment;
    struct eco_run run;
    struct eco_buf trace;
    size_t compared, wrong;
};

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

/* ---- journal --------------------------------------------------------------------------------- */

/* Resuming would cut a torn line off; a look must not. */
static int whole(const char *journal, struct eco_err *err)
{
    struct eco_buf text = ECO_BUF_INIT;
    int rc = eco_file_read(journal, MAX_JOURNAL, &text, err);
    if (rc == 0 && eco_experiment_nothing_in(journal)) {
        rc = eco_err_set(err, ECO_E_CONTENT, "dir",
                         "'%.150s' has no whole line: no run was recorded in it", journal);
    } else if (rc == 0 && text.data[text.len - 1] != '\n') {
        rc = eco_err_set(err, ECO_E_CONTENT, "dir",
                         "the last line of '%.150s' is torn: measure --resume goes on with that "
                         "run",
                         journal);
    }
    eco_buf_done(&text);
    return rc;
}

static int open_run(struct dir *d, const char *journal, struct eco_err *err)
{
    struct eco_exp_ports ports = {.journal = journal};
    int rc = whole(journal, err);
    rc = rc ? rc : eco_experiment_read_plan(journal, d->ctx->arena, &d->plan, err);
    rc = rc ? rc : eco_experiment_new(&d->plan, &ports, &d->experiment, err);
    rc = rc ? rc : eco_experiment_resume(d->experiment, err);
    eco_run_init(&d->run);
    rc = rc ? rc : eco_experiment_summary(d->experiment, d->ctx->arena, &d->run, err);
    /* what the journal does not have, and what is not compared */
    d->run.gpu_name = d->run.tool_version = d->run.measurement_source = "replayed";
    d->run.timestamp_utc = "1970-01-01T00:00:00.000Z";
    d->run.boundary = ECO_RUN_BOUNDARY_GPU_BOARD;
    d->run.accelerator_count = 1;
    return rc;
}

/* ---- statistics against energy.json ---------------------------------------------------------- */

static void differs(struct dir *d, const char *file, const char *where, const char *a,
                    const char *b)
{
    if (d->wrong++ < SHOWN && d->ctx->warnings) {
        eco_buf_printf(d->ctx->warnings, "%s%s: the file has %.60s, the journal gives %.60s\n",
                       file, where, a, b);
    }
}

static const char *shown(const struct eco_json *v)
{
    return !v                                                         ? "nothing"
           : v->type == ECO_JSON_NUMBER || v->type == ECO_JSON_STRING ? v->str
                                                                      : eco_json_type_name(v->type);
}

/* Walks both trees; what only the machine knew (the level) is passed over. */
static void compare(struct dir *d, const char *file, const char *where, const struct eco_json *a,
                    const struct eco_json *b)
{
    char at[160];
    bool tree =
        a && b && a->type == b->type && (a->type == ECO_JSON_OBJECT || a->type == ECO_JSON_ARRAY);
    if (!tree) {
        bool same = a && b && a->type == b->type &&
                    (a->type == ECO_JSON_NUMBER   ? a->num == b->num
                     : a->type == ECO_JSON_STRING ? strcmp(a->str, b->str) == 0
                                                  : true);
        d->compared++;
        if (!same) {
            differs(d, file, where, shown(a), shown(b));
        }
        return;
    }
    const struct eco_json *y = b->child;
    size_t i = 0;
    for (const struct eco_json *x = a->child; x; x = x->next, i++) {
        const struct eco_json *other = x->key ? eco_json_get(b, x->key) : y;
        y = y ? y->next : NULL;
        if (x->key && strcmp(x->key, "level") == 0) {
            continue;
        }
        if (x->key) {
            snprintf(at, sizeof(at), "%.100s/%.50s", where, x->key);
        } else {
            snprintf(at, sizeof(at), "%.100s/%zu", where, i);
        }
        compare(d, file, at, x, other);
    }
    if (a->count != b->count && a->type == ECO_JSON_ARRAY) {
        differs(d, file, where, "another number of entries", "");
    }
}

static int compare_arm(struct dir *d, size_t arm, const char *name, struct eco_err *err)
{
    static const char *const all[] = {"trials", "phases",     "results",
                                      "decode", "statistics", "ecocompute"};
    size_t blocks = d->plan.unmetered ? 2 : ECO_COUNT(all); /* the rest is the data set's */
    const char *path = eco_step_fmt(d->ctx, "%s/%s", d->path, name);
    struct eco_str text;
    struct eco_buf again = ECO_BUF_INIT;
    struct eco_json_doc file, made;
    int rc = path ? d->ctx->read_file(d->ctx, path, &text, err) : no_memory(err);
    rc = rc ? rc : eco_json_parse(&file, text.s, text.len, err);
    if (rc) {
        return rc;
    }
    rc = eco_report_build(&d->run, arm, &again, err);
    rc = rc ? rc : eco_json_parse(&made, again.data, again.len, err);
    if (rc == 0) {
        for (size_t i = 0; i < blocks; i++) {
            char at[32];
            snprintf(at, sizeof(at), "/%s", all[i]);
            compare(d, name, at, eco_json_get(file.root, all[i]), eco_json_get(made.root, all[i]));
        }
        eco_json_done(&made);
    }
    eco_json_done(&file);
    eco_buf_done(&again);
    return rc;
}

/* The names that measure gives: energy.json is the first quantized arm. */
static int compare_reports(struct dir *d, struct eco_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < d->run.arm_count; i++) {
        bool twice = i == 0 && d->plan.null_run;
        const char *name = i == 1 ? "energy.json"
                                  : eco_step_fmt(d->ctx, "energy-%s.json",
                                                 eco_precision_name(d->run.arms[i].precision));
        if (!twice) {
            rc = name ? compare_arm(d, i, name, err) : no_memory(err);
        }
    }
    return rc;
}

/* ---- windows against the trace --------------------------------------------------------------- */

struct window {
    struct eco_integral of[MAX_SOURCES];
    bool seen[MAX_SOURCES];
};

/* "nvml:3" -> 3 */
static int source_of(const struct eco_csv_cell *cell)
{
    const char *colon = strrchr(cell->s, ':');
    char *end;
    long n = colon ? strtol(colon + 1, &end, 10) : -1;
    return colon && end > colon + 1 && !*end && n >= 0 && n < MAX_SOURCES ? (int)n : -1;
}

static int64_t ns_of(double s)
{
    return (int64_t)llround(s * 1e9);
}

static int feed(struct dir *d, struct window *windows, const struct eco_exp_trial *trials, size_t n,
                struct eco_err *err)
{
    struct eco_csv *c = malloc(sizeof(*c));
    int rc = c ? eco_csv_open(c, "trace.csv", d->trace.data, d->trace.len, err) : no_memory(err);
    if (rc) {
        free(c);
        return rc;
    }
    int at = eco_csv_column(c, "t_s"), from = eco_csv_column(c, "source");
    int watts = eco_csv_column(c, "power_default_w");
    if (at < 0 || from < 0 || watts < 0) {
        rc = eco_err_set(err, ECO_E_CONTENT, "dir",
                         "'trace.csv' has no t_s, source and power_default_w");
    }
    while (rc == 0 && (rc = eco_csv_next(c, err)) == 1) {
        double t_s, w;
        int source = source_of(&c->cell[from]);
        rc = eco_csv_num(c, at, &t_s, err);
        rc = rc < 0 ? rc : source < 0 || rc == 0 ? ECO_E_CONTENT : 0;
        int have = rc ? 0 : eco_csv_num(c, watts, &w, err);
        if (rc == ECO_E_CONTENT || have < 0) {
            rc = eco_err_set_at(err, ECO_E_CONTENT, "dir", c->line, 0,
                                "'trace.csv' line %ld is no sample", c->line);
            break;
        }
        for (size_t i = 0; have == 1 && i < n; i++) {
            if (t_s > trials[i].window_start_s - 2 && t_s < trials[i].window_end_s + 2) {
                eco_integral_add(&windows[i].of[source], ns_of(t_s), w);
                windows[i].seen[source] = true;
            }
        }
    }
    eco_csv_done(c);
    free(c);
    return rc < 0 ? rc : 0;
}

static void fill_trial(struct dir *d, struct window *w, const struct eco_exp_trial *t,
                       struct eco_res_replay_trial *row)
{
    double joules = 0, peak_w = 0, gap_s = 0;
    bool any = false;
    for (size_t s = 0; s < MAX_SOURCES; s++) {
        if (w->seen[s]) {
            eco_integral_finish(&w->of[s]);
            joules += w->of[s].energy_j;
            peak_w += w->of[s].peak_w;
            gap_s = fmax(gap_s, w->of[s].gap_s);
            any = true;
        }
    }
    double window_s = t->window_end_s - t->window_start_s;
    bool parts = fabs(window_s / t->run.window_s - 1) > 0.05;
    const char *why = !any                        ? "the trace has no readings of it"
                      : parts                     ? "the window was made of parts with pauses"
                      : isnan(t->run.energy_v1_j) ? "the journal has no sampled energy"
                      : gap_s > 0.05 * window_s   ? "the trace has gaps in it"
                                                  : NULL;
    *row = (struct eco_res_replay_trial){.block = t->run.block,
                                         .precision = eco_precision_name(d->plan.arms[t->run.arm]),
                                         .journal_j = eco_some(t->run.energy_v1_j),
                                         .trace_j = why ? (struct eco_opt){0} : eco_some(joules),
                                         .allowed_j = why ? (struct eco_opt){0}
                                                          : eco_some(2 * EDGE_S * peak_w),
                                         .reason = why};
    row->agrees = !why && fabs(joules - t->run.energy_v1_j) <= 2 * EDGE_S * peak_w;
    d->compared += !why;
    if (!why && !row->agrees) {
        d->wrong++;
    }
}

static int replay_trace(struct dir *d, struct eco_err *err)
{
    const struct eco_exp_trial *trials;
    size_t n = eco_experiment_trials(d->experiment, &trials);
    struct window *windows = eco_arena_array(d->ctx->arena, n + 1, sizeof(*windows));
    struct eco_res_replay_trial *rows = eco_arena_array(d->ctx->arena, n + 1, sizeof(*rows));
    const char *path = eco_step_fmt(d->ctx, "%s/trace.csv", d->path);
    if (!windows || !rows || !path) {
        return no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t s = 0; s < MAX_SOURCES; s++) {
            eco_integral_init(&windows[i].of[s], ns_of(trials[i].window_start_s),
                              ns_of(trials[i].window_end_s), GAP_PERIODS * (int64_t)100000000, 1,
                              0);
        }
    }
    if (d->plan.unmetered) {
        return 0; /* no power source: there is no trace */
    }
    int rc = eco_file_read(path, MAX_TRACE, &d->trace, err);
    rc = rc ? rc : feed(d, windows, trials, n, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        fill_trial(d, &windows[i], &trials[i], &rows[i]);
        d->out->energy_j += rows[i].trace_j.have ? rows[i].trace_j.v : 0;
    }
    d->out->trials = (struct eco_list){rows, rc ? 0 : n};
    return rc;
}

int eco_replay_dir(struct eco_ctx *ctx, const char *path, struct eco_res_replay *out,
                   struct eco_err *err)
{
    struct dir *d = eco_arena_alloc(ctx->arena, sizeof(*d));
    const char *journal = eco_step_fmt(ctx, "%s/run.jsonl", path);
    if (!d || !journal) {
        return no_memory(err);
    }
    *d = (struct dir){.ctx = ctx, .path = path, .out = out};
    int rc = open_run(d, journal, err);
    rc = rc ? rc : compare_reports(d, err);
    rc = rc ? rc : replay_trace(d, err);
    if (rc == 0) {
        out->compared = (int64_t)d->compared;
        out->differ = (int64_t)d->wrong;
        out->verdict =
            d->wrong ? eco_step_fmt(ctx, "%zu of %zu numbers are not what the recording gives",
                                    d->wrong, d->compared)
            : d->plan.unmetered
                ? eco_step_fmt(ctx,
                               "no energy was recorded: times only; the recording gives the "
                               "report's trials again: %zu numbers",
                               d->compared)
                : eco_step_fmt(ctx,
                               "the recording gives the report again: %zu numbers, "
                               "%zu windows",
                               d->compared, out->trials.n);
    }
    eco_experiment_free(d->experiment);
    eco_buf_done(&d->trace);
    return rc;
}

bool eco_replay_says_no(const void *result)
{
    return ((const struct eco_res_replay *)result)->differ > 0;
}
