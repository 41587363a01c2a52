/* From trials to a run: means, changes against the baseline, protocol, what to warn about. */
#include "experiment/experiment_state.h"
#include "experiment/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Protocol v1 */
#define V1_TOKENS 256
#define V1_ITERATIONS 10
#define V1_WARMUP 2
#define MAX_LINES 24
#define GAP_AGREES 0.05 /* counter and integral agree within it: two sources */

enum series { V1, COUNTER, DECODE };

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

/* ---- joules per token of one trial, three ways; NAN: not known ------------------------------- */

static double v1_j(const struct eco_exp_trial *t)
{
    const struct eco_run_trial *r = &t->run;
    return !isnan(r->energy_v1_j)         ? r->energy_v1_j
           : !isnan(r->energy_integral_j) ? r->energy_integral_j
                                          : r->energy_counter_j;
}

/* Whole generations are those whose first token lies in the window: of a steady state, not all. */
static double decode_per_token(const struct eco_experiment *x, const struct eco_exp_trial *t)
{
    const struct eco_run_trial *r = &t->run;
    double e = isnan(r->energy_counter_j) ? r->energy_integral_j : r->energy_counter_j;
    if (r->decode_tokens <= 0 || r->iterations <= 0) {
        return (double)NAN;
    }
    double generations = (double)(r->tokens - r->decode_tokens) / x->plan.batch;
    return (e - generations * t->prefill_j) / (double)r->decode_tokens;
}

static double per_token(const struct eco_experiment *x, const struct eco_exp_trial *t,
                        enum series s)
{
    double tokens = (double)t->run.tokens;
    return s == V1        ? v1_j(t) / tokens
           : s == COUNTER ? t->run.energy_counter_j / tokens
                          : decode_per_token(x, t);
}

static const struct eco_exp_trial *counted(const struct eco_experiment *x, int block, int arm)
{
    for (size_t i = 0; i < x->trial_count; i++) {
        const struct eco_run_trial *r = &x->trials[i].run;
        if (!r->discarded && r->block == block && r->arm == arm && r->tokens > 0) {
            return &x->trials[i];
        }
    }
    return NULL;
}

/* ---- an arm ---------------------------------------------------------------------------------- */

struct mean {
    double sum;
    int n;
};

static void add(struct mean *m, double v)
{
    if (!isnan(v)) {
        m->sum += v;
        m->n++;
    }
}

static double mean_of(const struct mean *m)
{
    return m->n ? m->sum / m->n : (double)NAN;
}

static void fill_means(const struct eco_experiment *x, int index, struct eco_run_arm *arm)
{
    struct mean counter = {0}, net = {0}, decode = {0}, prefill = {0}, gap = {0}, ttft = {0},
                tpot = {0}, p50 = {0}, p99 = {0};
    double values[ECO_ORDER_MAX_BLOCKS] = {0}, counted_j[ECO_ORDER_MAX_BLOCKS] = {0}, energy = 0,
           seconds = 0, busy_s = 0, peak = (double)NAN;
    size_t n = 0;
    int64_t tokens = 0, dropped = 0;
    for (int block = 1; block <= x->plan.blocks; block++) {
        const struct eco_exp_trial *t = counted(x, block, index);
        if (!t) {
            continue;
        }
        const struct eco_run_trial *r = &t->run;
        values[n++] = per_token(x, t, V1);
        energy += v1_j(t);
        seconds += r->window_s;
        busy_s += (double)r->tokens / r->tokens_per_s;
        tokens += r->tokens;
        dropped += r->dropped_samples > 0 ? r->dropped_samples : 0;
        peak = fmax(peak, r->power_peak_w);
        counted_j[n - 1] = per_token(x, t, COUNTER);
        add(&counter, counted_j[n - 1]);
        add(&net, (r->energy_counter_j - r->idle_before_w * r->window_s) / (double)r->tokens);
        add(&decode, per_token(x, t, DECODE));
        add(&prefill, t->prefill_j);
        add(&gap, t->gap_frac);
        add(&ttft, r->ttft_s);
        add(&tpot, r->tpot_mean_s);
        add(&p50, r->tpot_p50_s);
        add(&p99, r->tpot_p99_s);
    }
    eco_stats_arm(values, n, &arm->energy_stat);
    if (n == 0) {
        return;
    }
    arm->total_energy_j = energy;
    arm->tokens = tokens;
    arm->dropped_samples = dropped;
    arm->j_per_token = energy / (double)tokens;
    arm->power_mean_w = energy / seconds;
    arm->tokens_per_s = (double)tokens / busy_s;
    arm->power_peak_w = peak;
    arm->counter_j_per_token = mean_of(&counter);
    if (counter.n == (int)n) { /* a trial without it is no trial of the counter's spread */
        eco_stats_arm(counted_j, n, &arm->counter_stat);
    }
    arm->net_j_per_token = mean_of(&net);
    arm->counter_gap_frac = mean_of(&gap);
    arm->decode_j_per_token = mean_of(&decode);
    arm->prefill_j = mean_of(&prefill);
    arm->ttft_s = mean_of(&ttft);
    arm->tpot_mean_s = mean_of(&tpot);
    arm->tpot_p50_s = mean_of(&p50);
    arm->tpot_p99_s = mean_of(&p99);
}

