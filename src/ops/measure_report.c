/* What a measured run writes and answers. */
#include "base/file.h"
#include "base/hash.h"
#include "chart_data.h"
#include "dataset/dataset.h"
#include "measure.h"
#include "report/chart_svg.h"
#include "report/report.h"
#include "runs.h"
#include "texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define CHART_POINTS 2000
#define CORPUS_BYTES ((size_t)256 << 20)

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

/* ---- the run --------------------------------------------------------------------------------- */

const char *eco_measure_device(const struct eco_power_source *s)
{
    const char *colon = strncmp(s->device, "GPU ", 4) == 0 ? strstr(s->device, ": ") : NULL;
    return colon ? colon + 2 : s->device;
}

/* "model name" of /proc/cpuinfo, or the machine's kind. */
static const char *cpu_name(struct eco_measure *m, const char *otherwise)
{
    char line[256];
    const char *name = NULL;
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && !name && fgets(line, sizeof(line), f)) {
        const char *colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (colon && colon[1] == ' ' && colon[2] && colon[2] != '\n') {
            name = eco_step_fmt(m->ctx, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        }
    }
    if (f) {
        fclose(f);
    }
    return name ? name : otherwise;
}

/* The embedded engine runs on the CPU: that is the system under test, whatever the meter is. */
static bool on_cpu(const struct eco_measure *m)
{
    return strcmp(m->plan.workload, "builtin") == 0;
}

static void fill_host(struct eco_measure *m)
{
    struct eco_run_environment *e = &m->run.environment;
    struct utsname u;
    if (uname(&u) == 0) {
        e->host = eco_step_fmt(m->ctx, "%s-%s-%s", u.sysname, u.release, u.machine);
        e->os = e->host;
        const char *cpu = cpu_name(m, u.machine);
        e->cpu = eco_arena_strdup(m->ctx->arena, cpu, strlen(cpu));
    }
}

static void fill_machine(struct eco_measure *m)
{
    const struct eco_power_source *s = m->all->sources[0];
    struct eco_run_environment *e = &m->run.environment;
    bool cpu = on_cpu(m) || s->boundary == ECO_RUN_BOUNDARY_CPU_PACKAGE ||
               s->boundary == ECO_RUN_BOUNDARY_CPU_PACKAGE_DRAM;
    if (cpu && e->cpu) {
        m->run.gpu_name = e->cpu;
    } else if (s->boundary != ECO_RUN_BOUNDARY_WALL) { /* a meter is not what ran */
        m->run.gpu_name = eco_measure_device(s);
    }
    m->run.arch = s->arch != ECO_ARCH_UNKNOWN
                      ? s->arch
                      : eco_dataset_detect_any_arch(m->run.gpu_name, strlen(m->run.gpu_name), NULL);
    m->run.boundary = s->boundary;
    m->run.accelerator_count = (int)m->all->source_count;
    m->run.sample_rate_hz = 10;
    e->driver = strcmp(s->name, "nvml") == 0 ? s->driver : NULL;
    e->power_limit_w = m->state.limit_w;
    e->clock_sm_mhz = m->state.clock_sm_mhz;
    e->clock_mem_mhz = m->state.clock_mem_mhz;
    e->persistence = m->state.persistence;
    e->ecc = m->state.ecc;
}

/* What the table did not know of the sensor was found at the first step of the load. */
static void fill_sources(struct eco_measure *m)
{
    struct eco_measure_all *all = m->all;
    for (size_t i = 0; i < all->row_count; i++) {
        const struct eco_power_source *s = eco_power_at(all->set, i);
        for (size_t k = 0; k < all->source_count; k++) {
            if (all->sources[k] == s) {
                eco_power_describe(s, true, &all->rows[i]);
            }
        }
    }
    m->run.sources = all->rows;
    m->run.source_count = all->row_count;
}

static void fill_observer(struct eco_measure *m)
{
    struct eco_meter_cost cost;
    eco_meter_port_costs(m->port, &cost);
    if (cost.wall_s > 0) {
        m->run.idle.observer_cpu_frac = cost.cpu_s / cost.wall_s;
    }
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
        if (arms[i].basis == ECO_BASIS_MEASURED && m->all->sources[0]->external) {
            arms[i].level = ECO_RUN_LEVEL_L3;
        }
        if (i > 0 && card && card == m->known->question.gpu && !m->plan.null_run) {
            arms[i].predicted = m->derived[i].predicted;
        }
    }
}

