/*
 * Inner loops for AVX2, FMA and F16C. The target is set function by function, so that the rest of
 * the program runs on any x86-64. Sums are kept in several registers to hide the latency of FMA.
 */
#include "kernels_x86.h"

#if defined(ECO_ENGINE_X86)

#include "half.h"
#include "packed.h"

#include <immintrin.h>
#include <string.h>

#define SIMD __attribute__((target("avx2,fma,f16c")))
#define SIMD_INLINE __attribute__((target("avx2,fma,f16c"), always_inline)) static inline

SIMD_INLINE float sum8(__m256 v)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

SIMD float eco_engine_avx2_dot(const float *a, const float *b, int n)
{
    __m256 s[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                   _mm256_setzero_ps()};
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        for (int k = 0; k < 4; k++) {
            s[k] = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 8 * k), _mm256_loadu_ps(b + i + 8 * k),
                                   s[k]);
        }
    }
    for (; i + 8 <= n; i += 8) {
        s[0] = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), s[0]);
    }
    float sum = sum8(_mm256_add_ps(_mm256_add_ps(s[0], s[1]), _mm256_add_ps(s[2], s[3])));
    for (; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

SIMD void eco_engine_avx2_axpy(float *y, float a, const float *x, int n)
{
    __m256 va = _mm256_set1_ps(a);
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(y + i,
                         _mm256_fmadd_ps(va, _mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i)));
    }
    for (; i < n; i++) {
        y[i] += a * x[i];
    }
}

SIMD_INLINE __m256 load_f16(const uint16_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
}

SIMD float eco_engine_avx2_dot_f16(const float *a, const uint16_t *b, int n)
{
    __m256 s0 = _mm256_setzero_ps(), s1 = s0;
    int i = 0;
    for (; i + 16 <= n; i += 16) {
        s0 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), load_f16(b + i), s0);
        s1 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 8), load_f16(b + i + 8), s1);
    }
    float sum = sum8(_mm256_add_ps(s0, s1));
    for (; i < n; i++) {
        sum += a[i] * eco_f16_to_f32(b[i]);
    }
    return sum;
}

SIMD void eco_engine_avx2_axpy_f16(float *y, float a, const uint16_t *x, int n)
{
    __m256 va = _mm256_set1_ps(a);
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(y + i, _mm256_fmadd_ps(va, load_f16(x + i), _mm256_loadu_ps(y + i)));
    }
    for (; i < n; i++) {
        y[i] += a * eco_f16_to_f32(x[i]);
    }
}

SIMD void eco_engine_avx2_to_f16(uint16_t *out, const float *x, int n)
{
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(out + i), h);
    }
    for (; i < n; i++) {
        out[i] = eco_f32_to_f16(x[i]);
    }
}

/* exp(x): 2^k times the Taylor series of the rest, |rest| <= ln(2)/2; 2 ulp in -87..88. */
SIMD_INLINE __m256 exp8(__m256 x)
{
    x = _mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(-87.0f)), _mm256_set1_ps(88.0f));
    __m256 k = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(k, _mm256_set1_ps(0.693359375f), x);
    r = _mm256_fnmadd_ps(k, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(1.0f / 5040.0f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 720.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 120.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 24.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 6.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    __m256i e = _mm256_slli_epi32(_mm256_cvtps_epi32(k), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), e));
}

SIMD void eco_engine_avx2_gate(float *g, const float *u, int n, bool gelu)
{
    const __m256 one = _mm256_set1_ps(1.0f);
    int i = 0;
    for (; !gelu && i + 8 <= n; i += 8) {
        __m256 x = _mm256_loadu_ps(g + i);
        __m256 e = exp8(_mm256_sub_ps(_mm256_setzero_ps(), x));
        __m256 act = _mm256_div_ps(x, _mm256_add_ps(one, e));
        _mm256_storeu_ps(g + i, _mm256_mul_ps(act, _mm256_loadu_ps(u + i)));
    }
    eco_engine_kernels_scalar.gate(g + i, u + i, n - i, gelu);
}

