/*
 * Inner loops for ARM64. NEON and the half-precision conversions are part of every ARM64 processor;
 * the byte products of ARMv8.2 are in kernels_neon_dot.c.
 */
#include "kernels_neon.h"

#if defined(ECO_ENGINE_NEON)

#include "half.h"
#include "packed.h"

#include <arm_neon.h>
#include <math.h>
#include <string.h>

static inline float32x4_t half4(const uint16_t *p)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}

float eco_engine_neon_dot(const float *a, const float *b, int n)
{
    float32x4_t s[4] = {vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0)};
    int i = 0;
    for (; i + 16 <= n; i += 16) {
        for (int k = 0; k < 4; k++) {
            s[k] = vfmaq_f32(s[k], vld1q_f32(a + i + 4 * k), vld1q_f32(b + i + 4 * k));
        }
    }
    for (; i + 4 <= n; i += 4) {
        s[0] = vfmaq_f32(s[0], vld1q_f32(a + i), vld1q_f32(b + i));
    }
    float sum = vaddvq_f32(vaddq_f32(vaddq_f32(s[0], s[1]), vaddq_f32(s[2], s[3])));
    for (; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

void eco_engine_neon_axpy(float *y, float a, const float *x, int n)
{
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        vst1q_f32(y + i, vfmaq_n_f32(vld1q_f32(y + i), vld1q_f32(x + i), a));
    }
    for (; i < n; i++) {
        y[i] += a * x[i];
    }
}

float eco_engine_neon_dot_f16(const float *a, const uint16_t *b, int n)
{
    float32x4_t s0 = vdupq_n_f32(0), s1 = s0;
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        s0 = vfmaq_f32(s0, vld1q_f32(a + i), half4(b + i));
        s1 = vfmaq_f32(s1, vld1q_f32(a + i + 4), half4(b + i + 4));
    }
    float sum = vaddvq_f32(vaddq_f32(s0, s1));
    for (; i < n; i++) {
        sum += a[i] * eco_f16_to_f32(b[i]);
    }
    return sum;
}

void eco_engine_neon_axpy_f16(float *y, float a, const uint16_t *x, int n)
{
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        vst1q_f32(y + i, vfmaq_n_f32(vld1q_f32(y + i), half4(x + i), a));
    }
    for (; i < n; i++) {
        y[i] += a * eco_f16_to_f32(x[i]);
    }
}

void eco_engine_neon_to_f16(uint16_t *out, const float *x, int n)
{
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        vst1_u16(out + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(x + i))));
    }
    for (; i < n; i++) {
        out[i] = eco_f32_to_f16(x[i]);
    }
}

/* exp(x): 2^k times the Taylor series of the rest, as kernels_avx2.c. */
static inline float32x4_t exp4(float32x4_t x)
{
    static const float series[] = {1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f,
                                   0.5f,          1.0f,          1.0f};
    x = vminq_f32(vmaxq_f32(x, vdupq_n_f32(-87.0f)), vdupq_n_f32(88.0f));
    float32x4_t k = vrndnq_f32(vmulq_n_f32(x, 1.44269504f));
    float32x4_t r = vfmsq_f32(x, k, vdupq_n_f32(0.693359375f));
    r = vfmsq_f32(r, k, vdupq_n_f32(-2.12194440e-4f));
    float32x4_t p = vdupq_n_f32(1.0f / 5040.0f);
    for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++) {
        p = vfmaq_f32(vdupq_n_f32(series[i]), p, r);
    }
    int32x4_t e = vshlq_n_s32(vcvtq_s32_f32(k), 23);
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p), e));
}

void eco_engine_neon_gate(float *g, const float *u, int n, bool gelu)
{
    int i = 0;
    for (; !gelu && i + 4 <= n; i += 4) {
        float32x4_t x = vld1q_f32(g + i);
        float32x4_t act = vdivq_f32(x, vaddq_f32(vdupq_n_f32(1.0f), exp4(vnegq_f32(x))));
        vst1q_f32(g + i, vmulq_f32(act, vld1q_f32(u + i)));
    }
    eco_engine_kernels_scalar.gate(g + i, u + i, n - i, gelu);
}

float eco_engine_neon_absmax(const float *x, int n)
{
    float32x4_t m = vdupq_n_f32(0);
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        m = vmaxq_f32(m, vabsq_f32(vld1q_f32(x + i)));
    }
    float max = vmaxvq_f32(m);
    for (; i < n; i++) {
        float a = fabsf(x[i]);
        max = a > max ? a : max;
    }
    return max;
}

