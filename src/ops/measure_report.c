/* What a measured run writes and answers. */
#include "base/file.h"
#include "chart_data.h"
#include "dataset/dataset.h"
#include "measure.h"
#include "report/chart_svg.h"
#include "report/report.h"
#include "runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define CHART_POINTS 2000

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

/* ---- the run --------------------------------------------------------------------------------- */

/* "GPU 0: NVIDIA GeForce RTX 4090" -> the card's own name */
const char *eco_measure_device(const struct eco_power_source *s)
{
    const char *colon = strncmp(s->device, "GPU ", 4) == 0 ? strstr(s->device, ": ") : NULL;
    return colon ? colon + 2 : s->device;
}

static void fill_machine(struct eco_measure *m)
{
    const struct eco_power_source *s = m->sources[0];
    struct eco_run_environment *e = &m->run.environment;
    struct utsname u;
    m->run.gpu_name = eco_measure_device(s);
    m->run.arch = s->arch != ECO_ARCH_UNKNOWN
                      ? s->arch
                      : eco_dataset_detect_any_arch(m->run.gpu_name, strlen(m->run.gpu_name), NULL);
    m->run.boundary = s->boundary;
    m->run.accelerator_count = (int)m->source_count;
    m->run.sample_rate_hz = 10;
    if (uname(&u) == 0) {
        e->host = eco_step_fmt(m->ctx, "%s-%s-%s", u.sysname, u.release, u.machine);
        e->os = e->host;
    }
    e->driver = strcmp(s->name, "nvml") == 0 ? s->driver : NULL;
    e->power_limit_w = m->state.limit_w;
    e->clock_sm_mhz = m->state.clock_sm_mhz;
    e->clock_mem_mhz = m->state.clock_mem_mhz;
    e->persistence = m->state.persistence;
    e->ecc = m->state.ecc;
}

static void fill_observer(struct eco_measure *m)
{
    struct eco_meter_cost cost;
    eco_meter_port_costs(m->port, &cost);
    if (cost.wall_s > 0) {
        m->run.idle.observer_cpu_frac = cost.cpu_s / cost.wall_s;
    }
    m->run.idle.reason = "idle without the model and the observer's power were not measured";
}

static const char *add_warning(struct eco_measure *m, const char *text)
{
    const char **v = eco_arena_array(m->ctx->arena, m->run.warning_count + 1, sizeof(*v));
    if (v) {
        memcpy(v, m->run.warnings, m->run.warning_count * sizeof(*v));
        v[m->run.warning_count++] = text;
        m->run.warnings = v;
    }
    return text;
}

static void fill_levels(struct eco_measure *m, struct eco_run_arm *arms)
{
    const struct eco_gpu *card = NULL;
    eco_dataset_detect_arch(m->run.gpu_name, strlen(m->run.gpu_name), &card);
    for (size_t i = 0; i < m->run.arm_count; i++) {
        if (arms[i].basis == ECO_BASIS_MEASURED && m->sources[0]->external) {
            arms[i].level = ECO_RUN_LEVEL_L3;
        }
        if (i > 0 && card && card == m->known->question.gpu &&
            m->known->arms[1].precision == arms[i].precision) {
            arms[i].predicted = m->known->arms[1].predicted;
        }
    }
    if (m->contaminated) {
        add_warning(m, "contaminated: the preflight refused this run and --force overruled it");
    }
}

