/* Likelihood against numpy, gradient against differences, the fit against a known truth. */
#include "core/gp.h"
#include "eco_test.h"

enum { N = 6, M = 4, G = 4 };

/* Columns: a common level, two halves that share a variance, a slope. Noise is group 3. */
static const int col_start[M + 1] = {0, 6, 9, 12, 18};
static const int row[18] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5};
static const double value[18] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -2.5, -1.5, -.5, .5, 1.5, 2.5};
static const unsigned char col_group[M] = {0, 1, 1, 2};
static const unsigned char noise_group[N] = {3, 3, 3, 3, 3, 3};
static const double noise_weight[N] = {1, 1, 2, 1, 0.5, 1};
static const double y[N] = {0.3, -0.1, 0.25, 0.6, 0.5, 0.9};
static const bool free_group[G] = {false, true, true, true};

static struct eco_gp_problem problem(double prior[G])
{
    prior[0] = log(0.25);
    prior[1] = log(0.04);
    prior[2] = log(0.01);
    prior[3] = log(0.0025);
    return (struct eco_gp_problem){
        .n = N,
        .m = M,
        .n_groups = G,
        .y = y,
        .col_start = col_start,
        .row = row,
        .value = value,
        .col_group = col_group,
        .noise_group = noise_group,
        .noise_weight = noise_weight,
        .free_group = free_group,
        .prior_log_var = prior,
        .prior_width = 1.5,
    };
}

static void test_value_is_numpys(void **state)
{
    double prior[G], theta[G] = {0.0, -1.0, -2.0, -3.0}, memory[3 * N * N + N], g[G], f;
    struct eco_gp_problem p = problem(prior);
    struct eco_gp_work w;

    (void)state;
    assert_int_equal(eco_gp_work_doubles(N), 3 * N * N + N);
    eco_gp_work_init(&w, N, memory);
    assert_int_equal(eco_gp_evaluate(&p, theta, &w, &f, g), 0);
    assert_near(f, 2.943669641761099, 1e-13);
    assert_near(g[0], 0.0, 0.0);
}

static void test_gradient_is_the_difference(void **state)
{
    double prior[G], theta[G] = {0.0, -1.0, -2.0, -3.0}, memory[3 * N * N + N], g[G], other[G];
    struct eco_gp_problem p = problem(prior);
    struct eco_gp_work w;
    double f, up, down, h = 1e-5;

    (void)state;
    eco_gp_work_init(&w, N, memory);
    eco_gp_evaluate(&p, theta, &w, &f, g);
    for (int i = 1; i < G; i++) {
        double at = theta[i];

        theta[i] = at + h;
        eco_gp_evaluate(&p, theta, &w, &up, other);
        theta[i] = at - h;
        eco_gp_evaluate(&p, theta, &w, &down, other);
        theta[i] = at;
        assert_near(g[i], (up - down) / (2 * h), 1e-8);
    }
}

static void test_minimum_is_one(void **state)
{
    double prior[G], theta[G] = {0.0, 1.0, 1.0, -6.0}, memory[3 * N * N + N], h[G * G];
    double start[G], g[G], f;
    struct eco_gp_problem p = problem(prior);
    struct eco_gp_result r;
    struct eco_gp_work w;

    (void)state;
    memcpy(start, theta, sizeof(theta));
    eco_gp_work_init(&w, N, memory);
    assert_int_equal(eco_gp_minimize(&p, theta, h, false, 100, 1e-8, &w, &r), 0);
    assert_true(r.converged);
    assert_near(theta[0], 0.0, 0.0); /* fixed */
    eco_gp_evaluate(&p, start, &w, &f, g);
    assert_true(r.value < f);
    for (int i = 1; i < G; i++) { /* uphill on both sides */
        for (int side = -1; side <= 1; side += 2) {
            memcpy(start, theta, sizeof(theta));
            start[i] += 0.05 * side;
            eco_gp_evaluate(&p, start, &w, &f, g);
            assert_true(f > r.value);
        }
    }
    /* Warm from the end: nothing is left to do. */
    assert_int_equal(eco_gp_minimize(&p, theta, h, true, 100, 1e-7, &w, &r), 0);
    assert_int_equal(r.evaluations, 1);
}

static void test_singular_is_refused(void **state)
{
    double prior[G], theta[G] = {0.0, -1.0, -2.0, NAN}, memory[3 * N * N + N], h[G * G];
    struct eco_gp_problem p = problem(prior);
    struct eco_gp_result r;
    struct eco_gp_work w;

    (void)state;
    eco_gp_work_init(&w, N, memory);
    assert_int_equal(eco_gp_minimize(&p, theta, h, false, 100, 1e-8, &w, &r), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value_is_numpys),
        cmocka_unit_test(test_gradient_is_the_difference),
        cmocka_unit_test(test_minimum_is_one),
        cmocka_unit_test(test_singular_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
