#include "experiment/experiment.h"

#include "base/clock.h"
#include "experiment/experiment_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WATCH_NS INT64_C(1000000000)

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

/* ---- the world outside ---------------------------------------------------------------------- */

static int64_t real_now(void *self)
{
    (void)self;
    return eco_clock_mono_ns();
}

static void real_sleep(void *self, int64_t ns)
{
    struct timespec left = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    (void)self;
    nanosleep(&left, NULL); /* a signal ends it early: the flag is looked at next */
}

int64_t eco_exp_now_ns(const struct eco_experiment *x)
{
    return x->ports.clock.now_ns(x->ports.clock.self);
}

void eco_exp_sleep(const struct eco_experiment *x, double seconds)
{
    x->ports.clock.sleep_ns(x->ports.clock.self, (int64_t)(seconds * 1e9));
}

bool eco_exp_stop(const struct eco_experiment *x)
{
    return x->ports.stop && x->ports.stop(x->ports.self);
}

double eco_exp_since_start_s(const struct eco_experiment *x)
{
    return (double)(eco_exp_now_ns(x) - x->start_ns) * 1e-9;
}

int eco_exp_first_slot(const struct eco_experiment *x)
{
    return x->plan.unmetered ? x->plan.arm_count : 0;
}

size_t eco_experiment_planned(const struct eco_experiment *x)
{
    return (size_t)(x->plan.arm_count * (x->plan.blocks + 1) - eco_exp_first_slot(x));
}

void eco_exp_show(struct eco_experiment *x, const char *phase, int slot)
{
    struct eco_exp_now now;
    if (!x->ports.progress) {
        return;
    }
    x->ports.meter.now(x->ports.meter.self, 1.0, &now);
    int trials = (int)eco_experiment_planned(x), trial = slot - eco_exp_first_slot(x);
    double left_s = (double)NAN;
    if (x->trial_count > 0) { /* what is left takes what was done took */
        double each_s = x->trials[x->trial_count - 1].end_s - x->trials[x->trial_count - 1].start_s;
        left_s = each_s * (trials - trial);
    }
    struct eco_exp_progress p = {.phase = phase,
                                 .arm = eco_precision_name(x->plan.arms[x->order[slot]]),
                                 .trial = trial + 1,
                                 .trials = trials,
                                 .watts_now = now.mean_w,
                                 .tokens_per_s = x->tokens_per_s,
                                 .left_s = left_s};
    x->phase = phase;
    x->slot_shown = slot;
    x->ports.progress(x->ports.self, &p);
}

/* ---- nothing to meter with ------------------------------------------------------------------- */

static int no_begin(void *self, struct eco_err *err)
{
    (void)self;
    (void)err;
    return 0;
}

static int no_end(void *self, struct eco_exp_energy *out, struct eco_err *err)
{
    const double none = (double)NAN;
    (void)self;
    (void)err;
    *out = (struct eco_exp_energy){
        none, none, none, none, none, none, none, none, -1, -1, false, false, "no power source"};
    return 0;
}

static void no_now(void *self, double seconds, struct eco_exp_now *out)
{
    const double none = (double)NAN;
    (void)self;
    (void)seconds;
    *out = (struct eco_exp_now){none, none, none, none, false};
}

struct eco_exp_meter eco_experiment_no_meter(void)
{
    return (struct eco_exp_meter){
        .begin = no_begin, .end = no_end, .now = no_now, .min_window_s = 0};
}

/* ---- hooks of the workload ------------------------------------------------------------------ */

static void on_tick(void *ctx)
{
    struct eco_experiment *x = ctx;
    struct eco_exp_now now;
    int64_t t = eco_exp_now_ns(x);
    if (t < x->watch.next_ns) {
        return;
    }
    x->watch.next_ns = t + WATCH_NS;
    x->ports.meter.now(x->ports.meter.self, 1.0, &now);
    x->watch.throttled |= now.throttled;
    x->watch.temp_c = now.temp_c;
    if (!isnan(now.clock_mhz)) {
        x->watch.clock_sum_mhz += now.clock_mhz;
        x->watch.clocks++;
    }
    if (x->phase) {
        eco_exp_show(x, x->phase, x->slot_shown);
    }
}

