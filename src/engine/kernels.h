/*
 * Inside the module: the inner loops, one table an instruction set. All of them compute the same
 * sums in FP32 (or in integers where the precision says so), in another order.
 */
#ifndef ECO_ENGINE_KERNELS_H
#define ECO_ENGINE_KERNELS_H

#include "engine.h"
#include "matrix.h"

#if defined(__x86_64__)
#define ECO_ENGINE_X86 1
#elif defined(__aarch64__)
#define ECO_ENGINE_NEON 1
#endif
#define ECO_MANY 5   /* tokens from which on turning rows to floats once is faster */
#define ECO_TILE 512 /* weights of a row that are turned to floats at a time */

/** What a format multiplies with. */
enum eco_act_kind {
    ECO_ACT_F32 = 0, /* the floats themselves */
    ECO_ACT_NF4,     /* the floats in the order that the table look-up yields weights */
    ECO_ACT_Q8,      /* blocks of 32: int8 and an FP16-rounded scale, as ggml's Q8_0 */
    ECO_ACT_A8,      /* blocks of 64: int8, the even columns first, and a scale */
    ECO_ACT_I8,      /* LLM.int8(): int8 and absmax a token, outlier columns apart */
    ECO_ACT_KINDS
};

/** Activations of n tokens, prepared for a matrix. */
struct eco_act {
    int n, cols;
    const float *x;   /* [n][cols] */
    float *order;     /* ACT_NF4 [n][cols]; ACT_I8: x without outliers */
    int8_t *q;        /* ACT_Q8, ACT_A8, ACT_I8 [n][cols] */
    int32_t *q_sum;   /* sums of q: ACT_Q8 [n][cols / 32], ACT_A8 [n][cols / 64], ACT_I8 [n] */
    float *scale;     /* ACT_Q8 and ACT_A8 as q_sum; ACT_I8: absmax [n] */
    int *outlier;     /* ACT_I8: columns [n_outliers] */
    float *outlier_x; /* ACT_I8 [n][n_outliers], FP16-rounded */
    int n_outliers;
};

/** y[t * ldy + row] = W[row] . x[t] for rows [begin, end), all tokens. */
/* A function type, so that the tables below read well; no struct is hidden. */
typedef void eco_rows_fn(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
                         float *y, size_t ldy);

struct eco_kernels {
    enum eco_engine_isa isa;
    float (*dot)(const float *a, const float *b, int n);
    void (*axpy)(float *y, float a, const float *x, int n); /* y += a x */
    float (*dot_f16)(const float *a, const uint16_t *b, int n);
    void (*axpy_f16)(float *y, float a, const uint16_t *x, int n);
    void (*to_f16)(uint16_t *out, const float *x, int n);
    void (*gate)(float *g, const float *u, int n, bool gelu); /* g = act(g) * u */
    float (*absmax)(const float *x, int n);
    /* q = x * inv to nearest even, for |x * inv| < 127.5; returns the sum of q */
    int32_t (*codes)(const float *x, int n, float inv, int8_t *q);
    /* marks[i] becomes 1 where |x[i]| >= threshold, else stays */
    void (*mark)(const float *x, int n, float threshold, int8_t *marks);
    /* n floats, a multiple of 32, as blocks of int8 */
    void (*prepare_q8)(const float *x, int n, int8_t *q, float *scale, int32_t *q_sum);
    /* n floats, a multiple of 64, as ACT_A8; a weight of the table times q times scale is right */
    void (*prepare_a8)(const float *x, int n, int8_t *q, float *scale, int32_t *q_sum);
    eco_rows_fn *rows[ECO_FORMAT_COUNT];
    enum eco_act_kind kind[ECO_FORMAT_COUNT];
};

extern const struct eco_kernels eco_engine_kernels_scalar;
#if defined(ECO_ENGINE_X86)
extern const struct eco_kernels eco_engine_kernels_avx2;
extern const struct eco_kernels eco_engine_kernels_avx512;
#elif defined(ECO_ENGINE_NEON)
extern const struct eco_kernels eco_engine_kernels_neon;
extern const struct eco_kernels eco_engine_kernels_neon_dot;
#endif
/** The best set that this processor runs, or the asked one; ECO_E_UNSUPPORTED when it cannot. */
int eco_engine_kernels_pick(enum eco_engine_isa want, const struct eco_kernels **out,
                            struct eco_err *err);

/** Few weights, on the way to floats; as eco_engine_dequant. */
typedef void eco_dequant_fn(const struct eco_matrix *w, int row, int col, int n, float *out);
/** out[r][t] += w[r] . x[t] over n, for 4 rows of stride ECO_TILE and 4 tokens of stride ldx. */
typedef void eco_tile_fn(const float *w, const float *x, size_t ldx, int n, float out[4][4]);

/** Any format: ECO_TILE weights at a time to floats, then the set's dot. Shared by all sets. */
void eco_engine_rows_by_dequant(const struct eco_matrix *w, int begin, int end,
                                const struct eco_act *x, float *y, size_t ldy,
                                eco_dequant_fn *dequant,
                                float (*dot)(const float *, const float *, int));
/**
 * The same for many tokens: 8 rows x ECO_TILE weights to floats once, then 4 x 4 tiles. `from`
 * [n][cols] is the activations in the order in which `dequant` gives the weights.
 */
void eco_engine_rows_by_tiles(const struct eco_matrix *w, int begin, int end,
                              const struct eco_act *x, const float *from, float *y, size_t ldy,
                              eco_dequant_fn *dequant, eco_tile_fn *tile);
/** The scale of a block of ACT_A8 whose largest magnitude is m. */
static inline float eco_engine_a8_scale(float m)
{
    return m * (1.0f / (127.0f * ECO_A8_ONE));
}
/** Portable, for sets that have none of their own. */
void eco_engine_scalar_mark(const float *x, int n, float threshold, int8_t *marks);
void eco_engine_scalar_prepare_a8(const float *x, int n, int8_t *q, float *scale, int32_t *q_sum);
/** ACT_I8: adds the outlier columns of row r to y[t * ldy + r] for all tokens. */
void eco_engine_add_outliers(const struct eco_matrix *w, int row, const struct eco_act *x, float *y,
                             size_t ldy);

#endif
