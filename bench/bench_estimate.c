/*
 * One published estimate in process: nanoseconds, against the same estimator whose six figures are
 * rounded through text (printf and strtod), which is the plain way to get JavaScript's toFixed.
 */
#include "dataset/dataset.h"
#include "eco_published.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define QUERIES 4096
#define ROUNDS 200

static struct eco_published_query queries[QUERIES];

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void make_queries(void)
{
    static const enum eco_arch archs[] = {ECO_ARCH_ADA, ECO_ARCH_BLACKWELL, ECO_ARCH_TURING,
                                          ECO_ARCH_AMPERE, ECO_ARCH_HOPPER};
    unsigned seed = 1;

    for (int i = 0; i < QUERIES; i++) {
        seed = seed * 1664525u + 1013904223u;
        queries[i] = (struct eco_published_query){
            .params_b = 0.05 * pow(5000.0, (double)(seed >> 8) / 16777216.0),
            .arch = archs[(seed >> 9) % 5],
            .precision = ECO_PUB_NF4,
            .batch = 1.0 + (seed >> 20) % 64,
            .ctx = 512.0 * (1 + (seed >> 12) % 32)};
    }
}

static double through_text(double v, int places)
{
    char text[400];

    snprintf(text, sizeof text, "%.*f", places, v);
    return strtod(text, NULL);
}

static double run(const struct eco_published_tables *t, bool by_text, double *checksum)
{
    struct eco_published_answer a;
    double start = now_s(), sum = 0;

    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < QUERIES; i++) {
            if (eco_published_estimate(t, &queries[i], &a, NULL) != 0) {
                continue;
            }
            sum += a.delta_pct + a.ci_pct[0] + a.ci_pct[1];
            if (by_text) {
                sum += 0 * (through_text(a.delta_pct, 1) + through_text(a.ci_pct[0], 1) +
                            through_text(a.ci_pct[1], 1) + through_text(a.weight_gb, 2) +
                            through_text(a.weight_gb_fp16, 2) + through_text(a.crossover_b, 3));
            }
        }
    }
    *checksum = sum;
    return (now_s() - start) / ((double)ROUNDS * QUERIES) * 1e9;
}

int main(void)
{
    const struct eco_published_tables *t = eco_dataset_published();
    double best = INFINITY, worst = 0, text = INFINITY, sum;

    make_queries();
    for (int k = 0; k < 5; k++) {
        double ns = run(t, false, &sum);
        best = fmin(best, ns);
        worst = fmax(worst, ns);
        text = fmin(text, run(t, true, &sum));
    }
    printf("published estimate: %.0f ns (5 runs, slowest %.0f), %d queries, sum %.1f\n", best,
           worst, QUERIES, sum);
    printf("the same with rounding through text: %.0f ns, ratio %.1fx\n", text, text / best);
    printf("budget 5 us: %.1f %% of it\n", best / 50.0);
    return 0;
}