static bool on_stop(void *ctx)
{
    return eco_exp_stop(ctx);
}

struct eco_workload_hooks eco_experiment_hooks(struct eco_experiment *x)
{
    return (struct eco_workload_hooks){on_tick, on_stop, eco_exp_edge, x};
}

/* ---- life ----------------------------------------------------------------------------------- */

static int check_plan(const struct eco_exp_plan *p, struct eco_err *err)
{
    if (p->arm_count < 1 || p->arm_count > ECO_EXP_MAX_ARMS) {
        return eco_err_set(err, ECO_E_RANGE, "precision", "1 to %d precisions, not %d",
                           ECO_EXP_MAX_ARMS, p->arm_count);
    }
    if (p->blocks < 1 || p->blocks > ECO_ORDER_MAX_BLOCKS) {
        return eco_err_set(err, ECO_E_RANGE, "blocks", "'blocks' must be from 1 to %d, not %d",
                           ECO_ORDER_MAX_BLOCKS, p->blocks);
    }
    if (p->iterations < 1 || p->tokens < 1 || p->batch < 1 || p->warmup < 0 || !p->model) {
        return eco_err_set(err, ECO_E_RANGE, "iterations",
                           "iterations, tokens and batch must be at least 1");
    }
    return 0;
}

int eco_experiment_new(const struct eco_exp_plan *plan, const struct eco_exp_ports *ports,
                       struct eco_experiment **out, struct eco_err *err)
{
    int rc = check_plan(plan, err);
    struct eco_experiment *x = rc ? NULL : calloc(1, sizeof(*x));
    if (rc || !x) {
        return rc ? rc : no_memory(err);
    }
    x->plan = *plan;
    x->ports = *ports;
    if (!x->ports.clock.now_ns) {
        x->ports.clock = (struct eco_exp_clock){real_now, real_sleep, NULL};
    }
    eco_arena_init(&x->strings, (size_t)1 << 20);
    x->tokens_per_s = x->warm_temp_c = (double)NAN;
    x->rest.idle_w = x->rest.observer_w = (double)NAN;
    x->partial = true;
    for (int i = 0; i < ECO_EXP_MAX_ARMS; i++) {
        x->idle[i] = (struct eco_journal_idle){i, (double)NAN, (double)NAN, (double)NAN};
        x->loaded[i].memory_bytes = (double)NAN;
    }
    /* the warm-up block has an order of its own, so that no arm is always the first of all */
    eco_order_make(plan->arm_count, 1, plan->seed ^ UINT64_C(0x5bf03635), x->order);
    x->balanced =
        eco_order_make(plan->arm_count, plan->blocks, plan->seed, x->order + plan->arm_count);
    x->start_ns = eco_exp_now_ns(x);
    *out = x;
    return 0;
}

void eco_experiment_free(struct eco_experiment *x)
{
    if (x) {
        eco_arena_done(&x->strings);
        free(x->trials);
        free(x);
    }
}

int64_t eco_experiment_start_ns(const struct eco_experiment *x)
{
    return x->start_ns;
}

bool eco_experiment_partial(const struct eco_experiment *x)
{
    return x->partial;
}

size_t eco_experiment_trials(const struct eco_experiment *x, const struct eco_exp_trial **out)
{
    *out = x->trials;
    return x->trial_count;
}

static int keep(struct eco_experiment *x, const struct eco_exp_trial *t, struct eco_err *err)
{
    if (x->trial_count == x->trial_room) {
        size_t room = x->trial_room ? 2 * x->trial_room : 64;
        struct eco_exp_trial *more =
            room <= 2 * ECO_EXP_MAX_TRIALS ? realloc(x->trials, room * sizeof(*more)) : NULL;
        if (!more) {
            return no_memory(err);
        }
        x->trials = more;
        x->trial_room = room;
    }
    x->trials[x->trial_count++] = *t;
    return 0;
}

