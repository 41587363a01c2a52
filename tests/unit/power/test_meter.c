/*
 * The meter over simulated devices: a day of sampling on a simulated clock, known joules on the
 * real one, trace, costs, pooling. Under -fsanitize=thread the real thread runs here too.
 */
#include "eco_test.h"

#include "base/clock.h"
#include "power/meter.h"

#include <time.h>

static struct eco_power_set *set;

static void open_empty(void)
{
    const struct eco_power_options o = {.nvml_library = "/nonexistent",
                                        .sysfs = "/nonexistent",
                                        .amd_library = "/nonexistent",
                                        .ipmitool = ""};
    assert_int_equal(eco_power_open(&o, &set, NULL), 0);
}

static int close_set(void **state)
{
    (void)state;
    eco_power_close(set);
    set = NULL;
    return 0;
}

/* ---- a simulated clock and its load --------------------------------------------------------- */

struct world {
    int64_t now_ns;
    int64_t oversleep_ns; /* every wake-up comes this late */
    double lo_w, hi_w;    /* square, 1 s each */
    int looks_left;       /* at the clock; then it jumps, once */
    int64_t jump_ns;
};

static int64_t world_now(void *ctx)
{
    struct world *w = ctx;
    if (w->jump_ns && w->looks_left-- == 0) {
        w->now_ns += w->jump_ns;
        w->jump_ns = 0;
    }
    return w->now_ns;
}

static void world_sleep(void *ctx, int64_t t_ns)
{
    struct world *w = ctx;
    w->now_ns = (t_ns > w->now_ns ? t_ns : w->now_ns) + w->oversleep_ns;
}

static double world_power(void *ctx, double t_s)
{
    const struct world *w = ctx;
    return fmod(floor(t_s), 2) < 1 ? w->hi_w : w->lo_w;
}

static double world_energy(void *ctx, double t_s)
{
    const struct world *w = ctx;
    double pairs = floor(t_s / 2), rest = t_s - 2 * pairs;
    return pairs * (w->hi_w + w->lo_w) + fmin(rest, 1) * w->hi_w + fmax(rest - 1, 0) * w->lo_w;
}

static struct eco_power_source *add_world(struct world *w, double tick_s)
{
    const struct eco_power_sim sim = {.power_w = world_power,
                                      .energy_j = world_energy,
                                      .now_ns = world_now,
                                      .ctx = w,
                                      .tick_s = tick_s};
    struct eco_power_source *s = eco_power_add_sim(set, "world", &sim);
    assert_non_null(s);
    return s;
}

/* 24 h at 10 Hz: deadlines do not drift, memory stays, no sample is lost, the joules are right. */
static void test_a_day(void **state)
{
    (void)state;
    struct world w = {.now_ns = 1000000000, .oversleep_ns = 20000, .lo_w = 150, .hi_w = 250};
    const struct eco_meter_clock clock = {world_now, world_sleep, &w};
    const struct eco_meter_options o = {.rate_hz = 10,
                                        .trace_s = 60,
                                        .gain = NAN,
                                        .offset_w = NAN,
                                        .clock = &clock,
                                        .manual = true};
    open_empty();
    struct eco_power_source *s = add_world(&w, 0);
    struct eco_meter *m;
    struct eco_meter_energy e;
    struct eco_meter_cost cost, before;
    int64_t lost;
    int id;
    assert_int_equal(eco_meter_new(&s, 1, &o, &m, NULL), 0);
    assert_int_equal(eco_meter_start(m, NULL), 0);
    eco_meter_costs(m, &before);
    assert_int_equal(eco_meter_begin(m, &id, NULL), 0);
    for (int64_t i = 0; i < 864000; i++) {
        eco_meter_step(m);
    }
    assert_int_equal(eco_meter_end(m, id, &e, NULL), 0);
    eco_meter_costs(m, &cost);
    struct eco_meter_sample last;
    int64_t n = eco_meter_trace_count(m, &lost);
    assert_int_equal(eco_meter_trace(m, n - 1, &last, 1), 1);
    /* the n-th deadline is at n/10 s exactly, whatever the oversleep */
    double drift_s = (double)(last.t_before_ns - 1000000000) * 1e-9 - (double)(n - 1) / 10;
    printf("# 24 h at 10 Hz: %lld samples, drift %.1f us, memory %zu bytes, integral off %.1e\n",
           (long long)n, 1e6 * drift_s, cost.memory_bytes, e.integral_j / (200 * e.window_s) - 1);
    assert_near(drift_s, 20e-6, 1e-6);
    assert_int_equal(cost.memory_bytes, before.memory_bytes);
    assert_true(lost > 860000);
    assert_int_equal(e.late, 0);
    assert_int_equal(e.missed, 0);
    assert_int_equal(e.gaps, 0);
    assert_int_equal(e.failed, 0);
    assert_near_rel(e.integral_j, 200 * e.window_s, 1e-5);
    assert_near_rel(e.counter_j, 200 * e.window_s, 1e-5);
    eco_meter_free(m);
}

