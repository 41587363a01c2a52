#include "meter.h"

#include "backend.h"
#include "base/clock.h"
#include "meter_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_RATE_HZ 1000.0
#define DEFAULT_RATE_HZ 10.0
#define DEFAULT_TRACE_S 3600.0
#define MAX_RING ((size_t)1 << 22)
#define TICK_WAIT_NS ((int64_t)150000000) /* NVML's counters tick every 20 to 100 ms */
#define TICK_POLL_NS ((int64_t)1000000)
#define SHORT_NS ((int64_t)10000000) /* a wait that nobody minds: the cheapest kind of sleep */
#define TAIL_SLACK_NS ((int64_t)200000000)
#define TAIL_POLL_NS ((int64_t)20000000)

static int64_t real_now(void *ctx)
{
    (void)ctx;
    return eco_clock_mono_ns();
}

static void real_sleep(void *ctx, int64_t t_ns)
{
    struct timespec t = {.tv_sec = t_ns / 1000000000, .tv_nsec = (long)(t_ns % 1000000000)};
    (void)ctx;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

static int64_t now_ns(const struct eco_meter *m)
{
    return m->clock.now_ns(m->clock.ctx);
}

enum eco_power_field eco_meter_best_field(const struct eco_power_source *s)
{
    static const enum eco_power_field order[] = {ECO_POWER_INSTANT, ECO_POWER_AVERAGE,
                                                 ECO_POWER_DEFAULT};
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if ((s->fields & (1u << order[i])) && !s->duty[order[i]]) {
            return order[i];
        }
    }
    return ECO_POWER_DEFAULT;
}

void eco_meter_retime(struct eco_meter *m)
{
    double averaging_s = 0;
    for (size_t i = 0; i < m->n; i++) {
        for (int f = 0; f < ECO_POWER_FIELDS; f++) {
            double a = m->sources[i]->averaging_s[f];
            averaging_s = a > averaging_s ? a : averaging_s;
        }
    }
    pthread_mutex_lock(&m->lock);
    m->averaging_s = averaging_s;
    pthread_mutex_unlock(&m->lock);
}