/* ---- what a load said of itself -------------------------------------------------------------- */

static const char *copy(struct eco_experiment *x, const char *s)
{
    return s ? eco_arena_strdup(&x->strings, s, strlen(s)) : NULL;
}

static void keep_loaded(struct eco_experiment *x, int arm, const struct eco_workload_loaded *l)
{
    struct eco_run_package *p = eco_arena_array(&x->strings, l->package_count + 1, sizeof(*p));
    for (size_t i = 0; p && i < l->package_count; i++) {
        p[i] =
            (struct eco_run_package){copy(x, l->packages[i].name), copy(x, l->packages[i].version)};
    }
    x->loaded[arm] = (struct eco_workload_loaded){copy(x, l->engine),       copy(x, l->weights),
                                                  l->memory_bytes,          p,
                                                  p ? l->package_count : 0, copy(x, l->backend)};
}

/* ---- resume --------------------------------------------------------------------------------- */

struct plan_out {
    struct eco_exp_plan *plan;
};

static int take_plan(void *self, const struct eco_exp_plan *plan, struct eco_err *err)
{
    (void)err;
    *((struct plan_out *)self)->plan = *plan;
    return 0;
}

int eco_experiment_read_plan(const char *journal, struct eco_arena *arena, struct eco_exp_plan *out,
                             struct eco_err *err)
{
    struct plan_out to = {out};
    struct eco_journal_reader reader = {.plan = take_plan, .self = &to};
    size_t bytes;
    return eco_journal_read(journal, &reader, arena, &bytes, err);
}

static int take_trial(void *self, const struct eco_exp_trial *t, struct eco_err *err)
{
    struct eco_experiment *x = self;
    int k = x->plan.arm_count, slot = t->run.block * k + t->run.position;
    if (t->run.block < 0 || t->run.block > x->plan.blocks || t->run.position < 0 ||
        t->run.position >= k || x->order[slot] != t->run.arm) {
        return eco_err_set(err, ECO_E_CONTENT, x->ports.journal,
                           "'%.120s' holds a trial that its plan does not have", x->ports.journal);
    }
    if (t->run.block > 0 && t->run.discarded) {
        x->repeated[slot] = true;
    }
    if (isnan(x->warm_temp_c) && t->run.block > 0 && !t->run.idle_timeout) {
        x->warm_temp_c = t->run.temp_start_c;
    }
    return keep(x, t, err);
}

static int take_idle(void *self, const struct eco_journal_idle *idle, struct eco_err *err)
{
    struct eco_experiment *x = self;
    (void)err;
    x->idle[idle->arm] = *idle;
    return 0;
}

static int take_rest(void *self, const struct eco_exp_rest *rest, struct eco_err *err)
{
    struct eco_experiment *x = self;
    (void)err;
    x->rest = *rest;
    x->rested = true;
    return 0;
}

static int take_loaded(void *self, int arm, const struct eco_workload_loaded *l,
                       struct eco_err *err)
{
    (void)err;
    keep_loaded(self, arm, l);
    return 0;
}

static int take_quality(void *self, const struct eco_journal_quality *q, struct eco_err *err)
{
    struct eco_experiment *x = self;
    (void)err;
    x->quality[q->arm] = *q;
    return 0;
}

int eco_experiment_resume(struct eco_experiment *x, struct eco_err *err)
{
    struct eco_journal_reader reader = {.trial = take_trial,
                                        .idle = take_idle,
                                        .rest = take_rest,
                                        .quality = take_quality,
                                        .loaded = take_loaded,
                                        .self = x};
    struct eco_arena arena;
    size_t bytes = 0;
    eco_arena_init(&arena, (size_t)1 << 20);
    int rc = eco_journal_read(x->ports.journal, &reader, &arena, &bytes, err);
    eco_arena_done(&arena);
    rc = rc ? rc : eco_journal_cut(x->ports.journal, bytes, &x->torn, err);
    x->resumed = rc == 0;
    if (rc == 0 && x->trial_count) { /* times go on where they ended */
        x->start_ns -= (int64_t)(x->trials[x->trial_count - 1].end_s * 1e9);
    }
    return rc;
}

