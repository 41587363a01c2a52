/* `measure` with a workload: plan -> sources -> conditions (preflight -> trials -> report). */
#include "base/file.h"
#include "dataset/dataset.h"
#include "measure.h"
#include "measure_guard.h"
#include "native_host.h"
#include "runs.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* A journal is a run: only --force removes it. What a start that failed left behind is nothing. */
static int make_folder(struct eco_measure *m, struct eco_err *err)
{
    const char *const old[] = {m->journal, m->trace, m->log};
    if (eco_file_exists(m->journal) && !m->all->args->force &&
        !eco_experiment_nothing_in(m->journal)) {
        return eco_err_set(err, ECO_E_EXISTS, "out",
                           "'%.160s' is already there: --resume %.40s goes on with that run",
                           m->journal, m->all->root);
    }
    for (size_t i = 0; i < ECO_COUNT(old); i++) {
        if (eco_file_exists(old[i]) && unlink(old[i])) {
            return eco_err_set(err, ECO_E_IO, "out", "cannot remove '%.160s': %s", old[i],
                               strerror(errno));
        }
    }
    return eco_file_mkdirs(m->dir, err);
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool stop(void *self)
{
    (void)self;
    return stop_asked != 0;
}

static void progress(void *self, const struct eco_exp_progress *p)
{
    const struct eco_measure *m = self;
    struct eco_progress line = {.done = p->trial - 1,
                                .all = p->trials,
                                .what = p->arm,
                                .phase = p->phase,
                                .watts = p->watts_now,
                                .tokens_per_s = p->tokens_per_s,
                                .left_s = p->left_s};
    char where[48] = "";
    if (m->all->plan.sweep.batch_count) {
        snprintf(where, sizeof(where), "batch %d ", m->plan.batch);
    }
    if (m->all->plan.sweep.limit_count) {
        snprintf(where + strlen(where), sizeof(where) - strlen(where), "%g W ", m->plan.limit_w);
    }
    line.where = where;
    eco_host_progress_bar(&line);
}

/* The trial that has just ended, as a line that stays. */
static void say_trial(const struct eco_measure *m)
{
    const struct eco_exp_trial *t;
    size_t n = eco_experiment_trials(m->experiment, &t);
    char line[160], energy[64] = "";
    if (n == 0) {
        return;
    }
    const struct eco_run_trial *r = &t[n - 1].run;
    double j = isnan(r->energy_counter_j) ? r->energy_v1_j : r->energy_counter_j;
    if (!isnan(j)) {
        snprintf(energy, sizeof(energy), "%8.1f mJ/token %6.0f W ", 1000 * j / (double)r->tokens,
                 r->power_mean_w);
    }
    snprintf(line, sizeof(line), "  %-11s %s%7.1f tokens/s%s%s",
             eco_precision_name(m->plan.arms[r->arm]), energy, r->tokens_per_s,
             r->block == 0 ? "  (warm-up block)" : "", r->throttled ? "  throttled" : "");
    eco_host_say(line);
}

static void trial_done(void *self)
{
    struct eco_measure *m = self;
    struct eco_err why;
    say_trial(m);
    if (m->port &&
        eco_meter_port_save_trace(m->port, m->trace, eco_experiment_start_ns(m->experiment),
                                  &why) &&
        m->ctx->warnings && !m->trace_torn) {
        eco_buf_printf(m->ctx->warnings, "%s: the trace is not whole\n", why.message);
        m->trace_torn = true;
    }
}

/* The first condition's warm-up says how long all of them take. */
static void say_estimate(void *self, double left_s)
{
    const struct eco_measure *m = self;
    double all_s = left_s * (double)eco_measure_conditions(&m->all->plan);
    char line[80];
    if (m->plan.sweep.batch_count + m->plan.sweep.limit_count <
        m->all->plan.sweep.batch_count + m->all->plan.sweep.limit_count) {
        return; /* not the first */
    }
    if (all_s < 90) {
        snprintf(line, sizeof(line), "takes about %.0f s", ceil(all_s));
    } else {
        snprintf(line, sizeof(line), "takes about %.0f min", ceil(all_s / 60));
    }
    eco_host_tell(line);
}

static int open_workload(struct eco_measure *m, struct eco_err *err)
{
    const char *w = m->plan.workload, *text = strchr(w, ':'), *visible = m->all->visible;
    struct eco_workload_hooks hooks = eco_experiment_hooks(m->experiment);
    struct eco_worker_options o = {
        .command = text ? text + 1 : NULL, .log = m->log, .hooks = hooks};
    if (text && strncmp(w, "worker:", 7) == 0 && text[1]) {
        if (visible) {
            o.command =
                eco_step_fmt(m->ctx, "export CUDA_VISIBLE_DEVICES='%s'; %s", visible, o.command);
        }
        return o.command ? eco_workload_open_worker(&o, &m->workload, err) : no_memory(err);
    }
    if (text && strncmp(w, "openai:", 7) == 0 && text[1]) {
        return eco_workload_open_openai(text + 1, &o, &m->workload, err);
    }
    if (strcmp(w, "builtin") == 0) {
        return eco_workload_open_builtin(&hooks, &m->workload, err);
    }
    return eco_err_set(err, ECO_E_INVALID, "workload",
                       "unknown workload '%.80s': worker:COMMAND, builtin or openai", w);
}

static int open_run(struct eco_measure *m, struct eco_err *err)
{
    struct eco_measure_all *all = m->all;
    const struct eco_sensor *p = all->profile;
    struct eco_exp_ports ports = {.stop = stop,
                                  .progress = progress,
                                  .trial_done = trial_done,
                                  .estimate = say_estimate,
                                  .self = m,
                                  .journal = m->journal};
    int rc = 0;
    if (m->plan.unmetered) {
        ports.meter = eco_experiment_no_meter();
    } else {
        rc = eco_meter_port_new(all->sources, all->source_count, 0, p ? p->gain : (double)NAN,
                                p ? p->offset_w : (double)NAN, &m->port, err);
        ports.meter = rc ? ports.meter : eco_meter_port_meter(m->port);
    }
    rc = rc ? rc : eco_experiment_new(&m->plan, &ports, &m->experiment, err);
    if (rc == 0 && m->resumed) {
        rc = eco_experiment_resume(m->experiment, err);
        if (rc == 0 && eco_experiment_torn(m->experiment) && m->ctx->warnings) {
            eco_buf_printf(m->ctx->warnings,
                           "the last line of %s was torn (a crash, a full disk) and is cut off; "
                           "its trial is measured again\n",
                           m->journal);
        }
    }
    return rc ? rc : open_workload(m, err);
}

static int run_trials(struct eco_measure *m, struct eco_err *err)
{
    int rc = open_run(m, err);
    rc = rc ? rc : eco_experiment_run(m->experiment, m->workload, err);
    if (rc == 0 && m->plan.corpus && !eco_experiment_partial(m->experiment)) {
        if (m->port) {
            eco_meter_port_stop(m->port);
        }
        rc = eco_experiment_quality(m->experiment, m->workload, err);
    }
    eco_host_progress(NULL);
    return rc;
}

static void close_run(struct eco_measure *m)
{
    eco_workload_close(m->workload);
    eco_experiment_free(m->experiment);
    eco_meter_port_free(m->port);
    m->workload = NULL;
    m->experiment = NULL;
    m->port = NULL;
}

static void say_what_is_left(struct eco_measure *m, size_t n, bool reported)
{
    if (m->ctx->warnings) {
        eco_buf_printf(m->ctx->warnings,
                       "%zu of %zu trials are kept%s; to go on: ecocompute measure --resume %s\n",
                       n, eco_experiment_planned(m->experiment),
                       reported ? ", and reported as partial" : "", m->all->root);
    }
}

/* The report of what there is, whole or not; then what ended the run, if something did. */
static int finish(struct eco_measure *m, int ended, struct eco_err *err)
{
    const struct eco_exp_trial *t;
    struct eco_err why = {.message = ""};
    size_t n = m->experiment ? eco_experiment_trials(m->experiment, &t) : 0;
    if (n == 0 && ended) {
        if (!m->resumed) {
            unlink(m->journal); /* a start that failed leaves nothing in the way of the next */
        }
        return ended;
    }
    int rc = eco_measure_fill(m, &why);
    rc = rc ? rc : eco_measure_write(m, &why);
    rc = rc ? rc : eco_measure_rows(m, &why);
    if (rc && !ended && err) {
        *err = why;
    }
    if (rc || eco_experiment_partial(m->experiment)) {
        say_what_is_left(m, n, rc == 0);
    }
    if (rc || !eco_experiment_partial(m->experiment)) {
        return ended ? ended : rc;
    }
    return ended
               ? ended
               : eco_err_set(err, ECO_E_INTERRUPTED, "", "interrupted; %zu of %zu trials are kept",
                             n, eco_experiment_planned(m->experiment));
}

/* ---- one condition --------------------------------------------------------------------------- */

/* What the data set says of every arm; the first quantized one leads the answer. */
static int look_up(struct eco_measure *m, struct eco_err *err)
{
    struct eco_measure_all *all = m->all;
    struct eco_arena *arena = m->ctx->arena;
    int arms = m->plan.arm_count, rc = 0;
    m->derived = eco_arena_array(arena, (size_t)arms, sizeof(*m->derived));
    struct eco_fallback *f = eco_arena_array(arena, (size_t)arms, sizeof(*f));
    if (!m->derived || !f) {
        return no_memory(err);
    }
    for (int i = 1; rc == 0 && i < arms; i++) {
        /* a null run asks the data set nothing; its baseline is known by any quantized arm */
        enum eco_precision other = m->plan.null_run ? ECO_PREC_NF4 : m->plan.arms[i];
        rc = eco_fallback_prepare(m->ctx, &all->args->target, eco_precision_name(other),
                                  m->plan.batch, ECO_FALLBACK_BESIDE, all->rows, all->row_count,
                                  &f[i], err);
        m->derived[i] = f[i].arms[1];
    }
    if (rc == 0) {
        m->derived[0] = f[1].arms[0];
        m->known = &f[1];
    }
    return rc;
}

/* A model has as many positions as it was made for, prompt and generated tokens together. */
static int check_positions(const struct eco_measure *m, struct eco_err *err)
{
    const struct eco_model *model = &m->known->question.model;
    int most = model->max_context - m->plan.prompt_tokens;
    if (model->max_context <= 0 || m->plan.tokens <= most) {
        return 0;
    }
    return eco_err_set(err, ECO_E_RANGE, "gen_tokens",
                       "'gen_tokens' must be up to %d, not %d: %.80s has %d positions, and the "
                       "prompt takes %d",
                       most, m->plan.tokens, model->name, model->max_context,
                       m->plan.prompt_tokens);
}

/* A sweep goes on where one condition cannot be: it is told, with its reason. */
static int prepare(struct eco_measure *m, size_t i, bool *skip, struct eco_err *err)
{
    struct eco_err why = {.message = ""};
    int rc = look_up(m, err);
    rc = rc ? rc : check_positions(m, err);
    rc = rc ? rc : eco_measure_set(m, err);
    if (rc) {
        return rc;
    }
    rc = eco_measure_preflight(m, &why);
    if (rc && i > 0) {
        *skip = true;
        return eco_measure_no_row(m, why.message, err);
    }
    if (rc && err) {
        *err = why;
    }
    m->resumed = m->all->args->resume && eco_file_exists(m->journal) &&
                 !eco_experiment_nothing_in(m->journal);
    m->overwrite = m->resumed || m->all->args->force;
    return rc ? rc : m->resumed ? 0 : make_folder(m, err);
}

/* What is done with the number of blocks that was asked for. */
static int say_blocks(const struct eco_exp_plan *p, int64_t asked, char *line, size_t cap)
{
    if (p->blocks > asked) {
        return snprintf(line, cap, " (%d and not %lld, so that each is equally often first)",
                        p->blocks, (long long)asked);
    }
    if (p->blocks % p->arm_count) {
        return snprintf(line, cap, " (no multiple of %d: not each is equally often first)",
                        p->arm_count);
    }
    return 0;
}

/* What will be done and how long it takes at least, before anything starts. */
static void say_duration(const struct eco_measure *m)
{
    const struct eco_measure_all *all = m->all;
    double least_s = eco_measure_least_s(&all->plan, ECO_EXP_MIN_WINDOW_S) *
                     (double)eco_measure_conditions(&all->plan);
    char line[320];
    int trials = all->plan.arm_count * (all->plan.blocks + !all->plan.unmetered);
    int steps = (int)eco_measure_conditions(&all->plan);
    int n = snprintf(line, sizeof(line), "%d precisions in %d block%s", all->plan.arm_count,
                     all->plan.blocks, all->plan.blocks == 1 ? "" : "s");
    if (!all->args->resume) {
        n += say_blocks(&all->plan, all->args->blocks, line + n, sizeof(line) - (size_t)n);
    }
    n += snprintf(line + n, sizeof(line) - (size_t)n, ": %d trials", trials * steps);
    if (least_s > 0) {
        n += snprintf(line + n, sizeof(line) - (size_t)n, ", at least %.0f min and loading on top",
                      ceil(least_s / 60));
    }
    n += snprintf(line + n, sizeof(line) - (size_t)n, "; how long is said after the first warm-up");
    if (!all->plan.quick) {
        snprintf(line + n, sizeof(line) - (size_t)n, " (--quick is shorter)");
    }
    eco_host_tell(line);
}

static int condition(struct eco_measure_all *all, size_t i, struct eco_measure *m,
                     struct eco_err *err)
{
    bool skip = false;
    int rc = eco_measure_condition(all, i, m, err);
    rc = rc ? rc : prepare(m, i, &skip, err);
    if (rc || skip) {
        return rc;
    }
    if (i == 0) {
        say_duration(m);
    }
    int ended = run_trials(m, err);
    rc = finish(m, ended, err);
    close_run(m);
    return rc;
}

static int all_conditions(struct eco_measure_all *all, struct eco_err *err)
{
    size_t n = eco_measure_conditions(&all->plan);
    struct eco_measure *first = NULL;
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        struct eco_measure *m = eco_arena_alloc(all->ctx->arena, sizeof(*m));
        rc = m ? condition(all, i, m, err) : no_memory(err);
        first = first ? first : m;
    }
    if (rc == 0 && n > 1) {
        rc = eco_measure_sweep(first, err);
    }
    if (rc == 0) {
        eco_measure_answer(first);
    }
    return rc;
}

