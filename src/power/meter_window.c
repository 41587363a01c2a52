/* What a window's samples and counter edges say, and what they cannot say. */
#include "backend.h"
#include "meter_state.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MIN_WINDOW_S 5.0
#define SHIFT_FROM_S 0.5  /* averaging windows from here on shift the integral */
#define GAP_PERIODS 3     /* samples further apart split the window */
#define MAX_GAP_FRAC 0.05 /* of the window: more is not an energy of the window */
#define WARN_GAP_FRAC 0.05
#define WITHHOLD_GAP_FRAC 0.15
/* Without random starts a duty-cycled sensor may be off by this much (SPEC-measurement, section
 * 2: 31 % at a 100 ms ripple, for 10 s and for 30 s alike). */
#define ALIAS_FRAC 0.31
#define MIN_STARTS 8
#define Z95 1.96

/*
 * Standard errors of a reading that no external meter has checked. Gains of 15 published cards
 * (data/sensors.csv) scatter by 4 to 5 %; with the card's own profile about 2 % is left.
 */
static double bias_frac(const struct eco_power_source *s, bool profile)
{
    if (s->backend == &eco_power_sim) {
        return 0;
    }
    if (s->unrated) {
        return (double)NAN;
    }
    return s->external ? 0.01 : profile ? 0.02 : 0.05;
}

static int64_t shift_ns(const struct eco_power_source *s, int f)
{
    double a = s->averaging_s[f];
    return a >= SHIFT_FROM_S ? (int64_t)(a / 2 * 1e9) : 0;
}

static bool has_profile(const struct eco_meter *m)
{
    return m->o.gain > 0 && !isnan(m->o.offset_w);
}

static void say(char out[ECO_METER_REASON], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void say(char out[ECO_METER_REASON], const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out, ECO_METER_REASON, fmt, ap);
    va_end(ap);
}

/* Three periods of the sampler or, where it is slower, of the sensor's refresh. */
static int64_t gap_ns(const struct eco_meter *m, const struct eco_power_source *s, int f)
{
    int64_t refresh_ns = s->refresh_s[f] > 0 ? (int64_t)(s->refresh_s[f] * 1e9) : 0;
    return GAP_PERIODS * (refresh_ns > m->period_ns ? refresh_ns : m->period_ns);
}

void eco_meter_window_open(struct eco_meter *m, struct meter_window *w, int64_t from_ns)
{
    bool profile = has_profile(m);
    w->from_ns = from_ns;
    w->to_ns = ECO_INTEGRAL_OPEN;
    for (size_t i = 0; i < m->n; i++) {
        struct meter_source_window *sw = &w->source[i];
        for (int f = 0; f < ECO_POWER_FIELDS; f++) {
            eco_integral_init(&sw->best[f], from_ns + shift_ns(m->sources[i], f), ECO_INTEGRAL_OPEN,
                              gap_ns(m, m->sources[i], f), profile ? m->o.gain : 1,
                              profile ? m->o.offset_w : 0);
        }
        eco_integral_init(&sw->v1, from_ns, ECO_INTEGRAL_OPEN,
                          gap_ns(m, m->sources[i], ECO_POWER_DEFAULT), 1, 0);
    }
    /* the last samples before the window: its edge is interpolated from them */
    int64_t oldest = m->written - (int64_t)(m->cap < 4 * m->n ? m->cap : 4 * m->n);
    for (int64_t k = oldest > 0 ? oldest : 0; k < m->written; k++) {
        eco_meter_window_feed(m, w, &m->ring[(size_t)k % m->cap]);
    }
}

void eco_meter_window_close(struct eco_meter *m, struct meter_window *w)
{
    for (size_t i = 0; i < m->n; i++) {
        for (int f = 0; f < ECO_POWER_FIELDS; f++) {
            w->source[i].best[f].to_ns = w->to_ns + shift_ns(m->sources[i], f);
        }
        w->source[i].v1.to_ns = w->to_ns;
    }
}

