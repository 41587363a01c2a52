/*
 * Integer loops with ARMv8.2's products of four bytes. This file alone is compiled for it
 * (CMakeLists.txt); whether the processor has it is asked at run time.
 */
#include "kernels_neon.h"

#if defined(ECO_NEON_DOT)

#include "half.h"
#include "packed.h"

#include <arm_neon.h>

/* One row by T tokens. */
static inline __attribute__((always_inline)) void row_i8(const struct eco_matrix *w, int r,
                                                         const struct eco_act *x, int first, int T,
                                                         float *y, size_t ldy)
{
    const size_t cols = (size_t)w->cols;
    const int8_t *a = (const int8_t *)w->data + (size_t)r * cols;
    int32x4_t s[4][2];
    size_t c = 0;
    for (int k = 0; k < 8; k++) {
        s[k / 2][k % 2] = vdupq_n_s32(0);
    }
    for (; c + 32 <= cols; c += 32) {
        int8x16_t u = vld1q_s8(a + c), v = vld1q_s8(a + c + 16);
        for (int t = 0; t < T; t++) {
            const int8_t *q = x->q + (size_t)(first + t) * cols + c;
            s[t][0] = vdotq_s32(s[t][0], u, vld1q_s8(q));
            s[t][1] = vdotq_s32(s[t][1], v, vld1q_s8(q + 16));
        }
    }
    for (int t = 0; t < T; t++) {
        const int8_t *q = x->q + (size_t)(first + t) * cols;
        int32_t sum = vaddvq_s32(vaddq_s32(s[t][0], s[t][1]));
        for (size_t i = c; i < cols; i++) {
            sum += a[i] * q[i];
        }
        y[(size_t)(first + t) * ldy + (size_t)r] =
            (float)sum * (w->scale[r] * x->scale[first + t] * (1.0f / (127.0f * 127.0f)));
    }
}

static void rows_i8(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
                    float *y, size_t ldy)
{
    for (int r = begin; r < end; r++) {
        int t = 0;
        for (; t + 4 <= x->n; t += 4) {
            row_i8(w, r, x, t, 4, y, ldy);
        }
        for (; t < x->n; t++) {
            row_i8(w, r, x, t, 1, y, ldy);
        }
        eco_engine_add_outliers(w, r, x, y, ldy);
    }
}

/* s[four] += codes of four rows each times word `lane` of x; lanes are constants in the end. */
static inline __attribute__((always_inline)) void add_words(int32x4_t s[4], const int8x16_t v[4],
                                                            int8x16_t x, int lane)
{
    for (int four = 0; four < 4; four++) {
        s[four] = lane == 0   ? vdotq_laneq_s32(s[four], v[four], x, 0)
                  : lane == 1 ? vdotq_laneq_s32(s[four], v[four], x, 1)
                  : lane == 2 ? vdotq_laneq_s32(s[four], v[four], x, 2)
                              : vdotq_laneq_s32(s[four], v[four], x, 3);
    }
}

/* Sixteen rows of a packed block by one token. */
static inline __attribute__((always_inline)) void block_sums(const uint8_t *p, const int8_t *q,
                                                             bool q8, int32x4_t s[4])
{
    const int8x16_t x[2] = {vld1q_s8(q), vld1q_s8(q + 16)};
    for (int i = 0; i < (q8 ? 8 : 4); i++) {
        int8x16_t v[4], h[4];
        for (int four = 0; four < 4; four++) {
            uint8x16_t u = vld1q_u8(p + 64 * i + 16 * four);
            v[four] = vreinterpretq_s8_u8(q8 ? u : vandq_u8(u, vdupq_n_u8(15)));
            h[four] = vreinterpretq_s8_u8(vshrq_n_u8(u, 4));
        }
        add_words(s, v, x[i / 4], i % 4);
        if (!q8) {
            add_words(s, h, x[1], i);
        }
    }
}

static inline __attribute__((always_inline)) void groups(const struct eco_matrix *w, int begin,
                                                         int end, const struct eco_act *x, float *y,
                                                         size_t ldy, bool q8)
{
    const size_t blocks = (size_t)w->cols / ECO_Q_BLOCK;
    for (int r = begin; r < end; r += ECO_PACKED_ROWS) {
        const struct eco_packed g = eco_packed_group(w, r);
        for (int t = 0; t < x->n; t++) {
            float32x4_t sum[4] = {vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0)};
            for (size_t b = 0; b < blocks; b++) {
                size_t at = (size_t)t * blocks + b;
                int32x4_t s[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
                block_sums(g.codes + b * (q8 ? 512 : 256), x->q + at * ECO_Q_BLOCK, q8, s);
                for (size_t four = 0; four < 4; four++) {
                    const uint8_t *h = g.scales + 2 * (ECO_PACKED_ROWS * b + 4 * four);
                    float32x4_t d = vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(h)));
                    int32x4_t v = q8 ? s[four] : vsubq_s32(s[four], vdupq_n_s32(8 * x->q_sum[at]));
                    sum[four] =
                        vfmaq_f32(sum[four], vcvtq_f32_s32(v), vmulq_n_f32(d, x->scale[at]));
                }
            }
            for (size_t four = 0; four < 4; four++) {
                vst1q_f32(y + (size_t)t * ldy + (size_t)r + 4 * four, sum[four]);
            }
        }
    }
}

static inline int32x4_t add_products(int32x4_t s, int8x16_t v, int8x16_t q)
{
    return vdotq_s32(s, v, q);
}

ECO_NEON_ROWS_A8(rows_nf4_a8, add_products)
ECO_NEON_ROWS_Q(rows_q8_0, Q8_0)
ECO_NEON_ROWS_Q(rows_q4_0, Q4_0)

const struct eco_kernels eco_engine_kernels_neon_dot = {
    .isa = ECO_ENGINE_ISA_NEON_DOT,
    ECO_NEON_SHARED,
    .rows = {ECO_NEON_SHARED_ROWS, [ECO_FORMAT_NF4_A8] = rows_nf4_a8, [ECO_FORMAT_I8] = rows_i8,
             [ECO_FORMAT_Q8_0] = rows_q8_0, [ECO_FORMAT_Q4_0] = rows_q4_0},
    .kind = ECO_NEON_KINDS,
};

#endif /* ECO_NEON_DOT */
