/*
 * Real recordings of drivers' readings beside an external meter: the accuracy rows. The folder is
 * ECO_TRACES, else shared/traces beside the source folder where that is there; without it these
 * tests are skipped, loudly.
 * Each prints its figure beside its bar.
 */
#include "eco_test.h"

#include "base/buf.h"
#include "base/file.h"
#include "power/integral.h"
#include "power/replay.h"

#define FILE_LIMIT ((size_t)8 << 20)

static const char *folder(void)
{
    static char path[512];
    const char *given = getenv("ECO_TRACES");
    if (given) {
        return given;
    }
    snprintf(path, sizeof(path), "%s/../%s", ECO_SOURCE_DIR, "shared/traces");
    return path;
}

static bool absent(void)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/square-rtx3090.driver.csv", folder());
    if (eco_file_exists(path)) {
        return false;
    }
    fprintf(stderr, "SKIPPED: no recordings in '%s' (set ECO_TRACES)\n", folder());
    return true;
}

static struct eco_record_table load(const char *name, const char *kind, const char *column)
{
    char path[600];
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_record_table t;
    struct eco_err err = {0};
    snprintf(path, sizeof(path), "%s/%s.%s.csv", folder(), name, kind);
    assert_int_equal(eco_file_read(path, FILE_LIMIT, &text, &err), 0);
    if (eco_record_read(path, eco_buf_str(&text), text.len, column, &t, &err) != 0) {
        fail_msg("%s", err.message);
    }
    eco_buf_done(&text);
    return t;
}

/* First and last load edge bound the window. */
static void window_of(const char *name, double *from_s, double *to_s)
{
    char path[600];
    struct eco_buf text = ECO_BUF_INIT;
    snprintf(path, sizeof(path), "%s/%s.edges.csv", folder(), name);
    assert_int_equal(eco_file_read(path, FILE_LIMIT, &text, NULL), 0);
    const char *first = strchr(text.data, '\n') + 1, *last = first;
    for (const char *at = first; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        last = *at ? at : last;
    }
    *from_s = strtod(first, NULL);
    *to_s = strtod(last, NULL);
    eco_buf_done(&text);
}

/* The meter's energy by a plain sum over its own dense samples: independent of our integrator. */
static double truth(const struct eco_record_table *m, double from_s, double to_s)
{
    double j = 0;
    for (size_t i = 1; i < m->n; i++) {
        double a = fmax(m->t_s[i - 1], from_s), b = fmin(m->t_s[i], to_s);
        if (a < b) {
            double slope = (m->power_w[i] - m->power_w[i - 1]) / (m->t_s[i] - m->t_s[i - 1]);
            double wa = m->power_w[i - 1] + slope * (a - m->t_s[i - 1]);
            j += (wa + slope * (b - a) / 2) * (b - a);
        }
    }
    return j;
}

static void judge(const char *name, const char *column, const char *card, double bar_pct)
{
    struct eco_replay r;
    struct eco_err err = {0};
    double from_s, to_s;
    struct eco_record_table driver = load(name, "driver", column);
    struct eco_record_table meter = load(name, "meter", "power_w");
    window_of(name, &from_s, &to_s);
    double true_j = truth(&meter, from_s, to_s);
    if (eco_replay_energy(&driver, column, card, from_s, to_s, &r, &err) != 0) {
        fail_msg("%s", err.message);
    }
    double off_pct = 100 * (r.energy.integral_j / true_j - 1);
    printf("# %-15s %-16s %-9s %+6.2f %% (bar %.1f %%), meter %.2f J, ours %.2f +- %.2f J, "
           "shift %.2f s, refresh %.3f s, averaging %.3f s\n",
           name, column, card ? card : "plain", off_pct, bar_pct, true_j, r.energy.integral_j,
           r.energy.uncertainty_j, r.shift_s, r.refresh_s, r.averaging_s);
    assert_true(fabs(off_pct) <= bar_pct);
    assert_true(fabs(r.energy.integral_j - true_j) <= r.energy.uncertainty_j);
    eco_record_done(&driver);
    eco_record_done(&meter);
}

static void test_square_average(void **state)
{
    (void)state;
    if (absent()) {
        skip();
    }
    judge("square-rtx3090", "power_average_w", NULL, 7);
    judge("square-rtx3090", "power_average_w", "RTX 3090", 3.4);
    judge("square-rtx3090", "power_draw_w", NULL, 7);
    judge("square-rtx3090", "power_draw_w", "rtx3090", 3.4);
}

static void test_square_instant(void **state)
{
    (void)state;
    if (absent()) {
        skip();
    }
    judge("square-rtx3090", "power_instant_w", NULL, 6);
    judge("square-rtx3090", "power_instant_w", "RTX 3090", 1.3);
}

static void test_step(void **state)
{
    (void)state;
    if (absent()) {
        skip();
    }
    judge("step-rtx3090", "power_draw_w", NULL, 5.5);
    judge("step-rtx3090", "power_draw_w", "RTX 3090", 4.2);
    judge("step-rtx3090", "power_instant_w", NULL, 5.5);
    judge("step-rtx3090", "power_instant_w", "RTX 3090", 4.2);
    judge("step-rtx4090", "power_draw_w", NULL, 5.5);
    judge("step-rtx4090", "power_draw_w", "RTX 4090", 4.2);
}

/* ---- the duty cycle of an A100 over the recorded load, at random phases --------------------- */

#define PHASES 200
#define STARTS 10
#define POLL_S 0.01
#define PERIOD_S 0.1
#define SEEN_S 0.025