void eco_meter_window_feed(struct eco_meter *m, struct meter_window *w,
                           const struct eco_meter_sample *s)
{
    struct meter_source_window *sw = &w->source[s->source];
    const struct eco_power_source *src = m->sources[s->source];
    int64_t t_ns = s->t_before_ns + (s->t_after_ns - s->t_before_ns) / 2;
    bool inside = t_ns >= w->from_ns && t_ns <= w->to_ns;
    for (int f = 0; f < ECO_POWER_FIELDS; f++) {
        bool negative = s->status[f] == ECO_POWER_OK && s->power_w[f] < 0; /* no reading */
        if (s->status[f] == ECO_POWER_OK && !negative) {
            eco_integral_add(&sw->best[f], t_ns, s->power_w[f]);
            sw->read[f] += inside;
        } else if (inside && (src->fields & (1u << f))) {
            sw->absent[f] += s->status[f] == ECO_POWER_ABSENT;
            sw->sentinels[f] += negative || s->status[f] == ECO_POWER_SENTINEL;
            sw->lost = sw->lost || s->status[f] == ECO_POWER_LOST;
            sw->failed[f]++;
        }
    }
    if (s->status[ECO_POWER_DEFAULT] == ECO_POWER_OK) {
        eco_integral_add(&sw->v1, t_ns, s->power_w[ECO_POWER_DEFAULT]);
    }
}

bool eco_meter_window_done(const struct eco_meter *m, const struct meter_window *w)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct meter_source_window *sw = &w->source[i];
        for (int f = 0; f < ECO_POWER_FIELDS && !sw->lost; f++) {
            if (sw->read[f] > 0 && !eco_integral_done(&sw->best[f])) {
                return false;
            }
        }
    }
    return true;
}

/* ---- results ------------------------------------------------------------------------------- */

static double min_window(const struct eco_meter *m, const struct eco_power_source *s, int f)
{
    if (m->o.min_window_s > 0) {
        return m->o.min_window_s;
    }
    double min_s = MIN_WINDOW_S, refresh_s = 20 * s->refresh_s[f], avg_s = 5 * s->averaging_s[f];
    min_s = refresh_s > min_s ? refresh_s : min_s;
    return avg_s > min_s ? avg_s : min_s;
}

/* Why a field gives no energy of this window; false: it does. */
static bool unfit(const struct meter_source_window *sw, const struct eco_integral *it, int f,
                  char why[ECO_METER_REASON])
{
    double window_s = it->covered_s + it->gap_s;
    if (sw->lost) {
        say(why, "the device was lost during the window");
    } else if (it->zero) {
        say(why, "the sensor read 0 W for seconds");
    } else if (sw->read[f] == 0) {
        say(why, "%s",
            sw->sentinels[f] ? "every reading was a value that cannot be true"
            : sw->absent[f]  ? "the power field is not supported"
            : sw->failed[f]  ? "every reading failed"
                             : "there was no power reading");
    } else if (!(it->gap_s <= MAX_GAP_FRAC * window_s)) {
        say(why, "%.2f s of %.2f s have no readings (%lld failed)", it->gap_s, window_s,
            (long long)sw->failed[f]);
    } else {
        return false;
    }
    return true;
}

/* The field to integrate: the best one, or the next that read, with a word on the change. */
static enum eco_power_field pick(const struct eco_power_source *s,
                                 const struct meter_source_window *sw, bool *fits,
                                 char why[ECO_METER_REASON])
{
    static const char *const names[] = {"default", "average", "instant"};
    const enum eco_power_field first = eco_meter_best_field(s);
    const enum eco_power_field order[] = {first, ECO_POWER_AVERAGE, ECO_POWER_DEFAULT};
    char reason[ECO_METER_REASON], other[ECO_METER_REASON];
    *fits = !unfit(sw, &sw->best[first], (int)first, reason);
    if (*fits) {
        why[0] = '\0';
        return first;
    }
    for (size_t i = 1; i < 3; i++) {
        if (order[i] != first && (s->fields & (1u << order[i])) &&
            !unfit(sw, &sw->best[order[i]], (int)order[i], other)) {
            say(why, "the %s field was used instead of %s: %.100s", names[order[i]], names[first],
                reason);
            *fits = true;
            return order[i];
        }
    }
    memcpy(why, reason, sizeof(reason));
    return first;
}

void eco_meter_spread(const struct eco_power_source *s, const struct eco_integral *it, int f,
                      bool profile, struct eco_meter_energy *out)
{
    double range_w = it->peak_w - it->low_w;
    double refresh_s = s->refresh_s[f] > 0 ? s->refresh_s[f] : 0;
    double lag_s = shift_ns(s, f) ? 0.1 * s->averaging_s[f] : 0; /* shape of the sensor's ramp */
    out->bias_j = Z95 * bias_frac(s, profile) * it->energy_j;
    out->edge_j = it->edge_j + (refresh_s / 2 + lag_s) * (range_w > 0 ? range_w : 0);
    out->alias_j = s->duty[f] ? ALIAS_FRAC * it->energy_j : 0;
    out->gap_j = it->gap_s * (it->peak_w > 0 ? it->peak_w : 0);
    out->uncertainty_j = sqrt(out->bias_j * out->bias_j + out->edge_j * out->edge_j +
                              out->alias_j * out->alias_j + out->gap_j * out->gap_j);
}