SIMD float eco_engine_avx2_absmax(const float *x, int n)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256 m = _mm256_setzero_ps();
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        m = _mm256_max_ps(m, _mm256_andnot_ps(sign, _mm256_loadu_ps(x + i)));
    }
    __m128 h = _mm_max_ps(_mm256_castps256_ps128(m), _mm256_extractf128_ps(m, 1));
    h = _mm_max_ps(h, _mm_movehl_ps(h, h));
    float max = _mm_cvtss_f32(_mm_max_ss(h, _mm_movehdup_ps(h)));
    for (; i < n; i++) {
        float a = x[i] < 0.0f ? -x[i] : x[i];
        max = a > max ? a : max;
    }
    return max;
}

SIMD int32_t eco_engine_avx2_codes(const float *x, int n, float inv, int8_t *q)
{
    const __m256 scale = _mm256_set1_ps(inv);
    const __m256i least = _mm256_set1_epi32(-128);
    __m256i total = _mm256_setzero_si256();
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i c[4];
        for (int k = 0; k < 4; k++) { /* the conversion rounds to nearest even */
            c[k] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i + 8 * k), scale));
            c[k] = _mm256_max_epi32(c[k], least); /* INT_MIN where x / absmax is no number */
            total = _mm256_add_epi32(total, c[k]);
        }
        __m256i a = _mm256_packs_epi32(c[0], c[1]), b = _mm256_packs_epi32(c[2], c[3]);
        __m256i p = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(a, b),
                                                _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        _mm256_storeu_si256((__m256i *)(void *)(q + i), p);
    }
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
    return _mm_cvtsi128_si32(s) + eco_engine_kernels_scalar.codes(x + i, n - i, inv, q + i);
}

SIMD void eco_engine_avx2_mark(const float *x, int n, float threshold, int8_t *marks)
{
    const __m256 sign = _mm256_set1_ps(-0.0f), at = _mm256_set1_ps(threshold);
    int i = 0;
    for (; i + 8 <= n; i += 8) { /* seldom true: one test for eight */
        __m256 a = _mm256_andnot_ps(sign, _mm256_loadu_ps(x + i));
        int m = _mm256_movemask_ps(_mm256_cmp_ps(a, at, _CMP_GE_OQ));
        for (int k = 0; m; k++, m >>= 1) {
            marks[i + k] |= m & 1;
        }
    }
    eco_engine_kernels_scalar.mark(x + i, n - i, threshold, marks + i);
}

SIMD void eco_engine_avx2_prepare_q8(const float *x, int n, int8_t *q, float *scale, int32_t *q_sum)
{
    for (int b = 0; b < n; b += ECO_Q_BLOCK) {
        float m = eco_engine_avx2_absmax(x + b, ECO_Q_BLOCK);
        scale[b / ECO_Q_BLOCK] = eco_f16_to_f32(eco_f32_to_f16(m / 127.0f));
        q_sum[b / ECO_Q_BLOCK] =
            eco_engine_avx2_codes(x + b, ECO_Q_BLOCK, m > 0.0f ? 127.0f / m : 0.0f, q + b);
    }
}

/* ---- float formats --------------------------------------------------------------------------- */