int eco_measure_fill(struct eco_measure *m, struct eco_err *err)
{
    const struct eco_power_source *s = m->sources[0];
    m->run = m->known->run; /* model, versions, timestamp */
    int rc = eco_experiment_summary(m->experiment, m->ctx->arena, &m->run, err);
    if (rc) {
        return rc;
    }
    m->run.measurement_source =
        eco_step_fmt(m->ctx, "%s %s%s", s->name, eco_measure_device(s),
                     s->counter ? ", energy counter and sampled power" : ", sampled power");
    m->run.preflight = m->checks;
    m->run.preflight_count = m->check_count;
    m->run.sources = m->rows;
    m->run.source_count = m->row_count;
    fill_machine(m);
    fill_observer(m);
    fill_levels(m, (struct eco_run_arm *)(uintptr_t)m->run.arms);
    return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

struct files {
    struct eco_measure *m;
    const char *names[ECO_EXP_MAX_ARMS + 8];
    size_t n;
};

/* Our own files of this run: --resume and --force write over them. */
static int put(struct files *f, const char *name, struct eco_buf *b, struct eco_err *err)
{
    struct eco_measure *m = f->m;
    char *path = eco_step_fmt(m->ctx, "%s/%s", m->dir, name);
    int rc = path && eco_buf_ok(b)
                 ? eco_file_write(path, eco_buf_str(b), b->len, m->resumed || m->args->force, err)
                 : no_memory(err);
    if (rc == 0) {
        f->names[f->n++] = path;
    }
    eco_buf_done(b);
    return rc;
}

static int put_report(struct files *f, size_t arm, const char *name, struct eco_buf *summary,
                      struct eco_err *err)
{
    struct eco_buf b = ECO_BUF_INIT;
    int rc = eco_report_build(&f->m->run, arm, &b, err);
    if (rc == 0 && summary) {
        rc = eco_report_markdown(b.data, b.len, summary, err);
    }
    if (rc) {
        eco_buf_done(&b);
        return rc;
    }
    return put(f, name, &b, err);
}

/* energy.json is the first quantized arm; the others carry their precision. */
static int put_reports(struct files *f, struct eco_err *err)
{
    const struct eco_run *run = &f->m->run;
    struct eco_buf summary = ECO_BUF_INIT;
    int rc = put_report(f, 1, "energy.json", &summary, err);
    for (size_t i = 0; rc == 0 && i < run->arm_count; i++) {
        bool twice = i == 0 && f->m->plan.null_run; /* both arms have the same name */
        if (i != 1 && !twice) {
            const char *name = eco_step_fmt(f->m->ctx, "energy-%s.json",
                                            eco_precision_name(run->arms[i].precision));
            rc = name ? put_report(f, i, name, NULL, err) : no_memory(err);
        }
    }
    if (rc) {
        eco_buf_done(&summary);
        return rc;
    }
    return put(f, "summary.md", &summary, err);
}

/* Power over time of this session, windows shaded. */
static int put_power(struct files *f, struct eco_err *err)
{
    struct eco_measure *m = f->m;
    struct eco_arena *arena = m->ctx->arena;
    double *t = eco_arena_array(arena, CHART_POINTS, sizeof(*t));
    double *w = eco_arena_array(arena, CHART_POINTS, sizeof(*w));
    struct eco_chart_window *windows =
        eco_arena_array(arena, m->run.phase_count + 1, sizeof(*windows));
    struct eco_buf b = ECO_BUF_INIT;
    if (!t || !w || !windows) {
        return no_memory(err);
    }
    int64_t zero_ns = eco_experiment_start_ns(m->experiment);
    size_t n = eco_meter_port_chart(m->port, zero_ns, t, w, CHART_POINTS), shown = 0;
    for (size_t i = 0; n && i < m->run.phase_count; i++) {
        const struct eco_run_phase *p = &m->run.phases[i];
        if (p->start_s >= t[0]) { /* windows before a resume have no samples here */
            windows[shown++] = (struct eco_chart_window){
                p->start_s, p->end_s, eco_precision_name(m->run.arms[p->arm].precision)};
        }
    }
    struct eco_chart_power c = {.title = "Power over time",
                                .subtitle = m->run.gpu_name,
                                .source = m->run.measurement_source,
                                .t_s = t,
                                .power_w = w,
                                .count = n,
                                .windows = windows,
                                .window_count = shown,
                                .idle_w = m->run.idle.with_model_w};
    if (n < 2) {
        return 0; /* nothing sampled in this session: a resumed run that was complete */
    }
    int rc = eco_chart_svg_power(&c, &b, err);
    if (rc) {
        eco_buf_done(&b);
        return rc;
    }
    return put(f, "chart.svg", &b, err);
}

/* The measured change on the predicted curve of the card; only where there is one. */
static int put_crossover(struct files *f, struct eco_err *err)
{
    struct eco_measure *m = f->m;
    struct eco_chart_crossover c;
    struct eco_buf b = ECO_BUF_INIT;
    const struct eco_run_delta *d = &m->run.arms[1].delta;
    struct eco_chart_mark *mark = eco_arena_alloc(m->ctx->arena, sizeof(*mark));
    if (m->run.boundary != ECO_RUN_BOUNDARY_GPU_BOARD || isnan(d->pct) || m->plan.null_run) {
        return 0;
    }
    int rc = mark ? eco_chart_data_crossover(&m->known->question, &m->known->answer, &c, err)
                  : no_memory(err);
    if (rc == 0) {
        c.point_pct = d->pct;
        c.point_lo_pct = isnan(d->lo95_pct) ? d->pct : d->lo95_pct;
        c.point_hi_pct = isnan(d->hi95_pct) ? d->pct : d->hi95_pct;
        c.point_label = eco_step_fmt(m->ctx, "%s, measured here, n=%d", m->run.model.name, d->n);
        c.point_n = d->n;
        rc = eco_chart_svg_crossover(&c, &b, err);
    }
    if (rc) {
        eco_buf_done(&b);
        return rc;
    }
    return put(f, "crossover.svg", &b, err);
}

int eco_measure_write(struct eco_measure *m, struct eco_err *err)
{
    struct files f = {.m = m};
    int rc = put_reports(&f, err);
    rc = rc ? rc : put_power(&f, err);
    rc = rc ? rc : put_crossover(&f, err);
    if (rc == 0 && eco_file_exists(m->trace)) {
        f.names[f.n++] = m->trace;
    }
    f.names[f.n++] = m->journal;
    const char **kept = eco_arena_array(m->ctx->arena, f.n, sizeof(*kept));
    if (!kept) {
        return no_memory(err);
    }
    memcpy(kept, f.names, f.n * sizeof(*kept));
    m->out->files = (struct eco_strs){kept, f.n};
    return rc;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* The counter's change is the headline where there is one. */
static const struct eco_run_delta *headline(const struct eco_run_arm *arm)
{
    return isnan(arm->counter_delta.pct) ? &arm->delta : &arm->counter_delta;
}

static struct eco_opt milli(double v_j)
{
    return eco_some(v_j * 1000);
}

static void fill_row(const struct eco_run_arm *arm, bool baseline, struct eco_res_measured *out)
{
    const struct eco_run_delta *d = headline(arm);
    *out = (struct eco_res_measured){.precision = eco_precision_name(arm->precision),
                                     .trials = arm->energy_stat.n,
                                     .mj_per_token = milli(arm->j_per_token),
                                     .counter_mj_per_token = milli(arm->counter_j_per_token),
                                     .decode_mj_per_token = milli(arm->decode_j_per_token),
                                     .power_w = eco_some(arm->power_mean_w),
                                     .tokens_per_s = eco_some(arm->tokens_per_s),
                                     .level = eco_run_level_name(arm->level)};
    if (!baseline) {
        out->delta_pct = eco_some(d->pct);
        out->ci = eco_span_of(d->lo95_pct, d->hi95_pct);
        out->verdict = d->verdict;
        out->trials_to_resolve =
            d->trials_to_resolve > 0 ? eco_some(d->trials_to_resolve) : (struct eco_opt){0};
    }
}

static const char *verdict(struct eco_measure *m, const struct eco_run_arm *arm)
{
    const struct eco_run_delta *d = headline(arm);
    const char *name = eco_precision_name(arm->precision);
    const char *base = eco_precision_name(m->run.arms[0].precision);
    if (arm->basis != ECO_BASIS_MEASURED || isnan(d->pct)) {
        return eco_step_fmt(m->ctx, "%s was not measured", name);
    }
    if (isnan(d->lo95_pct)) {
        return eco_step_fmt(m->ctx,
                            "measured: %s changes energy per token by %+.3g %% against %s; too few "
                            "trials for a range (n = %d)",
                            name, d->pct, base, d->n);
    }
    const char *change = eco_step_pct(m->ctx, d->pct, d->lo95_pct, d->hi95_pct);
    const char *lo = eco_step_pct(m->ctx, d->lo95_pct, d->lo95_pct, d->hi95_pct);
    const char *hi = eco_step_pct(m->ctx, d->hi95_pct, d->lo95_pct, d->hi95_pct);
    if (d->verdict && strcmp(d->verdict, "cannot tell") != 0) {
        return eco_step_fmt(m->ctx,
                            "measured: %s %s the energy of %s on %s: %s %% per token against %s "
                            "(95 %% range of this session %s to %s %%, n = %d)",
                            name, d->pct < 0 ? "lowers" : "raises", m->run.model.name,
                            m->run.gpu_name, change, base, lo, hi, d->n);
    }
    return eco_step_fmt(
        m->ctx, "measured: no difference between %s and %s can be told%s", name, base,
        d->trials_to_resolve > 0 ? eco_step_fmt(m->ctx, "; %d blocks would", d->trials_to_resolve)
                                 : "");
}

static struct eco_strs notes(struct eco_measure *m)
{
    size_t room = m->run.warning_count + m->run.protocol_difference_count + 8, n = 0;
    const char **v = eco_arena_array(m->ctx->arena, room, sizeof(*v));
    if (!v) {
        return (struct eco_strs){NULL, 0};
    }
    for (size_t i = 0; i < m->run.warning_count; i++) {
        v[n++] = m->run.warnings[i];
    }
    for (size_t i = 0; i < m->run.protocol_difference_count; i++) {
        v[n++] = eco_step_fmt(m->ctx, "not protocol v1: %s", m->run.protocol_differences[i]);
    }
    v[n++] = "ranges are for this session on this card; another session may differ by more (the "
             "data set's answer below it is for a new session)";
    v[n++] = "without an external meter about 5 % of absolute error remains; a difference on one "
             "card cancels the sensor's gain, not its offset";
    return (struct eco_strs){v, n};
}

void eco_measure_answer(struct eco_measure *m)
{
    struct eco_res_measured *rows = eco_arena_array(m->ctx->arena, m->run.arm_count, sizeof(*rows));
    for (size_t i = 0; rows && i < m->run.arm_count; i++) {
        fill_row(&m->run.arms[i], i == 0, &rows[i]);
    }
    m->out->measured = (struct eco_list){rows, rows ? m->run.arm_count : 0};
    m->out->verdict = verdict(m, &m->run.arms[1]);
    m->out->basis = eco_basis_name(m->run.arms[1].basis);
    m->out->measurement_source = m->run.measurement_source;
    m->out->estimate = m->known->estimate;
    m->out->notes = notes(m);
}