static void integral_result(const struct eco_meter *m, struct meter_source_window *sw,
                            const struct eco_power_source *s, struct eco_meter_energy *out)
{
    bool fits, profile = has_profile(m);
    for (int f = 0; f < ECO_POWER_FIELDS; f++) {
        eco_integral_finish(&sw->best[f]);
    }
    eco_integral_finish(&sw->v1);
    out->field = pick(s, sw, &fits, out->integral_reason);
    const struct eco_integral *it = &sw->best[out->field];
    char v1_why[ECO_METER_REASON];
    if (!unfit(sw, &sw->v1, ECO_POWER_DEFAULT, v1_why) && !s->derived) {
        out->v1_j = sw->v1.energy_j;
    }
    out->samples = it->samples;
    out->duplicates = it->duplicates;
    out->gaps = it->gaps;
    out->gap_s = it->gap_s;
    out->failed = sw->failed[out->field];
    out->lost = sw->lost;
    out->duty = s->duty[out->field];
    if (s->derived) {
        say(out->integral_reason, "its power comes from its own counter");
        out->peak_w = it->peak_w;
        out->low_w = it->low_w;
    } else if (fits) {
        out->integral_j = it->energy_j;
        out->mean_w = it->energy_j / it->covered_s;
        out->peak_w = it->peak_w;
        out->low_w = it->low_w;
        eco_meter_spread(s, it, (int)out->field, profile, out);
    }
}

static void counter_result(const struct eco_power_source *s, const struct meter_source_window *sw,
                           struct eco_meter_energy *out)
{
    static const char *const words[] = {"",
                                        "the device has no energy counter",
                                        "reading the counter failed",
                                        "the device was lost",
                                        "no permission to read the counter",
                                        "the counter gave a value that cannot be true",
                                        "the recording ended"};
    enum eco_power_status bad =
        sw->begin.status != ECO_POWER_OK ? sw->begin.status : sw->end.status;
    double j = sw->end.energy_j - sw->begin.energy_j;
    double count_j = s->resolution_j > 0 ? s->resolution_j : 0;
    double most_j = s->limit_w > 0 ? 2 * s->limit_w * out->window_s : (double)INFINITY;
    if (bad != ECO_POWER_OK) {
        say(out->counter_reason, "%s", words[bad]);
    } else if (j < 0 || j > most_j) {
        say(out->counter_reason, "the counter moved by %.6g J, which cannot be true", j);
    } else if (j == 0 || (out->integral_j > 20 * (count_j > 0.05 ? count_j : 0.05) &&
                          j < 0.01 * out->integral_j)) {
        say(out->counter_reason, "the counter did not move");
    } else {
        double bias_j = Z95 * bias_frac(s, false) * j;
        out->counter_j = j;
        out->counter_resolution_frac = 2 * count_j / j;
        out->counter_uncertainty_j =
            sqrt(bias_j * bias_j + 4 * count_j * count_j + sw->begin.spread_j * sw->begin.spread_j +
                 sw->end.spread_j * sw->end.spread_j);
    }
}

static void refuse_short(struct eco_meter_energy *out)
{
    out->too_short = true;
    out->counter_j = out->integral_j = out->v1_j = out->mean_w = out->uncertainty_j =
        out->counter_uncertainty_j = (double)NAN;
    say(out->counter_reason, "the window of %.3g s is shorter than %.3g s", out->window_s,
        out->min_window_s);
    memcpy(out->integral_reason, out->counter_reason, sizeof(out->integral_reason));
}

static void compare(struct eco_meter_energy *out)
{
    if (out->counter_j > 0 && !isnan(out->integral_j)) {
        out->gap_frac = (out->integral_j - out->counter_j) / out->counter_j;
        out->counter_disagrees = fabs(out->gap_frac) > WARN_GAP_FRAC;
        out->withhold = fabs(out->gap_frac) > WITHHOLD_GAP_FRAC;
    }
}

static void unknown(struct eco_meter_energy *out)
{
    memset(out, 0, sizeof(*out));
    out->counter_j = out->v1_j = out->integral_j = out->mean_w = out->peak_w = out->low_w =
        (double)NAN;
    out->gap_frac = out->uncertainty_j = out->bias_j = out->edge_j = out->alias_j = out->gap_j =
        (double)NAN;
    out->counter_uncertainty_j = out->counter_resolution_frac = (double)NAN;
}