int32_t eco_engine_neon_codes(const float *x, int n, float inv, int8_t *q)
{
    const int32x4_t least = vdupq_n_s32(-128), most = vdupq_n_s32(127);
    int32x4_t total = vdupq_n_s32(0);
    int i = 0;
    for (; i + 8 <= n; i += 8) { /* the conversion rounds to nearest even */
        int32x4_t a = vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x + i), inv));
        int32x4_t b = vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x + i + 4), inv));
        a = vmaxq_s32(vminq_s32(a, most), least); /* the ends where x / absmax is no number */
        b = vmaxq_s32(vminq_s32(b, most), least);
        total = vaddq_s32(total, vaddq_s32(a, b));
        vst1_s8(q + i, vqmovn_s16(vcombine_s16(vqmovn_s32(a), vqmovn_s32(b))));
    }
    return vaddvq_s32(total) + eco_engine_kernels_scalar.codes(x + i, n - i, inv, q + i);
}

void eco_engine_neon_prepare_q8(const float *x, int n, int8_t *q, float *scale, int32_t *q_sum)
{
    for (int b = 0; b < n; b += ECO_Q_BLOCK) {
        float m = eco_engine_neon_absmax(x + b, ECO_Q_BLOCK);
        scale[b / ECO_Q_BLOCK] = eco_f16_to_f32(eco_f32_to_f16(m / 127.0f));
        q_sum[b / ECO_Q_BLOCK] =
            eco_engine_neon_codes(x + b, ECO_Q_BLOCK, m > 0.0f ? 127.0f / m : 0.0f, q + b);
    }
}

/* ---- float formats --------------------------------------------------------------------------- */

static inline float32x4_t load_weights(enum eco_format f, const uint8_t *p)
{
    if (f == ECO_FORMAT_F32) {
        return vld1q_f32((const float *)(const void *)p);
    }
    const uint16_t *h = (const uint16_t *)(const void *)p;
    if (f == ECO_FORMAT_F16) {
        return half4(h);
    }
    return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(vld1_u16(h)), 16));
}

/* One row by T tokens. */
static inline __attribute__((always_inline)) void row_float(const struct eco_matrix *w, int r,
                                                            const float *x, int T, float *y,
                                                            size_t ldy, enum eco_format f)
{
    const size_t size = f == ECO_FORMAT_F32 ? 4 : 2, cols = (size_t)w->cols;
    const uint8_t *p = (const uint8_t *)w->data + (size_t)r * cols * size;
    float32x4_t s[4][4];
    size_t c = 0;
    for (int k = 0; k < 16; k++) {
        s[k / 4][k % 4] = vdupq_n_f32(0);
    }
    for (; c + 16 <= cols; c += 16) {
        for (size_t k = 0; k < 4; k++) {
            float32x4_t a = load_weights(f, p + (c + 4 * k) * size);
            for (int t = 0; t < T; t++) {
                s[t][k] = vfmaq_f32(s[t][k], a, vld1q_f32(x + (size_t)t * cols + c + 4 * k));
            }
        }
    }
    for (int t = 0; t < T; t++) {
        float sum = vaddvq_f32(vaddq_f32(vaddq_f32(s[t][0], s[t][1]), vaddq_f32(s[t][2], s[t][3])));
        for (size_t i = c; i < cols; i++) {
            float v;
            eco_engine_dequant(w, r, (int)i, 1, &v);
            sum += v * x[(size_t)t * cols + i];
        }
        y[(size_t)t * ldy + (size_t)r] = sum;
    }
}

static void tile(const float *w, const float *x, size_t ldx, int n, float out[4][4])
{
    float32x4_t s[4][4]; /* 16 sums of 32 registers */
    int i = 0;
    for (int k = 0; k < 16; k++) {
        s[k / 4][k % 4] = vdupq_n_f32(0);
    }
    for (; i + 4 <= n; i += 4) {
        float32x4_t v[4];
        for (int t = 0; t < 4; t++) {
            v[t] = vld1q_f32(x + (size_t)t * ldx + i);
        }
        for (int r = 0; r < 4; r++) {
            float32x4_t a = vld1q_f32(w + r * ECO_TILE + i);
            for (int t = 0; t < 4; t++) {
                s[r][t] = vfmaq_f32(s[r][t], a, v[t]);
            }
        }
    }
    for (int r = 0; r < 4; r++) {
        for (int t = 0; t < 4; t++) {
            out[r][t] += vaddvq_f32(s[r][t]);
            for (int k = i; k < n; k++) {
                out[r][t] += w[r * ECO_TILE + k] * x[(size_t)t * ldx + (size_t)k];
            }
        }
    }
}

