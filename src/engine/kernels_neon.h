/* Inside the module: loops for ARM64 that the set with byte products shares. */
#ifndef ECO_ENGINE_KERNELS_NEON_H
#define ECO_ENGINE_KERNELS_NEON_H

#include "kernels.h"

#if defined(ECO_ENGINE_NEON)
#include <arm_neon.h>

float eco_engine_neon_dot(const float *a, const float *b, int n);
void eco_engine_neon_axpy(float *y, float a, const float *x, int n);
float eco_engine_neon_dot_f16(const float *a, const uint16_t *b, int n);
void eco_engine_neon_axpy_f16(float *y, float a, const uint16_t *x, int n);
void eco_engine_neon_to_f16(uint16_t *out, const float *x, int n);
void eco_engine_neon_gate(float *g, const float *u, int n, bool gelu);
float eco_engine_neon_absmax(const float *x, int n);
int32_t eco_engine_neon_codes(const float *x, int n, float inv, int8_t *q);
void eco_engine_neon_prepare_q8(const float *x, int n, int8_t *q, float *scale, int32_t *q_sum);
eco_rows_fn eco_engine_neon_rows_f32, eco_engine_neon_rows_f16, eco_engine_neon_rows_bf16;
eco_rows_fn eco_engine_neon_rows_nf4, eco_engine_neon_rows_k;

/*
 * One row of NF4-A8 by one token; `add` is what the two sets have of their own: sums += v q. Of
 * each block the even columns, which are the high nibbles, come first in the activations.
 */
static inline __attribute__((always_inline)) float eco_neon_row_a8(
    const struct eco_matrix *w, size_t r, const struct eco_act *x, size_t t,
    int32x4_t (*add)(int32x4_t, int8x16_t, int8x16_t))
{
    const size_t blocks = (size_t)w->cols / ECO_NF4_BLOCK;
    const int8x16_t table = vld1q_s8(eco_engine_nf4_a8_table);
    float32x4_t sum = vdupq_n_f32(0);
    for (size_t b = 0; b < blocks; b++) {
        const uint8_t *p = (const uint8_t *)w->data + (r * blocks + b) * (ECO_NF4_BLOCK / 2);
        const int8_t *q = x->q + (t * blocks + b) * ECO_NF4_BLOCK;
        int32x4_t s = vdupq_n_s32(0);
        for (int half = 0; half < 2; half++) {
            uint8x16_t v = vld1q_u8(p + 16 * half);
            int8x16_t even = vqtbl1q_s8(table, vshrq_n_u8(v, 4));
            int8x16_t odd = vqtbl1q_s8(table, vandq_u8(v, vdupq_n_u8(15)));
            s = add(s, even, vld1q_s8(q + 16 * half));
            s = add(s, odd, vld1q_s8(q + 32 + 16 * half));
        }
        sum =
            vfmaq_n_f32(sum, vcvtq_f32_s32(s), w->scale[r * blocks + b] * x->scale[t * blocks + b]);
    }
    return vaddvq_f32(sum);
}

#define ECO_NEON_ROWS_A8(name, add)                                                                \
    static void name(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,      \
                     float *y, size_t ldy)                                                         \
    {                                                                                              \
        for (int r = begin; r < end; r++) {                                                        \
            for (int t = 0; t < x->n; t++) {                                                       \
                y[(size_t)t * ldy + (size_t)r] = eco_neon_row_a8(w, (size_t)r, x, (size_t)t, add); \
            }                                                                                      \
        }                                                                                          \
    }

/* Packed rows by the set's own groups(); rows that lie as ggml has them are seldom. */
#define ECO_NEON_ROWS_Q(name, format)                                                              \
    static void name(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,      \
                     float *y, size_t ldy)                                                         \
    {                                                                                              \
        if (w->packed) {                                                                           \
            groups(w, begin, end, x, y, ldy, ECO_FORMAT_##format == ECO_FORMAT_Q8_0);              \
        } else {                                                                                   \
            eco_engine_kernels_scalar.rows[ECO_FORMAT_##format](w, begin, end, x, y, ldy);         \
        }                                                                                          \
    }

/* Members of both tables. */
#define ECO_NEON_SHARED                                                                            \
    .dot = eco_engine_neon_dot, .axpy = eco_engine_neon_axpy, .dot_f16 = eco_engine_neon_dot_f16,  \
    .axpy_f16 = eco_engine_neon_axpy_f16, .to_f16 = eco_engine_neon_to_f16,                        \
    .gate = eco_engine_neon_gate, .absmax = eco_engine_neon_absmax,                                \
    .codes = eco_engine_neon_codes, .mark = eco_engine_scalar_mark,                                \
    .prepare_q8 = eco_engine_neon_prepare_q8, .prepare_a8 = eco_engine_scalar_prepare_a8
#define ECO_NEON_SHARED_ROWS                                                                       \
    [ECO_FORMAT_F32] = eco_engine_neon_rows_f32, [ECO_FORMAT_F16] = eco_engine_neon_rows_f16,      \
    [ECO_FORMAT_BF16] = eco_engine_neon_rows_bf16, [ECO_FORMAT_NF4] = eco_engine_neon_rows_nf4,    \
    [ECO_FORMAT_NF4_DQ] = eco_engine_neon_rows_nf4, [ECO_FORMAT_Q4_K] = eco_engine_neon_rows_k,    \
    [ECO_FORMAT_Q6_K] = eco_engine_neon_rows_k
#define ECO_NEON_KINDS                                                                             \
    {                                                                                              \
        [ECO_FORMAT_NF4_A8] = ECO_ACT_A8, [ECO_FORMAT_I8] = ECO_ACT_I8,                            \
        [ECO_FORMAT_Q8_0] = ECO_ACT_Q8, [ECO_FORMAT_Q4_0] = ECO_ACT_Q8                             \
    }
#endif

#endif