/* A sampler that is held up counts what it missed and reports the gap. */
static void test_missed_deadlines(void **state)
{
    (void)state;
    struct world w = {.now_ns = 1000000000, .lo_w = 200, .hi_w = 200};
    const struct eco_meter_clock clock = {world_now, world_sleep, &w};
    const struct eco_meter_options o = {
        .rate_hz = 10, .gain = NAN, .offset_w = NAN, .clock = &clock, .manual = true};
    open_empty();
    struct eco_power_source *s = add_world(&w, 0);
    struct eco_meter *m;
    struct eco_meter_energy e;
    int id;
    assert_int_equal(eco_meter_new(&s, 1, &o, &m, NULL), 0);
    assert_int_equal(eco_meter_start(m, NULL), 0);
    assert_int_equal(eco_meter_begin(m, &id, NULL), 0);
    for (int i = 0; i < 300; i++) {
        w.now_ns += i == 100 ? 1000000000 : 0; /* a second without a sample */
        eco_meter_step(m);
    }
    assert_int_equal(eco_meter_end(m, id, &e, NULL), 0);
    assert_int_equal(e.missed, 9);
    assert_int_equal(e.late, 1);
    assert_int_equal(e.gaps, 1);
    assert_near(e.gap_s, 1.0, 0.11);
    /* the gap is left out: mean power is still right, and its energy is in the uncertainty */
    assert_near(e.mean_w, 200, 1e-6);
    assert_true(e.gap_j >= 200);
    /* held up at the very end: the window that ends says it, the next one does not */
    assert_int_equal(eco_meter_begin(m, &id, NULL), 0);
    for (int i = 0; i < 100; i++)
        eco_meter_step(m);
    w.now_ns += 1000000000;
    assert_int_equal(eco_meter_end(m, id, &e, NULL), 0);
    assert_int_equal(e.missed, 9);
    assert_int_equal(eco_meter_begin(m, &id, NULL), 0);
    for (int i = 0; i < 100; i++)
        eco_meter_step(m);
    assert_int_equal(eco_meter_end(m, id, &e, NULL), 0);
    assert_int_equal(e.missed, 0);
    eco_meter_free(m);
}

/* The machine stands still for 3 s between the window's end and the read of its counter: the
 * 600 J that flowed meanwhile are within what the counter says it may be off. */
static void test_late_counter(void **state)
{
    (void)state;
    struct world w = {.now_ns = 1000000000, .lo_w = 200, .hi_w = 200};
    const struct eco_meter_clock clock = {world_now, world_sleep, &w};
    const struct eco_meter_options o = {
        .rate_hz = 10, .gain = NAN, .offset_w = NAN, .clock = &clock, .manual = true};
    open_empty();
    struct eco_power_source *s = add_world(&w, 0);
    struct eco_meter *m;
    struct eco_meter_energy e;
    int id;
    assert_int_equal(eco_meter_new(&s, 1, &o, &m, NULL), 0);
    assert_int_equal(eco_meter_start(m, NULL), 0);
    assert_int_equal(eco_meter_begin(m, &id, NULL), 0);
    for (int i = 0; i < 100; i++) {
        eco_meter_step(m);
    }
    w.looks_left = 2; /* the window's end, the time before the read; then the counter's own */
    w.jump_ns = INT64_C(3000000000);
    assert_int_equal(eco_meter_end(m, id, &e, NULL), 0);
    double off_j = fabs(e.counter_j - 200 * e.window_s);
    printf("# read 3 s late: counter off by %.1f J, says %.1f J\n", off_j, e.counter_uncertainty_j);
    assert_true(off_j > 500);
    assert_true(e.counter_uncertainty_j >= off_j);
    eco_meter_free(m);
}