static void fill_delta(const struct eco_experiment *x, int arm, enum series s,
                       struct eco_run_delta *out)
{
    struct eco_stats_pair pairs[ECO_ORDER_MAX_BLOCKS];
    struct eco_stats_change how = {.arms = x->plan.arm_count};
    size_t n = 0;
    for (int block = 1; block <= x->plan.blocks; block++) {
        const struct eco_exp_trial *b = counted(x, block, 0), *o = counted(x, block, arm);
        double base = b ? per_token(x, b, s) : (double)NAN,
               other = o ? per_token(x, o, s) : (double)NAN;
        if (base > 0 && other > 0) {
            pairs[n++] = (struct eco_stats_pair){base, other, b->run.position, o->run.position};
            if (s != V1) { /* a counter moves in steps; a sampled window does not */
                how.resolution_frac = fmax(how.resolution_frac, b->resolution_frac);
                how.resolution_frac = fmax(how.resolution_frac, o->resolution_frac);
            }
        }
    }
    eco_stats_delta(pairs, n, &how, out);
}

static bool any_withheld(const struct eco_experiment *x)
{
    for (size_t i = 0; i < x->trial_count; i++) {
        if (!x->trials[i].run.discarded && x->trials[i].withhold) {
            return true;
        }
    }
    return false;
}

/* Two sources, three trials, balanced order: L2. One is L1. */
static enum eco_run_level level_of(const struct eco_experiment *x, const struct eco_run_arm *arm)
{
    bool two = fabs(arm->counter_gap_frac) <= GAP_AGREES; /* false where it is not known */
    return two && arm->energy_stat.n >= 3 && x->balanced ? ECO_RUN_LEVEL_L2 : ECO_RUN_LEVEL_L1;
}

/* The report outlives the experiment. */
static const char *copy(struct eco_arena *arena, const char *s)
{
    return s ? eco_arena_strdup(arena, s, strlen(s)) : NULL;
}

static void fill_packages(const struct eco_workload_loaded *loaded, struct eco_arena *arena,
                          struct eco_run_environment *out)
{
    size_t n = loaded->package_count;
    struct eco_run_package *p = eco_arena_array(arena, n + 1, sizeof(*p));
    for (size_t i = 0; p && i < n; i++) {
        p[i] = (struct eco_run_package){copy(arena, loaded->packages[i].name),
                                        copy(arena, loaded->packages[i].version)};
    }
    out->packages = p;
    out->package_count = p ? n : 0;
}

