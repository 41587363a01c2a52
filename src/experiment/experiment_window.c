/* What is measured of a trial: warm-up, a window of one-token generations, the window. */
#include "experiment/experiment_state.h"
#include "experiment/random.h"

#include <math.h>
#include <string.h>

#define WINDOW_MARGIN 1.15 /* iterations are planned for a window this much over the shortest */
#define PROBE_PREFILLS 3   /* generations of one token that say how long one takes */
#define LOOK_LOADED_S 2.5  /* load that a look at the sensor needs: averages go up to 1 s */
#define PART_PERIODS 5     /* a part of a window sees the sensor's refresh at least this often */

/* A window as the workload did it and as the meter saw it. */
struct metered {
    struct eco_workload_result did;
    struct eco_exp_energy energy;
    double edges_s[2];
    int starts;
};

/*
 * Both edges are as cheap as the meter can make them: the workload goes on meanwhile. Where the
 * meter has no such edges the whole window counts, and the workload's own numbers with it.
 */
void eco_exp_edge(void *experiment, bool end)
{
    struct eco_experiment *x = experiment;
    struct eco_exp_meter *port = &x->ports.meter;
    struct eco_exp_steady *s = &x->steady;
    if (!port->begin_part || x->plan.unmetered || s->rc || s->ended || s->begun != end) {
        return;
    }
    s->edges_s[end] = eco_exp_since_start_s(x);
    s->rc = end ? port->end_part(port->self, true, &s->energy, NULL)
                : port->begin_part(port->self, NULL);
    s->begun = s->rc == 0;
    s->ended = end && s->rc == 0;
}

/* What the meter saw between the edges of the steady state takes the place of the whole window. */
static int take_steady(struct eco_experiment *x, struct metered *m, struct eco_err *err)
{
    struct eco_exp_steady *s = &x->steady;
    if (s->begun && !s->ended) { /* the window ended inside: its part is closed and forgotten */
        x->ports.meter.end_part(x->ports.meter.self, true, &s->energy, NULL);
    }
    if (!m->did.steady || x->plan.unmetered) {
        return 0;
    }
    if (!s->ended) {
        return eco_err_set(err, ECO_E_DEVICE, "concurrency",
                           "the power of the steady state could not be read");
    }
    m->energy = s->energy;
    memcpy(m->edges_s, s->edges_s, sizeof(m->edges_s));
    return 0;
}

static int whole(struct eco_experiment *x, struct eco_generator *w,
                 const struct eco_workload_window *what, struct metered *m, struct eco_err *err)
{
    struct eco_exp_meter *port = &x->ports.meter;
    int rc = port->begin(port->self, err);
    m->edges_s[0] = eco_exp_since_start_s(x);
    m->starts = 1;
    m->did.steady = false;
    x->steady = (struct eco_exp_steady){.begun = false};
    if (rc == 0) {
        rc = w->class->window(w, what, &m->did, err);
        m->edges_s[1] = eco_exp_since_start_s(x);
        /* the meter's window is closed whatever the workload did; its error comes first */
        int closed = port->end(port->self, &m->energy, rc ? NULL : err);
        rc = rc ? rc : closed;
        int steady = take_steady(x, m, rc ? NULL : err);
        rc = rc ? rc : steady;
    }
    return rc;
}

/* ---- a window in parts ----------------------------------------------------------------------- */

/* Means are weighted by what they are means of; the 99th percentile is the worst part's. */
static void add(struct eco_workload_result *sum, const struct eco_workload_result *part)
{
    double before = sum->iterations, more = part->iterations, all = before + more;
    if (before == 0) {
        *sum = *part;
        return;
    }
    sum->ttft_s = (sum->ttft_s * before + part->ttft_s * more) / all;
    sum->tpot_mean_s = (sum->tpot_mean_s * before + part->tpot_mean_s * more) / all;
    sum->tpot_p50_s = (sum->tpot_p50_s * before + part->tpot_p50_s * more) / all;
    sum->tpot_p99_s = fmax(sum->tpot_p99_s, part->tpot_p99_s);
    sum->others_cpu_frac = fmax(sum->others_cpu_frac, part->others_cpu_frac);
    sum->iterations += part->iterations;
    sum->tokens += part->tokens;
    sum->decode_tokens += part->decode_tokens;
    sum->seconds += part->seconds;
    sum->stopped |= part->stopped;
}