SIMD_INLINE __m256 load_weights(enum eco_format f, const uint8_t *p)
{
    if (f == ECO_FORMAT_F32) {
        return _mm256_loadu_ps((const float *)(const void *)p);
    }
    __m128i h = _mm_loadu_si128((const __m128i *)(const void *)p);
    if (f == ECO_FORMAT_F16) {
        return _mm256_cvtph_ps(h);
    }
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

/* One row by T tokens. */
SIMD_INLINE void row_float(const struct eco_matrix *w, int r, const float *x, int T, float *y,
                           size_t ldy, enum eco_format f)
{
    const size_t size = f == ECO_FORMAT_F32 ? 4 : 2, cols = (size_t)w->cols;
    const uint8_t *p = (const uint8_t *)w->data + (size_t)r * cols * size;
    __m256 s[4][2];
    size_t c = 0;
    for (int t = 0; t < T; t++) {
        s[t][0] = s[t][1] = _mm256_setzero_ps();
    }
    for (; c + 16 <= cols; c += 16) {
        __m256 a = load_weights(f, p + c * size), b = load_weights(f, p + (c + 8) * size);
        for (int t = 0; t < T; t++) {
            const float *v = x + (size_t)t * cols + c;
            s[t][0] = _mm256_fmadd_ps(a, _mm256_loadu_ps(v), s[t][0]);
            s[t][1] = _mm256_fmadd_ps(b, _mm256_loadu_ps(v + 8), s[t][1]);
        }
    }
    for (int t = 0; t < T; t++) {
        float sum = sum8(_mm256_add_ps(s[t][0], s[t][1]));
        for (size_t i = c; i < cols; i++) {
            float v;
            eco_engine_dequant(w, r, (int)i, 1, &v);
            sum += v * x[(size_t)t * cols + i];
        }
        y[(size_t)t * ldy + (size_t)r] = sum;
    }
}

/* One row, one token: four sums. */
SIMD_INLINE void row_float_one(const struct eco_matrix *w, int r, const float *x, float *y,
                               enum eco_format f)
{
    const size_t size = f == ECO_FORMAT_F32 ? 4 : 2, cols = (size_t)w->cols;
    const uint8_t *p = (const uint8_t *)w->data + (size_t)r * cols * size;
    __m256 s[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                   _mm256_setzero_ps()};
    size_t c = 0;
    for (; c + 32 <= cols; c += 32) {
        for (size_t k = 0; k < 4; k++) {
            s[k] = _mm256_fmadd_ps(load_weights(f, p + (c + 8 * k) * size),
                                   _mm256_loadu_ps(x + c + 8 * k), s[k]);
        }
    }
    float sum = sum8(_mm256_add_ps(_mm256_add_ps(s[0], s[1]), _mm256_add_ps(s[2], s[3])));
    for (; c < cols; c++) {
        float v;
        eco_engine_dequant(w, r, (int)c, 1, &v);
        sum += v * x[c];
    }
    y[r] = sum;
}

/* The sums of four registers. */
SIMD_INLINE __m128 sums4(__m256 a, __m256 b, __m256 c, __m256 d)
{
    __m256 v = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    return _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
}

SIMD static void tile(const float *w, const float *x, size_t ldx, int n, float out[4][4])
{
    for (int half = 0; half < 4; half += 2) { /* 2 rows x 4 tokens: 8 sums in 16 registers */
        const float *w0 = w + half * ECO_TILE, *w1 = w0 + ECO_TILE;
        __m256 s[2][4];
        int i = 0;
        for (int t = 0; t < 4; t++) {
            s[0][t] = s[1][t] = _mm256_setzero_ps();
        }
        for (; i + 8 <= n; i += 8) {
            __m256 a = _mm256_load_ps(w0 + i), b = _mm256_load_ps(w1 + i);
            for (int t = 0; t < 4; t++) {
                __m256 v = _mm256_loadu_ps(x + (size_t)t * ldx + i);
                s[0][t] = _mm256_fmadd_ps(a, v, s[0][t]);
                s[1][t] = _mm256_fmadd_ps(b, v, s[1][t]);
            }
        }
        for (int k = 0; k < 2; k++) {
            float *to = out[half + k];
            __m128 v = sums4(s[k][0], s[k][1], s[k][2], s[k][3]);
            _mm_storeu_ps(to, _mm_add_ps(_mm_loadu_ps(to), v));
            for (int c = i; c < n; c++) {
                for (int t = 0; t < 4; t++) {
                    to[t] += w0[k * ECO_TILE + c] * x[(size_t)t * ldx + (size_t)c];
                }
            }
        }
    }
}

SIMD static void dequant_16(const struct eco_matrix *w, int row, int col, int n, float *out)
{
    const uint8_t *p = (const uint8_t *)w->data + ((size_t)row * (size_t)w->cols + (size_t)col) * 2;
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(out + i, w->format == ECO_FORMAT_F16
                                      ? load_weights(ECO_FORMAT_F16, p + 2 * i)
                                      : load_weights(ECO_FORMAT_BF16, p + 2 * i));
    }
    if (i < n) {
        eco_engine_dequant(w, row, col + i, n - i, out + i);
    }
}

