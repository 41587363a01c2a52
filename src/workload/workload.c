#include "workload/workload.h"

#include <math.h>
#include <stdlib.h>

void eco_workload_close(struct eco_generator *w)
{
    if (w) {
        w->class->close(w);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Linear between order statistics (type 7 of Hyndman and Fan). */
static double quantile(const double *sorted, size_t n, double p)
{
    double at = p * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

void eco_workload_intervals(double *s, size_t n, struct eco_workload_result *out)
{
    out->tpot_mean_s = out->tpot_p50_s = out->tpot_p99_s = (double)NAN;
    if (n == 0) {
        return;
    }
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += s[i];
    }
    qsort(s, n, sizeof(*s), by_value);
    out->tpot_mean_s = sum / (double)n;
    out->tpot_p50_s = quantile(s, n, 0.5);
    out->tpot_p99_s = quantile(s, n, 0.99);
}
