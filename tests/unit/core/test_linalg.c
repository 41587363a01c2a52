/* Factor, inverse and determinant against hand results and against A A^-1 = 1. */
#include "core/linalg.h"
#include "eco_test.h"

enum { N = 23 };

static void fill(double *a, int n)
{
    /* a[i][j] = exp(-|i - j| / 3), plus a little on the diagonal: positive definite. */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            a[i * n + j] = exp(-fabs((double)(i - j)) / 3.0) + (i == j ? 0.01 * i : 0.0);
    }
}

static void test_factor_by_hand(void **state)
{
    double a[9] = {4, 12, -16, 12, 37, -43, -16, -43, 98};

    (void)state;
    assert_int_equal(eco_linalg_cholesky(a, 3), 0);
    assert_near(a[0], 2.0, 1e-15);
    assert_near(a[3], 6.0, 1e-15);
    assert_near(a[4], 1.0, 1e-14);
    assert_near(a[6], -8.0, 1e-15);
    assert_near(a[7], 5.0, 1e-13);
    assert_near(a[8], 3.0, 1e-13);
    assert_near(eco_linalg_logdet(a, 3), log(36.0), 1e-13);
}

static void test_indefinite_is_refused(void **state)
{
    double a[4] = {1, 2, 2, 1}, nan[1] = {NAN};

    (void)state;
    assert_int_equal(eco_linalg_cholesky(a, 2), -1);
    assert_int_equal(eco_linalg_cholesky(nan, 1), -1);
}

static void test_inverse_and_solve(void **state)
{
    double a[N * N], l[N * N], work[N * N], inverse[N * N], b[N];

    (void)state;
    fill(a, N);
    memcpy(l, a, sizeof(a));
    assert_int_equal(eco_linalg_cholesky(l, N), 0);
    eco_linalg_inverse(l, N, work, inverse);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double sum = 0.0;

            for (int k = 0; k < N; k++)
                sum += a[i * N + k] * inverse[k * N + j];
            assert_near(sum, i == j ? 1.0 : 0.0, 1e-12);
        }
    }
    for (int i = 0; i < N; i++)
        b[i] = sin(i);
    eco_linalg_solve(l, N, b);
    for (int i = 0; i < N; i++)
        assert_near(eco_linalg_dot(a + i * N, b, N), sin(i), 1e-12);
}

static void test_distributions(void **state)
{
    (void)state;
    assert_near(eco_linalg_normal_cdf(0.0), 0.5, 1e-15);
    assert_near(eco_linalg_normal_cdf(1.959963984540054), 0.975, 1e-14);
    assert_near(eco_linalg_normal_cdf(-3.0), 0.0013498980316301, 1e-15);
    /* Three throws of a coin; and 0.95^29 */
    assert_near(eco_linalg_binomial_cdf(1, 3, 0.5), 0.5, 1e-14);
    assert_near(1.0 - eco_linalg_binomial_cdf(28, 29, 0.95), pow(0.95, 29), 1e-13);
    assert_near(eco_linalg_binomial_cdf(-1, 5, 0.5), 0.0, 0.0);
    assert_near(eco_linalg_binomial_cdf(5, 5, 0.5), 1.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factor_by_hand),
        cmocka_unit_test(test_indefinite_is_refused),
        cmocka_unit_test(test_inverse_and_solve),
        cmocka_unit_test(test_distributions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
