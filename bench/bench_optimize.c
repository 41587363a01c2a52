/*
 * The optimizer on 100 000 candidates: filling the columns, ranking them, and its Pareto front
 * against the front by definition (O(n^2)) on the same points.
 */
#include "core/pareto.h"
#include "dataset/dataset.h"
#include "dataset/predictor_default.h"
#include "eco_optimize.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N 100000
#define N_NAIVE 10000
#define RUNS 7

static struct eco_optimize_label label[N];
static double value[ECO_OPTIMIZE_METRIC_COUNT][N];
static struct eco_pareto_point points[N], copy[N], spare[N];
static size_t front[N];
static uint64_t scratch[(ECO_OPTIMIZE_MAX_GROUPS * 8 + 2 * N * 24) / 8];

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static size_t naive_front(const struct eco_pareto_point *p, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        bool dominated = false;
        for (size_t j = 0; j < n && !dominated; j++) {
            dominated =
                p[j].x <= p[i].x && p[j].y <= p[i].y && (p[j].x < p[i].x || p[j].y < p[i].y);
        }
        kept += !dominated;
    }
    return kept;
}

/* Points near a hyperbola, as energy against latency is: the front is long. */
static void make_points(size_t n)
{
    unsigned seed = 3;

    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        double x = 1.0 + (double)(seed >> 8) / 1e5;
        seed = seed * 1664525u + 1013904223u;
        points[i] =
            (struct eco_pareto_point){x, 100.0 / x + (double)(seed >> 8) / 3e8, (uint32_t)i};
    }
}

static void bench_front(void)
{
    double ours = INFINITY, naive = INFINITY, large = INFINITY;
    size_t kept = 0, by_definition = 0;

    make_points(N_NAIVE);
    memcpy(copy, points, sizeof points);
    for (int r = 0; r < RUNS; r++) {
        memcpy(points, copy, sizeof points);
        double t = now_ms();
        kept = eco_pareto_front(points, spare, N_NAIVE);
        ours = fmin(ours, now_ms() - t);
    }
    for (int r = 0; r < 2; r++) {
        double t = now_ms();
        by_definition = naive_front(copy, N_NAIVE);
        naive = fmin(naive, now_ms() - t);
    }
    make_points(N);
    memcpy(copy, points, sizeof points);
    for (int r = 0; r < RUNS; r++) {
        memcpy(points, copy, sizeof points);
        double t = now_ms();
        eco_pareto_front(points, spare, N);
        large = fmin(large, now_ms() - t);
    }
    printf("front of %d points: %.2f ms (%zu members); by definition %.1f ms (%zu): %.0fx\n",
           N_NAIVE, ours, kept, naive, by_definition, naive / ours);
    printf("front of %d points: %.2f ms\n", N, large);
}

static int bench_run(const struct eco_optimize_setup *s, const char *what)
{
    struct eco_optimize_columns c = {.label = label};
    struct eco_optimize_table t = {.label = label};
    struct eco_optimize_query q = {.batches = s->batches,
                                   .n_batches = s->n_batches,
                                   .n_precisions = s->n_arms,
                                   .n_cards = s->n_cards,
                                   .n_alternatives = 3};
    struct eco_optimize_result r;
    double fill = INFINITY, run = INFINITY;
    size_t n = 0;

    for (int m = 0; m < ECO_OPTIMIZE_METRIC_COUNT; m++) {
        bool wanted = m != ECO_OPTIMIZE_COST && m != ECO_OPTIMIZE_CARBON;
        c.value[m] = wanted ? value[m] : NULL;
        t.value[m] = c.value[m];
    }
    for (int k = 0; k < RUNS; k++) {
        double start = now_ms();
        if (eco_optimize_count(s) > N || eco_optimize_fill(s, &c, &n, NULL) != 0) {
            return 1;
        }
        fill = fmin(fill, now_ms() - start);
        t.n = n;
        start = now_ms();
        if (eco_optimize_run(&t, &q, scratch, sizeof scratch, front, N, &r, NULL) != 0) {
            return 1;
        }
        run = fmin(run, now_ms() - start);
    }
    printf("%s: %zu candidates, fill %.1f ms + rank %.1f ms = %.1f ms (budget 50), "
           "%zu feasible, front %zu\n",
           what, n, fill, run, fill + run, r.feasible, r.n_front);
    return 0;
}

static const enum eco_precision precisions[] = {
    ECO_PREC_FP16,      ECO_PREC_NF4,        ECO_PREC_INT8_MIXED, ECO_PREC_INT8_PURE,
    ECO_PREC_NF4_DQ,    ECO_PREC_GPTQ_INT4,  ECO_PREC_AWQ_INT4,   ECO_PREC_W8A8,
    ECO_PREC_GGUF_Q8_0, ECO_PREC_GGUF_Q4_K_M};

static const char *const names[] = {"T4",   "RTX 4090", "RTX 5090", "A100-SXM4-80GB", "L4",
                                    "L40S", "A10",      "RTX 3090", "H100 SXM",       "RTX 4090D"};

int main(void)
{
    static struct eco_optimize_card cards[10];
    static struct eco_optimize_arm arms[10];
    static double batches[256], contexts[50];
    const struct eco_model *model;
    size_t n_cards = 0;

    bench_front();
    if (eco_dataset_find_model("Qwen/Qwen2.5-7B-Instruct", 24, &model, NULL) != 0 &&
        eco_dataset_find_model("mistralai/Mistral-7B-Instruct-v0.2", 34, &model, NULL) != 0) {
        fprintf(stderr, "no 7B model in the data set\n");
        return 1;
    }
    for (size_t i = 0; i < 10; i++) {
        const struct eco_gpu *gpu;
        if (eco_dataset_find_gpu(names[i], strlen(names[i]), &gpu, NULL) == 0) {
            cards[n_cards++] = (struct eco_optimize_card){gpu, 1, 0, NAN};
        }
        arms[i] = (struct eco_optimize_arm){precisions[i], ECO_ENGINE_UNKNOWN, NAN};
    }
    for (int i = 0; i < 256; i++) {
        batches[i] = 1 + i;
    }
    for (int i = 0; i < 50; i++) {
        contexts[i] = 512 + 64 * i;
    }
    struct eco_optimize_setup s = {.model = model,
                                   .predictor = &eco_predictor_default,
                                   .cards = cards,
                                   .n_cards = 1,
                                   .arms = arms,
                                   .n_arms = 10,
                                   .batches = batches,
                                   .n_batches = 200,
                                   .contexts = contexts,
                                   .n_contexts = 50,
                                   .price_usd_per_kwh = NAN,
                                   .carbon_gco2_per_kwh = NAN};
    if (bench_run(&s, "1 card x 10 precisions x 200 batches x 50 contexts")) {
        return 1;
    }
    s.n_cards = n_cards;
    s.n_batches = 20;
    return bench_run(&s, "10 cards x 10 precisions x 20 batches x 50 contexts");
}