/* With Ctrl-C and kill turned into "end after this iteration"; handlers are put back. */
static int run_all(struct eco_measure_all *all, struct eco_err *err)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction ours = {.sa_handler = on_signal}, before[ECO_COUNT(signals)];
    stop_asked = 0;
    sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < ECO_COUNT(signals); i++) {
        sigaction(signals[i], &ours, &before[i]);
    }
    int rc = all_conditions(all, err);
    eco_measure_restore(all);
    for (size_t i = 0; i < ECO_COUNT(signals); i++) {
        sigaction(signals[i], &before[i], NULL);
    }
    return rc;
}

/* ---- the operation --------------------------------------------------------------------------- */

/* The rows of the result outlive the set that they were read from. */
static const char *copy(struct eco_ctx *ctx, const char *s)
{
    return s ? eco_arena_strdup(ctx->arena, s, strlen(s)) : NULL;
}

static void list_sources(struct eco_measure_all *all)
{
    struct eco_ctx *ctx = all->ctx;
    struct eco_res_source *rows = eco_arena_array(ctx->arena, all->row_count + 1, sizeof(*rows));
    for (size_t i = 0; rows && i < all->row_count; i++) {
        const struct eco_run_source *s = &all->rows[i];
        rows[i] = (struct eco_res_source){.name = s->name,
                                          .status = s->status,
                                          .device = copy(ctx, s->device),
                                          .boundary = eco_run_boundary_name(s->boundary),
                                          .reason = copy(ctx, s->reason)};
    }
    all->out->sources = (struct eco_list){rows, rows ? all->row_count : 0};
}