static void fill_warnings(struct eco_measure *m)
{
    const char *line;
    if (m->contaminated) {
        add_warning(m, "contaminated: the preflight refused this run and --force overruled it");
    }
    if (m->all->card_note) {
        add_warning(m, m->all->card_note);
    }
    for (size_t i = 0; m->port && (line = eco_meter_port_warning(m->port, i)) != NULL; i++) {
        add_warning(m, eco_arena_strdup(m->ctx->arena, line, strlen(line)));
    }
}

/* The text that perplexity was measured on: its name, size and digest. */
static void fill_corpus(struct eco_measure *m, struct eco_run_arm *arms)
{
    const char *path = m->plan.corpus, *slash = path ? strrchr(path, '/') : NULL;
    struct eco_buf text = ECO_BUF_INIT;
    char *digest = eco_arena_alloc(m->ctx->arena, 65);
    if (path && digest && eco_file_read(path, CORPUS_BYTES, &text, NULL) == 0) {
        eco_sha256_hex(text.data, text.len, digest);
        for (size_t i = 0; i < m->run.arm_count; i++) {
            arms[i].quality.corpus_name = slash ? slash + 1 : path;
            arms[i].quality.corpus_sha256 = digest;
            arms[i].quality.corpus_bytes = (int64_t)text.len;
        }
    }
    eco_buf_done(&text);
}

/* The report is of the device that ran; the joules are the data set's, of the card asked for. */
static void fill_cpu(struct eco_measure *m, struct eco_run_arm *arms)
{
    m->run.predicted_gpu_name = m->run.gpu_name;
    m->run.predicted_arch = m->run.arch;
    m->run.gpu_name = m->run.environment.cpu;
    m->run.arch = eco_dataset_detect_any_arch(m->run.gpu_name, strlen(m->run.gpu_name), NULL);
    m->run.boundary = ECO_RUN_BOUNDARY_NONE;
    for (size_t i = 0; i < m->run.arm_count; i++) {
        if (arms[i].basis == ECO_BASIS_INTERPOLATED) {
            arms[i].basis = ECO_BASIS_EXTRAPOLATED; /* to a CPU: there is none in the data */
        }
    }
}

/* Times are measured, joules are the data set's: every arm says so. */
static void fill_derived(struct eco_measure *m, struct eco_run_arm *arms)
{
    const char *none = m->all->why_none ? m->all->why_none : "no power source";
    const char *cpu = on_cpu(m) ? m->run.environment.cpu : NULL;
    const char *joules =
        m->known->answer.change.basis == ECO_BASIS_UNAVAILABLE
            ? eco_step_fmt(m->ctx, "joules of the data set: %s", m->known->estimate.reason)
            : eco_step_fmt(m->ctx, "joules are the data set's, for %s",
                           m->run.gpu_name ? m->run.gpu_name : "the named card");
    const char *why =
        cpu ? eco_step_fmt(m->ctx, "times were measured on the CPU (%s), energy was not (%s); %s",
                           cpu, none, joules ? joules : "")
            : eco_step_fmt(m->ctx, "times were measured here, energy was not (%s)", none);
    for (size_t i = 0; i < m->run.arm_count; i++) {
        struct eco_run_arm *arm = &arms[i];
        arm->predicted = m->derived[i].predicted;
        int n = arm->energy_stat.n;
        int64_t tokens = arm->tokens;
        double tokens_per_s = arm->tokens_per_s;
        eco_run_arm_fallback(arm, why ? why : "no power source");
        arm->energy_stat.n = n;
        arm->tokens = tokens;
        arm->tokens_per_s = tokens_per_s;
    }
    m->run.measurement_source = why;
    m->run.sample_rate_hz = 0;
    if (cpu) {
        fill_cpu(m, arms);
    }
}

static void fill_metered(struct eco_measure *m, struct eco_run_arm *arms)
{
    const struct eco_power_source *s = m->all->sources[0];
    const char *profile =
        m->all->profile ? eco_step_fmt(m->ctx, "; profile of %s", m->all->profile->gpu) : "";
    m->run.measurement_source =
        eco_step_fmt(m->ctx, "%s %s%s%s", s->name, eco_measure_device(s),
                     s->counter ? ", energy counter and sampled power" : ", sampled power",
                     profile ? profile : "");
    fill_machine(m);
    fill_observer(m);
    fill_levels(m, arms);
    eco_measure_sessions(m, arms);
}