static void dequant_16(const struct eco_matrix *w, int row, int col, int n, float *out)
{
    const uint8_t *p = (const uint8_t *)w->data + ((size_t)row * (size_t)w->cols + (size_t)col) * 2;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        vst1q_f32(out + i, w->format == ECO_FORMAT_F16 ? load_weights(ECO_FORMAT_F16, p + 2 * i)
                                                       : load_weights(ECO_FORMAT_BF16, p + 2 * i));
    }
    if (i < n) {
        eco_engine_dequant(w, row, col + i, n - i, out + i);
    }
}

#define FLOAT_ROWS(name, format, dequant_fn)                                                       \
    void name(const struct eco_matrix *w, int begin, int end, const struct eco_act *x, float *y,   \
              size_t ldy)                                                                          \
    {                                                                                              \
        if (x->n >= ECO_MANY) {                                                                    \
            eco_engine_rows_by_tiles(w, begin, end, x, x->x, y, ldy, dequant_fn, tile);            \
            return;                                                                                \
        }                                                                                          \
        for (int r = begin; r < end; r++) {                                                        \
            for (int t = 0; t + 2 <= x->n; t += 2) {                                               \
                row_float(w, r, x->x + (size_t)t * (size_t)x->cols, 2, y + (size_t)t * ldy, ldy,   \
                          format);                                                                 \
            }                                                                                      \
            if (x->n % 2) {                                                                        \
                size_t t = (size_t)x->n - 1;                                                       \
                row_float(w, r, x->x + t * (size_t)x->cols, 1, y + t * ldy, ldy, format);          \
            }                                                                                      \
        }                                                                                          \
    }

FLOAT_ROWS(eco_engine_neon_rows_f32, ECO_FORMAT_F32, eco_engine_dequant)
FLOAT_ROWS(eco_engine_neon_rows_f16, ECO_FORMAT_F16, dequant_16)
FLOAT_ROWS(eco_engine_neon_rows_bf16, ECO_FORMAT_BF16, dequant_16)

/* ---- NF4: the table's four byte planes, one look-up each ------------------------------------- */

struct planes {
    uint8x16_t b[4]; /* byte k of each of the sixteen floats */
};

static struct planes table_planes(void)
{
    uint8x16x4_t t = vld4q_u8((const uint8_t *)(const void *)eco_engine_nf4_table);
    return (struct planes){{t.val[0], t.val[1], t.val[2], t.val[3]}};
}

/* Sixteen codes to floats. */
static inline void look_up(const struct planes *p, uint8x16_t codes, float32x4_t out[4])
{
    uint8x16_t b0 = vqtbl1q_u8(p->b[0], codes), b1 = vqtbl1q_u8(p->b[1], codes);
    uint8x16_t b2 = vqtbl1q_u8(p->b[2], codes), b3 = vqtbl1q_u8(p->b[3], codes);
    uint16x8_t lo = vreinterpretq_u16_u8(vzip1q_u8(b0, b1));
    uint16x8_t lo2 = vreinterpretq_u16_u8(vzip2q_u8(b0, b1));
    uint16x8_t hi = vreinterpretq_u16_u8(vzip1q_u8(b2, b3));
    uint16x8_t hi2 = vreinterpretq_u16_u8(vzip2q_u8(b2, b3));
    out[0] = vreinterpretq_f32_u16(vzip1q_u16(lo, hi));
    out[1] = vreinterpretq_f32_u16(vzip2q_u16(lo, hi));
    out[2] = vreinterpretq_f32_u16(vzip1q_u16(lo2, hi2));
    out[3] = vreinterpretq_f32_u16(vzip2q_u16(lo2, hi2));
}

/* 32 weights of 16 bytes, the high nibble first. */
static inline void look_up_32(const struct planes *p, const uint8_t *bytes, float32x4_t out[8])
{
    uint8x16_t v = vld1q_u8(bytes), even = vshrq_n_u8(v, 4), odd = vandq_u8(v, vdupq_n_u8(15));
    look_up(p, vzip1q_u8(even, odd), out);
    look_up(p, vzip2q_u8(even, odd), out + 4);
}