static uint64_t seed = 1;
static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

/* Running integral of the meter, so that the mean over 25 ms is one difference. */
static double *cumulate(const struct eco_record_table *m)
{
    double *c = calloc(m->n, sizeof(*c));
    assert_non_null(c);
    for (size_t i = 1; i < m->n; i++) {
        c[i] = c[i - 1] + (m->power_w[i] + m->power_w[i - 1]) / 2 * (m->t_s[i] - m->t_s[i - 1]);
    }
    return c;
}

static double at(const struct eco_record_table *m, const double *c, double t_s)
{
    size_t lo = 0, hi = m->n - 1;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        *(m->t_s[mid] <= t_s ? &lo : &hi) = mid;
    }
    return c[lo] + (c[hi] - c[lo]) * (t_s - m->t_s[lo]) / (m->t_s[hi] - m->t_s[lo]);
}

/* What a sensor of that phase says, polled every 10 ms over [from, to] and a little more. */
static struct eco_record_table sense(const struct eco_record_table *m, const double *c,
                                     double from_s, double to_s, double phase_s)
{
    struct eco_record_table t = {.n = (size_t)((to_s - from_s + 0.2) / POLL_S)};
    t.t_s = calloc(t.n, sizeof(double));
    t.power_w = calloc(t.n, sizeof(double));
    assert_true(t.t_s && t.power_w);
    for (size_t i = 0; i < t.n; i++) {
        double now = from_s - 0.1 + (double)i * POLL_S;
        double tick = floor((now - phase_s) / PERIOD_S) * PERIOD_S + phase_s;
        t.t_s[i] = now;
        t.power_w[i] = (at(m, c, tick) - at(m, c, tick - SEEN_S)) / SEEN_S;
    }
    return t;
}

static void test_a100_one_start(void **state)
{
    (void)state;
    if (absent()) {
        skip();
    }
    struct eco_record_table meter = load("square-a100", "meter", "power_w");
    double *c = cumulate(&meter), from_s, to_s, worst = 0, width = 0;
    int inside = 0;
    window_of("square-a100", &from_s, &to_s);
    double true_j = truth(&meter, from_s, to_s);
    for (int k = 0; k < PHASES; k++) {
        struct eco_replay r;
        struct eco_record_table t = sense(&meter, c, from_s, to_s, uniform() * PERIOD_S);
        assert_int_equal(eco_replay_energy(&t, "power_instant_w", "A100", from_s, to_s, &r, NULL),
                         0);
        /* the simulated sensor has no gain error: undo the profile of the real one */
        double j = r.energy.integral_j * r.profile->gain + r.profile->offset_w * (to_s - from_s);
        inside += fabs(j - true_j) <= r.energy.uncertainty_j;
        worst = fmax(worst, fabs(j / true_j - 1));
        width += r.energy.uncertainty_j / j / PHASES;
        assert_true(r.energy.duty);
        eco_record_done(&t);
    }
    printf("# A100, one start: truth inside %d of %d, worst %.2f %%, half width %.1f %%\n", inside,
           PHASES, 100 * worst, 100 * width);
    assert_true(inside >= PHASES * 95 / 100);
    free(c);
    eco_record_done(&meter);
}

/* Ten random starts over the same load: the interval comes from their scatter alone. */
static void test_a100_random_starts(void **state)
{
    (void)state;
    if (absent()) {
        skip();
    }
    struct eco_record_table meter = load("square-a100", "meter", "power_w");
    double *c = cumulate(&meter), from_s, to_s, worst = 0, width = 0;
    int inside = 0, by_scatter = 0;
    window_of("square-a100", &from_s, &to_s);
    for (int k = 0; k < PHASES; k++) {
        struct eco_meter_energy w[STARTS] = {0}, sum;
        double step_s = (to_s - from_s) / STARTS, true_j = 0;
        for (int i = 0; i < STARTS; i++) {
            double a = from_s + i * step_s, b = a + step_s;
            struct eco_integral it;
            struct eco_record_table t = sense(&meter, c, a, b, uniform() * PERIOD_S);
            eco_integral_init(&it, (int64_t)(a * 1e9), (int64_t)(b * 1e9), 30000000, 1, 0);
            for (size_t n = 0; n < t.n; n++) {
                eco_integral_add(&it, (int64_t)(t.t_s[n] * 1e9), t.power_w[n]);
            }
            eco_integral_finish(&it);
            w[i].window_s = step_s;
            w[i].integral_j = it.energy_j;
            w[i].mean_w = it.energy_j / it.covered_s;
            w[i].bias_j = 1.96 * 0.05 * it.energy_j;
            w[i].duty = true;
            true_j += truth(&meter, a, b);
            eco_record_done(&t);
        }
        eco_meter_pool(w, STARTS, &sum);
        inside += fabs(sum.integral_j - true_j) <= sum.uncertainty_j;
        by_scatter += fabs(sum.integral_j - true_j) <= sum.alias_j;
        worst = fmax(worst, fabs(sum.integral_j / true_j - 1));
        width += sum.alias_j / sum.integral_j / PHASES;
    }
    printf("# A100, %d random starts: truth inside %d of %d (%d by scatter alone), worst %.2f %%, "
           "aliasing half width %.1f %%\n",
           STARTS, inside, PHASES, by_scatter, 100 * worst, 100 * width);
    assert_true(inside >= PHASES * 95 / 100);
    free(c);
    eco_record_done(&meter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_square_average),
        cmocka_unit_test(test_square_instant),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_a100_one_start),
        cmocka_unit_test(test_a100_random_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
