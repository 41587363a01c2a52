/*
 * Seeded weights: rows are put together from blocks of 256 Gaussian values, drawn by a counter from
 * a pool of 512, so that they do not depend on threads, order or precision and cost little more
 * than copying. All values are FP16-exact: a precision quantizes the same model that FP16 runs.
 */
#include "half.h"
#include "weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 256 /* weights that come together from the pool */
#define POOL 512  /* blocks; a pool of floats is half a megabyte, inside the second-level cache */
#define QUANTILES 4096
#define WIDTHS 3 /* a model's matrices have hidden, intermediate or heads * head_dim columns */
/* LLM.int8() (Dettmers et al. 2022) finds outlier features in about 0.1 % of the columns; one norm
 * weight in 1024 is large, so that their path does its work here as on a trained model. */
#define OUTLIER_EVERY 1024
#define OUTLIER_WEIGHT 8.0f

struct synthetic {
    uint64_t seed;
    int width[WIDTHS]; /* columns of the matrices that a pool is for */
    float *pool;       /* [WIDTHS + 1][POOL][BLOCK], the last for vectors */
};

static uint64_t mix(uint64_t z) /* splitmix64's finalizer */
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static bool is_norm(enum eco_role r)
{
    return r == ECO_ROLE_OUT_NORM || r == ECO_ROLE_ATTN_NORM || r == ECO_ROLE_FFN_NORM ||
           r == ECO_ROLE_POST_ATTN_NORM || r == ECO_ROLE_POST_FFN_NORM || r == ECO_ROLE_Q_NORM ||
           r == ECO_ROLE_K_NORM;
}

static const float *pool_of(const struct synthetic *s, const struct eco_slot *t)
{
    int which = WIDTHS;
    for (int i = 0; i < WIDTHS && t->role < ECO_ROLE_MATRICES; i++) {
        which = s->width[i] == t->cols ? i : which;
    }
    return s->pool + (size_t)which * POOL * BLOCK;
}

static void rows(void *ctx, const struct eco_slot *t, int begin, int end, float *out)
{
    const struct synthetic *s = ctx;
    const float *pool = pool_of(s, t);
    float center = is_norm(t->role) ? 1.0f : 0.0f;
    for (int r = begin; r < end; r++, out += t->cols) {
        uint64_t key =
            mix(s->seed ^ mix(((uint64_t)t->role << 56) ^
                              ((uint64_t)(uint32_t)(t->layer + 1) << 32) ^ (uint64_t)(uint32_t)r));
        for (int c = 0; c < t->cols; c += BLOCK) {
            size_t from = (size_t)(mix(key + (uint64_t)c) % POOL) * BLOCK;
            int n = t->cols - c < BLOCK ? t->cols - c : BLOCK;
            memcpy(out + c, pool + from, (size_t)n * sizeof(float));
        }
        for (int c = 0; center > 0.0f && c < t->cols; c++) {
            out[c] = eco_f16_to_f32(eco_f32_to_f16(center + out[c]));
        }
        bool outliers = t->role == ECO_ROLE_ATTN_NORM || t->role == ECO_ROLE_FFN_NORM;
        for (int c = OUTLIER_EVERY / 2; outliers && c < t->cols; c += OUTLIER_EVERY) {
            out[c] = OUTLIER_WEIGHT;
        }
    }
}

static const void *stored(void *ctx, const struct eco_slot *slot, enum eco_format *format)
{
    (void)ctx;
    (void)slot;
    *format = ECO_FORMAT_F16;
    return NULL;
}

/* Standard normal quantile by bisection of erfc: 4096 of them take a few milliseconds. */
static float normal_quantile(double p)
{
    double lo = -10.0, hi = 10.0;
    for (int i = 0; i < 40; i++) {
        double mid = 0.5 * (lo + hi);
        if (0.5 * erfc(-mid / sqrt(2.0)) < p) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return (float)(0.5 * (lo + hi));
}

static void close_synthetic(void *ctx)
{
    struct synthetic *s = ctx;
    free(s->pool);
    free(s);
}

/* Standard deviation: 1/sqrt(cols) keeps the activations of a matrix of order one. */
static void fill_pool(const struct synthetic *s, const float *quantile, int which)
{
    float *out = s->pool + (size_t)which * POOL * BLOCK, table[QUANTILES];
    float scale = which < WIDTHS ? 1.0f / sqrtf((float)s->width[which]) : 0.1f;
    for (int i = 0; i < QUANTILES; i++) {
        table[i] = eco_f16_to_f32(eco_f32_to_f16(scale * quantile[i]));
    }
    for (uint64_t i = 0; i < POOL * BLOCK; i++) {
        out[i] = table[mix(s->seed + i * 0x9e3779b97f4a7c15u) % QUANTILES];
    }
}

int eco_engine_synthetic(const struct eco_shape *shape, uint64_t seed, struct eco_source *out,
                         struct eco_err *err)
{
    float *quantile = malloc(QUANTILES * sizeof(float));
    struct synthetic *s = calloc(1, sizeof(*s));
    if (s) {
        s->pool = malloc((size_t)(WIDTHS + 1) * POOL * BLOCK * sizeof(float));
    }
    if (!quantile || !s || !s->pool) {
        free(quantile);
        if (s) {
            close_synthetic(s);
        }
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    s->seed = seed;
    s->width[0] = shape->hidden;
    s->width[1] = shape->intermediate;
    s->width[2] = shape->heads * shape->head_dim;
    for (int i = 0; i < QUANTILES; i++) {
        quantile[i] = normal_quantile((i + 0.5) / QUANTILES);
    }
    for (int i = 0; i <= WIDTHS; i++) {
        fill_pool(s, quantile, i);
    }
    free(quantile);
    *out = (struct eco_source){.ctx = s, .rows = rows, .stored = stored, .close = close_synthetic};
    return 0;
}
