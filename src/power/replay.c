#include "replay.h"

#include "meter_state.h"
#include "sensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_WINDOW_S 5.0
#define SHIFT_FROM_S 0.75 /* detected: a 0.1 s sensor beating with a load can look like 0.5 s */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The usual distance between rows. */
static double median_step(const struct eco_record_table *t)
{
    double step[1001] = {0};
    size_t n = t->n - 1 < 1001 ? t->n - 1 : 1001;
    for (size_t i = 0; i < n; i++) {
        step[i] = t->t_s[i + 1] - t->t_s[i];
    }
    qsort(step, n, sizeof(step[0]), by_value);
    return step[n / 2];
}

/* What the instrument is, from its name, the profile and what the table shows. */
static int sensor_of(const struct eco_record_table *t, const char *column, const char *card,
                     struct eco_replay *out, struct eco_power_source *s,
                     enum eco_power_field *field, struct eco_err *err)
{
    bool average = strstr(column, "average") != NULL, instant = strstr(column, "instant") != NULL;
    bool plain = strstr(column, "draw") != NULL || strstr(column, "default") != NULL;
    *field = instant ? ECO_POWER_INSTANT : average ? ECO_POWER_AVERAGE : ECO_POWER_DEFAULT;
    eco_sensor_detect(t->t_s, t->power_w, t->n, &out->refresh_s, &out->averaging_s);
    out->profile = NULL;
    if (card) {
        out->profile = eco_sensor_profile(card, *field,
                                          average ? 1.0
                                          : plain ? out->averaging_s
                                                  : (double)NAN);
        if (!out->profile) {
            return eco_err_set(err, ECO_E_UNKNOWN_NAME, "profile",
                               "no sensor profile for '%.60s' (data/sensors.csv)", card);
        }
    }
    bool slow = average || (plain && out->averaging_s >= SHIFT_FROM_S);
    s->averaging_s[*field] = slow ? 1.0 : (double)NAN;
    s->refresh_s[*field] = out->refresh_s;
    const struct eco_sensor *p = out->profile;
    /* sees only a part of each refresh period, and that is long enough to alias with a load */
    s->duty[*field] = p && p->update_ms >= 50 && p->window_ms < p->update_ms / 2;
    return 0;
}

static int check_window(const struct eco_record_table *t, double from_s, double to_s,
                        double shift_s, double min_s, struct eco_err *err)
{
    if (!(from_s < to_s)) {
        return eco_err_set(err, ECO_E_RANGE, "to", "the window ends at %g s, before it begins",
                           to_s);
    }
    if (from_s < t->t_s[0] || to_s > t->t_s[t->n - 1]) {
        return eco_err_set(err, ECO_E_RANGE, "from",
                           "the window %g to %g s is not inside the table, %g to %g s", from_s,
                           to_s, t->t_s[0], t->t_s[t->n - 1]);
    }
    if (to_s + shift_s > t->t_s[t->n - 1]) {
        return eco_err_set(err, ECO_E_RANGE, "to",
                           "this sensor averages over %g s: readings are needed until %g s, the "
                           "table ends at %g s",
                           2 * shift_s, to_s + shift_s, t->t_s[t->n - 1]);
    }
    if (to_s - from_s < min_s) {
        return eco_err_set(err, ECO_E_RANGE, "to",
                           "a window of %.3g s is too short for this sensor: at least %.3g s",
                           to_s - from_s, min_s);
    }
    return 0;
}

#define LONGEST_S 9e9 /* what fits into nanoseconds */

static int64_t ns_of(double s)
{
    return (int64_t)llround(s * 1e9);
}

int eco_replay_energy(const struct eco_record_table *t, const char *column, const char *card,
                      double from_s, double to_s, struct eco_replay *out, struct eco_err *err)
{
    struct eco_power_source s = {.external = false};
    enum eco_power_field f;
    memset(out, 0, sizeof(*out));
    int rc = sensor_of(t, column, card, out, &s, &f, err);
    if (rc) {
        return rc;
    }
    double averaging_s = s.averaging_s[f] > 0 ? s.averaging_s[f] : 0, min_s = MIN_WINDOW_S;
    min_s = 20 * s.refresh_s[f] > min_s ? 20 * s.refresh_s[f] : min_s;
    min_s = 5 * averaging_s > min_s ? 5 * averaging_s : min_s;
    out->shift_s = averaging_s / 2;
    from_s = isnan(from_s) ? t->t_s[0] : from_s;
    to_s = isnan(to_s) ? t->t_s[t->n - 1] - out->shift_s : to_s;
    rc = check_window(t, from_s, to_s, out->shift_s, min_s, err);
    if (rc) {
        return rc;
    }
    const struct eco_sensor *p = out->profile;
    struct eco_integral it;
    /* a sensor that refreshes more slowly than it is polled loses nothing between two refreshes */
    double period_s = median_step(t);
    period_s = s.refresh_s[f] > period_s ? s.refresh_s[f] : period_s;
    eco_integral_init(&it, ns_of(from_s + out->shift_s), ns_of(to_s + out->shift_s),
                      ns_of(fmin(3 * period_s, LONGEST_S)), p ? p->gain : 1, p ? p->offset_w : 0);
    size_t negative = 0;
    for (size_t i = 0; i < t->n; i++) {
        negative += t->power_w[i] < 0;
        eco_integral_add(&it, ns_of(t->t_s[i]), t->power_w[i]);
    }
    eco_integral_finish(&it);
    struct eco_meter_energy *e = &out->energy;
    e->window_s = to_s - from_s;
    e->min_window_s = min_s;
    e->field = f;
    e->integral_j = it.energy_j;
    e->mean_w = it.covered_s > 0 ? it.energy_j / it.covered_s : (double)NAN;
    e->peak_w = it.peak_w;
    e->low_w = it.low_w;
    e->samples = it.samples;
    e->duplicates = it.duplicates;
    e->gaps = it.gaps;
    e->gap_s = it.gap_s;
    e->duty = s.duty[f];
    eco_meter_spread(&s, &it, (int)f, p != NULL, e);
    if (it.samples == 0 && negative > 0) {
        return eco_err_set(err, ECO_E_CONTENT, "power",
                           "no energy: every reading is negative, and negative power is no "
                           "reading");
    }
    if (it.zero) {
        return eco_err_set(err, ECO_E_CONTENT, "power",
                           "no energy: the sensor read 0 W for two seconds or more");
    }
    if (it.gap_s > 0.05 * e->window_s) {
        return eco_err_set(err, ECO_E_CONTENT, "power",
                           "%.3g s of the window's %.3g s have no readings", it.gap_s, e->window_s);
    }
    return 0;
}
