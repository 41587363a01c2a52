#include "experiment/meter_port.h"

#include "base/buf.h"
#include "base/clock.h"
#include "experiment/sensor_look.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRACE_S 7200.0
#define CHUNK 512
#define RANDOM_STARTS 8 /* a trial, where a sensor sees a part of the time */
#define PHASE_S 0.1     /* of such a sensor whose refresh is not known */
#define MAX_PARTS ((size_t)1 << 16)

struct eco_meter_port {
    struct eco_meter *meter;
    struct eco_power_source *sources[ECO_METER_MAX_SOURCES];
    size_t count;
    int window, part;
    int64_t saved;                  /* samples of the trace that are in the file */
    struct eco_meter_energy *parts; /* [source][part]: of the window that is under way */
    size_t part_count, part_room;
    struct eco_sensor_look *look;
};

static double min_window(const struct eco_meter_port *p)
{
    double longest = ECO_EXP_MIN_WINDOW_S;
    for (size_t i = 0; i < p->count; i++) {
        enum eco_power_field f = eco_meter_best_field(p->sources[i]);
        longest = fmax(longest,
                       fmax(20 * p->sources[i]->refresh_s[f], 5 * p->sources[i]->averaging_s[f]));
    }
    return longest;
}

int eco_meter_port_new(struct eco_power_source *const *sources, size_t n, double rate_hz,
                       double gain, double offset_w, struct eco_meter_port **out,
                       struct eco_err *err)
{
    struct eco_meter_options o = {
        .rate_hz = rate_hz, .trace_s = TRACE_S, .gain = gain, .offset_w = offset_w};
    if (n == 0 || n > ECO_METER_MAX_SOURCES) {
        return eco_err_set(err, ECO_E_RANGE, "sources", "1 to %d sources, not %zu",
                           ECO_METER_MAX_SOURCES, n);
    }
    struct eco_meter_port *p = calloc(1, sizeof(*p));
    if (!p) {
        return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    }
    memcpy(p->sources, sources, n * sizeof(*sources));
    p->count = n;
    p->look = eco_sensor_look_new(sources, n); /* NULL: it is done without */
    int rc = eco_meter_new(sources, n, &o, &p->meter, err);
    rc = rc ? rc : eco_meter_start(p->meter, err);
    if (rc) {
        eco_meter_port_free(p);
        return rc;
    }
    *out = p;
    return 0;
}

void eco_meter_port_free(struct eco_meter_port *p)
{
    if (p) {
        eco_sensor_look_free(p->look);
        eco_meter_free(p->meter);
        free(p->parts);
        free(p);
    }
}

void eco_meter_port_costs(struct eco_meter_port *p, struct eco_meter_cost *out)
{
    eco_meter_costs(p->meter, out);
}

/* ---- windows --------------------------------------------------------------------------------- */

static int begin(void *self, struct eco_err *err)
{
    struct eco_meter_port *p = self;
    return eco_meter_begin(p->meter, &p->window, err);
}

/* Joules of devices add up where all of them are known. */
static void add_energy(struct eco_exp_energy *sum, const struct eco_meter_energy *e)
{
    sum->window_s = e->window_s;
    sum->counter_j += e->counter_j;
    sum->integral_j += e->integral_j;
    sum->v1_j += e->v1_j;
    sum->mean_w += e->mean_w;
    sum->peak_w += e->peak_w;
    sum->samples += e->samples;
    sum->dropped += e->missed + e->failed;
    sum->too_short |= e->too_short;
    sum->resolution_frac = fmax(sum->resolution_frac, e->counter_resolution_frac);
    const char *why = e->integral_reason[0] ? e->integral_reason : e->counter_reason;
    if (why[0] && !sum->reason[0]) {
        snprintf(sum->reason, sizeof(sum->reason), "%s", why);
    }
}

/* One window, or the pooled parts of one, of every source. */
static void sum_up(const struct eco_meter_port *p, const struct eco_meter_energy *e,
                   struct eco_exp_energy *out)
{
    bool derived = false;
    *out = (struct eco_exp_energy){.reason = ""};
    for (size_t i = 0; i < p->count; i++) {
        add_energy(out, &e[i]);
        derived |= p->sources[i]->derived;
        out->withhold |= e[i].withhold;
    }
    /* power made from the counter agrees with it by construction: that is one source, not two */
    out->gap_frac = derived ? (double)NAN : (out->integral_j - out->counter_j) / out->counter_j;
}

static int end(void *self, struct eco_exp_energy *out, struct eco_err *err)
{
    struct eco_meter_port *p = self;
    struct eco_meter_energy e[ECO_METER_MAX_SOURCES];
    int rc = eco_meter_end(p->meter, p->window, e, err);
    if (rc == 0) {
        sum_up(p, e, out);
    }
    return rc;
}

static int begin_part(void *self, struct eco_err *err)
{
    struct eco_meter_port *p = self;
    return eco_meter_begin_fast(p->meter, &p->part, err);
}

