/* What `measure` says: rows, sweep, verdict, notes. */
#include "dataset/predictor_default.h"
#include "eco_predict.h"
#include "experiment/stats.h"
#include "measure.h"
#include "runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static struct eco_opt milli(double v)
{
    return eco_some(v * 1000);
}

/*
 * How much one session differs from another in this precision, as a log ratio: what the predictor
 * adds to the spread of an answer for a new session.
 */
static double session_sd_log(struct eco_measure *m, enum eco_precision precision)
{
    struct eco_predict_query q = eco_step_query(&m->known->question, precision);
    struct eco_predict_answer fresh, inside;
    q.known_session = false;
    int rc = eco_predict(&eco_predictor_default, &q, &fresh, NULL);
    q.known_session = true;
    rc = rc ? rc : eco_predict(&eco_predictor_default, &q, &inside, NULL);
    double between = rc ? (double)NAN : fresh.sd * fresh.sd - inside.sd * inside.sd;
    return between > 0 ? sqrt(between) : (double)NAN;
}

/* The data set is of cards: how much sessions differ on a CPU it cannot say. */
void eco_measure_sessions(struct eco_measure *m, struct eco_run_arm *arms)
{
    for (size_t i = 0; i < m->run.arm_count; i++) {
        struct eco_run_sessions *s = &arms[i].sessions;
        const struct eco_run_delta *d = eco_run_headline(&arms[i]).delta;
        s->n = arms[i].basis == ECO_BASIS_MEASURED;
        double sd_log = s->n && i > 0 && m->run.boundary == ECO_RUN_BOUNDARY_GPU_BOARD
                            ? session_sd_log(m, arms[i].precision)
                            : (double)NAN;
        if (isnan(sd_log)) {
            continue; /* the report says: one session, unknown */
        }
        s->between_sd_log = sd_log;
        s->basis = "data set";
        s->reason = "one session: its own spread between sessions is unknown";
        if (!isnan(d->lo95_pct)) {
            eco_stats_beyond_session(d, sd_log, &s->lo95_pct, &s->hi95_pct);
        }
    }
}

static void fill_row(struct eco_measure *m, size_t i, struct eco_res_measured *out)
{
    const struct eco_run_arm *arm = &m->run.arms[i];
    const struct eco_run_headline h = eco_run_headline(arm);
    const struct eco_run_delta *d = h.delta;
    *out = (struct eco_res_measured){.precision = eco_precision_name(arm->precision),
                                     .batch = m->plan.batch,
                                     .trials = arm->energy_stat.n,
                                     .headline_mj_per_token = milli(h.j_per_token),
                                     .mj_per_token = milli(arm->j_per_token),
                                     .counter_mj_per_token = milli(arm->counter_j_per_token),
                                     .decode_mj_per_token = milli(arm->decode_j_per_token),
                                     .power_w = eco_some(arm->power_mean_w),
                                     .tokens_per_s = eco_some(arm->tokens_per_s),
                                     .ttft_ms = milli(arm->ttft_s),
                                     .tpot_ms = milli(arm->tpot_mean_s),
                                     .tpot_p99_ms = milli(arm->tpot_p99_s),
                                     .basis = eco_basis_name(arm->basis),
                                     .level = eco_run_level_name(arm->level)};
    if (m->plan.limit_w > 0) {
        out->power_limit_w = eco_some(m->plan.limit_w);
    }
    if (arm->basis == ECO_BASIS_MEASURED) {
        out->cross_check_pct =
            eco_some(eco_run_cross_check_pct(h.j_per_token, h.other_j_per_token));
    }
    if (arm->quality.present && !arm->quality.error) {
        out->perplexity = eco_some(arm->quality.value);
    }
    if (i > 0) {
        out->delta_pct = eco_some(d->pct);
        out->ci = eco_span_of(d->lo95_pct, d->hi95_pct);
        out->verdict = d->verdict;
        out->trials_to_resolve =
            d->trials_to_resolve > 0 ? eco_some(d->trials_to_resolve) : (struct eco_opt){0};
        out->session_ci = eco_span_of(arm->sessions.lo95_pct, arm->sessions.hi95_pct);
    }
}

/* Room for the rows of all conditions, once. */
static int room(struct eco_measure *m, struct eco_err *err)
{
    struct eco_measure_all *all = m->all;
    size_t conditions = eco_measure_conditions(&all->plan), arms = (size_t)m->plan.arm_count;
    if (all->answers) {
        return 0;
    }
    all->answers = eco_arena_array(all->ctx->arena, conditions * arms, sizeof(*all->answers));
    for (size_t i = 0; i < arms && all->answers; i++) {
        all->steps[i] = eco_arena_array(all->ctx->arena, conditions, sizeof(*all->steps[i]));
        if (!all->steps[i]) {
            return no_memory(err);
        }
    }
    return all->answers ? 0 : no_memory(err);
}