#define FLOAT_ROWS(name, format, dequant_fn)                                                       \
    SIMD static void name(const struct eco_matrix *w, int begin, int end, const struct eco_act *x, \
                          float *y, size_t ldy)                                                    \
    {                                                                                              \
        if (x->n >= ECO_MANY) {                                                                    \
            eco_engine_rows_by_tiles(w, begin, end, x, x->x, y, ldy, dequant_fn, tile);            \
            return;                                                                                \
        }                                                                                          \
        for (int r = begin; r < end; r++) {                                                        \
            if (x->n == 1) {                                                                       \
                row_float_one(w, r, x->x, y, format);                                              \
            } else if (x->n == 2) {                                                                \
                row_float(w, r, x->x, 2, y, ldy, format);                                          \
            } else if (x->n == 3) {                                                                \
                row_float(w, r, x->x, 3, y, ldy, format);                                          \
            } else {                                                                               \
                row_float(w, r, x->x, 4, y, ldy, format);                                          \
            }                                                                                      \
        }                                                                                          \
    }

FLOAT_ROWS(rows_f32, ECO_FORMAT_F32, eco_engine_dequant)
FLOAT_ROWS(rows_f16, ECO_FORMAT_F16, dequant_16)
FLOAT_ROWS(rows_bf16, ECO_FORMAT_BF16, dequant_16)

/* ---- NF4 by table look-up in registers ------------------------------------------------------- */

/* Weights of nibble k of each word: two halves of the table, chosen by the nibble's bit 3. */
SIMD_INLINE __m256 look_up(__m256i codes, int k, __m256 low, __m256 high)
{
    __m256i at = _mm256_srli_epi32(codes, 4 * k), top = _mm256_slli_epi32(codes, 28 - 4 * k);
    __m256 a = _mm256_permutevar8x32_ps(low, at), b = _mm256_permutevar8x32_ps(high, at);
    return _mm256_blendv_ps(a, b, _mm256_castsi256_ps(top));
}

/* One row by T tokens; activations in the order of prepare_nf4: [group of 64][nibble][word]. */
SIMD_INLINE void row_nf4(const struct eco_matrix *w, int r, const float *x, int T, float *y,
                         size_t ldy)
{
    const size_t cols = (size_t)w->cols, blocks = cols / ECO_NF4_BLOCK, first = (size_t)r * blocks;
    const uint8_t *p = (const uint8_t *)w->data + (size_t)r * cols / 2;
    const __m256 low = _mm256_loadu_ps(eco_engine_nf4_table);
    const __m256 high = _mm256_loadu_ps(eco_engine_nf4_table + 8);
    __m256 sum[4];
    for (int t = 0; t < T; t++) {
        sum[t] = _mm256_setzero_ps();
    }
    for (size_t b = 0; b < blocks; b++) {
        __m256i codes = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32 * b));
        __m256 s[4][2], scale = _mm256_set1_ps(eco_engine_nf4_absmax(w, first + b));
        eco_nf4_ahead(w, p + 32 * b, first + b);
        for (int t = 0; t < T; t++) {
            s[t][0] = s[t][1] = _mm256_setzero_ps();
        }
        for (int k = 0; k < 8; k++) {
            __m256 v = look_up(codes, k, low, high);
            for (int t = 0; t < T; t++) {
                const float *a = x + (size_t)t * cols + 64 * b + 8 * (size_t)k;
                s[t][k % 2] = _mm256_fmadd_ps(v, _mm256_loadu_ps(a), s[t][k % 2]);
            }
        }
        for (int t = 0; t < T; t++) {
            sum[t] = _mm256_fmadd_ps(_mm256_add_ps(s[t][0], s[t][1]), scale, sum[t]);
        }
    }
    for (int t = 0; t < T; t++) {
        y[(size_t)t * ldy + (size_t)r] = sum8(sum[t]);
    }
}

