/* `measure` with a workload: sources -> plan -> preflight -> trials -> report. */
#include "base/clock.h"
#include "base/file.h"
#include "dataset/dataset.h"
#include "measure.h"
#include "native_host.h"
#include "runs.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_ROWS 64
#define QUICK_TOKENS 64
#define QUICK_ITERATIONS 3
#define PROMPT_TOKENS 9 /* of the fixed prompt of protocol v1 */
#define MAX_SHOWN_PROCESSES 4

/* Ctrl-C and kill: the one thing a handler may touch. */
static volatile sig_atomic_t stop_asked;

static void on_signal(int number)
{
    (void)number;
    stop_asked = 1;
}

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

/* ---- plan ------------------------------------------------------------------------------------ */

static bool is_baseline(enum eco_precision p)
{
    return p == ECO_PREC_FP16 || p == ECO_PREC_BF16 || p == ECO_PREC_FP32;
}

static int add_arm(struct eco_exp_plan *p, enum eco_precision arm, struct eco_err *err)
{
    for (int i = 0; i < p->arm_count; i++) {
        if (p->arms[i] == arm) {
            return eco_err_set(err, ECO_E_INVALID, "precision", "'precision' names %s twice",
                               eco_precision_name(arm));
        }
    }
    if (p->arm_count == ECO_EXP_MAX_ARMS) {
        return eco_err_set(err, ECO_E_RANGE, "precision", "at most %d precisions in one run",
                           ECO_EXP_MAX_ARMS);
    }
    p->arms[p->arm_count++] = arm;
    return 0;
}

/* "A,B": the 16-bit one among them is the baseline, else FP16 is added as it. */
static int plan_arms(struct eco_ctx *ctx, const char *list, struct eco_exp_plan *p,
                     struct eco_err *err)
{
    enum eco_precision base = ECO_PREC_FP16, others[ECO_EXP_MAX_ARMS];
    int n = 0, rc = 0;
    for (const char *at = list ? list : "NF4"; rc == 0 && *at;) {
        size_t len = strcspn(at, ",");
        enum eco_precision arm;
        const char *word = eco_arena_strdup(ctx->arena, at, len);
        rc = word ? eco_step_precision(word, ECO_PREC_NF4, "precision", &arm, err) : no_memory(err);
        if (rc == 0 && is_baseline(arm)) {
            base = arm;
        } else if (rc == 0 && n == ECO_EXP_MAX_ARMS) {
            rc = add_arm(p, ECO_PREC_NONE, err);
        } else if (rc == 0) {
            others[n++] = arm;
        }
        at += len + (at[len] == ',');
    }
    rc = rc ? rc : add_arm(p, base, err);
    for (int i = 0; rc == 0 && i < n && !p->null_run; i++) {
        rc = add_arm(p, others[i], err);
    }
    if (rc == 0 && p->null_run) {
        p->arms[p->arm_count++] = base;
    }
    if (rc == 0 && p->arm_count < 2) {
        rc = eco_err_set(err, ECO_E_INVALID, "precision",
                         "'precision' must name a quantized one beside the baseline %s (--null "
                         "measures the baseline against itself)",
                         eco_precision_name(base));
    }
    return rc;
}

static int make_plan(struct eco_measure *m, struct eco_err *err)
{
    const struct eco_args_measure *a = m->args;
    struct eco_exp_plan *p = &m->plan;
    if (!a->target.model) {
        return eco_err_set(err, ECO_E_MISSING, "model",
                           "no model: a workload needs a name, a folder or a file to load");
    }
    *p = (struct eco_exp_plan){.model = a->target.model,
                               .workload = a->workload,
                               .gpu = a->target.gpu,
                               .iterations = a->quick ? QUICK_ITERATIONS : (int)a->iterations,
                               .warmup = a->quick ? 1 : 2,
                               .tokens = a->quick ? QUICK_TOKENS : (int)a->gen_tokens,
                               .prompt_tokens = PROMPT_TOKENS,
                               .batch = (int)a->batch,
                               .seed = (uint64_t)a->seed,
                               .quick = a->quick,
                               .null_run = a->null,
                               .decode = !a->quick,
                               .started_unix_ms = m->ctx->now_unix_ms};
    int rc = plan_arms(m->ctx, a->precision, p, err);
    if (rc == 0) {
        p->blocks = eco_order_blocks(p->arm_count, (int)a->blocks);
    }
    return rc;
}

