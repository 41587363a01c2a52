/* What the data say of a precision card by card: for questions that name no model and no card. */
#include "ask.h"
#include "base/num.h"
#include "dataset/dataset.h"
#include "dataset/predictor_default.h"

#include <math.h>
#include <string.h>

#define MAX_CARDS 32
#define TOLD_WITHIN 30.0 /* a crossover range wider than this factor tells nothing */

struct seen {
    const struct eco_gpu *gpu;
    int pairs;
    double small_b, small_pct, large_b, large_pct;
};

static const struct eco_gpu *card_named(const char *name)
{
    for (size_t i = 0; i < eco_dataset_gpu_count(); i++) {
        if (strcmp(eco_dataset_gpu(i)->name, name) == 0) {
            return eco_dataset_gpu(i);
        }
    }
    return NULL;
}

static struct seen *seen_on(struct seen *s, size_t *n, const char *gpu)
{
    for (size_t i = 0; i < *n; i++) {
        if (strcmp(s[i].gpu->name, gpu) == 0) {
            return &s[i];
        }
    }
    const struct eco_gpu *g = *n < MAX_CARDS ? card_named(gpu) : NULL;
    if (!g) {
        return NULL;
    }
    s[*n] = (struct seen){.gpu = g, .small_b = INFINITY, .large_b = -INFINITY};
    return &s[(*n)++];
}

/* Measured pairs of one sequence, by card. */
static size_t gather(enum eco_precision p, struct seen *s)
{
    size_t n = 0;
    for (size_t i = 0; i < eco_dataset_row_count(); i++) {
        struct eco_row r;
        bool usable = eco_dataset_row(i, &r) && !r.excluded && r.precision == p && r.batch == 1 &&
                      r.n_devices == 1 && r.params_b > 0 && isfinite(r.delta_gross_pct);
        struct seen *c = usable ? seen_on(s, &n, r.gpu) : NULL;
        if (!c) {
            continue;
        }
        c->pairs++;
        if (r.params_b < c->small_b) {
            c->small_b = r.params_b;
            c->small_pct = r.delta_gross_pct;
        }
        if (r.params_b > c->large_b) {
            c->large_b = r.params_b;
            c->large_pct = r.delta_gross_pct;
        }
    }
    for (size_t i = 1; i < n; i++) { /* most measured first */
        struct seen moving = s[i];
        size_t k = i;
        for (; k > 0 && s[k - 1].pairs < moving.pairs; k--) {
            s[k] = s[k - 1];
        }
        s[k] = moving;
    }
    return n;
}

/* Where the sign changes on that card, by the predictor; absent when it tells nothing. */
static void crossover(enum eco_precision p, const struct seen *c, struct eco_res_ask_card *out)
{
    struct eco_predict_query q = {.precision = p,
                                  .gpu = c->gpu,
                                  .arch = c->gpu->arch,
                                  .params_total_b = sqrt(c->small_b * c->large_b),
                                  .batch = 1};
    struct eco_predict_answer a;
    bool have = eco_predict(&eco_predictor_default, &q, &a, NULL) == 0 && a.crossover.have &&
                a.crossover.saves_above && a.crossover.median <= ECO_CROSSOVER_SHOWN_B &&
                a.crossover.hi < TOLD_WITHIN * a.crossover.lo;
    if (have) {
        out->crossover_b = eco_some(eco_step_round(a.crossover.median, 2));
        out->crossover_ci =
            eco_span_of(eco_step_round(a.crossover.lo, 2), eco_step_round(a.crossover.hi, 2));
    }
}

struct eco_list eco_ask_cards(struct eco_ctx *ctx, enum eco_precision p)
{
    struct seen s[MAX_CARDS];
    size_t n = gather(p, s);
    struct eco_res_ask_card *rows = eco_arena_array(ctx->arena, n + 1, sizeof(*rows));
    for (size_t i = 0; rows && i < n; i++) {
        rows[i] = (struct eco_res_ask_card){.gpu = s[i].gpu->name,
                                            .arch = eco_arch_name(s[i].gpu->arch),
                                            .pairs = s[i].pairs,
                                            .small_b = s[i].small_b,
                                            .small_pct = eco_num_round(s[i].small_pct, 1),
                                            .large_b = s[i].large_b,
                                            .large_pct = eco_num_round(s[i].large_pct, 1)};
        crossover(p, &s[i], &rows[i]);
    }
    return (struct eco_list){rows, rows ? n : 0};
}

const char *eco_ask_card_of(enum eco_precision p, enum eco_arch arch)
{
    struct seen s[MAX_CARDS];
    size_t n = gather(p, s);
    for (size_t i = 0; i < n; i++) {
        if (s[i].gpu->arch == arch) {
            return s[i].gpu->name;
        }
    }
    return NULL;
}