static int allocate(struct eco_meter *m, struct eco_err *err)
{
    double trace_s = m->o.trace_s > 0 ? m->o.trace_s : DEFAULT_TRACE_S;
    double samples = ceil(trace_s * m->o.rate_hz) * (double)m->n + 16;
    m->cap = samples > (double)MAX_RING ? MAX_RING : (size_t)samples;
    m->ring = calloc(m->cap, sizeof(*m->ring));
    return m->ring ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

int eco_meter_new(struct eco_power_source *const *sources, size_t n,
                  const struct eco_meter_options *o, struct eco_meter **out, struct eco_err *err)
{
    const struct eco_meter_clock real = {real_now, real_sleep, NULL};
    double rate_hz = o->rate_hz > 0 ? o->rate_hz : DEFAULT_RATE_HZ;
    if (n == 0 || n > ECO_METER_MAX_SOURCES) {
        return eco_err_set(err, ECO_E_RANGE, "source", "a meter takes 1 to %d sources, not %zu",
                           ECO_METER_MAX_SOURCES, n);
    }
    if (rate_hz > MAX_RATE_HZ) {
        return eco_err_set(err, ECO_E_RANGE, "rate_hz", "'rate_hz' must be up to %g Hz",
                           MAX_RATE_HZ);
    }
    struct eco_meter *m = calloc(1, sizeof(*m));
    if (!m) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    m->n = n;
    m->o = *o;
    m->o.rate_hz = rate_hz;
    m->clock = o->clock ? *o->clock : real;
    m->period_ns = (int64_t)(1e9 / rate_hz);
    atomic_init(&m->stop, false);
    pthread_mutex_init(&m->lock, NULL);
    pthread_condattr_t by_clock;
    pthread_condattr_init(&by_clock);
    pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    pthread_cond_init(&m->wake, &by_clock);
    pthread_condattr_destroy(&by_clock);
    for (size_t i = 0; i < n; i++) {
        m->sources[i] = sources[i];
        m->tick_s[i] = m->last_w[i] = (double)NAN;
        pthread_mutex_init(&m->io[i], NULL);
    }
    eco_meter_retime(m);
    int rc = allocate(m, err);
    if (rc) {
        eco_meter_free(m);
        return rc;
    }
    *out = m;
    return 0;
}

void eco_meter_free(struct eco_meter *m)
{
    if (!m) {
        return;
    }
    eco_meter_stop(m);
    pthread_cond_destroy(&m->wake);
    pthread_mutex_destroy(&m->lock);
    for (size_t i = 0; i < m->n; i++) {
        pthread_mutex_destroy(&m->io[i]);
    }
    free(m->ring);
    free(m);
}

/* ---- sampling ------------------------------------------------------------------------------- */

/* Deadlines are computed from their number, so that rounding never adds up. */
static int64_t deadline_ns(const struct eco_meter *m, int64_t k)
{
    return m->start_ns + (int64_t)((double)k * 1e9 / m->o.rate_hz);
}

static void keep(struct eco_meter *m, const struct eco_meter_sample *s)
{
    enum eco_power_field f = eco_meter_best_field(m->sources[s->source]);
    m->ring[(size_t)m->written % m->cap] = *s;
    m->written++;
    f = s->status[f] == ECO_POWER_OK ? f : ECO_POWER_DEFAULT;
    if (s->status[f] == ECO_POWER_OK) {
        m->last_w[s->source] = s->power_w[f];
    }
    for (size_t i = 0; i < ECO_METER_MAX_OPEN; i++) {
        if (m->window[i].used) {
            eco_meter_window_feed(m, &m->window[i], s);
        }
    }
}

static void sample_all(struct eco_meter *m)
{
    for (size_t i = 0; i < m->n; i++) {
        struct eco_power_source *src = m->sources[i];
        struct eco_meter_sample s = {.source = (unsigned char)i};
        pthread_mutex_lock(&m->io[i]);
        s.t_before_ns = now_ns(m);
        if (src->backend->sample) {
            src->backend->sample(src, s.power_w, s.status);
        }
        s.t_after_ns = now_ns(m);
        pthread_mutex_unlock(&m->io[i]);
        pthread_mutex_lock(&m->lock);
        m->driver_ns += s.t_after_ns - s.t_before_ns;
        keep(m, &s);
        pthread_mutex_unlock(&m->lock);
    }
}

/* Whole periods by which the sampler is behind its next deadline at t_ns. */
static int64_t overdue(const struct eco_meter *m, int64_t t_ns)
{
    int64_t behind_ns = t_ns - deadline_ns(m, m->deadlines);
    return behind_ns > 0 ? behind_ns / m->period_ns : 0;
}

/* Counts a deadline that was met late and those that passed altogether. */
static void account(struct eco_meter *m, int64_t due_ns)
{
    int64_t at_ns = now_ns(m);
    pthread_mutex_lock(&m->lock);
    int64_t passed = overdue(m, at_ns);
    m->late += at_ns - due_ns > m->period_ns / 4;
    m->missed += passed;
    m->deadlines += 1 + passed;
    pthread_mutex_unlock(&m->lock);
}

/* Deadlines missed until t_ns, those included that the sampler has yet to wake up for. */
static int64_t missed_by(const struct eco_meter *m, int64_t t_ns)
{
    return m->missed + (m->running || m->o.manual ? overdue(m, t_ns) : 0);
}

static int64_t next_due_ns(struct eco_meter *m)
{
    if (m->start_ns == 0) {
        m->start_ns = now_ns(m);
    }
    return deadline_ns(m, m->deadlines);
}

void eco_meter_step(struct eco_meter *m)
{
    int64_t due_ns = next_due_ns(m);
    m->clock.sleep_until_ns(m->clock.ctx, due_ns);
    account(m, due_ns);
    sample_all(m);
}

/* Sleeps until due_ns, or until the meter is stopped, which must not wait for a deadline: false. */
static bool sleep_until(struct eco_meter *m, int64_t due_ns)
{
    const struct timespec t = {due_ns / 1000000000, (long)(due_ns % 1000000000)};
    if (m->o.clock || m->period_ns < SHORT_NS) {
        m->clock.sleep_until_ns(m->clock.ctx, due_ns);
        return !atomic_load(&m->stop);
    }
    int rc = 0;
    pthread_mutex_lock(&m->lock);
    while (rc == 0 && !atomic_load(&m->stop)) {
        rc = pthread_cond_timedwait(&m->wake, &m->lock, &t);
    }
    pthread_mutex_unlock(&m->lock);
    return !atomic_load(&m->stop);
}

static void *run(void *arg)
{
    struct eco_meter *m = arg;
    int64_t due_ns = next_due_ns(m);
    while (sleep_until(m, due_ns)) {
        account(m, due_ns);
        sample_all(m);
        due_ns = next_due_ns(m);
    }
    return NULL;
}

/* CPU time of the sampler, asked from outside: a system call in its loop would be part of it. */
static int64_t thread_cpu_ns(const struct eco_meter *m)
{
    clockid_t id;
    struct timespec t;
    if (!m->running || pthread_getcpuclockid(m->thread, &id) != 0 || clock_gettime(id, &t) != 0) {
        return m->cpu_ns;
    }
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int eco_meter_start(struct eco_meter *m, struct eco_err *err)
{
    atomic_store(&m->stop, false);
    m->start_ns = now_ns(m);
    m->deadlines = 1; /* the first sample is taken here, so that a window has one before it */
    sample_all(m);
    if (m->o.manual) {
        return 0;
    }
    int rc = pthread_create(&m->thread, NULL, run, m);
    if (rc) {
        return eco_err_set(err, ECO_E_INTERNAL, "", "cannot start the sampler: %s", strerror(rc));
    }
    m->running = true;
    return 0;
}

void eco_meter_stop(struct eco_meter *m)
{
    if (m && m->running) {
        m->cpu_ns = thread_cpu_ns(m);
        pthread_mutex_lock(&m->lock);
        atomic_store(&m->stop, true);
        pthread_cond_signal(&m->wake);
        pthread_mutex_unlock(&m->lock);
        pthread_join(m->thread, NULL);
        m->running = false;
    }
}

/* ---- edges ---------------------------------------------------------------------------------- */

static enum eco_power_status read_counter(struct eco_meter *m, size_t i, double *energy_j)
{
    pthread_mutex_lock(&m->io[i]);
    enum eco_power_status got = eco_power_read_counter(m->sources[i], energy_j);
    pthread_mutex_unlock(&m->io[i]);
    return got;
}

struct tick {
    int64_t at_ns, slack_ns; /* it moved within slack_ns before at_ns */
    double energy_j;         /* after it */
};

/* Waits until the counter moves from `was_j`. false: not within the time. */
static bool next_tick(struct eco_meter *m, size_t i, double was_j, struct tick *out)
{
    int64_t until_ns = now_ns(m) + TICK_WAIT_NS, before_ns = now_ns(m), last_ns = before_ns;
    while (before_ns < until_ns) {
        double j;
        if (read_counter(m, i, &j) != ECO_POWER_OK) {
            return false;
        }
        int64_t after_ns = now_ns(m);
        if (j != was_j) {
            *out = (struct tick){after_ns, after_ns - last_ns, j};
            return true;
        }
        last_ns = before_ns;
        m->clock.sleep_until_ns(m->clock.ctx, after_ns + TICK_POLL_NS);
        before_ns = now_ns(m);
    }
    return false;
}

/* After the machine stood still there is nothing recent: just then an edge must not look sharp. */
static double recent_w(struct eco_meter *m, size_t i)
{
    struct eco_meter_idle idle;
    eco_meter_recent(m, i, 2.5 / m->o.rate_hz, &idle);
    if (isnan(idle.mean_w)) {
        pthread_mutex_lock(&m->lock);
        idle.mean_w = m->last_w[i];
        pthread_mutex_unlock(&m->lock);
    }
    return idle.mean_w;
}

/* An edge that does not wait: off by at most one tick's energy. */
static void plain_edge(struct eco_meter *m, size_t i, struct meter_edge *e)
{
    *e = (struct meter_edge){.status = ECO_POWER_ABSENT};
    if (!m->sources[i]->counter) {
        return;
    }
    e->before_ns = now_ns(m);
    e->status = read_counter(m, i, &e->energy_j);
    e->after_ns = now_ns(m);
    double tick_s = m->tick_s[i] >= 0 ? m->tick_s[i] : 0.1, w = recent_w(m, i);
    e->spread_j = isnan(w) ? 0 : tick_s * w / 2;
}

/* What flowed between the window's edge and a read that came earlier or later. `mean_w` is for
 * sources that have a counter and no power. */
static void widen(struct eco_meter *m, size_t i, struct meter_edge *e, int64_t edge_ns,
                  double mean_w)
{
    int64_t early_ns = edge_ns - e->before_ns, late_ns = e->after_ns - edge_ns;
    double w = recent_w(m, i), off_s = (double)(early_ns > late_ns ? early_ns : late_ns) * 1e-9;
    w = isnan(w) ? mean_w : w;
    if (e->status == ECO_POWER_OK && w >= 0 && off_s > 0) {
        e->spread_j += w * off_s;
    }
}

/* By the counter, from the window's begin to the read of its end. */
static double counted_w(const struct meter_edge *begin, const struct meter_edge *end)
{
    double s = (double)(end->after_ns - begin->after_ns) * 1e-9;
    bool both = begin->status == ECO_POWER_OK && end->status == ECO_POWER_OK && s > 0;
    return both ? (end->energy_j - begin->energy_j) / s : (double)NAN;
}

/* What a tick seen `slack_ns` late may have let pass. */
static double slack_j(struct eco_meter *m, size_t i, const struct tick *t)
{
    double w = recent_w(m, i);
    return w >= 0 ? w * (double)t->slack_ns * 1e-9 : 0;
}

/*
 * The beginning: nothing runs yet, so the window may wait for a tick, and power is steady between
 * the tick and the beginning. The first time a second tick says how long they are apart.
 * tick_ns 0: no tick was seen.
 */
static void begin_edge(struct eco_meter *m, size_t i, struct meter_edge *e, int64_t *tick_ns)
{
    struct tick first, second;
    plain_edge(m, i, e);
    *tick_ns = 0;
    if (e->status != ECO_POWER_OK || m->o.manual || !next_tick(m, i, e->energy_j, &first)) {
        return;
    }
    if (isnan(m->tick_s[i]) && next_tick(m, i, first.energy_j, &second)) {
        m->tick_s[i] = (double)(second.at_ns - first.at_ns) * 1e-9;
        first = second;
    }
    e->energy_j = first.energy_j;
    e->spread_j = slack_j(m, i, &first);
    *tick_ns = first.at_ns;
}

/* Moves a begin edge from its tick to the window's start: steady power in between. */
static void carry_to(struct eco_meter *m, size_t i, struct meter_edge *e, int64_t tick_ns,
                     int64_t from_ns)
{
    double w = recent_w(m, i), gap_s = (double)(from_ns - tick_ns) * 1e-9;
    if (e->status == ECO_POWER_OK && tick_ns && w >= 0) {
        e->energy_j += w * gap_s;
        e->spread_j += 0.1 * w * gap_s;
    }
}

/* The end: the tick after it, and the share of the interval between ticks that lies before it. */
static void end_edge(struct eco_meter *m, size_t i, int64_t to_ns, struct meter_edge *e)
{
    struct tick next;
    plain_edge(m, i, e);
    if (e->status != ECO_POWER_OK || m->o.manual || !(m->tick_s[i] > 0) ||
        !next_tick(m, i, e->energy_j, &next)) {
        return;
    }
    double after_s = (double)(next.at_ns - to_ns) * 1e-9, share = 1 - after_s / m->tick_s[i];
    double step_j = next.energy_j - e->energy_j;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    e->energy_j += share * step_j;
    /* power may have changed inside the interval */
    e->spread_j = share * (1 - share) * step_j + slack_j(m, i, &next);
}

/* ---- windows -------------------------------------------------------------------------------- */

static int free_slot(struct eco_meter *m, struct eco_err *err)
{
    for (int i = 0; i < ECO_METER_MAX_OPEN; i++) {
        if (!m->window[i].used) {
            return i;
        }
    }
    return eco_err_set(err, ECO_E_INTERNAL, "", "over %d windows are open", ECO_METER_MAX_OPEN);
}

static int begin(struct eco_meter *m, bool fast, int *id, struct eco_err *err)
{
    struct meter_edge edge[ECO_METER_MAX_SOURCES];
    int64_t tick_ns[ECO_METER_MAX_SOURCES] = {0};
    int slot = free_slot(m, err);
    if (slot < 0) {
        return slot;
    }
    for (size_t i = 0; i < m->n; i++) {
        tick_ns[i] = 0;
        if (fast) {
            plain_edge(m, i, &edge[i]);
        } else {
            begin_edge(m, i, &edge[i], &tick_ns[i]);
        }
    }
    int64_t from_ns = now_ns(m);
    for (size_t i = 0; i < m->n; i++) {
        if (tick_ns[i]) {
            carry_to(m, i, &edge[i], tick_ns[i], from_ns);
        } else {
            widen(m, i, &edge[i], from_ns, (double)NAN);
        }
    }
    pthread_mutex_lock(&m->lock);
    struct meter_window *w = &m->window[slot];
    memset(w, 0, sizeof(*w));
    w->fast = fast;
    for (size_t i = 0; i < m->n; i++) {
        w->source[i].begin = edge[i];
    }
    eco_meter_window_open(m, w, from_ns);
    w->late = m->late;
    w->missed = missed_by(m, from_ns);
    w->used = true;
    pthread_mutex_unlock(&m->lock);
    *id = slot;
    return 0;
}

int eco_meter_begin(struct eco_meter *m, int *id, struct eco_err *err)
{
    return begin(m, false, id, err);
}

int eco_meter_begin_fast(struct eco_meter *m, int *id, struct eco_err *err)
{
    return begin(m, true, id, err);
}

/* Keeps sampling until every sensor's last averaging window has passed, or time is up. */
static void wait_for_tail(struct eco_meter *m, const struct meter_window *w)
{
    int64_t until_ns =
        w->to_ns + (int64_t)(m->averaging_s * 1e9) + 4 * m->period_ns + TAIL_SLACK_NS;
    for (;;) {
        pthread_mutex_lock(&m->lock);
        bool done = eco_meter_window_done(m, w);
        pthread_mutex_unlock(&m->lock);
        if (done || now_ns(m) >= until_ns || (!m->running && !m->o.manual)) {
            return;
        }
        if (m->o.manual) {
            eco_meter_step(m);
        } else {
            int64_t half_ns = m->period_ns / 2;
            m->clock.sleep_until_ns(m->clock.ctx,
                                    now_ns(m) + (half_ns < TAIL_POLL_NS ? half_ns : TAIL_POLL_NS));
        }
    }
}

int eco_meter_end(struct eco_meter *m, int id, struct eco_meter_energy *out, struct eco_err *err)
{
    if (id < 0 || id >= ECO_METER_MAX_OPEN || !m->window[id].used) {
        return eco_err_set(err, ECO_E_INTERNAL, "", "no window %d is open", id);
    }
    struct meter_window *w = &m->window[id];
    pthread_mutex_lock(&m->lock);
    w->to_ns = now_ns(m);
    w->late = m->late - w->late;
    w->missed = missed_by(m, w->to_ns) - w->missed;
    eco_meter_window_close(m, w);
    pthread_mutex_unlock(&m->lock);
    for (size_t i = 0; i < m->n; i++) {
        struct meter_edge e;
        if (w->fast) {
            plain_edge(m, i, &e);
        } else {
            end_edge(m, i, w->to_ns, &e);
        }
        widen(m, i, &e, w->to_ns, counted_w(&w->source[i].begin, &e));
        w->source[i].end = e;
    }
    wait_for_tail(m, w);
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n; i++) {
        eco_meter_window_result(m, w, i, &out[i]);
    }
    w->used = false;
    pthread_mutex_unlock(&m->lock);
    return 0;
}

/* ---- looking at the trace ------------------------------------------------------------------- */

static void recent_of(struct eco_meter *m, size_t source, enum eco_power_field f, int64_t since_ns,
                      struct eco_meter_idle *out)
{
    double mean = 0, m2 = 0;
    pthread_mutex_lock(&m->lock);
    for (int64_t k = m->written - 1; k >= 0 && k > m->written - 1 - (int64_t)m->cap; k--) {
        const struct eco_meter_sample *s = &m->ring[(size_t)k % m->cap];
        if (s->t_after_ns < since_ns) {
            break;
        }
        if (s->source == source && s->status[f] == ECO_POWER_OK) {
            double d = s->power_w[f] - mean; /* Welford */
            out->samples++;
            mean += d / (double)out->samples;
            m2 += d * (s->power_w[f] - mean);
        }
    }
    pthread_mutex_unlock(&m->lock);
    if (out->samples) {
        out->mean_w = mean;
        out->sd_w = out->samples > 1 ? sqrt(m2 / (double)(out->samples - 1)) : (double)NAN;
    }
}

void eco_meter_recent(struct eco_meter *m, size_t source, double seconds,
                      struct eco_meter_idle *out)
{
    *out = (struct eco_meter_idle){(double)NAN, (double)NAN, 0};
    enum eco_power_field f = eco_meter_best_field(m->sources[source]);
    int64_t since_ns = now_ns(m) - (int64_t)(seconds * 1e9);
    recent_of(m, source, f, since_ns, out);
    if (out->samples == 0 && f != ECO_POWER_DEFAULT) {
        recent_of(m, source, ECO_POWER_DEFAULT, since_ns, out);
    }
}

void eco_meter_costs(struct eco_meter *m, struct eco_meter_cost *out)
{
    pthread_mutex_lock(&m->lock);
    *out = (struct eco_meter_cost){.cpu_s = (double)thread_cpu_ns(m) * 1e-9,
                                   .wall_s = (double)(now_ns(m) - m->start_ns) * 1e-9,
                                   .driver_s = (double)m->driver_ns * 1e-9,
                                   .samples = m->written,
                                   .memory_bytes = sizeof(*m) + m->cap * sizeof(*m->ring)};
    pthread_mutex_unlock(&m->lock);
}

int64_t eco_meter_trace_count(struct eco_meter *m, int64_t *lost)
{
    pthread_mutex_lock(&m->lock);
    int64_t n = m->written;
    pthread_mutex_unlock(&m->lock);
    *lost = n > (int64_t)m->cap ? n - (int64_t)m->cap : 0;
    return n;
}

size_t eco_meter_trace(struct eco_meter *m, int64_t from, struct eco_meter_sample *out, size_t cap)
{
    size_t n = 0;
    pthread_mutex_lock(&m->lock);
    int64_t oldest = m->written > (int64_t)m->cap ? m->written - (int64_t)m->cap : 0;
    for (int64_t k = from > oldest ? from : oldest; k < m->written && n < cap; k++) {
        out[n++] = m->ring[(size_t)k % m->cap];
    }
    pthread_mutex_unlock(&m->lock);
    return n;
}