static void begin_step(const struct eco_measure *m, struct eco_run_step *s)
{
    eco_run_step_init(s);
    s->batch = m->plan.batch;
    s->power_limit_w = m->plan.limit_w > 0 ? m->plan.limit_w : (double)NAN;
}

int eco_measure_rows(struct eco_measure *m, struct eco_err *err)
{
    struct eco_measure_all *all = m->all;
    int rc = room(m, err);
    for (size_t i = 0; rc == 0 && i < m->run.arm_count; i++) {
        const struct eco_run_arm *arm = &m->run.arms[i];
        struct eco_run_step *s = &all->steps[i][all->step_count];
        fill_row(m, i, &all->answers[all->answer_count++]);
        begin_step(m, s);
        const struct eco_run_headline h = eco_run_headline(arm);
        s->j_per_token = h.j_per_token;
        s->base_j_per_token = h.base_j_per_token;
        s->tokens_per_s = arm->tokens_per_s;
        s->power_mean_w = arm->power_mean_w;
        s->delta = *h.delta;
        s->reason = arm->basis == ECO_BASIS_MEASURED ? NULL : arm->reason;
    }
    all->step_count += rc == 0;
    return rc;
}

int eco_measure_no_row(struct eco_measure *m, const char *why, struct eco_err *err)
{
    struct eco_measure_all *all = m->all;
    int rc = room(m, err);
    for (int i = 0; rc == 0 && i < m->plan.arm_count; i++) {
        struct eco_run_step *s = &all->steps[i][all->step_count];
        begin_step(m, s);
        s->reason = eco_arena_strdup(all->ctx->arena, why, strlen(why));
    }
    all->step_count += rc == 0;
    if (rc == 0 && all->ctx->warnings) {
        eco_buf_printf(all->ctx->warnings, "batch %d is left out: %s\n", m->plan.batch, why);
    }
    return rc;
}

/* ---- sweep ----------------------------------------------------------------------------------- */

/*
 * Where the sign of the change flips between two neighbouring batches whose verdicts are clear:
 * straight in the logarithms of the batch and of the ratio. NAN: nowhere.
 */
static double batch_crossover(const struct eco_run_step *s, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct eco_run_delta *a = &s[i - 1].delta, *b = &s[i].delta;
        bool same_limit = isnan(s[i].power_limit_w) || s[i].power_limit_w == s[i - 1].power_limit_w;
        bool clear = a->verdict && b->verdict && strcmp(a->verdict, "cannot tell") != 0 &&
                     strcmp(b->verdict, "cannot tell") != 0;
        if (clear && same_limit && s[i].batch > s[i - 1].batch && a->pct * b->pct < 0) {
            double x = log1p(a->pct / 100), y = log1p(b->pct / 100);
            double at = x / (x - y);
            return exp((1 - at) * log(s[i - 1].batch) + at * log(s[i].batch));
        }
    }
    return (double)NAN;
}

