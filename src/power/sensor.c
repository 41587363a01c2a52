#include "sensor.h"

#include "base/buf.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CHANGES 256

enum eco_arch eco_sensor_arch(int cc_major, int cc_minor)
{
    switch (cc_major) {
    case 6:
        return ECO_ARCH_PASCAL;
    case 7:
        return cc_minor >= 5 ? ECO_ARCH_TURING : ECO_ARCH_VOLTA;
    case 8:
        return cc_minor == 9 ? ECO_ARCH_ADA : ECO_ARCH_AMPERE;
    case 9:
        return ECO_ARCH_HOPPER;
    case 10:
    case 11:
    case 12:
        return ECO_ARCH_BLACKWELL;
    default:
        return ECO_ARCH_UNKNOWN;
    }
}

int eco_sensor_driver_major(const char *driver)
{
    int major = 0;
    for (; driver && isdigit((unsigned char)*driver) && major < 100000; driver++) {
        major = major * 10 + (*driver - '0');
    }
    return major;
}

/* GA10x and Ada: the plain field is a 1 s average but for driver 530. */
static struct eco_sensor_timing consumer_default(int driver)
{
    if (driver == 0) {
        return (struct eco_sensor_timing){0.1, (double)NAN, false};
    }
    return (struct eco_sensor_timing){0.1, driver == 530 ? 0.1 : 1.0, false};
}

void eco_sensor_expect(int cc_major, int cc_minor, int driver_major, enum eco_power_field field,
                       struct eco_sensor_timing *out)
{
    const double none = (double)NAN;
    bool average = field == ECO_POWER_AVERAGE, instant = field == ECO_POWER_INSTANT;
    *out = (struct eco_sensor_timing){none, none, false};
    switch (eco_sensor_arch(cc_major, cc_minor)) {
    case ECO_ARCH_HOPPER:
        *out = instant ? (struct eco_sensor_timing){0.1, 0.025, true}
                       : (struct eco_sensor_timing){0.1, average || driver_major > 530 ? 1.0 : none,
                                                    false};
        break;
    case ECO_ARCH_ADA:
        *out = average   ? (struct eco_sensor_timing){0.1, 1.0, false}
               : instant ? (struct eco_sensor_timing){0.1, 0.1, false}
                         : consumer_default(driver_major);
        break;
    case ECO_ARCH_AMPERE:
        if (cc_minor == 0) { /* A100, A800, A30 */
            *out = (struct eco_sensor_timing){0.1, 0.025, true};
        } else {
            *out = average   ? (struct eco_sensor_timing){0.1, 1.0, false}
                   : instant ? (struct eco_sensor_timing){0.1, 0.1, false}
                             : consumer_default(driver_major);
        }
        break;
    case ECO_ARCH_TURING:
        *out = (struct eco_sensor_timing){0.1, 0.1, false};
        break;
    case ECO_ARCH_VOLTA:
    case ECO_ARCH_PASCAL:
        *out = (struct eco_sensor_timing){0.02, 0.01, false};
        break;
    default:
        break; /* Blackwell and newer: detect */
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double refresh_of(const double *t, const double *w, size_t n)
{
    double apart[MAX_CHANGES];
    size_t found = 0, changes = 0;
    double last = 0;
    for (size_t i = 1; i < n && found < MAX_CHANGES; i++) {
        if (w[i] == w[i - 1]) {
            continue;
        }
        if (changes++ > 0) {
            apart[found++] = t[i] - last;
        }
        last = t[i];
    }
    if (found < 5) {
        return (double)NAN;
    }
    qsort(apart, found, sizeof(apart[0]), by_value);
    return apart[found / 2];
}

/* Where w first reaches `level` between two indices, interpolated; NAN. */
static double crossing(const double *t, const double *w, size_t from, size_t to, double level)
{
    for (size_t i = from; i < to; i++) {
        if (w[i] < level && w[i + 1] >= level) {
            return t[i] + (t[i + 1] - t[i]) * (level - w[i]) / (w[i + 1] - w[i]);
        }
    }
    return (double)NAN;
}

/*
 * The first climb from the lowest to the highest level. The top is the first reading within a
 * twentieth of the range below the maximum, the foot the last one as near the minimum before it.
 */
static double rise_of(const double *t, const double *w, size_t n)
{
    double lo = (double)INFINITY, hi = -(double)INFINITY;
    for (size_t i = 0; i < n; i++) {
        lo = w[i] < lo ? w[i] : lo;
        hi = w[i] > hi ? w[i] : hi;
    }
    double range = hi - lo;
    if (n < 8 || !(range > 0.2 * hi)) {
        return (double)NAN; /* no step to see */
    }
    size_t top = 0;
    while (top < n && w[top] < hi - 0.05 * range) {
        top++;
    }
    size_t foot = top;
    while (foot > 0 && w[foot] > lo + 0.05 * range) {
        foot--;
    }
    double t10 = crossing(t, w, foot, top, lo + 0.1 * range);
    double t90 = crossing(t, w, foot, top, lo + 0.9 * range);
    return t90 - t10;
}

void eco_sensor_detect(const double *t_s, const double *power_w, size_t n, double *refresh_s,
                       double *averaging_s)
{
    *refresh_s = refresh_of(t_s, power_w, n);
    *averaging_s = rise_of(t_s, power_w, n) / 0.8;
}

bool eco_sensor_disagrees(double expected_s, double detected_s)
{
    return expected_s > 0 && detected_s > 0 &&
           (detected_s > 2 * expected_s || detected_s < expected_s / 2);
}

/* Letters and digits of a, folded, contain those of b. */
static bool name_contains(const char *a, const char *b)
{
    char x[96] = "", y[96] = "";
    const char *from[2] = {a, b};
    char *to[2] = {x, y};
    for (int k = 0; k < 2; k++) {
        size_t n = 0;
        for (const char *s = from[k]; *s && n + 1 < sizeof(x); s++) {
            if (isalnum((unsigned char)*s)) {
                to[k][n++] = (char)tolower((unsigned char)*s);
            }
        }
        to[k][n] = '\0';
    }
    return y[0] && strstr(x, y);
}

const struct eco_sensor *eco_sensor_profile(const char *card, enum eco_power_field field,
                                            double averaging_s)
{
    const char *word = field == ECO_POWER_INSTANT ? "instant" : "draw";
    const struct eco_sensor *best = NULL;
    double nearest = (double)INFINITY;
    for (size_t i = 0; i < eco_dataset_sensor_count(); i++) {
        const struct eco_sensor *s = eco_dataset_sensor(i);
        bool same = name_contains(s->gpu, card) || name_contains(card, s->gpu);
        /* A100: both fields are the one sensor, published under its plain name */
        bool fits = strcmp(s->field, word) == 0 || (strcmp(s->gpu, "A100 PCIe 40GB") == 0);
        if (!same || !fits || isnan(s->gain) || isnan(s->offset_w)) {
            continue;
        }
        double off = isnan(averaging_s) || isnan(s->window_ms)
                         ? 0
                         : fabs(log(s->window_ms * 1e-3 / averaging_s));
        if (off < nearest) {
            nearest = off;
            best = s;
        }
    }
    return best;
}