static void fill_arm(const struct eco_experiment *x, int index, const struct eco_run_arm *base,
                     struct eco_arena *arena, struct eco_run_arm *arm)
{
    const struct eco_workload_loaded *loaded = &x->loaded[index];
    eco_run_arm_init(arm);
    arm->precision = x->plan.arms[index];
    arm->engine = copy(arena, loaded->engine);
    arm->weights = copy(arena, loaded->weights);
    arm->backend = copy(arena, loaded->backend);
    fill_means(x, index, arm);
    if (arm->energy_stat.n == 0) {
        arm->reason = "no trial of this arm was finished";
        return;
    }
    if (x->plan.unmetered) {
        arm->reason = "no power source: only times were measured";
        return;
    }
    arm->basis = ECO_BASIS_MEASURED;
    arm->level = level_of(x, arm);
    arm->prefill_reason =
        isnan(arm->prefill_j) ? "no window of one-token generations was measured" : NULL;
    arm->base_j_per_token = index == 0 ? arm->j_per_token : base->j_per_token;
    arm->base_counter_j_per_token =
        index == 0 ? arm->counter_j_per_token : base->counter_j_per_token;
    if (index == 0) {
        return;
    }
    fill_delta(x, index, V1, &arm->delta);
    fill_delta(x, index, COUNTER, &arm->counter_delta);
    fill_delta(x, index, DECODE, &arm->decode_delta);
    /* sources that differ by over 15 % decide only where they agree on the sign */
    if (any_withheld(x) && !(arm->delta.pct * arm->counter_delta.pct > 0)) {
        arm->delta.verdict = arm->counter_delta.verdict = "cannot tell";
    }
}

/* ---- protocol, warnings ---------------------------------------------------------------------- */

struct lines {
    struct eco_arena *arena;
    const char *v[MAX_LINES];
    size_t n;
};

static void line(struct lines *l, const char *text)
{
    const char *kept = text ? eco_arena_strdup(l->arena, text, strlen(text)) : NULL;
    if (kept && l->n < MAX_LINES) {
        l->v[l->n++] = kept;
    }
}

static void line_if(struct lines *l, const char *what, int is, int v1)
{
    char text[96];
    if (is != v1) {
        snprintf(text, sizeof(text), "%s %d instead of %d", what, is, v1);
        line(l, text);
    }
}

static void differences(const struct eco_experiment *x, struct lines *l)
{
    int longest = x->plan.iterations, starts = 1;
    char text[128];
    for (size_t i = 0; i < x->trial_count; i++) {
        int did = x->trials[i].run.iterations, parts = x->trials[i].starts;
        longest = did > longest ? did : longest;
        starts = parts > starts ? parts : starts;
    }
    line_if(l, "batch", x->plan.batch, 1);
    line_if(l, "tokens per iteration", x->plan.tokens, V1_TOKENS);
    line_if(l, "warm-up iterations", x->plan.warmup, V1_WARMUP);
    line_if(l, "iterations", x->plan.iterations, V1_ITERATIONS);
    if (longest > x->plan.iterations) {
        snprintf(text, sizeof(text), "up to %d iterations, so that windows are long enough",
                 longest);
        line(l, text);
    }
    if (starts > 1) {
        snprintf(text, sizeof(text),
                 "windows of %d parts, each from a random phase of a sensor that sees a part of "
                 "the time",
                 starts);
        line(l, text);
    }
    if (x->plan.limit_w > 0) {
        snprintf(text, sizeof(text), "power limit set to %g W", x->plan.limit_w);
        line(l, text);
    }
    if (x->plan.clock_mhz > 0) {
        snprintf(text, sizeof(text), "clock locked to %g MHz", x->plan.clock_mhz);
        line(l, text);
    }
    if (x->plan.unmetered) {
        line(l, "no power source: times alone");
    }
}

#define OTHERS_FRAC 0.05
#define CLOCK_OFF 0.02 /* a locked clock that runs this far from what was asked */

static void warn_clock(const struct eco_experiment *x, struct lines *l)
{
    double worst_mhz = x->plan.clock_mhz;
    char text[160];
    for (size_t i = 0; i < x->trial_count; i++) {
        double mhz = x->trials[i].run.clock_mean_mhz;
        if (fabs(mhz - x->plan.clock_mhz) > fabs(worst_mhz - x->plan.clock_mhz)) {
            worst_mhz = mhz;
        }
    }
    if (fabs(worst_mhz - x->plan.clock_mhz) > CLOCK_OFF * x->plan.clock_mhz) {
        snprintf(text, sizeof(text),
                 "the clock was locked to %g MHz, but ran at %.0f MHz in one trial",
                 x->plan.clock_mhz, worst_mhz);
        line(l, text);
    }
}

