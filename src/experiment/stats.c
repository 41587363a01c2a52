#include "experiment/stats.h"

#include "core/linalg.h"
#include "experiment/random.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TERMS ECO_ORDER_MAX_ARMS /* the change and the effects of all places but the last */
#define MAX_RESAMPLES 20000

static double pct_of_log(double v)
{
    return 100 * expm1(v);
}

void eco_stats_arm(const double *v, size_t n, struct eco_run_stat *out)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) { /* Welford */
        double step = v[i] - mean;
        mean += step / (double)(i + 1);
        square += step * (v[i] - mean);
    }
    *out = (struct eco_run_stat){(int)n, (double)NAN, (double)NAN, (double)NAN};
    if (n) {
        out->mean = mean;
    }
    if (n > 1) {
        out->sd = sqrt(square / (double)(n - 1));
        out->cv_frac = out->sd / mean;
    }
}

/* The mean log ratio as least squares sees it. */
struct fit {
    double mean;  /* log ratio */
    double sd;    /* of one block about the fit; NAN without a degree of freedom */
    double scale; /* se of the mean = sd * scale */
    int df;
    bool places; /* the places' effects were taken out */
};

/* Effects of places add up to 0: a place is a unit vector, the last one minus all of them. */
static double effect(int place, int term, int arms)
{
    return place == arms - 1 ? -1 : place == term ? 1 : 0;
}

static void row_of(const struct eco_stats_pair *p, int arms, double x[MAX_TERMS])
{
    x[0] = 1;
    for (int t = 1; t < arms; t++) {
        x[t] = effect(p->other_place, t - 1, arms) - effect(p->base_place, t - 1, arms);
    }
}

/* Normal equations; at most 8 x 8, entries are small integers but for the right side. */
static bool solve(const struct eco_stats_pair *pairs, size_t n, int arms, double beta[MAX_TERMS],
                  double *variance_of_mean)
{
    double a[MAX_TERMS * MAX_TERMS] = {0}, x[MAX_TERMS];
    memset(beta, 0, MAX_TERMS * sizeof(*beta));
    for (size_t b = 0; b < n; b++) {
        double y = log(pairs[b].other / pairs[b].base);
        row_of(&pairs[b], arms, x);
        for (int i = 0; i < arms; i++) {
            beta[i] += x[i] * y;
            for (int j = 0; j < arms; j++) {
                a[i * arms + j] += x[i] * x[j];
            }
        }
    }
    if (eco_linalg_cholesky(a, arms)) {
        return false;
    }
    for (int i = 0; i < arms; i++) {
        if (a[i * arms + i] < 1e-6) { /* singular but for rounding */
            return false;
        }
    }
    double unit[MAX_TERMS] = {1};
    eco_linalg_solve(a, arms, beta);
    eco_linalg_solve(a, arms, unit);
    *variance_of_mean = unit[0];
    return true;
}

static struct fit fit_pairs(const struct eco_stats_pair *pairs, size_t n, int arms)
{
    double beta[MAX_TERMS], x[MAX_TERMS], variance = 0, square = 0;
    int terms = arms;
    /* Too few blocks, or each in the same order: the places cannot be told from the change. */
    if ((int)n < arms || !solve(pairs, n, arms, beta, &variance)) {
        terms = 1;
        solve(pairs, n, 1, beta, &variance);
    }
    for (size_t b = 0; b < n; b++) {
        double rest = log(pairs[b].other / pairs[b].base);
        row_of(&pairs[b], terms, x);
        for (int i = 0; i < terms; i++) {
            rest -= x[i] * beta[i];
        }
        square += rest * rest;
    }
    int df = (int)n - terms;
    return (struct fit){.mean = beta[0],
                        .sd = df > 0 ? sqrt(square / df) : (double)NAN,
                        .scale = sqrt(variance),
                        .df = df,
                        .places = terms > 1};
}

static double half_width(double sd, double scale, int df, const struct eco_stats_change *how)
{
    return hypot(eco_stats_t_quantile(0.975, df) * sd * scale, how->resolution_frac) +
           how->bias_frac;
}

/* Fewest blocks, in whole squares, after which this change would stand clear of zero; or -1. */
static int trials_to_resolve(const struct fit *f, size_t n, const struct eco_stats_change *how)
{
    int lost = (int)n - f->df, lo = 0, hi = ECO_STATS_MAX_TRIALS_TO_RESOLVE / how->arms;
    while (lo < hi) { /* the half width falls as blocks are added: bisect over whole squares */
        int middle = lo + (hi - lo) / 2, more = (int)n + (middle + 1) * how->arms;
        double scale = f->scale * sqrt((double)n / more);
        if (half_width(f->sd, scale, more - lost, how) < fabs(f->mean)) {
            hi = middle;
        } else {
            lo = middle + 1;
        }
    }
    return lo < ECO_STATS_MAX_TRIALS_TO_RESOLVE / how->arms ? (int)n + (lo + 1) * how->arms : -1;
}

