#include "core/linalg.h"

#include <math.h>

double eco_linalg_dot(const double *a, const double *b, int n)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    int i = 0;

    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++)
        s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

int eco_linalg_cholesky(double *a, int n)
{
    for (int i = 0; i < n; i++) {
        double *row_i = a + (size_t)i * (size_t)n;

        for (int j = 0; j <= i; j++) {
            const double *row_j = a + (size_t)j * (size_t)n;
            double rest = row_i[j] - eco_linalg_dot(row_i, row_j, j);

            if (i != j) {
                row_i[j] = rest / row_j[j];
            } else {
                if (!(rest > 0.0))
                    return -1;
                row_i[i] = sqrt(rest);
            }
        }
    }
    return 0;
}

double eco_linalg_logdet(const double *l, int n)
{
    double sum = 0.0;

    for (int i = 0; i < n; i++)
        sum += log(l[(size_t)i * (size_t)n + (size_t)i]);
    return 2.0 * sum;
}

void eco_linalg_solve(const double *l, int n, double *b)
{
    for (int i = 0; i < n; i++) {
        const double *row = l + (size_t)i * (size_t)n;

        b[i] = (b[i] - eco_linalg_dot(row, b, i)) / row[i];
    }
    for (int i = n - 1; i >= 0; i--) {
        const double *row = l + (size_t)i * (size_t)n;

        b[i] /= row[i];
        for (int k = 0; k < i; k++)
            b[k] -= row[k] * b[i];
    }
}

void eco_linalg_inverse(const double *l, int n, double *work, double *inverse)
{
    /* work row j = column j of L^-1, so that every inner product runs over adjacent memory. */
    for (int j = 0; j < n; j++) {
        double *col = work + (size_t)j * (size_t)n;

        for (int i = 0; i < j; i++)
            col[i] = 0.0;
        for (int i = j; i < n; i++) {
            const double *row = l + (size_t)i * (size_t)n;
            double right = i == j ? 1.0 : 0.0;

            col[i] = (right - eco_linalg_dot(row + j, col + j, i - j)) / row[i];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = eco_linalg_dot(work + (size_t)i * (size_t)n + i,
                                        work + (size_t)j * (size_t)n + i, n - i);

            inverse[(size_t)i * (size_t)n + (size_t)j] = sum;
            inverse[(size_t)j * (size_t)n + (size_t)i] = sum;
        }
    }
}

double eco_linalg_normal_cdf(double z)
{
    return 0.5 * erfc(-z * 0.70710678118654752440);
}

double eco_linalg_binomial_cdf(int k, int n, double p)
{
    double sum = 0.0;

    if (k < 0)
        return 0.0;
    if (k >= n)
        return 1.0;
    for (int i = 0; i <= k; i++) {
        double log_term = lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) +
                          (n - i) * log1p(-p);

        sum += exp(log_term);
    }
    return sum < 1.0 ? sum : 1.0;
}