void eco_meter_window_result(const struct eco_meter *m, struct meter_window *w, size_t source,
                             struct eco_meter_energy *out)
{
    const struct eco_power_source *s = m->sources[source];
    struct meter_source_window *sw = &w->source[source];
    unknown(out);
    out->window_s = (double)(w->to_ns - w->from_ns) * 1e-9;
    out->late = w->late;
    out->missed = w->missed;
    integral_result(m, sw, s, out);
    counter_result(s, sw, out);
    out->min_window_s = min_window(m, s, (int)out->field);
    if (isnan(out->mean_w) && out->counter_j > 0) {
        out->mean_w = out->counter_j / out->window_s;
    }
    if (!w->fast && out->window_s < out->min_window_s) {
        refuse_short(out);
    }
    out->too_short = out->window_s < out->min_window_s;
    compare(out);
}

/* ---- several windows ----------------------------------------------------------------------- */

/* Two-sided 95 % quantile of Student's t; printed tables. */
static double t95(size_t df)
{
    static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                               2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                               2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                               2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    return df == 0 ? (double)INFINITY : df <= 30 ? t[df - 1] : Z95 + 2.5 / (double)df;
}

/* Scatter of the windows' mean power: what aliasing is left after n random starts. */
static double scatter_w(const struct eco_meter_energy *w, size_t n)
{
    double mean = 0, m2 = 0;
    for (size_t i = 0; i < n; i++) {
        double d = w[i].mean_w - mean;
        mean += d / (double)(i + 1);
        m2 += d * (w[i].mean_w - mean);
    }
    return n > 1 ? sqrt(m2 / (double)(n - 1)) : (double)NAN;
}

static void add_up(struct eco_meter_energy *sum, const struct eco_meter_energy *w)
{
    sum->window_s += w->window_s;
    sum->counter_j += w->counter_j;
    sum->v1_j += w->v1_j;
    sum->integral_j += w->integral_j;
    sum->bias_j += w->bias_j; /* one sensor: its bias adds up fully */
    sum->edge_j = sqrt(sum->edge_j * sum->edge_j + w->edge_j * w->edge_j);
    sum->gap_j += w->gap_j;
    sum->counter_uncertainty_j += w->counter_uncertainty_j;
    sum->samples += w->samples;
    sum->late += w->late;
    sum->missed += w->missed;
    sum->failed += w->failed;
    sum->duplicates += w->duplicates;
    sum->gaps += w->gaps;
    sum->gap_s += w->gap_s;
    sum->lost = sum->lost || w->lost;
    sum->duty = sum->duty || w->duty;
    sum->peak_w = !(sum->peak_w >= w->peak_w) ? w->peak_w : sum->peak_w;
    sum->low_w = !(sum->low_w <= w->low_w) ? w->low_w : sum->low_w;
    if (!sum->counter_reason[0]) {
        memcpy(sum->counter_reason, w->counter_reason, sizeof(sum->counter_reason));
    }
    if (!sum->integral_reason[0]) {
        memcpy(sum->integral_reason, w->integral_reason, sizeof(sum->integral_reason));
    }
}

void eco_meter_pool(const struct eco_meter_energy *w, size_t n, struct eco_meter_energy *out)
{
    unknown(out);
    if (n == 0) {
        return;
    }
    out->counter_j = out->v1_j = out->integral_j = out->bias_j = out->edge_j = out->gap_j =
        out->counter_uncertainty_j = 0;
    out->field = w[0].field;
    out->min_window_s = w[0].min_window_s;
    for (size_t i = 0; i < n; i++) {
        add_up(out, &w[i]);
    }
    out->mean_w = out->integral_j / (out->window_s - out->gap_s);
    out->too_short = out->window_s < out->min_window_s;
    out->counter_resolution_frac =
        w[0].counter_resolution_frac * w[0].counter_j * (double)n / out->counter_j;
    out->alias_j = 0;
    if (out->duty) {
        out->alias_j = n >= MIN_STARTS
                           ? t95(n - 1) * scatter_w(w, n) / sqrt((double)n) * out->window_s
                           : ALIAS_FRAC / sqrt((double)n) * out->integral_j;
    }
    out->uncertainty_j = sqrt(out->bias_j * out->bias_j + out->edge_j * out->edge_j +
                              out->alias_j * out->alias_j + out->gap_j * out->gap_j);
    compare(out);
    if (out->too_short) {
        refuse_short(out);
    }
}