/* The card that is measured is the card that is asked about, where the table knows it. */
static void name_card(struct eco_measure_all *all, struct eco_args_measure *a)
{
    const struct eco_gpu *gpu = NULL;
    const char *name = all->source_count ? eco_measure_device(all->sources[0]) : "";
    eco_dataset_detect_arch(name, strlen(name), &gpu);
    if (gpu && all->sources[0]->boundary == ECO_RUN_BOUNDARY_GPU_BOARD) {
        a->target.gpu = gpu->name;
        a->target.arch = NULL;
    }
}

/* The data set knows models by their names; made-up weights have the shape of one. */
static void name_model(struct eco_args_measure *a)
{
    const char *prefix = "synthetic:";
    if (a->target.model && strncmp(a->target.model, prefix, strlen(prefix)) == 0) {
        a->target.model += strlen(prefix);
    }
}

static int plan(struct eco_measure_all *all, struct eco_args_measure *a, struct eco_err *err)
{
    if (a->resume) {
        return eco_measure_resumed_plan(all, a, err);
    }
    a->workload = eco_measure_workload(a);
    return eco_measure_plan(all, err);
}

int eco_measure_here(struct eco_ctx *ctx, const struct eco_args_measure *args,
                     struct eco_res_measure *out, struct eco_err *err)
{
    struct eco_args_measure *a = eco_arena_alloc(ctx->arena, sizeof(*a));
    struct eco_measure_all *all = eco_arena_alloc(ctx->arena, sizeof(*all));
    if (!a || !all) {
        return no_memory(err);
    }
    *a = *args;
    all->ctx = ctx;
    all->args = a;
    all->out = out;
    all->root = a->resume ? a->resume : a->out;
    int rc = plan(all, a, err);
    rc = rc ? rc : eco_measure_open_sources(all, err);
    if (rc == 0) {
        bool was = all->plan.unmetered;
        all->plan.unmetered = all->source_count == 0;
        if (a->resume && was != all->plan.unmetered) {
            rc = eco_err_set(err, ECO_E_DEVICE, "resume",
                             "the run was begun %s a power source, and now there is %s",
                             was ? "without" : "with", was ? "one" : "none");
        } else if (!a->resume) {
            eco_measure_blocks(all);
        }
    }
    if (rc == 0) {
        name_card(all, a);
        name_model(a);
        rc = run_all(all, err);
        list_sources(all);
    }
    eco_guard_done(all->guard);
    eco_power_close(all->set);
    return rc;
}
