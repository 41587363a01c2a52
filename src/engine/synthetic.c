/*
 * Seeded weights: Gaussian by a table of 4096 quantiles, a counter-based stream a row, so that they
 * do not depend on threads, order or precision. All values are FP16-exact: a precision quantizes
 * the same model that FP16 runs.
 */
#include "half.h"
#include "weights.h"

#include <math.h>
#include <stdlib.h>

#define QUANTILES 4096
/* LLM.int8() (Dettmers et al. 2022) finds outlier features in about 0.1 % of the columns; one norm
 * weight in 1024 is large, so that their path does its work here as on a trained model. */
#define OUTLIER_EVERY 1024
#define OUTLIER_WEIGHT 8.0f

struct synthetic {
    uint64_t seed;
    float quantile[QUANTILES]; /* of the standard normal */
};

static uint64_t mix(uint64_t z) /* splitmix64's finalizer */
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Standard deviation: 1/sqrt(cols) keeps the activations of a matrix of order one. */
static float slot_scale(const struct eco_slot *t)
{
    return t->role < ECO_ROLE_MATRICES ? 1.0f / sqrtf((float)t->cols) : 0.1f;
}

static bool is_norm(enum eco_role r)
{
    return r == ECO_ROLE_OUT_NORM || r == ECO_ROLE_ATTN_NORM || r == ECO_ROLE_FFN_NORM ||
           r == ECO_ROLE_POST_ATTN_NORM || r == ECO_ROLE_POST_FFN_NORM || r == ECO_ROLE_Q_NORM ||
           r == ECO_ROLE_K_NORM;
}

static void rows(void *ctx, const struct eco_slot *t, int begin, int end, float *out)
{
    const struct synthetic *s = ctx;
    float table[QUANTILES], scale = slot_scale(t), center = is_norm(t->role) ? 1.0f : 0.0f;
    for (int i = 0; i < QUANTILES; i++) {
        table[i] = eco_f16_to_f32(eco_f32_to_f16(center + scale * s->quantile[i]));
    }
    for (int r = begin; r < end; r++, out += t->cols) {
        uint64_t key =
            mix(s->seed ^ mix(((uint64_t)t->role << 56) ^
                              ((uint64_t)(uint32_t)(t->layer + 1) << 32) ^ (uint64_t)(uint32_t)r));
        for (int c = 0; c < t->cols; c += 5) {
            uint64_t bits = mix(key + (uint64_t)c * 0x9e3779b97f4a7c15u);
            for (int k = 0; k < 5 && c + k < t->cols; k++, bits >>= 12) {
                out[c + k] = table[bits & (QUANTILES - 1)];
            }
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

int eco_engine_synthetic(const struct eco_shape *shape, uint64_t seed, struct eco_source *out,
                         struct eco_err *err)
{
    (void)shape;
    struct synthetic *s = calloc(1, sizeof(*s));
    if (!s) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    s->seed = seed;
    for (int i = 0; i < QUANTILES; i++) {
        s->quantile[i] = normal_quantile((i + 0.5) / QUANTILES);
    }
    *out = (struct eco_source){.ctx = s, .rows = rows, .stored = stored, .close = free};
    return 0;
}