/* ---- the real clock and thread -------------------------------------------------------------- */

static double flat_power(void *ctx, double t_s)
{
    (void)t_s;
    return *(const double *)ctx;
}

static double flat_energy(void *ctx, double t_s)
{
    return *(const double *)ctx * t_s;
}

/* 200 W for 10 s is 2000 J within one sample (20 J at 10 Hz); Zeus's monitor says 0. */
static void test_constant_200_w_for_10_s(void **state)
{
    (void)state;
    double watts = 200;
    const struct eco_power_sim sim = {
        .power_w = flat_power, .energy_j = flat_energy, .ctx = &watts, .tick_s = 0.02};
    const struct eco_meter_options o = {.rate_hz = 10, .gain = NAN, .offset_w = NAN};
    const struct timespec ten = {10, 0};
    open_empty();
    struct eco_power_source *s = eco_power_add_sim(set, "flat", &sim);
    struct eco_meter *m;
    struct eco_meter_energy e;
    int id;
    assert_int_equal(eco_meter_new(&s, 1, &o, &m, NULL), 0);
    assert_int_equal(eco_meter_start(m, NULL), 0);
    assert_int_equal(eco_meter_begin(m, &id, NULL), 0);
    nanosleep(&ten, NULL);
    assert_int_equal(eco_meter_end(m, id, &e, NULL), 0);
    struct eco_meter_cost cost;
    eco_meter_costs(m, &cost);
    printf("# constant 200 W for %.3f s: integral %.2f J, counter %.2f J, %lld samples, "
           "CPU %.4f %% of a core, %.1f MB\n",
           e.window_s, e.integral_j, e.counter_j, (long long)e.samples,
           100 * cost.cpu_s / cost.wall_s, (double)cost.memory_bytes / 1e6);
    /* a machine that stood still leaves a gap: it is said, and left out */
    assert_near(e.integral_j, 200 * (e.window_s - e.gap_s), 1e-6);
    assert_near(e.counter_j, 200 * e.window_s, 20);
    if (e.gap_s == 0 && e.missed == 0) {
        assert_near(e.integral_j, 2000, 20);
        assert_near(e.counter_j, 2000, 20);
        assert_in_range(e.samples, 95, 102);
    }
    assert_true(e.gap_s < 5);
    assert_true(cost.memory_bytes < 10000000);
    eco_meter_free(m);
}

/* Windows opened and closed, the trace read, watts asked for, all while the thread samples. */
static void test_threads_share_nothing_unlocked(void **state)
{
    (void)state;
    double watts = 100;
    const struct eco_power_sim sim = {
        .power_w = flat_power, .energy_j = flat_energy, .ctx = &watts};
    const struct eco_meter_options o = {
        .rate_hz = 1000, .trace_s = 1, .gain = NAN, .offset_w = NAN, .min_window_s = 0.01};
    static struct eco_meter_sample copy[256];
    open_empty();
    struct eco_power_source *s[2] = {eco_power_add_sim(set, "a", &sim),
                                     eco_power_add_sim(set, "b", &sim)};
    struct eco_meter *m;
    assert_int_equal(eco_meter_new(s, 2, &o, &m, NULL), 0);
    assert_int_equal(eco_meter_start(m, NULL), 0);
    for (int i = 0; i < 20; i++) {
        struct eco_meter_energy e[2];
        struct eco_meter_idle idle;
        struct eco_meter_cost cost;
        const struct timespec nap = {0, 20000000};
        int64_t lost;
        int id, inner;
        assert_int_equal(eco_meter_begin(m, &id, NULL), 0);
        assert_int_equal(eco_meter_begin_fast(m, &inner, NULL), 0);
        nanosleep(&nap, NULL);
        eco_meter_recent(m, 1, 0.01, &idle);
        eco_meter_costs(m, &cost);
        int64_t n = eco_meter_trace_count(m, &lost);
        size_t got = eco_meter_trace(m, n - 100, copy, 256);
        for (size_t k = 1; k < got; k++) {
            assert_true(copy[k].t_before_ns >= copy[k - 1].t_before_ns);
            assert_true(copy[k].t_after_ns >= copy[k].t_before_ns);
        }
        assert_int_equal(eco_meter_end(m, inner, e, NULL), 0);
        assert_int_equal(eco_meter_end(m, id, e, NULL), 0);
        for (int k = 0; k < 2; k++) {
            if (e[k].gaps == 0) { /* a loaded machine may hold the sampler up: then it says so */
                assert_near_rel(e[k].integral_j, 100 * e[k].window_s, 1e-6);
            }
        }
    }
    eco_meter_free(m);
}