/* The arguments of the run that is resumed, taken from its journal. */
static int resumed_plan(struct eco_measure *m, struct eco_args_measure *a, struct eco_err *err)
{
    if (a->target.model || a->workload || a->precision) {
        return eco_err_set(err, ECO_E_INVALID, "resume",
                           "'resume' takes model, precision and workload from the run it goes on "
                           "with");
    }
    int rc = eco_experiment_read_plan(m->journal, m->ctx->arena, &m->plan, err);
    if (rc == 0) {
        a->target.model = m->plan.model;
        a->target.gpu = m->plan.gpu;
        a->workload = m->plan.workload;
        a->batch = m->plan.batch;
    }
    return rc;
}

static int paths(struct eco_measure *m, const char *dir, struct eco_err *err)
{
    m->dir = dir;
    m->journal = eco_step_fmt(m->ctx, "%s/run.jsonl", dir);
    m->trace = eco_step_fmt(m->ctx, "%s/trace.csv", dir);
    m->log = eco_step_fmt(m->ctx, "%s/worker.log", dir);
    return m->journal && m->trace && m->log ? 0 : no_memory(err);
}

/* A journal is a run: only --force removes it. What a start that failed left behind is nothing. */
static int make_folder(struct eco_measure *m, struct eco_err *err)
{
    const char *const old[] = {m->journal, m->trace, m->log};
    if (eco_file_exists(m->journal) && !m->args->force) {
        return eco_err_set(err, ECO_E_EXISTS, "out",
                           "'%.160s' is already there: --resume %.40s goes on with that run",
                           m->journal, m->dir);
    }
    for (size_t i = 0; i < ECO_COUNT(old); i++) {
        if (eco_file_exists(old[i]) && unlink(old[i])) {
            return eco_err_set(err, ECO_E_IO, "out", "cannot remove '%.160s': %s", old[i],
                               strerror(errno));
        }
    }
    return eco_file_mkdirs(m->dir, err);
}

/* ---- sources --------------------------------------------------------------------------------- */

static int open_sources(struct eco_measure *m, struct eco_err *err)
{
    const struct eco_args_measure *a = m->args;
    bool extra = a->source && strchr(a->source, ':');
    struct eco_power_options o = {
        .nvml_library = a->nvml_library, .sysfs = a->sysfs, .extra = extra ? a->source : NULL};
    if (a->source && strncmp(a->source, "sim:", 4) == 0) {
        return eco_err_set(err, ECO_E_INVALID, "source",
                           "'%.60s' is a simulation: there is nothing to measure", a->source);
    }
    m->rows = eco_arena_array(m->ctx->arena, MAX_ROWS, sizeof(*m->rows));
    int rc = m->rows ? eco_power_open(&o, &m->set, err) : no_memory(err);
    if (rc) {
        return rc;
    }
    m->source_count =
        eco_power_choose(m->set, extra ? NULL : a->source, m->sources, ECO_METER_MAX_SOURCES, err);
    for (; m->row_count < MAX_ROWS && m->row_count < eco_power_count(m->set); m->row_count++) {
        const struct eco_power_source *s = eco_power_at(m->set, m->row_count);
        bool used = false;
        for (size_t i = 0; i < m->source_count; i++) {
            used |= m->sources[i] == s;
        }
        eco_power_describe(s, used, &m->rows[m->row_count]);
    }
    return 0;
}

static const char *process_list(struct eco_measure *m, int64_t *count)
{
    struct eco_power_process p[MAX_SHOWN_PROCESSES];
    const char *text = NULL;
    *count = 0;
    for (size_t i = 0; i < m->source_count; i++) {
        size_t n = eco_power_processes(m->sources[i], p, MAX_SHOWN_PROCESSES);
        *count += (int64_t)n;
        for (size_t k = 0; k < n && k < MAX_SHOWN_PROCESSES; k++) {
            text = eco_step_fmt(m->ctx, "%s%spid %lld", text ? text : "", text ? ", " : "",
                                (long long)p[k].pid);
        }
    }
    return text;
}