/* Others on the same CPUs take time from the engine, and their energy is counted with its own. */
static void warn_others(const struct eco_experiment *x, struct lines *l)
{
    int shared = 0, n = 0;
    double most = 0;
    char text[160];
    for (size_t i = 0; i < x->trial_count; i++) {
        double frac = x->trials[i].run.discarded ? 0.0 : x->trials[i].others_cpu_frac;
        n += !x->trials[i].run.discarded;
        shared += frac >= OTHERS_FRAC;
        most = frac > most ? frac : most;
    }
    if (shared) {
        snprintf(text, sizeof(text),
                 "in %d of %d trials other processes used %.0f %% of the CPUs or more, up to %.0f "
                 "%%: speed and energy are not this run's alone",
                 shared, n, OTHERS_FRAC * 100, most * 100);
        line(l, text);
    }
}

static void warn_trials(const struct eco_experiment *x, struct lines *l)
{
    int throttled = 0, late = 0, n = 0;
    char text[160];
    for (size_t i = 0; i < x->trial_count; i++) {
        n += !x->trials[i].run.discarded;
        throttled += x->trials[i].run.throttled && !x->trials[i].run.discarded;
        late += x->trials[i].run.idle_timeout && !x->trials[i].run.discarded;
    }
    if (throttled) {
        snprintf(text, sizeof(text), "%d of %d trials ran throttled, also when repeated", throttled,
                 n);
        line(l, text);
    }
    if (late) {
        snprintf(text, sizeof(text),
                 "%d of %d trials started away from the idle power or temperature of the others",
                 late, n);
        line(l, text);
    }
    warn_others(x, l);
    if (!x->balanced) {
        line(l,
             "the order is not balanced: blocks are no multiple of the arms; places differ by 1");
    }
    if (any_withheld(x)) {
        line(l, "counter and sampled power differ by over 15 %: no verdict unless both agree on "
                "the sign");
    }
    if (x->plan.clock_mhz > 0) {
        warn_clock(x, l);
    }
    if (x->partial) {
        line(l, "interrupted: trials are missing; --resume goes on");
    }
}

/* Both arms the same: what this machine could have seen at all. */
static void warn_null(const struct eco_experiment *x, const struct eco_run_arm *arms,
                      struct lines *l)
{
    char text[200];
    if (!x->plan.null_run || x->plan.arm_count < 2) {
        return;
    }
    const struct eco_run_delta *d = eco_run_headline(&arms[1]).delta;
    if (isnan(d->lo95_pct)) {
        line(l, "null run: too few blocks for an interval");
        return;
    }
    snprintf(text, sizeof(text),
             "null run, both arms %s: %+.2f %% (95 %% range %+.2f to %+.2f), zero is %s; smallest "
             "difference this machine could have seen: %.2f %%",
             eco_precision_name(x->plan.arms[0]), d->pct, d->lo95_pct, d->hi95_pct,
             d->lo95_pct <= 0 && d->hi95_pct >= 0 ? "inside" : "OUTSIDE",
             eco_stats_detectable_pct(d));
    line(l, text);
}

static int keep_lines(struct lines *l, const char *const **out, size_t *count, struct eco_err *err)
{
    const char **v = eco_arena_array(l->arena, l->n + 1, sizeof(*v));
    if (!v) {
        return no_memory(err);
    }
    memcpy(v, l->v, l->n * sizeof(*v));
    *out = v;
    *count = l->n;
    return 0;
}

/* ---- trials and phases ----------------------------------------------------------------------- */

