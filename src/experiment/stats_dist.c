/* Student's t: distribution through the incomplete beta function, quantile by its inverse. */
#include "experiment/stats.h"

#include <float.h>
#include <math.h>

#define MAX_TERMS 500
#define PI 3.14159265358979323846

/* The smallest magnitude Lentz's method lets a denominator have. */
static double not_zero(double v)
{
    return fabs(v) < 1e-300 ? 1e-300 : v;
}

/* Continued fraction of the incomplete beta function, DLMF 8.17.22, by modified Lentz. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), h = d;
    for (int m = 1; m <= MAX_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        h *= d * c;
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        double step = d * c;
        h *= step;
        if (fabs(step - 1) < 4 * DBL_EPSILON) {
            break;
        }
    }
    return h;
}

/* log(gamma(a + 1/2) / gamma(a)); the series for large a, where lgamma's digits cancel. */
static double log_gamma_half_step(double a)
{
    if (a < 50) {
        return lgamma(a + 0.5) - lgamma(a);
    }
    double q = 1 / (a * a);
    return 0.5 * log(a) - (1.0 / 8 - q * (1.0 / 192 - q / 640)) / a;
}

/* I_x(a, b) with a or b = 1/2, given x and 1 - x apart so that neither loses digits. */
static double beta_regularized(double a, double b, double x, double one_minus_x)
{
    if (x <= 0) {
        return 0;
    }
    if (one_minus_x <= 0) {
        return 1;
    }
    double other = a == 0.5 ? b : a;
    double log_x = x < 0.5 ? log(x) : log1p(-one_minus_x); /* a may be 1e6: every digit counts */
    double log_rest = one_minus_x < 0.5 ? log(one_minus_x) : log1p(-x);
    double front = exp(log_gamma_half_step(other) + a * log_x + b * log_rest) / sqrt(PI);
    if (x < (a + 1) / (a + b + 2)) {
        return front * beta_fraction(a, b, x) / a;
    }
    return 1 - front * beta_fraction(b, a, one_minus_x) / b;
}

/* P(T > t) for t >= 0 */
static double upper_tail(double t, double df)
{
    if (isinf(df)) {
        return 0.5 * erfc(t / sqrt(2.0));
    }
    double x = df / (df + t * t);
    return 0.5 * beta_regularized(df / 2, 0.5, x, t * t / (df + t * t));
}

static double density(double t, double df)
{
    if (isinf(df)) {
        return exp(-t * t / 2) / sqrt(2 * PI);
    }
    return exp(log_gamma_half_step(df / 2) - (df + 1) / 2 * log1p(t * t / df)) / sqrt(df * PI);
}

double eco_stats_t_cdf(double t, double df)
{
    if (isnan(t) || !(df > 0)) {
        return (double)NAN;
    }
    return t < 0 ? upper_tail(-t, df) : 1 - upper_tail(t, df);
}

double eco_stats_t_quantile(double p, double df)
{
    if (!(p > 0) || !(p < 1) || !(df > 0)) {
        return (double)NAN;
    }
    double tail = p < 0.5 ? p : 1 - p, lo = 0, hi = 1;
    while (upper_tail(hi, df) > tail && hi < 1e300) {
        lo = hi;
        hi *= 2;
    }
    /* Newton's steps, kept inside a bracket that halves when they leave it */
    double t = lo + (hi - lo) / 2;
    for (int i = 0; i < 200 && hi - lo > 2 * DBL_EPSILON * hi; i++) {
        double excess = upper_tail(t, df) - tail;
        if (excess > 0) {
            lo = t;
        } else {
            hi = t;
        }
        double next = t + excess / density(t, df);
        if (fabs(next - t) <= 2 * DBL_EPSILON * t) {
            break;
        }
        t = next > lo && next < hi ? next : lo + (hi - lo) / 2;
    }
    return p < 0.5 ? -t : t;
}