static inline __attribute__((always_inline)) void row_nf4(const struct eco_matrix *w, int r,
                                                          const float *x, int T, float *y,
                                                          size_t ldy)
{
    const size_t cols = (size_t)w->cols, blocks = cols / ECO_NF4_BLOCK, first = (size_t)r * blocks;
    const uint8_t *p = (const uint8_t *)w->data + (size_t)r * cols / 2;
    const struct planes table = table_planes();
    float32x4_t sum[2] = {vdupq_n_f32(0), vdupq_n_f32(0)};
    for (size_t b = 0; b < blocks; b++) {
        float scale = eco_engine_nf4_absmax(w, first + b);
        float32x4_t s[2][4];
        for (int k = 0; k < 8; k++) {
            s[k / 4][k % 4] = vdupq_n_f32(0);
        }
        for (size_t half = 0; half < 2; half++) {
            float32x4_t v[8];
            look_up_32(&table, p + 32 * b + 16 * half, v);
            for (int t = 0; t < T; t++) {
                const float *a = x + (size_t)t * cols + 64 * b + 32 * half;
                for (size_t k = 0; k < 8; k++) {
                    s[t][k % 4] = vfmaq_f32(s[t][k % 4], v[k], vld1q_f32(a + 4 * k));
                }
            }
        }
        for (int t = 0; t < T; t++) {
            float32x4_t all = vaddq_f32(vaddq_f32(s[t][0], s[t][1]), vaddq_f32(s[t][2], s[t][3]));
            sum[t] = vfmaq_n_f32(sum[t], all, scale);
        }
    }
    for (int t = 0; t < T; t++) {
        y[(size_t)t * ldy + (size_t)r] = vaddvq_f32(sum[t]);
    }
}

static void dequant_nf4(const struct eco_matrix *w, int row, int col, int n, float *out)
{
    const struct planes table = table_planes();
    size_t at = (size_t)row * (size_t)w->cols + (size_t)col;
    const uint8_t *p = (const uint8_t *)w->data + at / 2;
    for (int i = 0; i < n; i += 32, at += 32, p += 16) { /* whole blocks: rows_nf4 sees to it */
        float scale = eco_engine_nf4_absmax(w, at / ECO_NF4_BLOCK);
        float32x4_t v[8];
        look_up_32(&table, p, v);
        for (int k = 0; k < 8; k++) {
            vst1q_f32(out + i + 4 * k, vmulq_n_f32(v[k], scale));
        }
    }
}

void eco_engine_neon_rows_nf4(const struct eco_matrix *w, int begin, int end,
                              const struct eco_act *x, float *y, size_t ldy)
{
    if (w->cols % ECO_NF4_BLOCK != 0) { /* blocks cross rows */
        eco_engine_rows_by_dequant(w, begin, end, x, y, ldy, eco_engine_dequant,
                                   eco_engine_neon_dot);
        return;
    }
    if (x->n >= ECO_MANY) {
        eco_engine_rows_by_tiles(w, begin, end, x, x->x, y, ldy, dequant_nf4, tile);
        return;
    }
    for (int r = begin; r < end; r++) {
        for (int t = 0; t + 2 <= x->n; t += 2) {
            row_nf4(w, r, x->x + (size_t)t * (size_t)x->cols, 2, y + (size_t)t * ldy, ldy);
        }
        if (x->n % 2) {
            size_t t = (size_t)x->n - 1;
            row_nf4(w, r, x->x + t * (size_t)x->cols, 1, y + t * ldy, ldy);
        }
    }
}

void eco_engine_neon_rows_k(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
                            float *y, size_t ldy)
{
    if (x->n >= ECO_MANY) {
        eco_engine_rows_by_tiles(w, begin, end, x, x->x, y, ldy, eco_engine_dequant, tile);
    } else {
        eco_engine_rows_by_dequant(w, begin, end, x, y, ldy, eco_engine_dequant,
                                   eco_engine_neon_dot);
    }
}

/* ---- integers without the dot product -------------------------------------------------------- */

/* Sums of four products of bytes; a pair of products of 127 each fits 16 bits. */
static inline int32x4_t add_products(int32x4_t s, int8x16_t v, int8x16_t q)
{
    int16x8_t pair = vmull_s8(vget_low_s8(v), vget_low_s8(q));
    return vpadalq_s16(s, vmlal_s8(pair, vget_high_s8(v), vget_high_s8(q)));
}