static int preflight(struct eco_measure *m, struct eco_err *err)
{
    struct eco_exp_machine machine = {.source_name = m->sources[0]->device};
    eco_power_read_state(m->sources[0], &m->state);
    machine.memory_free_bytes = m->state.memory_free_bytes;
    machine.memory_total_bytes = m->state.memory_total_bytes;
    machine.process_list = process_list(m, &machine.other_processes);
    for (size_t i = 0; i < m->source_count; i++) {
        machine.shared |= m->sources[i]->shared;
    }
    int n = eco_experiment_preflight(&m->plan, &m->known->question.model, &machine, m->args->force,
                                     m->ctx->arena, m->checks, ECO_MEASURE_MAX_CHECKS,
                                     &m->contaminated, err);
    m->check_count = n > 0 ? (size_t)n : 0;
    return n < 0 ? n : 0;
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool stop(void *self)
{
    (void)self;
    return stop_asked != 0;
}

static void progress(void *self, const struct eco_exp_progress *p)
{
    char line[160];
    int n = snprintf(line, sizeof(line), "trial %d of %d, %s, %s", p->trial, p->trials, p->arm,
                     p->phase);
    (void)self;
    if (isfinite(p->watts_now)) {
        n += snprintf(line + n, sizeof(line) - (size_t)n, ", %.0f W", p->watts_now);
    }
    if (isfinite(p->tokens_per_s)) {
        n += snprintf(line + n, sizeof(line) - (size_t)n, ", %.0f tokens/s", p->tokens_per_s);
    }
    if (isfinite(p->left_s)) {
        snprintf(line + n, sizeof(line) - (size_t)n, ", %.0f min left", ceil(p->left_s / 60));
    }
    eco_host_progress(line);
}

static void trial_done(void *self)
{
    struct eco_measure *m = self;
    struct eco_err why;
    if (eco_meter_port_save_trace(m->port, m->trace, eco_experiment_start_ns(m->experiment),
                                  &why) &&
        m->ctx->warnings) {
        eco_buf_printf(m->ctx->warnings, "%s: the trace is not whole\n", why.message);
    }
}

static int open_workload(struct eco_measure *m, struct eco_err *err)
{
    const char *w = m->plan.workload, *command = strchr(w, ':');
    struct eco_workload_hooks hooks = eco_experiment_hooks(m->experiment);
    if (strncmp(w, "worker:", 7) == 0 && command[1]) {
        struct eco_worker_options o = {.command = command + 1, .log = m->log, .hooks = hooks};
        return eco_workload_open_worker(&o, &m->workload, err);
    }
    if (strcmp(w, "builtin") == 0) {
        return eco_workload_open_builtin(&hooks, &m->workload, err);
    }
    return eco_err_set(err, ECO_E_INVALID, "workload",
                       "unknown workload '%.80s': worker:COMMAND or builtin", w);
}

static int open_run(struct eco_measure *m, struct eco_err *err)
{
    struct eco_exp_ports ports = {.stop = stop,
                                  .progress = progress,
                                  .trial_done = trial_done,
                                  .self = m,
                                  .journal = m->journal};
    int rc =
        eco_meter_port_new(m->sources, m->source_count, 0, (double)NAN, (double)NAN, &m->port, err);
    if (rc) {
        return rc;
    }
    ports.meter = eco_meter_port_meter(m->port);
    rc = eco_experiment_new(&m->plan, &ports, &m->experiment, err);
    if (rc == 0 && m->resumed) {
        rc = eco_experiment_resume(m->experiment, err);
    }
    return rc ? rc : open_workload(m, err);
}

/* Runs with Ctrl-C and kill turned into "end after this iteration"; handlers are put back. */
static int run_trials(struct eco_measure *m, struct eco_err *err)
{
    struct sigaction ours = {.sa_handler = on_signal}, before[2];
    stop_asked = 0;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGINT, &ours, &before[0]);
    sigaction(SIGTERM, &ours, &before[1]);
    int rc = open_run(m, err);
    rc = rc ? rc : eco_experiment_run(m->experiment, m->workload, err);
    eco_host_progress(NULL);
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGTERM, &before[1], NULL);
    return rc;
}

static void done(struct eco_measure *m)
{
    eco_workload_close(m->workload);
    eco_experiment_free(m->experiment);
    eco_meter_port_free(m->port);
    eco_power_close(m->set);
}