/* parts[source * room + part]: makes room for one more of each source. */
static int more_parts(struct eco_meter_port *p, struct eco_err *err)
{
    size_t room = p->part_room ? 2 * p->part_room : 32;
    if (p->part_count < p->part_room) {
        return 0;
    }
    struct eco_meter_energy *more =
        room <= MAX_PARTS ? calloc(room * p->count, sizeof(*more)) : NULL;
    if (!more) {
        return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    }
    for (size_t i = 0; i < p->count && p->part_count; i++) {
        memcpy(more + i * room, p->parts + i * p->part_room, p->part_count * sizeof(*more));
    }
    free(p->parts);
    p->parts = more;
    p->part_room = room;
    return 0;
}

static int end_part(void *self, bool last, struct eco_exp_energy *out, struct eco_err *err)
{
    struct eco_meter_port *p = self;
    struct eco_meter_energy e[ECO_METER_MAX_SOURCES];
    int rc = eco_meter_end(p->meter, p->part, e, err);
    rc = rc ? rc : more_parts(p, err);
    for (size_t i = 0; rc == 0 && i < p->count; i++) {
        p->parts[i * p->part_room + p->part_count] = e[i];
    }
    p->part_count += rc == 0;
    if (!last) {
        return rc;
    }
    for (size_t i = 0; rc == 0 && i < p->count; i++) {
        eco_meter_pool(p->parts + i * p->part_room, p->part_count, &e[i]);
    }
    if (rc == 0) {
        sum_up(p, e, out);
    }
    p->part_count = 0;
    return rc;
}

/* ---- the machine at rest, and the sensor at the first step ----------------------------------- */

/* Joules of all sources' counters; NAN where one has none. */
static double counters_j(const struct eco_meter_port *p)
{
    double sum_j = 0;
    for (size_t i = 0; i < p->count; i++) {
        double j = (double)NAN;
        if (eco_power_read_counter(p->sources[i], &j) != ECO_POWER_OK) {
            return (double)NAN;
        }
        sum_j += j;
    }
    return sum_j;
}

/* Sleeps in short steps; false: stopped. */
static bool nap(double seconds, bool (*stop)(void *), void *stop_self)
{
    const struct timespec step = {0, 50000000};
    int64_t end_ns = eco_clock_mono_ns() + (int64_t)(seconds * 1e9);
    while (eco_clock_mono_ns() < end_ns) {
        if (stop && stop(stop_self)) {
            return false;
        }
        nanosleep(&step, NULL);
    }
    return true;
}

/* Mean power by the counters over a nap. */
static double nap_power_w(const struct eco_meter_port *p, double seconds, bool (*stop)(void *),
                          void *stop_self)
{
    double before_j = counters_j(p);
    int64_t start_ns = eco_clock_mono_ns();
    bool whole = nap(seconds, stop, stop_self);
    double took_s = (double)(eco_clock_mono_ns() - start_ns) * 1e-9;
    return whole ? (counters_j(p) - before_j) / took_s : (double)NAN;
}

static void now(void *self, double seconds, struct eco_exp_now *out);

static void rest(void *self, double seconds, bool (*stop)(void *), void *stop_self,
                 struct eco_exp_rest *out)
{
    struct eco_meter_port *p = self;
    struct eco_exp_now state;
    double with_w = nap_power_w(p, seconds, stop, stop_self);
    now(p, seconds, &state);
    *out = (struct eco_exp_rest){isnan(with_w) ? state.mean_w : with_w, (double)NAN, ""};
    if (isnan(with_w)) {
        snprintf(out->reason, sizeof(out->reason),
                 "what looking costs needs an energy counter: it reads while no one samples");
        return;
    }
    eco_meter_stop(p->meter);
    out->observer_w = with_w - nap_power_w(p, seconds, stop, stop_self);
    struct eco_err err = {.message = ""};
    if (eco_meter_start(p->meter, &err)) {
        snprintf(out->reason, sizeof(out->reason), "%.150s", err.message);
    }
}

static void look(void *self)
{
    eco_sensor_look_start(((struct eco_meter_port *)self)->look);
}

static double seen(void *self)
{
    struct eco_meter_port *p = self;
    eco_sensor_look_end(p->look);
    eco_meter_retime(p->meter);
    return min_window(p);
}

const char *eco_meter_port_warning(const struct eco_meter_port *p, size_t i)
{
    return eco_sensor_look_warning(p->look, i);
}

void eco_meter_port_stop(struct eco_meter_port *p)
{
    eco_meter_stop(p->meter);
}

/* ---- now ------------------------------------------------------------------------------------- */

static void read_state(const struct eco_meter_port *p, struct eco_exp_now *out)
{
    double hottest_c = (double)NAN, slowest_mhz = (double)NAN;
    for (size_t i = 0; i < p->count; i++) {
        struct eco_power_state s;
        eco_power_read_state(p->sources[i], &s);
        hottest_c = fmax(hottest_c, s.temp_c); /* fmax and fmin pass over NAN */
        slowest_mhz = fmin(slowest_mhz, s.clock_sm_mhz);
        out->throttled |= s.throttled;
    }
    out->temp_c = hottest_c;
    out->clock_mhz = slowest_mhz;
}