void eco_stats_delta(const struct eco_stats_pair *pairs, size_t n,
                     const struct eco_stats_change *how, struct eco_run_delta *out)
{
    *out = (struct eco_run_delta){.pct = (double)NAN,
                                  .lo95_pct = (double)NAN,
                                  .hi95_pct = (double)NAN,
                                  .n = (int)n,
                                  .df = (double)NAN,
                                  .trials_to_resolve = -1};
    if (n == 0 || n > ECO_STATS_MAX_BLOCKS) {
        return;
    }
    struct fit f = fit_pairs(pairs, n, how->arms);
    out->pct = pct_of_log(f.mean);
    out->verdict = "cannot tell";
    out->method = n == 1     ? "one pair of trials: no interval"
                  : f.places ? "block-paired log ratio, order as a factor"
                             : "block-paired log ratio, order not separable";
    if (f.df < 1) {
        return;
    }
    double half = half_width(f.sd, f.scale, f.df, how);
    out->df = f.df;
    out->lo95_pct = pct_of_log(f.mean - half);
    out->hi95_pct = pct_of_log(f.mean + half);
    if (half < fabs(f.mean)) {
        out->verdict = f.mean < 0 ? "saves" : "costs";
    } else {
        out->trials_to_resolve = trials_to_resolve(&f, n, how);
    }
}

/* ---- bootstrap ------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Pairs with the same first arm, resampled among themselves: their mean. */
static double resampled_mean(const double *ratio, size_t n, struct eco_random *r)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += ratio[eco_random_below(r, n)];
    }
    return sum / (double)n;
}

int eco_stats_bootstrap(const struct eco_stats_pair *pairs, size_t n, int resamples, uint64_t seed,
                        double *lo95_pct, double *hi95_pct, struct eco_err *err)
{
    if (n < ECO_STATS_MIN_BOOTSTRAP || n > ECO_STATS_MAX_BLOCKS) {
        return eco_err_set(err, ECO_E_RANGE, "n", "a bootstrap needs %d to %d blocks, not %zu",
                           ECO_STATS_MIN_BOOTSTRAP, ECO_STATS_MAX_BLOCKS, n);
    }
    if (resamples < 100 || resamples > MAX_RESAMPLES) {
        return eco_err_set(err, ECO_E_RANGE, "resamples", "'resamples' must be 100 to %d, not %d",
                           MAX_RESAMPLES, resamples);
    }
    double first[ECO_STATS_MAX_BLOCKS], second[ECO_STATS_MAX_BLOCKS];
    size_t n_first = 0, n_second = 0;
    for (size_t i = 0; i < n; i++) {
        double y = log(pairs[i].other / pairs[i].base);
        if (pairs[i].base_place < pairs[i].other_place) {
            first[n_first++] = y;
        } else {
            second[n_second++] = y;
        }
    }
    double *means = malloc((size_t)resamples * sizeof(*means));
    if (!means) {
        return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    }
    struct eco_random r = {seed};
    for (int i = 0; i < resamples; i++) {
        double a = n_first ? resampled_mean(first, n_first, &r) : 0;
        double b = n_second ? resampled_mean(second, n_second, &r) : 0;
        means[i] = n_first && n_second ? (a + b) / 2 : n_first ? a : b;
    }
    qsort(means, (size_t)resamples, sizeof(*means), by_value);
    *lo95_pct = pct_of_log(means[(size_t)(0.025 * resamples)]);
    *hi95_pct = pct_of_log(means[(size_t)(0.975 * resamples)]);
    free(means);
    return 0;
}

/* ---- reading an interval -------------------------------------------------------------------- */

static double half_width_log(const struct eco_run_delta *d)
{
    return (log1p(d->hi95_pct / 100) - log1p(d->lo95_pct / 100)) / 2;
}

double eco_stats_detectable_pct(const struct eco_run_delta *d)
{
    return pct_of_log(half_width_log(d));
}

void eco_stats_beyond_session(const struct eco_run_delta *d, double session_sd_log, double *lo_pct,
                              double *hi_pct)
{
    double middle = log1p(d->pct / 100);
    double half =
        hypot(half_width_log(d), eco_stats_t_quantile(0.975, (double)INFINITY) * session_sd_log);
    *lo_pct = pct_of_log(middle - half);
    *hi_pct = pct_of_log(middle + half);
}