int eco_measure_fill(struct eco_measure *m, struct eco_err *err)
{
    m->run = m->known->run; /* model, versions, timestamp */
    int rc = eco_experiment_summary(m->experiment, m->ctx->arena, &m->run, err);
    if (rc) {
        return rc;
    }
    struct eco_run_arm *arms = (struct eco_run_arm *)(uintptr_t)m->run.arms;
    m->run.preflight = m->checks;
    m->run.preflight_count = m->check_count;
    fill_sources(m);
    fill_host(m);
    fill_warnings(m);
    if (m->plan.unmetered) {
        fill_derived(m, arms);
    } else {
        fill_metered(m, arms);
    }
    if (m->plan.corpus) {
        fill_corpus(m, arms);
    }
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
    int rc = path && eco_buf_ok(b) ? eco_file_write(path, eco_buf_str(b), b->len, m->overwrite, err)
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
                p->start_s, p->end_s, eco_precision_name(m->run.arms[p->arm].precision), NULL};
        }
    }
    struct eco_chart_power c = {.title = eco_word(m->ctx->lang, "Power over time"),
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
    int rc = eco_chart_svg_power(&c, eco_chart_data_look(f->m->ctx), &b, err);
    if (rc) {
        eco_buf_done(&b);
        return rc;
    }
    return put(f, "chart.svg", &b, err);
}

/* The curve is of sampled energies, so is the point; the headline may be the counter's. */
static const char *name_instrument(struct eco_measure *m, const char *source)
{
    const struct eco_run_headline h = eco_run_headline(&m->run.arms[1]);
    return !h.counter ? source
                      : eco_step_fmt(m->ctx, TX(m->ctx, chart_instrument), source ? source : "",
                                     eco_step_pct(m->ctx, h.delta->pct, 0, 0));
}

/* The measured change on the predicted curve of the card; only where there is one. */
static int put_crossover(struct files *f, struct eco_err *err)
{
    struct eco_measure *m = f->m;
    struct eco_chart_crossover c;
    struct eco_buf b = ECO_BUF_INIT;
    const struct eco_run_delta *d = &m->run.arms[1].delta;
    struct eco_chart_mark *mark = eco_arena_alloc(m->ctx->arena, sizeof(*mark));
    if (m->run.boundary != ECO_RUN_BOUNDARY_GPU_BOARD || isnan(d->pct) || m->plan.null_run ||
        m->plan.unmetered || m->known->answer.change.basis == ECO_BASIS_UNAVAILABLE) {
        return 0;
    }
    int rc = mark ? eco_chart_data_crossover(&m->known->question, &m->known->answer, &c, err)
                  : no_memory(err);
    if (rc == 0) {
        c.point_pct = d->pct;
        c.point_lo_pct = isnan(d->lo95_pct) ? d->pct : d->lo95_pct;
        c.point_hi_pct = isnan(d->hi95_pct) ? d->pct : d->hi95_pct;
        c.point_label = eco_step_fmt(m->ctx, TX(m->ctx, chart_here), m->run.model.name, d->n);
        c.point_n = d->n;
        c.point_basis = eco_word(m->ctx->lang, "measured");
        c.source = name_instrument(m, c.source);
        rc = eco_chart_svg_crossover(&c, eco_chart_data_look(f->m->ctx), &b, err);
    }
    if (rc) {
        eco_buf_done(&b);
        return rc;
    }
    return put(f, "crossover.svg", &b, err);
}

/* All conditions' files, in the order they were written. */
static int remember(struct files *f, struct eco_err *err)
{
    struct eco_measure_all *all = f->m->all;
    const char **more = eco_arena_array(all->ctx->arena, all->file_count + f->n + 1, sizeof(*more));
    if (!more) {
        return no_memory(err);
    }
    for (size_t i = 0; i < all->file_count; i++) {
        more[i] = all->files[i];
    }
    memcpy(more + all->file_count, f->names, f->n * sizeof(*more));
    all->files = more;
    all->file_count += f->n;
    return 0;
}

int eco_measure_write(struct eco_measure *m, struct eco_err *err)
{
    struct files f = {.m = m};
    int rc = put_reports(&f, err);
    if (m->port) {
        rc = rc ? rc : put_power(&f, err);
    }
    rc = rc ? rc : put_crossover(&f, err);
    if (rc == 0 && eco_file_exists(m->trace)) {
        f.names[f.n++] = m->trace;
    }
    f.names[f.n++] = m->journal;
    return rc ? rc : remember(&f, err);
}

int eco_measure_rewrite(struct eco_measure *m, struct eco_err *err)
{
    struct files f = {.m = m};
    return put_reports(&f, err);
}