/* Weights in the order of prepare_nf4; col and n are multiples of 64. */
SIMD static void dequant_nf4(const struct eco_matrix *w, int row, int col, int n, float *out)
{
    const __m256 low = _mm256_loadu_ps(eco_engine_nf4_table);
    const __m256 high = _mm256_loadu_ps(eco_engine_nf4_table + 8);
    size_t at = (size_t)row * (size_t)w->cols + (size_t)col, b = at / ECO_NF4_BLOCK;
    const uint8_t *p = (const uint8_t *)w->data + at / 2;
    for (int i = 0; i < n; i += ECO_NF4_BLOCK, b++, p += 32) {
        __m256i codes = _mm256_loadu_si256((const __m256i *)(const void *)p);
        __m256 scale = _mm256_set1_ps(eco_engine_nf4_absmax(w, b));
        for (int k = 0; k < 8; k++) {
            __m256 v = look_up(codes, k, low, high);
            _mm256_storeu_ps(out + i + 8 * k, _mm256_mul_ps(v, scale));
        }
    }
}

SIMD static void rows_nf4(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
                          float *y, size_t ldy)
{
    if (w->cols % ECO_NF4_BLOCK != 0) { /* blocks cross rows */
        eco_engine_rows_by_dequant(w, begin, end, x, y, ldy, eco_engine_dequant,
                                   eco_engine_avx2_dot);
        return;
    }
    if (x->n >= ECO_MANY) {
        eco_engine_rows_by_tiles(w, begin, end, x, x->order, y, ldy, dequant_nf4, tile);
        return;
    }
    for (int r = begin; r < end; r++) {
        if (x->n == 1) {
            row_nf4(w, r, x->order, 1, y, ldy);
        } else if (x->n == 2) {
            row_nf4(w, r, x->order, 2, y, ldy);
        } else if (x->n == 3) {
            row_nf4(w, r, x->order, 3, y, ldy);
        } else {
            row_nf4(w, r, x->order, 4, y, ldy);
        }
    }
}

/* ---- integers -------------------------------------------------------------------------------- */

/* Sums of four products of bytes each; |a| and |b| at most 127, so that no pair overflows. */
SIMD_INLINE __m256i dot_bytes(__m256i a, __m256i b)
{
    __m256i pairs = _mm256_maddubs_epi16(_mm256_sign_epi8(a, a), _mm256_sign_epi8(b, a));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

SIMD_INLINE __m256i load_bytes(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

SIMD_INLINE int32_t sum_i32(__m256i v)
{
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
}

#define OUTLIERS 64 /* columns at a time */

/* Eight rows' weights of n outlier columns, rounded to FP16: out [n][8]. */
SIMD_INLINE void outlier_weights(const struct eco_matrix *w, int row, int rows, const int *column,
                                 int n, float out[OUTLIERS][8])
{
    float scale[8] = {0};
    for (int r = 0; r < rows; r++) {
        scale[r] = w->scale[row + r] * (1.0f / 127.0f);
    }
    for (int k = 0; k < n; k++) {
        int32_t code[8] = {0};
        for (int r = 0; r < rows; r++) {
            const int8_t *line = (const int8_t *)w->data + (size_t)(row + r) * (size_t)w->cols;
            code[r] = (int)line[column[k]];
        }
        __m256i c = _mm256_loadu_si256((const __m256i *)(const void *)code);
        __m256 v = _mm256_mul_ps(_mm256_cvtepi32_ps(c), _mm256_loadu_ps(scale));
        _mm256_storeu_ps(out[k], _mm256_cvtph_ps(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT)));
    }
}

SIMD void eco_engine_avx2_add_outliers(const struct eco_matrix *w, int begin, int end,
                                       const struct eco_act *x, float *y, size_t ldy)
{
    float v[OUTLIERS][8];
    for (int k = 0; k < x->n_outliers; k += OUTLIERS) {
        int n = x->n_outliers - k < OUTLIERS ? x->n_outliers - k : OUTLIERS;
        for (int r = begin; r < end; r += 8) {
            int rows = end - r < 8 ? end - r : 8;
            outlier_weights(w, r, rows, x->outlier + k, n, v);
            for (int t = 0; t < x->n; t++) {
                const float *from = x->outlier_x + (size_t)t * (size_t)x->n_outliers + k;
                float *to = y + (size_t)t * ldy + (size_t)r, sum[8];
                __m256 s = _mm256_setzero_ps();
                for (int i = 0; i < n; i++) {
                    s = _mm256_fmadd_ps(_mm256_loadu_ps(v[i]), _mm256_set1_ps(from[i]), s);
                }
                _mm256_storeu_ps(sum, s);
                for (int i = 0; i < rows; i++) {
                    to[i] += sum[i];
                }
            }
        }
    }
}

/* One row by T tokens. */
SIMD_INLINE void row_i8(const struct eco_matrix *w, int r, const struct eco_act *x, int first,
                        int T, float *y, size_t ldy)
{
    const size_t cols = (size_t)w->cols;
    const int8_t *a = (const int8_t *)w->data + (size_t)r * cols;
    __m256i s[4][2];
    size_t c = 0;
    for (int t = 0; t < T; t++) {
        s[t][0] = s[t][1] = _mm256_setzero_si256();
    }
    for (; c + 64 <= cols; c += 64) {
        __m256i v = load_bytes(a + c), u = load_bytes(a + c + 32);
        for (int t = 0; t < T; t++) {
            const int8_t *q = x->q + (size_t)(first + t) * cols + c;
            s[t][0] = _mm256_add_epi32(s[t][0], dot_bytes(v, load_bytes(q)));
            s[t][1] = _mm256_add_epi32(s[t][1], dot_bytes(u, load_bytes(q + 32)));
        }
    }
    for (int t = 0; t < T; t++) {
        const int8_t *q = x->q + (size_t)(first + t) * cols;
        int32_t sum = sum_i32(_mm256_add_epi32(s[t][0], s[t][1]));
        for (size_t i = c; i < cols; i++) {
            sum += a[i] * q[i];
        }
        y[(size_t)(first + t) * ldy + (size_t)r] =
            (float)sum * (w->scale[r] * x->scale[first + t] * (1.0f / (127.0f * 127.0f)));
    }
}

SIMD static void rows_i8(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
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
    }
    eco_engine_avx2_add_outliers(w, begin, end, x, y, ldy);
}

