/*
 * How far absolute energy is from the data: every 16-bit row of grades A to C on gross GPU board
 * power, any batch and number of cards, against eco_energy_absolute. In sample for the cards at
 * batch 1; the batch law meets whole series here (it was fitted on their curvature, not level).
 */
#include "dataset/dataset.h"
#include "eco_physics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 4096

struct sample {
    double ape_pct;
    bool inside;
    enum eco_engine engine;
    int kind; /* index of kinds[] */
};

static bool usable(const struct eco_row *r)
{
    return !r->excluded && r->boundary == ECO_BOUNDARY_GPU_BOARD &&
           r->power_basis != ECO_POWER_NET && r->energy_j_per_1k > 0 && r->n_devices >= 1 &&
           eco_precision_family(r->precision) == ECO_FAM_FLOAT && r->precision != ECO_PREC_FP32;
}

static bool judge(const struct eco_row *r, struct sample *s)
{
    const struct eco_gpu *gpu;
    const struct eco_model *model;
    struct eco_energy e;
    double b = isfinite(r->batch_mean) ? r->batch_mean : r->batch;
    if (!(b >= 1) || eco_dataset_find_gpu(r->gpu, strlen(r->gpu), &gpu, NULL) != 0 ||
        eco_dataset_find_model(r->model, strlen(r->model), &model, NULL) != 0) {
        return false;
    }
    struct eco_workload w = {
        .precision = r->precision,
        .engine = r->engine,
        .batch = (int)lround(b),
        .prompt_tokens = isfinite(r->prompt_tokens) ? (int)r->prompt_tokens : 20,
        .gen_tokens = isfinite(r->gen_tokens) ? (int)fmax(1, r->gen_tokens) : 256,
        .n_gpus = r->n_devices};
    if (eco_energy_absolute(NULL, model, gpu, &w, &e, NULL) != 0) {
        return false;
    }
    double ratio = e.j_per_1k.median / r->energy_j_per_1k;
    s->ape_pct = 100 * fabs(ratio - 1);
    s->inside = r->energy_j_per_1k >= e.j_per_1k.lo95 && r->energy_j_per_1k <= e.j_per_1k.hi95;
    s->engine = r->engine;
    s->kind = w.n_gpus > 1 ? 2 : w.batch > 1;
    if (model->experts > 1) {
        s->kind = 3;
    }
    if (strncmp(r->backend, "vLLM 0.5.4", 10) == 0) {
        s->kind = 4;
    }
    return true;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const struct sample *s, size_t count, enum eco_engine engine, int kind)
{
    static double ape[ROWS_MAX];
    static const char *const kinds[] = {"batch 1", "batch 2 and more", "several cards",
                                        "mixture of experts", "vLLM 0.5.4 (old)"};
    size_t n = 0, inside = 0;
    for (size_t i = 0; i < count; i++) {
        if (s[i].engine == engine && s[i].kind == kind) {
            ape[n++] = s[i].ape_pct;
            inside += s[i].inside;
        }
    }
    if (n > 0) {
        qsort(ape, n, sizeof ape[0], by_value);
        printf("%-14s %-18s %4zu rows  MdAPE %5.1f %%  inside 95 %%: %.0f %%\n",
               eco_engine_name(engine), kinds[kind], n, ape[n / 2],
               100.0 * (double)inside / (double)n);
    }
}

int main(void)
{
    static struct sample s[ROWS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < eco_dataset_row_count() && n < ROWS_MAX; i++) {
        struct eco_row r;
        if (eco_dataset_row(i, &r) && usable(&r) && judge(&r, &s[n])) {
            n++;
        }
    }
    for (int e = 0; e < ECO_ENGINE_COUNT; e++) {
        for (int k = 0; k < 5; k++) {
            print(s, n, (enum eco_engine)e, k);
        }
    }
    return 0;
}