/* Iterations of one part: long enough for the sensor, and not so long that there are too few. */
static int part_iterations(const struct eco_experiment *x, int iterations, double iteration_s)
{
    double shortest_s = PART_PERIODS * x->ports.meter.phase_s;
    int most = iterations / x->ports.meter.starts;
    double want = ceil(shortest_s / fmax(iteration_s, 1e-6));
    most = most < 1 ? 1 : most;
    return want > most ? most : want < 1 ? 1 : (int)want;
}

static int one_part(struct eco_experiment *x, struct eco_generator *w,
                    const struct eco_workload_window *what, bool last, struct metered *m,
                    struct eco_err *err)
{
    struct eco_exp_meter *port = &x->ports.meter;
    struct eco_workload_result did;
    int rc = port->begin_part(port->self, err);
    if (rc) {
        return rc;
    }
    rc = w->class->window(w, what, &did, err);
    last |= rc != 0 || did.stopped;
    int closed = port->end_part(port->self, last, &m->energy, rc ? NULL : err);
    rc = rc ? rc : closed;
    if (rc == 0) {
        add(&m->did, &did);
        m->starts++;
    }
    return rc;
}

/*
 * Parts from random phases of the sensor on: a sensor that looks a quarter of the time sees a
 * regular load always at the same place, however long the window is.
 */
static int in_parts(struct eco_experiment *x, struct eco_generator *w,
                    const struct eco_workload_window *what, double iteration_s, struct metered *m,
                    struct eco_err *err)
{
    struct eco_workload_window part = *what;
    int left = what->iterations < x->ports.meter.starts ? x->ports.meter.starts : what->iterations;
    struct eco_random random = {x->plan.seed * 1000003 + x->trial_count};
    int rc = 0;
    m->did.iterations = m->starts = 0;
    m->did.stopped = false;
    m->edges_s[0] = eco_exp_since_start_s(x);
    part.iterations = part_iterations(x, left, iteration_s);
    while (rc == 0 && left > 0 && !m->did.stopped) {
        eco_exp_sleep(x, x->ports.meter.phase_s * eco_random_unit(&random));
        part.iterations = part.iterations < left ? part.iterations : left;
        left -= part.iterations;
        rc = one_part(x, w, &part, left == 0, m, err);
    }
    m->edges_s[1] = eco_exp_since_start_s(x);
    return rc;
}

/* A window of `what` with the meter around it. iteration_s: how long one takes, about. */
static int metered(struct eco_experiment *x, struct eco_generator *w,
                   const struct eco_workload_window *what, double iteration_s, struct metered *m,
                   struct eco_err *err)
{
    bool parts = x->ports.meter.starts > 1 && !x->plan.unmetered;
    return parts ? in_parts(x, w, what, iteration_s, m, err) : whole(x, w, what, m, err);
}

/* ---- long enough ----------------------------------------------------------------------------- */

/* Iterations for a window that the sensor can resolve. */
static int enough(const struct eco_experiment *x, double iteration_s, int asked)
{
    double shortest = fmax(x->ports.meter.min_window_s, ECO_EXP_MIN_WINDOW_S);
    double need = ceil(shortest * WINDOW_MARGIN / fmax(iteration_s, 1e-6));
    if (x->plan.unmetered) {
        return asked; /* no sensor needs more */
    }
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
                       struct eco_workload_window what, double iteration_s, struct metered *m,
                       struct eco_err *err)
{
    int rc = metered(x, w, &what, iteration_s, m, err);
    if (rc == 0 && m->energy.too_short && !m->did.stopped) {
        double took_s = m->did.seconds / m->did.iterations;
        what.iterations = enough(x, 0.8 * took_s, what.iterations);
        rc = metered(x, w, &what, took_s, m, err);
        if (rc == 0 && m->energy.too_short && !m->did.stopped) {
            rc = too_short(&m->energy, err);
        }
    }
    return rc;
}

/* ---- the trial ------------------------------------------------------------------------------- */

/* Energy of one generation of one token: its own window, many of them back to back. */
static int prefill(struct eco_experiment *x, struct eco_generator *w, struct eco_exp_trial *t,
                   bool *stopped, struct eco_err *err)
{
    struct eco_workload_window what = {PROBE_PREFILLS, 1};
    struct eco_workload_result did = {.stopped = false};
    struct metered m = {.starts = 0};
    int rc = w->class->warmup(w, &what, &did, err);
    if (rc == 0 && !did.stopped) {
        double each_s = did.seconds / did.iterations;
        what.iterations = enough(x, each_s, 1);
        rc = long_enough(x, w, what, each_s, &m, err);
        did.stopped = rc == 0 && m.did.stopped;
    }
    if (rc == 0 && !did.stopped) {
        double j = isnan(m.energy.counter_j) ? m.energy.integral_j : m.energy.counter_j;
        t->prefill_j = j * x->plan.batch / (double)m.did.tokens; /* of the steady state: fewer */
    }
    *stopped = rc == 0 && did.stopped;
    return rc;
}

