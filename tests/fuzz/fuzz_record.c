/*
 * Any bytes as a recorded power table or a PTDaemon log: refused with a reason, or read into
 * rising, finite rows whose energy lies between the lowest and the highest reading.
 */
#include "power/replay.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check(int condition)
{
    if (!condition) {
        abort();
    }
}

static void energy(const struct eco_record_table *t, const char *card)
{
    struct eco_replay r;
    struct eco_err err = {.message = ""};
    double lo = (double)INFINITY, hi = -(double)INFINITY;
    int rc = eco_replay_energy(t, t->column, card, (double)NAN, (double)NAN, &r, &err);
    for (size_t i = 0; i < t->n; i++) {
        lo = fmin(lo, t->power_w[i]);
        hi = fmax(hi, t->power_w[i]);
    }
    if (rc) {
        check(rc < 0 && err.message[0] != '\0');
        return;
    }
    if (isnan(r.energy.integral_j)) {
        check(r.energy.integral_reason[0] != '\0');
        return;
    }
    if (!card) { /* without a profile a mean lies among its readings */
        double covered_s = r.energy.window_s - r.energy.gap_s;
        double slack = 1e-6 * fmax(fabs(lo), fabs(hi)) * covered_s + 1e-9;
        check(r.energy.integral_j >= lo * covered_s - slack);
        check(r.energy.integral_j <= hi * covered_s + slack);
    }
    check(r.energy.samples >= 0 && r.energy.gap_s >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct eco_record_table t;
    struct eco_err err = {.message = ""};
    char *text = malloc(size + 1);
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    int rc = eco_record_read("fuzz", text, size, NULL, &t, &err);
    if (rc) {
        check(rc < 0 && err.message[0] != '\0');
    } else {
        check(t.n >= 2);
        for (size_t i = 0; i < t.n; i++) {
            check(isfinite(t.t_s[i]) && isfinite(t.power_w[i]));
            check(i == 0 || t.t_s[i] >= t.t_s[i - 1]);
        }
        energy(&t, NULL);
        energy(&t, "RTX 3090");
        eco_record_done(&t);
    }
    free(text);
    return 0;
}