int eco_measure_sweep(struct eco_measure *m, struct eco_err *err)
{
    struct eco_measure_all *all = m->all;
    struct eco_run_arm *arms = (struct eco_run_arm *)(uintptr_t)m->run.arms;
    bool limits = all->plan.sweep.limit_count > 0;
    for (size_t i = 0; i < m->run.arm_count; i++) {
        arms[i].sweep = all->steps[i];
        arms[i].sweep_count = all->step_count;
        arms[i].batch_crossover =
            i > 0 && !limits ? batch_crossover(all->steps[i], all->step_count) : (double)NAN;
    }
    m->overwrite = true; /* our own report of a moment ago, now with the sweep in it */
    return eco_measure_rewrite(m, err);
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *change_words(struct eco_measure *m, const struct eco_run_arm *arm)
{
    const struct eco_run_delta *d = eco_run_headline(arm).delta;
    const char *name = eco_precision_name(arm->precision);
    const char *base = eco_precision_name(m->run.arms[0].precision);
    if (isnan(d->lo95_pct)) {
        return eco_step_fmt(m->ctx,
                            "measured: %s changes energy per token of %s on %s by %+.3g %% against "
                            "%s; too few trials for a range (n = %d)",
                            name, m->run.model.name, m->run.gpu_name, d->pct, base, d->n);
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
        m->ctx, "measured: no difference between %s and %s of %s on %s can be told%s", name, base,
        m->run.model.name, m->run.gpu_name,
        d->trials_to_resolve > 0 ? eco_step_fmt(m->ctx, "; %d blocks would", d->trials_to_resolve)
                                 : "");
}

/* Without a power source: what is measured first, what is only predicted after it. */
static const char *times_words(struct eco_measure *m)
{
    const struct eco_run_arm *base = &m->run.arms[0], *arm = &m->run.arms[1];
    return eco_step_fmt(m->ctx,
                        "measured times only, on %s: %s %.3g tokens/s, %s %.3g; energy from the "
                        "data set, not measured here: %s",
                        m->run.gpu_name, eco_precision_name(base->precision), base->tokens_per_s,
                        eco_precision_name(arm->precision), arm->tokens_per_s,
                        m->known->estimate.verdict);
}

static const char *sweep_words(struct eco_measure *m, const struct eco_run_arm *arm)
{
    if (isnan(arm->batch_crossover)) {
        return "";
    }
    return eco_step_fmt(m->ctx, "; the sign changes near batch %.0f", arm->batch_crossover);
}

static const char *verdict(struct eco_measure *m, const struct eco_run_arm *arm)
{
    if (m->plan.unmetered) {
        return times_words(m);
    }
    if (arm->basis != ECO_BASIS_MEASURED || isnan(eco_run_headline(arm).delta->pct)) {
        return eco_step_fmt(m->ctx, "%s was not measured", eco_precision_name(arm->precision));
    }
    return eco_step_fmt(m->ctx, "%s%s", change_words(m, arm), sweep_words(m, arm));
}

static struct eco_strs notes(struct eco_measure *m)
{
    const struct eco_measure_all *all = m->all;
    const struct eco_strs *derived = &m->known->estimate.notes;
    size_t cap = m->run.warning_count + derived->n + 8, n = 0;
    const char **v = eco_arena_array(m->ctx->arena, cap, sizeof(*v));
    if (!v) {
        return (struct eco_strs){NULL, 0};
    }
    for (size_t i = 0; i < m->run.warning_count; i++) {
        v[n++] = m->run.warnings[i];
    }
    if (m->run.protocol_difference_count) {
        const char *list = "";
        for (size_t i = 0; list && i < m->run.protocol_difference_count; i++) {
            list =
                eco_step_fmt(m->ctx, "%s%s%s", list, i ? "; " : "", m->run.protocol_differences[i]);
        }
        v[n++] = eco_step_fmt(m->ctx, "not protocol v1: %s", list ? list : "");
    }
    if (all->why_none) {
        v[n++] = eco_step_fmt(m->ctx, "no energy was measured: %s", all->why_none);
        for (size_t i = 0; i < derived->n && n < cap; i++) {
            v[n++] = derived->v[i]; /* the joules are the data set's: what it says of them */
        }
        return (struct eco_strs){v, n};
    }
    v[n++] = m->run.boundary == ECO_RUN_BOUNDARY_GPU_BOARD
                 ? "ranges are for this session on this card; what another session would show is "
                   "apart, with the spread between sessions that the data set knows"
                 : "ranges are for this session on this device; one session cannot tell what "
                   "another would show";
    if (!all->sources[0]->external) {
        v[n++] = "without an external meter about 5 % of absolute error remains; a difference on "
                 "one card cancels the sensor's gain, not its offset";
    }
    return (struct eco_strs){v, n};
}

void eco_measure_answer(struct eco_measure *m)
{
    struct eco_measure_all *all = m->all;
    struct eco_res_measure *out = all->out;
    const struct eco_run_idle *idle = &m->run.idle;
    out->measured = (struct eco_list){all->answers, all->answer_count};
    out->files = (struct eco_strs){all->files, all->file_count};
    out->verdict = verdict(m, &m->run.arms[1]);
    out->basis = eco_basis_name(m->run.arms[1].basis);
    out->measurement_source = m->run.measurement_source;
    out->boundary = m->plan.unmetered ? NULL : eco_run_boundary_name(m->run.boundary);
    out->idle_w = eco_some(idle->without_model_w);
    out->idle_loaded_w = eco_some(idle->with_model_w);
    out->observer_w = eco_some(idle->observer_power_w);
    out->batch_crossover = eco_some(m->run.arms[1].batch_crossover);
    out->estimate = m->known->estimate;
    out->notes = notes(m);
}