static void now(void *self, double seconds, struct eco_exp_now *out)
{
    struct eco_meter_port *p = self;
    double mean = 0, variance = 0;
    for (size_t i = 0; i < p->count; i++) {
        struct eco_meter_idle idle;
        eco_meter_recent(p->meter, i, seconds, &idle);
        mean += idle.mean_w;
        variance += idle.sd_w * idle.sd_w;
    }
    *out = (struct eco_exp_now){
        .mean_w = mean, .sd_w = sqrt(variance), .temp_c = (double)NAN, .clock_mhz = (double)NAN};
    read_state(p, out);
}

struct eco_exp_meter eco_meter_port_meter(struct eco_meter_port *p)
{
    struct eco_exp_meter m = {.begin = begin,
                              .end = end,
                              .now = now,
                              .min_window_s = min_window(p),
                              .self = p,
                              .begin_part = begin_part,
                              .end_part = end_part,
                              .rest = rest,
                              .look = look,
                              .seen = seen};
    for (size_t i = 0; i < p->count; i++) {
        const struct eco_power_source *s = p->sources[i];
        enum eco_power_field f = eco_meter_best_field(s);
        if (s->duty[f]) {
            m.starts = RANDOM_STARTS;
            m.phase_s = fmax(m.phase_s, s->refresh_s[f] > 0 ? s->refresh_s[f] : PHASE_S);
        }
    }
    return m;
}

/* ---- trace ----------------------------------------------------------------------------------- */

static void put_watts(struct eco_buf *b, double w)
{
    eco_buf_putc(b, ',');
    if (!isnan(w)) {
        eco_buf_put_num(b, w);
    }
}

static void put_sample(struct eco_buf *b, const struct eco_meter_port *p,
                       const struct eco_meter_sample *s, int64_t zero_ns)
{
    int64_t middle_ns = s->t_before_ns + (s->t_after_ns - s->t_before_ns) / 2;
    eco_buf_put_num(b, (double)(middle_ns - zero_ns) * 1e-9);
    eco_buf_printf(b, ",%s:%d", p->sources[s->source]->name, (int)s->source);
    put_watts(b, s->power_w[ECO_POWER_DEFAULT]);
    put_watts(b, s->power_w[ECO_POWER_AVERAGE]);
    put_watts(b, s->power_w[ECO_POWER_INSTANT]);
    eco_buf_putc(b, '\n');
}

static int append_text(const char *path, struct eco_buf *b, struct eco_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    size_t done = 0;
    bool ok = fd >= 0 && eco_buf_ok(b);
    while (ok && done < b->len) {
        ssize_t n = write(fd, b->data + done, b->len - done);
        ok = n >= 0 || errno == EINTR;
        done += n > 0 ? (size_t)n : 0;
    }
    int number = errno;
    if (fd >= 0) {
        close(fd);
    }
    return ok ? 0
              : eco_err_set(err, ECO_E_IO, path, "cannot write '%.120s': %s", path,
                            strerror(number));
}

int eco_meter_port_save_trace(struct eco_meter_port *p, const char *path, int64_t zero_ns,
                              struct eco_err *err)
{
    struct eco_meter_sample chunk[CHUNK];
    struct eco_buf b = ECO_BUF_INIT;
    int64_t lost;
    int64_t total = eco_meter_trace_count(p->meter, &lost);
    if (access(path, F_OK)) {
        eco_buf_puts(&b, "t_s,source,power_default_w,power_average_w,power_instant_w\n");
    }
    p->saved = p->saved < lost ? lost : p->saved;
    while (p->saved < total) {
        size_t want = total - p->saved < CHUNK ? (size_t)(total - p->saved) : CHUNK;
        size_t n = eco_meter_trace(p->meter, p->saved, chunk, want);
        for (size_t i = 0; i < n; i++) {
            put_sample(&b, p, &chunk[i], zero_ns);
        }
        if (n == 0) {
            break;
        }
        p->saved += (int64_t)n;
    }
    int rc = append_text(path, &b, err);
    eco_buf_done(&b);
    return rc;
}

size_t eco_meter_port_chart(struct eco_meter_port *p, int64_t zero_ns, double *t_s, double *power_w,
                            size_t cap)
{
    int64_t lost, total = eco_meter_trace_count(p->meter, &lost);
    int64_t rounds = (total - lost) / (int64_t)p->count;
    int64_t step = cap ? (rounds + (int64_t)cap - 1) / (int64_t)cap : 0;
    size_t n = 0;
    for (int64_t r = 0; r < rounds && n < cap && step > 0; r += step) {
        struct eco_meter_sample s[ECO_METER_MAX_SOURCES];
        double w = 0;
        size_t got = eco_meter_trace(p->meter, lost + r * (int64_t)p->count, s, p->count);
        for (size_t i = 0; i < got; i++) {
            w += s[i].power_w[eco_meter_best_field(p->sources[s[i].source])];
        }
        if (got == p->count && !isnan(w)) {
            t_s[n] = (double)(s[0].t_after_ns - zero_ns) * 1e-9;
            power_w[n++] = w;
        }
    }
    return n;
}