SIMD_INLINE float half_scale(const uint8_t *block)
{
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(eco_load_u16(block))));
}

SIMD static void blocks_q8_0(const struct eco_matrix *w, int begin, int end,
                             const struct eco_act *x, float *y, size_t ldy)
{
    const size_t blocks = (size_t)w->cols / ECO_Q_BLOCK;
    for (int r = begin; r < end; r++) {
        const uint8_t *p = (const uint8_t *)w->data + (size_t)r * blocks * 34;
        for (int t = 0; t < x->n; t++) {
            const int8_t *q = x->q + (size_t)t * (size_t)x->cols;
            const float *scale = x->scale + (size_t)t * blocks;
            __m256 s[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
            for (size_t b = 0; b < blocks; b++) {
                const uint8_t *block = p + 34 * b;
                _mm_prefetch((const char *)block + 1088, _MM_HINT_T0);
                __m256i d = dot_bytes(load_bytes(block + 2), load_bytes(q + ECO_Q_BLOCK * b));
                s[b % 2] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(d),
                                           _mm256_set1_ps(half_scale(block) * scale[b]), s[b % 2]);
            }
            y[(size_t)t * ldy + (size_t)r] = sum8(_mm256_add_ps(s[0], s[1]));
        }
    }
}

/* Codes 0..15 stand for -8..7: the sum of q, taken off each of the eight sums, makes up for it. */
SIMD static void blocks_q4_0(const struct eco_matrix *w, int begin, int end,
                             const struct eco_act *x, float *y, size_t ldy)
{
    const size_t blocks = (size_t)w->cols / ECO_Q_BLOCK;
    const __m256i mask = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
    for (int r = begin; r < end; r++) {
        const uint8_t *p = (const uint8_t *)w->data + (size_t)r * blocks * 18;
        for (int t = 0; t < x->n; t++) {
            const int8_t *q = x->q + (size_t)t * (size_t)x->cols;
            const float *scale = x->scale + (size_t)t * blocks;
            const int32_t *q_sum = x->q_sum + (size_t)t * blocks;
            __m256 s[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
            for (size_t b = 0; b < blocks; b++) {
                const uint8_t *block = p + 18 * b;
                _mm_prefetch((const char *)block + 1152, _MM_HINT_T0);
                __m128i half = _mm_loadu_si128((const __m128i *)(const void *)(block + 2));
                __m256i codes =
                    _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(half, 4), half), mask);
                __m256i d = _mm256_madd_epi16(
                    _mm256_maddubs_epi16(codes, load_bytes(q + ECO_Q_BLOCK * b)), ones);
                d = _mm256_sub_epi32(d, _mm256_set1_epi32(q_sum[b]));
                s[b % 2] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(d),
                                           _mm256_set1_ps(half_scale(block) * scale[b]), s[b % 2]);
            }
            y[(size_t)t * ldy + (size_t)r] = sum8(_mm256_add_ps(s[0], s[1]));
        }
    }
}