static void fill(struct eco_experiment *x, struct eco_exp_trial *t, const struct metered *m)
{
    const struct eco_workload_result *did = &m->did;
    const struct eco_exp_energy *e = &m->energy;
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
    t->others_cpu_frac = did->others_cpu_frac;
    t->withhold = e->withhold;
    t->starts = m->starts;
    t->window_start_s = m->edges_s[0];
    t->window_end_s = m->edges_s[1];
    x->tokens_per_s = r->tokens_per_s;
}

/* The first warm-up of all is the step that shows what the sensor averages over. */
static int warm_up(struct eco_experiment *x, struct eco_generator *w,
                   struct eco_workload_result *did, struct eco_err *err)
{
    struct eco_workload_window warm = {x->plan.warmup > 0 ? x->plan.warmup : 1, x->plan.tokens};
    struct eco_exp_meter *port = &x->ports.meter;
    bool look = port->look && !x->looked && !x->plan.unmetered;
    double loaded_s = 0;
    if (look) {
        port->look(port->self);
    }
    int rc = 0;
    do { /* a step that is over before the sensor has followed shows nothing */
        *did = (struct eco_workload_result){.iterations = 1};
        rc = w->class->warmup(w, &warm, did, err);
        loaded_s += rc ? 0 : did->seconds;
    } while (rc == 0 && look && loaded_s < LOOK_LOADED_S && !did->stopped);
    if (look) {
        port->min_window_s = port->seen(port->self);
        x->looked = true;
    }
    return rc;
}

/* The first warm-up says how fast this is; the other trials take about what this one will. */
static void estimate(struct eco_experiment *x, const struct eco_exp_trial *t, double each_s)
{
    bool prefills = x->plan.decode && !x->plan.unmetered;
    double shortest = fmax(x->ports.meter.min_window_s, ECO_EXP_MIN_WINDOW_S) * WINDOW_MARGIN;
    double trial_s = eco_exp_since_start_s(x) - t->start_s +
                     enough(x, each_s, x->plan.iterations) * each_s + (prefills ? shortest : 0);
    if (!x->estimated && x->ports.estimate) {
        x->ports.estimate(x->ports.self,
                          trial_s * (double)(eco_experiment_planned(x) - x->trial_count));
    }
    x->estimated = true;
}

static bool no_energy(const struct eco_exp_energy *e)
{
    return isnan(e->v1_j) && isnan(e->integral_j) && isnan(e->counter_j);
}

int eco_exp_measure(struct eco_experiment *x, struct eco_generator *w, int slot,
                    struct eco_exp_trial *t, bool *stopped, struct eco_err *err)
{
    struct eco_workload_result did = {.iterations = 1};
    struct metered m = {.starts = 0};
    eco_exp_show(x, "warm-up", slot);
    int rc = warm_up(x, w, &did, err);
    *stopped = rc == 0 && (did.stopped || eco_exp_stop(x));
    double each_s = did.seconds / did.iterations;
    if (rc == 0 && !*stopped) {
        estimate(x, t, each_s);
    }
    if (rc == 0 && !*stopped && x->plan.decode && !x->plan.unmetered) {
        eco_exp_show(x, "prefill", slot);
        rc = prefill(x, w, t, stopped, err);
    }
    if (rc || *stopped) {
        return rc;
    }
    eco_exp_show(x, "window", slot);
    x->watch = (struct eco_exp_watch){.temp_c = (double)NAN};
    struct eco_workload_window what = {enough(x, each_s, x->plan.iterations), x->plan.tokens};
    rc = long_enough(x, w, what, each_s, &m, err);
    *stopped = rc == 0 && m.did.stopped;
    if (rc == 0 && !*stopped && !x->plan.unmetered && no_energy(&m.energy)) {
        rc = eco_err_set(err, ECO_E_DEVICE, "sources", "no energy for this window: %.160s",
                         m.energy.reason[0] ? m.energy.reason : "the source gave nothing");
    }
    if (rc == 0 && !*stopped) {
        fill(x, t, &m);
    }
    return rc;
}