/* A meter that samples every minute is stopped at once: `track` must not wait for a deadline. */
static void test_stop_waits_for_no_deadline(void **state)
{
    (void)state;
    double watts = 1;
    const struct eco_power_sim sim = {.power_w = flat_power, .ctx = &watts};
    const struct eco_meter_options o = {.rate_hz = 1.0 / 60, .gain = NAN, .offset_w = NAN};
    open_empty();
    struct eco_power_source *s = eco_power_add_sim(set, "a", &sim);
    struct eco_meter *m;
    assert_int_equal(eco_meter_new(&s, 1, &o, &m, NULL), 0);
    int64_t from_ns = eco_clock_mono_ns();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(eco_meter_start(m, NULL), 0);
        eco_meter_stop(m);
    }
    eco_meter_free(m);
    assert_true(eco_clock_mono_ns() - from_ns < INT64_C(30000000000));
}

static void test_limits_are_named(void **state)
{
    (void)state;
    double watts = 1;
    const struct eco_power_sim sim = {
        .power_w = flat_power, .energy_j = flat_energy, .ctx = &watts};
    open_empty();
    struct eco_power_source *s = eco_power_add_sim(set, "a", &sim);
    struct eco_meter_options o = {.rate_hz = 1001};
    struct eco_meter *m;
    struct eco_err err = {0};
    assert_int_equal(eco_meter_new(&s, 1, &o, &m, &err), ECO_E_RANGE);
    o.rate_hz = 10;
    assert_int_equal(eco_meter_new(&s, 0, &o, &m, &err), ECO_E_RANGE);
    assert_int_equal(eco_meter_new(&s, 1, &o, &m, &err), 0);
    assert_int_equal(eco_meter_start(m, NULL), 0);
    int id[ECO_METER_MAX_OPEN + 1];
    for (int i = 0; i < ECO_METER_MAX_OPEN; i++) {
        assert_int_equal(eco_meter_begin_fast(m, &id[i], NULL), 0);
    }
    assert_int_equal(eco_meter_begin_fast(m, &id[ECO_METER_MAX_OPEN], &err), ECO_E_INTERNAL);
    struct eco_meter_energy e;
    assert_int_equal(eco_meter_end(m, 99, &e, &err), ECO_E_INTERNAL);
    eco_meter_free(m);
    eco_meter_free(NULL);
}

/* Ten windows of a duty-cycled sensor: joules add up, the interval comes from their scatter. */
static void test_pool(void **state)
{
    (void)state;
    static const double means[10] = {180, 220, 200, 190, 210, 185, 215, 195, 205, 200};
    struct eco_meter_energy w[10] = {0}, sum;
    for (int i = 0; i < 10; i++) {
        w[i].window_s = 1;
        w[i].mean_w = w[i].integral_j = means[i];
        w[i].counter_j = 201;
        w[i].duty = true;
        w[i].peak_w = means[i];
        w[i].low_w = means[i];
    }
    eco_meter_pool(w, 10, &sum);
    assert_near(sum.integral_j, 2000, 1e-9);
    assert_near(sum.counter_j, 2010, 1e-9);
    assert_near(sum.mean_w, 200, 1e-9);
    /* sd of the ten means is sqrt(1500/9); t(9) = 2.262 */
    assert_near(sum.alias_j, 2.262 * sqrt(1500.0 / 9) / sqrt(10) * 10, 1e-6);
    eco_meter_pool(w, 3, &sum); /* too few starts: what is known of such sensors instead */
    assert_near(sum.alias_j, 0.31 / sqrt(3) * 600, 1e-9);
    assert_near(sum.peak_w, 220, 0);
}

#define TEST(t) cmocka_unit_test_teardown(t, close_set)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_day),
        TEST(test_missed_deadlines),
        TEST(test_late_counter),
        TEST(test_constant_200_w_for_10_s),
        TEST(test_threads_share_nothing_unlocked),
        TEST(test_stop_waits_for_no_deadline),
        TEST(test_limits_are_named),
        cmocka_unit_test(test_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