static void rows_i8(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
                    float *y, size_t ldy)
{
    const size_t cols = (size_t)w->cols;
    for (int r = begin; r < end; r++) {
        const int8_t *a = (const int8_t *)w->data + (size_t)r * cols;
        for (int t = 0; t < x->n; t++) {
            const int8_t *q = x->q + (size_t)t * cols;
            int32x4_t s = vdupq_n_s32(0);
            size_t c = 0;
            for (; c + 16 <= cols; c += 16) {
                int8x16_t u = vld1q_s8(a + c), v = vld1q_s8(q + c);
                s = add_products(s, u, v);
            }
            int32_t sum = vaddvq_s32(s);
            for (; c < cols; c++) {
                sum += a[c] * q[c];
            }
            y[(size_t)t * ldy + (size_t)r] =
                (float)sum * (w->scale[r] * x->scale[t] * (1.0f / (127.0f * 127.0f)));
        }
        eco_engine_add_outliers(w, r, x, y, ldy);
    }
}

/* Four rows' sums over four columns, added to a pair of sums of two rows each. */
static inline void add_word(int32x4_t s[2], int8x16_t w, int8x8_t x)
{
    s[0] = vpadalq_s16(s[0], vmull_s8(vget_low_s8(w), x));
    s[1] = vpadalq_s16(s[1], vmull_s8(vget_high_s8(w), x));
}

/* Four rows (word `four` of a group) of a packed block by one token. */
static inline int32x4_t block_sum(const uint8_t *p, const int8_t *q, int four, bool q8)
{
    int32x4_t s[2] = {vdupq_n_s32(0), vdupq_n_s32(0)};
    for (int i = 0; i < (q8 ? 8 : 4); i++) {
        int8x16_t v = vld1q_s8((const int8_t *)p + 64 * i + 16 * four);
        int8x8_t x = vreinterpret_s8_s32(vdup_n_s32(eco_load_i32(q + 4 * i)));
        if (q8) {
            add_word(s, v, x);
            continue;
        }
        uint8x16_t u = vreinterpretq_u8_s8(v);
        int8x8_t h = vreinterpret_s8_s32(vdup_n_s32(eco_load_i32(q + 16 + 4 * i)));
        add_word(s, vreinterpretq_s8_u8(vandq_u8(u, vdupq_n_u8(15))), x);
        add_word(s, vreinterpretq_s8_u8(vshrq_n_u8(u, 4)), h);
    }
    return vpaddq_s32(s[0], s[1]);
}

static void groups(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
                   float *y, size_t ldy, bool q8)
{
    const size_t blocks = (size_t)w->cols / ECO_Q_BLOCK;
    for (int r = begin; r < end; r += ECO_PACKED_ROWS) {
        const struct eco_packed g = eco_packed_group(w, r);
        for (int k = 0; k < 4 * x->n; k++) {
            int four = k % 4, t = k / 4;
            float32x4_t sum = vdupq_n_f32(0);
            for (size_t b = 0; b < blocks; b++) {
                size_t at = (size_t)t * blocks + b;
                const uint8_t *h = g.scales + 2 * (ECO_PACKED_ROWS * b + 4 * (size_t)four);
                int32x4_t s =
                    block_sum(g.codes + b * (q8 ? 512 : 256), x->q + at * ECO_Q_BLOCK, four, q8);
                s = q8 ? s : vsubq_s32(s, vdupq_n_s32(8 * x->q_sum[at]));
                float32x4_t d = vmulq_n_f32(half4((const uint16_t *)(const void *)h), x->scale[at]);
                sum = vfmaq_f32(sum, vcvtq_f32_s32(s), d);
            }
            vst1q_f32(y + (size_t)t * ldy + (size_t)(r + 4 * four), sum);
        }
    }
}

ECO_NEON_ROWS_A8(rows_nf4_a8, add_products)
ECO_NEON_ROWS_Q(rows_q8_0, Q8_0)
ECO_NEON_ROWS_Q(rows_q4_0, Q4_0)

const struct eco_kernels eco_engine_kernels_neon = {
    .isa = ECO_ENGINE_ISA_NEON,
    ECO_NEON_SHARED,
    .rows = {ECO_NEON_SHARED_ROWS, [ECO_FORMAT_NF4_A8] = rows_nf4_a8, [ECO_FORMAT_I8] = rows_i8,
             [ECO_FORMAT_Q8_0] = rows_q8_0, [ECO_FORMAT_Q4_0] = rows_q4_0},
    .kind = ECO_NEON_KINDS,
};

#endif /* ECO_ENGINE_NEON */
