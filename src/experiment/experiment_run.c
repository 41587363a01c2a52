#include "experiment/experiment.h"

#include "base/clock.h"
#include "experiment/experiment_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WATCH_NS INT64_C(1000000000)
#define WINDOW_MARGIN 1.15 /* iterations are planned for a window this much over the shortest */
#define PROBE_PREFILLS 3   /* generations of one token that say how long one takes */

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

size_t eco_experiment_planned(const struct eco_experiment *x)
{
    return (size_t)x->plan.arm_count * (size_t)(x->plan.blocks + 1);
}

void eco_exp_show(struct eco_experiment *x, const char *phase, int slot)
{
    struct eco_exp_now now;
    if (!x->ports.progress) {
        return;
    }
    x->ports.meter.now(x->ports.meter.self, 1.0, &now);
    int trials = (int)eco_experiment_planned(x);
    double left_s = (double)NAN;
    if (x->trial_count > 0) { /* what is left takes what was done took */
        double each_s = x->trials[x->trial_count - 1].end_s - x->trials[x->trial_count - 1].start_s;
        left_s = each_s * (trials - slot);
    }
    struct eco_exp_progress p = {.phase = phase,
                                 .arm = eco_precision_name(x->plan.arms[x->order[slot]]),
                                 .trial = slot + 1,
                                 .trials = trials,
                                 .watts_now = now.mean_w,
                                 .tokens_per_s = x->tokens_per_s,
                                 .left_s = left_s};
    x->phase = phase;
    x->slot_shown = slot;
    x->ports.progress(x->ports.self, &p);
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
    return (struct eco_workload_hooks){on_tick, on_stop, NULL, x};
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

int eco_experiment_resume(struct eco_experiment *x, struct eco_err *err)
{
    struct eco_journal_reader reader = {.trial = take_trial, .idle = take_idle, .self = x};
    struct eco_arena arena;
    size_t bytes = 0;
    eco_arena_init(&arena, (size_t)1 << 20);
    int rc = eco_journal_read(x->ports.journal, &reader, &arena, &bytes, err);
    eco_arena_done(&arena);
    rc = rc ? rc : eco_journal_cut(x->ports.journal, bytes, err);
    x->resumed = rc == 0;
    if (rc == 0 && x->trial_count) { /* times go on where they ended */
        x->start_ns -= (int64_t)(x->trials[x->trial_count - 1].end_s * 1e9);
    }
    return rc;
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

static const char *copy(struct eco_experiment *x, const char *s)
{
    return s ? eco_arena_strdup(&x->strings, s, strlen(s)) : NULL;
}

static int load(struct eco_experiment *x, struct eco_generator *w, int arm, struct eco_err *err)
{
    struct eco_workload_arm what = {.model = x->plan.model,
                                    .precision = x->plan.arms[arm],
                                    .batch = x->plan.batch,
                                    .prompt_tokens = x->plan.prompt_tokens,
                                    .gen_tokens = x->plan.tokens,
                                    .seed = x->plan.seed};
    struct eco_workload_loaded loaded, *kept = &x->loaded[arm];
    int rc = w->class->load(w, &what, &loaded, err);
    if (rc || kept->engine) {
        return rc;
    }
    struct eco_run_package *p = eco_arena_array(&x->strings, loaded.package_count + 1, sizeof(*p));
    for (size_t i = 0; p && i < loaded.package_count; i++) {
        p[i] = (struct eco_run_package){copy(x, loaded.packages[i].name),
                                        copy(x, loaded.packages[i].version)};
    }
    *kept = (struct eco_workload_loaded){copy(x, loaded.engine), copy(x, loaded.weights),
                                         loaded.memory_bytes, p, p ? loaded.package_count : 0};
    return 0;
}

/* A window of `what` with the meter around it. */
static int metered(struct eco_experiment *x, struct eco_generator *w,
                   const struct eco_workload_window *what, struct eco_workload_result *did,
                   struct eco_exp_energy *energy, double edges_s[2], struct eco_err *err)
{
    struct eco_exp_meter *m = &x->ports.meter;
    int rc = m->begin(m->self, err);
    edges_s[0] = eco_exp_since_start_s(x);
    if (rc == 0) {
        rc = w->class->window(w, what, did, err);
        edges_s[1] = eco_exp_since_start_s(x);
        /* the meter's window is closed whatever the workload did; its error comes first */
        int closed = m->end(m->self, energy, rc ? NULL : err);
        rc = rc ? rc : closed;
    }
    return rc;
}

/* Iterations for a window that the sensor can resolve. */
static int enough(const struct eco_experiment *x, double iteration_s, int asked)
{
    double shortest = fmax(x->ports.meter.min_window_s, ECO_EXP_MIN_WINDOW_S);
    double need = ceil(shortest * WINDOW_MARGIN / fmax(iteration_s, 1e-6));
    return need > ECO_WORKLOAD_MAX_ITERATIONS ? ECO_WORKLOAD_MAX_ITERATIONS
           : need > asked                     ? (int)need
                                              : asked;
}

static int too_short(const struct eco_exp_energy *e, struct eco_err *err)
{
    return eco_err_set(err, ECO_E_DEVICE, "iterations",
                       "a window of %.3g s is too short for this sensor, twice: more iterations or "
                       "tokens are needed",
                       e->window_s);
}

/* The window; once more and longer when the sensor says that it was too short. */
static int long_enough(struct eco_experiment *x, struct eco_generator *w,
                       struct eco_workload_window what, struct eco_workload_result *did,
                       struct eco_exp_energy *energy, double edges_s[2], struct eco_err *err)
{
    int rc = metered(x, w, &what, did, energy, edges_s, err);
    if (rc == 0 && energy->too_short && !did->stopped) {
        what.iterations = enough(x, 0.8 * did->seconds / did->iterations, what.iterations);
        rc = metered(x, w, &what, did, energy, edges_s, err);
        if (rc == 0 && energy->too_short && !did->stopped) {
            rc = too_short(energy, err);
        }
    }
    return rc;
}

/* Energy of one generation of one token: its own window, many of them back to back. */
static int prefill(struct eco_experiment *x, struct eco_generator *w, struct eco_exp_trial *t,
                   bool *stopped, struct eco_err *err)
{
    struct eco_workload_window what = {PROBE_PREFILLS, 1};
    struct eco_workload_result did;
    struct eco_exp_energy e;
    double edges_s[2];
    int rc = w->class->warmup(w, &what, &did, err);
    if (rc == 0) {
        what.iterations = enough(x, did.seconds / did.iterations, 1);
        rc = long_enough(x, w, what, &did, &e, edges_s, err);
    }
    if (rc == 0 && !did.stopped) {
        t->prefill_j = (isnan(e.counter_j) ? e.integral_j : e.counter_j) / did.iterations;
    }
    *stopped = rc == 0 && did.stopped;
    return rc;
}

static void fill(struct eco_experiment *x, struct eco_exp_trial *t,
                 const struct eco_workload_result *did, const struct eco_exp_energy *e)
{
    struct eco_run_trial *r = &t->run;
    r->iterations = did->iterations;
    r->tokens = did->tokens;
    r->decode_tokens = did->decode_tokens;
    r->samples = e->samples;
    r->dropped_samples = e->dropped;
    r->window_s = e->window_s;
    r->energy_counter_j = e->counter_j;
    r->energy_integral_j = e->integral_j;
    r->energy_v1_j = e->v1_j;
    r->power_mean_w = e->mean_w;
    r->power_peak_w = e->peak_w;
    r->temp_end_c = x->watch.temp_c;
    r->clock_mean_mhz = x->watch.clocks ? x->watch.clock_sum_mhz / x->watch.clocks : (double)NAN;
    r->throttled = x->watch.throttled;
    r->tokens_per_s = (double)did->tokens / did->seconds;
    r->ttft_s = did->ttft_s;
    r->tpot_mean_s = did->tpot_mean_s;
    r->tpot_p50_s = did->tpot_p50_s;
    r->tpot_p99_s = did->tpot_p99_s;
    t->gap_frac = e->gap_frac;
    t->resolution_frac = e->resolution_frac;
    t->withhold = e->withhold;
    x->tokens_per_s = r->tokens_per_s;
}

/* Warm-up, the one-token window, the window. *stopped: the user wants to end; nothing is kept. */
static int measure(struct eco_experiment *x, struct eco_generator *w, int slot,
                   struct eco_exp_trial *t, bool *stopped, struct eco_err *err)
{
    struct eco_workload_window warm = {x->plan.warmup > 0 ? x->plan.warmup : 1, x->plan.tokens};
    struct eco_workload_result did = {.iterations = 1};
    struct eco_exp_energy energy;
    double edges_s[2];
    eco_exp_show(x, "warm-up", slot);
    int rc = w->class->warmup(w, &warm, &did, err);
    *stopped = rc == 0 && (did.stopped || eco_exp_stop(x));
    if (rc == 0 && !*stopped && x->plan.decode) {
        struct eco_workload_result kept = did;
        eco_exp_show(x, "prefill", slot);
        rc = prefill(x, w, t, stopped, err);
        did = kept;
    }
    if (rc || *stopped) {
        return rc;
    }
    eco_exp_show(x, "window", slot);
    x->watch = (struct eco_exp_watch){.temp_c = (double)NAN};
    struct eco_workload_window what = {enough(x, did.seconds / did.iterations, x->plan.iterations),
                                       x->plan.tokens};
    rc = long_enough(x, w, what, &did, &energy, edges_s, err);
    *stopped = rc == 0 && did.stopped;
    if (rc == 0 && !*stopped && isnan(energy.v1_j) && isnan(energy.integral_j) &&
        isnan(energy.counter_j)) {
        rc = eco_err_set(err, ECO_E_DEVICE, "sources", "no energy for this window: %.160s",
                         energy.reason[0] ? energy.reason : "the source gave nothing");
    }
    if (rc == 0 && !*stopped) {
        fill(x, t, &did, &energy);
        t->window_start_s = edges_s[0];
        t->window_end_s = edges_s[1];
    }
    return rc;
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
    int rc = load(x, w, arm, err);
    rc = rc ? rc : eco_exp_wait_idle(x, arm, slot, &t, err);
    *stopped = rc == 0 && eco_exp_stop(x);
    if (rc == 0 && !*stopped) {
        rc = measure(x, w, slot, &t, stopped, err);
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
    int slots = (int)eco_experiment_planned(x), rc = 0;
    bool stopped = eco_exp_stop(x);
    if (x->ports.journal && !x->resumed) {
        rc = eco_journal_write_plan(x->ports.journal, &x->plan, err);
    }
    for (int slot = 0; slot < slots && rc == 0 && !stopped;) {
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