/* Eight rows' sums over a block of Q8_0: bytes of w times four bytes of a token. */
SIMD_INLINE __m256i group_sum_q8(const uint8_t *p, const int8_t *q)
{
    __m256i s = _mm256_setzero_si256();
    for (int i = 0; i < 8; i++) {
        __m256i x4 = _mm256_set1_epi32(eco_load_i32(q + 4 * i));
        s = _mm256_add_epi32(s, dot_bytes(load_bytes(p + 64 * i), x4));
    }
    return s;
}

/* Codes 0..15: eight pair sums of at most 2 * 15 * 127 each fit 16 bits. */
SIMD_INLINE __m256i group_sum_q4(const uint8_t *p, const int8_t *q, int32_t q_sum)
{
    const __m256i mask = _mm256_set1_epi8(15);
    __m256i s = _mm256_setzero_si256();
    for (int i = 0; i < 4; i++) {
        __m256i v = load_bytes(p + 64 * i);
        __m256i a = _mm256_and_si256(v, mask);
        __m256i b = _mm256_and_si256(_mm256_srli_epi16(v, 4), mask);
        __m256i low = _mm256_set1_epi32(eco_load_i32(q + 4 * i));
        __m256i high = _mm256_set1_epi32(eco_load_i32(q + 16 + 4 * i));
        s = _mm256_add_epi16(s, _mm256_maddubs_epi16(a, low));
        s = _mm256_add_epi16(s, _mm256_maddubs_epi16(b, high));
    }
    return _mm256_sub_epi32(_mm256_madd_epi16(s, _mm256_set1_epi16(1)),
                            _mm256_set1_epi32(8 * q_sum));
}

/* H times eight rows of a packed group (packed.h) by T tokens. */
SIMD_INLINE void group_q(const struct eco_matrix *w, int r, int H, const struct eco_act *x,
                         int first, int T, float *y, size_t ldy, bool q8)
{
    const size_t blocks = (size_t)w->cols / ECO_Q_BLOCK, begin = (size_t)(r % ECO_PACKED_ROWS);
    const struct eco_packed g = eco_packed_group(w, r - (int)begin);
    __m256 sum[2][4];
    for (int k = 0; k < H * T; k++) {
        sum[k / T][k % T] = _mm256_setzero_ps();
    }
    for (size_t b = 0; b < blocks; b++) {
        if (first == 0 && begin == 0) {
            eco_packed_ahead(g.codes + b * (q8 ? 512 : 256), g.scales + 32 * b, q8);
        }
        for (int h = 0; h < H; h++) {
            const size_t row = begin + 8 * (size_t)h;
            const uint8_t *p = g.codes + b * (q8 ? 512 : 256) + 4 * row;
            const uint8_t *scale = g.scales + 2 * (ECO_PACKED_ROWS * b + row);
            __m256 d = load_f16((const uint16_t *)(const void *)scale);
            for (int t = 0; t < T; t++) {
                size_t at = (size_t)(first + t) * blocks + b;
                const int8_t *q = x->q + at * ECO_Q_BLOCK;
                __m256i s = q8 ? group_sum_q8(p, q) : group_sum_q4(p, q, x->q_sum[at]);
                sum[h][t] =
                    _mm256_fmadd_ps(_mm256_cvtepi32_ps(s),
                                    _mm256_mul_ps(d, _mm256_set1_ps(x->scale[at])), sum[h][t]);
            }
        }
    }
    for (int k = 0; k < H * T; k++) {
        float *to = y + (size_t)(first + k % T) * ldy + (size_t)(r + 8 * (k / T));
        _mm256_storeu_ps(to, sum[k / T][k % T]);
    }
}