bool eco_experiment_torn(const struct eco_experiment *x)
{
    return x->torn;
}

static bool finished(const struct eco_experiment *x, int slot)
{
    int block = slot / x->plan.arm_count, position = slot % x->plan.arm_count;
    for (size_t i = 0; i < x->trial_count; i++) {
        const struct eco_run_trial *t = &x->trials[i].run;
        if (t->block == block && t->position == position && (block == 0 || !t->discarded)) {
            return true;
        }
    }
    return false;
}

/* ---- one trial ------------------------------------------------------------------------------ */

int eco_exp_load(struct eco_experiment *x, struct eco_generator *w, int arm, struct eco_err *err)
{
    struct eco_workload_arm what = {.model = x->plan.model,
                                    .precision = x->plan.arms[arm],
                                    .batch = x->plan.batch,
                                    .prompt_tokens = x->plan.prompt_tokens,
                                    .gen_tokens = x->plan.tokens,
                                    .seed = x->plan.seed};
    struct eco_workload_loaded loaded;
    int rc = w->class->load(w, &what, &loaded, err);
    if (rc || x->loaded[arm].engine) {
        return rc;
    }
    keep_loaded(x, arm, &loaded);
    return x->ports.journal ? eco_journal_append_loaded(x->ports.journal, arm, &loaded, err) : 0;
}

static int run_trial(struct eco_experiment *x, struct eco_generator *w, int slot, bool *stopped,
                     struct eco_err *err)
{
    struct eco_exp_trial t = {
        .prefill_j = (double)NAN, .gap_frac = (double)NAN, .resolution_frac = (double)NAN};
    int k = x->plan.arm_count, arm = x->order[slot];
    eco_run_trial_init(&t.run);
    t.run.block = slot / k;
    t.run.position = slot % k;
    t.run.arm = arm;
    t.start_s = eco_exp_since_start_s(x);
    eco_exp_show(x, "load", slot);
    int rc = eco_exp_load(x, w, arm, err);
    if (rc == 0 && !x->plan.unmetered) {
        rc = eco_exp_wait_idle(x, arm, slot, &t, err);
    }
    *stopped = rc == 0 && eco_exp_stop(x);
    if (rc == 0 && !*stopped) {
        rc = eco_exp_measure(x, w, slot, &t, stopped, err);
    }
    if (rc == 0) {
        rc = w->class->unload(w, err);
    }
    if (rc || *stopped) {
        return rc;
    }
    bool repeat = t.run.throttled && t.run.block > 0 && !x->repeated[slot];
    t.run.discarded = t.run.block == 0 || repeat;
    t.end_s = eco_exp_since_start_s(x);
    rc = x->ports.journal ? eco_journal_append_trial(x->ports.journal, &t, err) : 0;
    rc = rc ? rc : keep(x, &t, err);
    if (rc == 0 && x->ports.trial_done) {
        x->ports.trial_done(x->ports.self);
    }
    x->repeated[slot] |= repeat;
    return rc;
}

int eco_experiment_run(struct eco_experiment *x, struct eco_generator *w, struct eco_err *err)
{
    int first = eco_exp_first_slot(x), last = first + (int)eco_experiment_planned(x), rc = 0;
    if (x->ports.journal && !x->resumed) {
        rc = eco_journal_write_plan(x->ports.journal, &x->plan, err);
    }
    rc = rc ? rc : eco_exp_rest(x, err);
    bool stopped = eco_exp_stop(x);
    for (int slot = first; slot < last && rc == 0 && !stopped;) {
        if (finished(x, slot)) {
            slot++;
        } else {
            rc = run_trial(x, w, slot, &stopped, err);
        }
    }
    x->phase = NULL;
    x->partial = rc != 0 || stopped;
    return rc;
}