/* The report of what there is, whole or not; then what ended the run, if something did. */
static int finish(struct eco_measure *m, int ended, struct eco_err *err)
{
    const struct eco_exp_trial *t;
    struct eco_err why = {0};
    size_t n = m->experiment ? eco_experiment_trials(m->experiment, &t) : 0;
    if (n == 0 && ended) {
        return ended;
    }
    int rc = eco_measure_fill(m, &why);
    rc = rc ? rc : eco_measure_write(m, &why);
    if (rc && !ended && err) {
        *err = why;
    }
    if (rc || !eco_experiment_partial(m->experiment)) {
        return ended ? ended : rc;
    }
    if (m->ctx->warnings) {
        eco_buf_printf(m->ctx->warnings,
                       "%zu of %zu trials are kept, and reported as partial; to go on: ecocompute "
                       "measure --resume %s\n",
                       n, eco_experiment_planned(m->experiment), m->dir);
    }
    return ended
               ? ended
               : eco_err_set(err, ECO_E_INTERRUPTED, "", "interrupted; %zu of %zu trials are kept",
                             n, eco_experiment_planned(m->experiment));
}

static int measure_all(struct eco_measure *m, struct eco_err *err)
{
    int rc = preflight(m, err);
    if (rc == 0 && !m->resumed) {
        rc = make_folder(m, err);
    }
    if (rc) {
        return rc;
    }
    int ended = run_trials(m, err);
    rc = finish(m, ended, err);
    if (rc == 0) {
        eco_measure_answer(m);
    }
    return rc;
}

/* The rows of the result outlive the set that they were read from. */
static const char *copy(struct eco_measure *m, const char *s)
{
    return s ? eco_arena_strdup(m->ctx->arena, s, strlen(s)) : NULL;
}

static void list_sources(struct eco_measure *m)
{
    struct eco_res_source *rows = eco_arena_array(m->ctx->arena, m->row_count + 1, sizeof(*rows));
    for (size_t i = 0; rows && i < m->row_count; i++) {
        const struct eco_run_source *s = &m->rows[i];
        rows[i] = (struct eco_res_source){.name = s->name,
                                          .status = s->status,
                                          .device = copy(m, s->device),
                                          .boundary = eco_run_boundary_name(s->boundary),
                                          .reason = copy(m, s->reason)};
    }
    m->out->sources = (struct eco_list){rows, rows ? m->row_count : 0};
}

/* The card that is measured is the card that is asked about, where the table knows it. */
static void name_card(struct eco_measure *m, struct eco_args_measure *a)
{
    const struct eco_gpu *gpu = NULL;
    const char *name = m->source_count ? eco_measure_device(m->sources[0]) : "";
    eco_dataset_detect_arch(name, strlen(name), &gpu);
    if (gpu && m->sources[0]->boundary == ECO_RUN_BOUNDARY_GPU_BOARD) {
        a->target.gpu = gpu->name;
        a->target.arch = NULL;
    }
}

int eco_measure_here(struct eco_ctx *ctx, const struct eco_args_measure *args,
                     struct eco_res_measure *out, bool *measured, struct eco_err *err)
{
    struct eco_args_measure *a = eco_arena_alloc(ctx->arena, sizeof(*a));
    struct eco_measure *m = eco_arena_alloc(ctx->arena, sizeof(*m));
    if (!a || !m) {
        return no_memory(err);
    }
    *a = *args;
    m->ctx = ctx;
    m->args = a;
    m->out = out;
    m->resumed = a->resume != NULL;
    m->known = eco_arena_alloc(ctx->arena, sizeof(*m->known));
    int rc = m->known ? paths(m, a->resume ? a->resume : a->out, err) : no_memory(err);
    rc = rc ? rc : m->resumed ? resumed_plan(m, a, err) : make_plan(m, err);
    rc = rc ? rc : open_sources(m, err);
    name_card(m, a);
    *measured = rc == 0 && m->source_count > 0;
    if (rc == 0 && (*measured || a->require_measurement)) {
        const char *other = eco_precision_name(m->plan.null_run ? ECO_PREC_NF4 : m->plan.arms[1]);
        rc = *measured ? eco_fallback_prepare(ctx, &a->target, other, m->plan.batch, m->rows,
                                              m->row_count, m->known, err)
                       : ECO_E_DEVICE; /* err says why no source was chosen */
        rc = rc ? rc : measure_all(m, err);
        list_sources(m);
    }
    done(m);
    return rc;
}