/* One token waits for memory, and every line is read once; four need the registers for sums. */
#define GROUP_ROWS(name, blocks, q8)                                                               \
    SIMD static void name(const struct eco_matrix *w, int begin, int end, const struct eco_act *x, \
                          float *y, size_t ldy)                                                    \
    {                                                                                              \
        if (!w->packed) {                                                                          \
            blocks(w, begin, end, x, y, ldy);                                                      \
            return;                                                                                \
        }                                                                                          \
        for (int r = begin; r < end; r += ECO_PACKED_ROWS) {                                       \
            int t = 0;                                                                             \
            for (; t + 4 <= x->n; t += 4) {                                                        \
                group_q(w, r, 1, x, t, 4, y, ldy, q8);                                             \
                group_q(w, r + 8, 1, x, t, 4, y, ldy, q8);                                         \
            }                                                                                      \
            for (; t < x->n; t++) {                                                                \
                group_q(w, r, 2, x, t, 1, y, ldy, q8);                                             \
            }                                                                                      \
        }                                                                                          \
    }

GROUP_ROWS(rows_q8_0, blocks_q8_0, true)
GROUP_ROWS(rows_q4_0, blocks_q4_0, false)

/* ---- K-quants: by floats, kernels_k_avx2.c --------------------------------------------------- */

#define K_ROWS(name, dequant_fn)                                                                   \
    SIMD static void name(const struct eco_matrix *w, int begin, int end, const struct eco_act *x, \
                          float *y, size_t ldy)                                                    \
    {                                                                                              \
        if (x->n >= ECO_MANY) {                                                                    \
            eco_engine_rows_by_tiles(w, begin, end, x, x->x, y, ldy, dequant_fn, tile);            \
        } else {                                                                                   \
            eco_engine_rows_by_dequant(w, begin, end, x, y, ldy, dequant_fn, eco_engine_avx2_dot); \
        }                                                                                          \
    }

K_ROWS(rows_q4_k, eco_engine_avx2_dequant_q4_k)
K_ROWS(rows_q6_k, eco_engine_avx2_dequant_q6_k)

const struct eco_kernels eco_engine_kernels_avx2 = {
    .isa = ECO_ENGINE_ISA_AVX2,
    .dot = eco_engine_avx2_dot,
    .axpy = eco_engine_avx2_axpy,
    .dot_f16 = eco_engine_avx2_dot_f16,
    .axpy_f16 = eco_engine_avx2_axpy_f16,
    .to_f16 = eco_engine_avx2_to_f16,
    .gate = eco_engine_avx2_gate,
    .absmax = eco_engine_avx2_absmax,
    .codes = eco_engine_avx2_codes,
    .mark = eco_engine_avx2_mark,
    .prepare_q8 = eco_engine_avx2_prepare_q8,
    .prepare_a8 = eco_engine_avx2_prepare_a8,
    .rows = {[ECO_FORMAT_F32] = rows_f32,
             [ECO_FORMAT_F16] = rows_f16,
             [ECO_FORMAT_BF16] = rows_bf16,
             [ECO_FORMAT_NF4] = rows_nf4,
             [ECO_FORMAT_NF4_DQ] = rows_nf4,
             [ECO_FORMAT_NF4_A8] = eco_engine_avx2_rows_nf4_a8,
             [ECO_FORMAT_I8] = rows_i8,
             [ECO_FORMAT_Q8_0] = rows_q8_0,
             [ECO_FORMAT_Q4_0] = rows_q4_0,
             [ECO_FORMAT_Q4_K] = rows_q4_k,
             [ECO_FORMAT_Q6_K] = rows_q6_k},
    .kind = {[ECO_FORMAT_NF4] = ECO_ACT_NF4,
             [ECO_FORMAT_NF4_DQ] = ECO_ACT_NF4,
             [ECO_FORMAT_NF4_A8] = ECO_ACT_A8,
             [ECO_FORMAT_I8] = ECO_ACT_I8,
             [ECO_FORMAT_Q8_0] = ECO_ACT_Q8,
             [ECO_FORMAT_Q4_0] = ECO_ACT_Q8},
};

#endif /* ECO_ENGINE_X86 */