static int fill_trials(const struct eco_experiment *x, struct eco_arena *arena, struct eco_run *run,
                       struct eco_err *err)
{
    struct eco_run_trial *trials = eco_arena_array(arena, x->trial_count + 1, sizeof(*trials));
    struct eco_run_phase *phases = eco_arena_array(arena, x->trial_count + 1, sizeof(*phases));
    if (!trials || !phases) {
        return no_memory(err);
    }
    for (size_t i = 0; i < x->trial_count; i++) {
        const struct eco_exp_trial *t = &x->trials[i];
        trials[i] = t->run;
        eco_run_phase_init(&phases[i]);
        phases[i].name = "window";
        phases[i].arm = t->run.arm;
        phases[i].trial = (int)i;
        phases[i].start_s = t->window_start_s;
        phases[i].end_s = t->window_end_s;
        phases[i].energy_j = isnan(t->run.energy_counter_j) ? v1_j(t) : t->run.energy_counter_j;
        phases[i].power_mean_w = t->run.power_mean_w;
    }
    run->trials = trials;
    run->phases = phases;
    run->trial_count = run->phase_count = x->trial_count;
    return 0;
}

/* ---- quality --------------------------------------------------------------------------------- */

/* The corpus' name, size and digest are the caller's. */
static void fill_quality(const struct eco_experiment *x, struct eco_run_arm *arms,
                         struct eco_arena *arena)
{
    double base = exp(x->quality[0].mean_nll);
    for (int i = 0; i < x->plan.arm_count && x->plan.corpus; i++) {
        const struct eco_journal_quality *q = &x->quality[i];
        struct eco_run_quality *out = &arms[i].quality;
        bool measured = q->done && !q->error[0];
        if (!q->done) {
            continue;
        }
        out->present = true;
        out->error = q->error[0] ? eco_arena_strdup(arena, q->error, strlen(q->error)) : NULL;
        out->seq_len = q->seq_len;
        out->tokens_evaluated = q->tokens;
        out->windows = q->windows;
        out->fp16_value = x->quality[0].done && !x->quality[0].error[0] ? base : (double)NAN;
        out->mean_nll = measured ? q->mean_nll : (double)NAN;
        out->value = exp(out->mean_nll);
        out->delta_pct = 100 * (out->value / out->fp16_value - 1);
    }
}

int eco_experiment_summary(const struct eco_experiment *x, struct eco_arena *arena,
                           struct eco_run *run, struct eco_err *err)
{
    int k = x->plan.arm_count;
    struct eco_run_arm *arms = eco_arena_array(arena, (size_t)k, sizeof(*arms));
    struct lines custom = {.arena = arena}, warnings = {.arena = arena};
    if (!arms) {
        return no_memory(err);
    }
    for (int i = 0; i < k; i++) {
        fill_arm(x, i, &arms[0], arena, &arms[i]);
    }
    differences(x, &custom);
    warn_trials(x, &warnings);
    warn_null(x, arms, &warnings);
    run->scenario = x->plan.batch == 1 ? "SingleStream" : "Offline";
    run->protocol = custom.n ? "custom" : "v1";
    run->partial = x->partial;
    run->method =
        x->plan.unmetered
            ? "times measured here; energy predicted from published measurements"
            : "energy of whole windows of back-to-back generations, prefill inside, over all "
              "generated tokens; gross board energy, idle included";
    run->seed = x->plan.seed;
    run->batch = x->plan.batch;
    run->prompt_tokens = x->plan.prompt_tokens;
    run->generated_tokens = x->plan.tokens;
    run->context_tokens = x->plan.prompt_tokens + x->plan.tokens;
    run->iterations = x->plan.iterations;
    run->warmup = x->plan.warmup;
    run->blocks = x->plan.blocks;
    run->arms = arms;
    run->arm_count = (size_t)k;
    run->baseline_arm = 0;
    run->idle.with_model_w = x->idle[0].mean_w;
    run->idle.without_model_w = x->rest.idle_w;
    run->idle.observer_power_w = x->rest.observer_w;
    run->idle.reason = x->rest.reason[0]
                           ? eco_arena_strdup(arena, x->rest.reason, strlen(x->rest.reason))
                       : x->rested ? NULL
                                   : "the machine at rest was not measured";
    fill_quality(x, arms, arena);
    fill_packages(&x->loaded[0], arena, &run->environment);
    int rc = fill_trials(x, arena, run, err);
    rc = rc ? rc
            : keep_lines(&custom, &run->protocol_differences, &run->protocol_difference_count, err);
    return rc ? rc : keep_lines(&warnings, &run->warnings, &run->warning_count, err);
}
