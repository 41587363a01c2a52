/* Known waveforms integrate to their known joules; gaps, edges and equal readings. */
#include "eco_test.h"

#include "power/integral.h"

#define MS ((int64_t)1000000)
#define S ((int64_t)1000000000)

static struct eco_integral make(int64_t from, int64_t to, int64_t gap)
{
    struct eco_integral it;
    eco_integral_init(&it, from, to, gap, 1, 0);
    return it;
}

/* Constant power is legal: all readings equal, none dropped, the joules exact. */
static void test_constant(void **state)
{
    (void)state;
    struct eco_integral it = make(10 * S, 20 * S, 300 * MS);
    for (int64_t t = 9 * S; t <= 21 * S; t += 100 * MS) {
        eco_integral_add(&it, t, 200);
    }
    eco_integral_finish(&it);
    assert_near(it.energy_j, 2000, 1e-9);
    assert_near(it.covered_s, 10, 1e-12);
    assert_int_equal(it.samples, 101);
    assert_int_equal(it.duplicates, 101);
    assert_int_equal(it.gaps, 0);
    assert_true(eco_integral_done(&it));
}

/* A ramp 100 W/s cut between samples: 1/2 * 100 * (t2^2 - t1^2). */
static void test_edges_between_samples(void **state)
{
    (void)state;
    struct eco_integral it = make(1 * S + 33 * MS, 3 * S + 71 * MS, 300 * MS);
    for (int64_t t = 0; t <= 4 * S; t += 100 * MS) {
        eco_integral_add(&it, t, 100 * (double)t * 1e-9);
    }
    eco_integral_finish(&it);
    assert_near(it.energy_j, 50 * (3.071 * 3.071 - 1.033 * 1.033), 1e-9);
    assert_true(it.edge_j > 0);
}

/* The window lies inside one interval between samples. */
static void test_window_inside_one_interval(void **state)
{
    (void)state;
    struct eco_integral it = make(20 * MS, 60 * MS, 300 * MS);
    eco_integral_add(&it, 0, 0);
    eco_integral_add(&it, 100 * MS, 100);
    eco_integral_finish(&it);
    assert_near(it.energy_j, 0.5 * (20 + 60) * 0.04, 1e-12);
    assert_int_equal(it.samples, 0);
}

static void test_gap_is_left_out_and_reported(void **state)
{
    (void)state;
    struct eco_integral it = make(0, 10 * S, 300 * MS);
    for (int64_t t = 0; t <= 10 * S; t += 100 * MS) {
        if (t <= 4 * S || t >= 5 * S) {
            eco_integral_add(&it, t, 100);
        }
    }
    eco_integral_finish(&it);
    assert_int_equal(it.gaps, 1);
    assert_near(it.gap_s, 1, 1e-12);
    assert_near(it.covered_s, 9, 1e-12);
    assert_near(it.energy_j, 900, 1e-9);
}

/* Three missing samples are no gap over three periods; four are. */
static void test_gap_limit(void **state)
{
    (void)state;
    struct eco_integral it = make(0, 1 * S, 300 * MS);
    eco_integral_add(&it, 0, 50);
    eco_integral_add(&it, 300 * MS, 50);
    eco_integral_add(&it, 701 * MS, 50);
    eco_integral_add(&it, 1 * S, 50);
    eco_integral_finish(&it);
    assert_int_equal(it.gaps, 1);
    assert_near(it.gap_s, 0.401, 1e-12);
}

static void test_no_samples_is_not_zero_energy(void **state)
{
    (void)state;
    struct eco_integral it = make(0, 5 * S, 300 * MS);
    eco_integral_finish(&it);
    assert_near(it.gap_s, 5, 1e-12);
    assert_near(it.covered_s, 0, 0);
    assert_true(isnan(it.peak_w));
}

/* Only the beginning was sampled: the rest is a gap, not a held value. */
static void test_end_without_samples(void **state)
{
    (void)state;
    struct eco_integral it = make(0, 5 * S, 300 * MS);
    for (int64_t t = 0; t <= 2 * S; t += 100 * MS) {
        eco_integral_add(&it, t, 10);
    }
    eco_integral_finish(&it);
    assert_near(it.energy_j, 20, 1e-9);
    assert_near(it.gap_s, 3, 1e-12);
}

static void test_profile(void **state)
{
    (void)state;
    struct eco_integral it;
    eco_integral_init(&it, 0, 10 * S, 300 * MS, 0.944, 4.6);
    for (int64_t t = 0; t <= 10 * S; t += 100 * MS) {
        eco_integral_add(&it, t, 0.944 * 300 + 4.6);
    }
    eco_integral_finish(&it);
    assert_near(it.energy_j, 3000, 1e-6);
}

static void test_time_going_back_changes_nothing(void **state)
{
    (void)state;
    struct eco_integral it = make(0, 1 * S, 300 * MS);
    for (int64_t t = 0; t <= 1 * S; t += 100 * MS) {
        eco_integral_add(&it, t, 10);
        eco_integral_add(&it, t, 99999);
        eco_integral_add(&it, t - 50 * MS, 99999);
    }
    eco_integral_finish(&it);
    assert_near(it.energy_j, 10, 1e-12);
}

/* A week at 10 Hz: the sum keeps its digits. */
static void test_long_sum(void **state)
{
    (void)state;
    const int64_t n = 6048000;
    struct eco_integral it = make(0, ECO_INTEGRAL_OPEN, 300 * MS);
    for (int64_t i = 0; i <= n; i++) {
        eco_integral_add(&it, i * 100 * MS, 123.456);
    }
    eco_integral_finish(&it);
    assert_near_rel(it.energy_j, 123.456 * 604800, 1e-14);
}

static void test_zero_for_two_seconds(void **state)
{
    (void)state;
    struct eco_integral it = make(1000 * MS, 6000 * MS, 300 * MS);
    for (int64_t i = 0; i <= 70; i++) { /* 0 W before, after, and 1.9 s within */
        eco_integral_add(&it, i * 100 * MS, i < 10 || (i >= 30 && i < 50) || i > 60 ? 0 : 100);
    }
    assert_false(it.zero);
    it = make(1000 * MS, 6000 * MS, 300 * MS);
    for (int64_t i = 0; i <= 70; i++) {
        eco_integral_add(&it, i * 100 * MS, i >= 30 && i <= 50 ? 0 : 100);
    }
    assert_true(it.zero);
}

static void test_negative_is_no_reading(void **state)
{
    (void)state;
    struct eco_integral it = make(0, 1000 * MS, 300 * MS);
    for (int64_t i = 0; i <= 10; i++) {
        eco_integral_add(&it, i * 100 * MS, i == 5 ? -300 : 100);
    }
    eco_integral_finish(&it);
    assert_near(it.energy_j, 100, 1e-9);
    assert_int_equal(it.samples, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_edges_between_samples),
        cmocka_unit_test(test_window_inside_one_interval),
        cmocka_unit_test(test_gap_is_left_out_and_reported),
        cmocka_unit_test(test_gap_limit),
        cmocka_unit_test(test_no_samples_is_not_zero_energy),
        cmocka_unit_test(test_end_without_samples),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_time_going_back_changes_nothing),
        cmocka_unit_test(test_long_sum),
        cmocka_unit_test(test_zero_for_two_seconds),
        cmocka_unit_test(test_negative_is_no_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
