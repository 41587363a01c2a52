/*
 * Inner loops for AVX-512 (F, BW, VL, VNNI): a register holds the whole NF4 table, and four byte
 * products are added in one instruction. What is not limited by these is shared with AVX2.
 */
#include "kernels_x86.h"

#if defined(ECO_ENGINE_X86)

#include "half.h"

#include <immintrin.h>
#include <string.h>

#define TARGET "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c"
#define SIMD __attribute__((target(TARGET)))
#define SIMD_INLINE __attribute__((target(TARGET), always_inline)) static inline

SIMD_INLINE float sum8(__m256 v)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

/* ---- float formats --------------------------------------------------------------------------- */

SIMD_INLINE __m512 load_weights(enum eco_format f, const uint8_t *p)
{
    if (f == ECO_FORMAT_F32) {
        return _mm512_loadu_ps(p);
    }
    __m256i h = _mm256_loadu_si256((const __m256i *)(const void *)p);
    if (f == ECO_FORMAT_F16) {
        return _mm512_cvtph_ps(h);
    }
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

/* The last columns of a row, fewer than a register. */
static float tail_sum(const struct eco_matrix *w, int r, size_t c, const float *x)
{
    float sum = 0.0f, v;
    for (; c < (size_t)w->cols; c++) {
        eco_engine_dequant(w, r, (int)c, 1, &v);
        sum += v * x[c];
    }
    return sum;
}

/* One row by T tokens, two sums each. */
SIMD_INLINE void row_float(const struct eco_matrix *w, int r, const float *x, int T, float *y,
                           size_t ldy, enum eco_format f)
{
    const size_t size = f == ECO_FORMAT_F32 ? 4 : 2, cols = (size_t)w->cols;
    const uint8_t *p = (const uint8_t *)w->data + (size_t)r * cols * size;
    __m512 s[4][2];
    size_t c = 0;
    for (int t = 0; t < T; t++) {
        s[t][0] = s[t][1] = _mm512_setzero_ps();
    }
    for (; c + 32 <= cols; c += 32) {
        _mm_prefetch((const char *)p + c * size + 2048, _MM_HINT_T0);
        __m512 a = load_weights(f, p + c * size), b = load_weights(f, p + (c + 16) * size);
        for (int t = 0; t < T; t++) {
            const float *v = x + (size_t)t * cols + c;
            s[t][0] = _mm512_fmadd_ps(a, _mm512_loadu_ps(v), s[t][0]);
            s[t][1] = _mm512_fmadd_ps(b, _mm512_loadu_ps(v + 16), s[t][1]);
        }
    }
    for (int t = 0; t < T; t++) {
        y[(size_t)t * ldy + (size_t)r] = _mm512_reduce_add_ps(_mm512_add_ps(s[t][0], s[t][1])) +
                                         tail_sum(w, r, c, x + (size_t)t * cols);
    }
}

SIMD static void tile(const float *w, const float *x, size_t ldx, int n, float out[4][4])
{
    __m512 s[4][4];
    for (int k = 0; k < 16; k++) {
        s[k / 4][k % 4] = _mm512_setzero_ps();
    }
    for (int i = 0; i < n; i += 16) {
        __mmask16 m = n - i >= 16 ? 0xffffu : (__mmask16)((1u << (n - i)) - 1u);
        __m512 v[4];
        for (int t = 0; t < 4; t++) {
            v[t] = _mm512_maskz_loadu_ps(m, x + (size_t)t * ldx + i);
        }
        for (int r = 0; r < 4; r++) {
            __m512 a = _mm512_maskz_loadu_ps(m, w + r * ECO_TILE + i);
            for (int t = 0; t < 4; t++) {
                s[r][t] = _mm512_fmadd_ps(a, v[t], s[r][t]);
            }
        }
    }
    for (int r = 0; r < 4; r++) {
        for (int t = 0; t < 4; t++) {
            out[r][t] += _mm512_reduce_add_ps(s[r][t]);
        }
    }
}

SIMD static void dequant_16(const struct eco_matrix *w, int row, int col, int n, float *out)
{
    const uint8_t *p = (const uint8_t *)w->data + ((size_t)row * (size_t)w->cols + (size_t)col) * 2;
    bool half = w->format == ECO_FORMAT_F16;
    int i = 0;
    for (; i + 16 <= n; i += 16) {
        _mm512_storeu_ps(out + i, half ? load_weights(ECO_FORMAT_F16, p + 2 * i)
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
            eco_engine_rows_by_tiles(w, begin, end, x, y, ldy, dequant_fn, tile);                  \
            return;                                                                                \
        }                                                                                          \
        for (int r = begin; r < end; r++) {                                                        \
            if (x->n == 1) {                                                                       \
                row_float(w, r, x->x, 1, y, ldy, format);                                          \
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

/* ---- NF4: the table in one register ---------------------------------------------------------- */

/* absmax of block b in the low half, of b + 1 in the high half. */
SIMD_INLINE __m512 two_scales(const struct eco_matrix *w, size_t b, bool two)
{
    __m512 low = _mm512_set1_ps(eco_engine_nf4_absmax(w, b));
    return two ? _mm512_mask_mov_ps(low, 0xff00u, _mm512_set1_ps(eco_engine_nf4_absmax(w, b + 1)))
               : low;
}

/*
 * One row by T tokens. A register of codes is two blocks; permutexvar takes the low four bits of
 * each word, so that shifting by 4 k is all that nibble k needs. Activations as prepare_nf4 has
 * them: [group of 128][nibble][word], the last group of 64 when blocks are odd.
 */
SIMD_INLINE void row_nf4(const struct eco_matrix *w, int r, const float *x, int T, float *y,
                         size_t ldy)
{
    const size_t cols = (size_t)w->cols, blocks = cols / ECO_NF4_BLOCK, first = (size_t)r * blocks;
    const uint8_t *p = (const uint8_t *)w->data + (size_t)r * cols / 2;
    const __m512 table = _mm512_loadu_ps(eco_engine_nf4_table);
    __m512 sum[4];
    for (int t = 0; t < T; t++) {
        sum[t] = _mm512_setzero_ps();
    }
    for (size_t b = 0; b < blocks; b += 2) {
        bool two = b + 1 < blocks;
        __mmask16 m = two ? 0xffffu : 0x00ffu;
        size_t words = two ? 16 : 8;
        __m512i codes = _mm512_maskz_loadu_epi32(m, p + 32 * b);
        __m512 s[4][2], scale = two_scales(w, first + b, two);
        for (int t = 0; t < T; t++) {
            s[t][0] = s[t][1] = _mm512_setzero_ps();
        }
        _mm_prefetch((const char *)p + 32 * b + 1024, _MM_HINT_T0);
        for (int k = 0; k < 8; k++) {
            __m512 v = _mm512_permutexvar_ps(_mm512_srli_epi32(codes, (unsigned)(4 * k)), table);
            for (int t = 0; t < T; t++) {
                const float *a = x + (size_t)t * cols + 64 * b + words * (size_t)k;
                s[t][k % 2] = _mm512_fmadd_ps(v, _mm512_maskz_loadu_ps(m, a), s[t][k % 2]);
            }
        }
        for (int t = 0; t < T; t++) {
            sum[t] = _mm512_fmadd_ps(_mm512_add_ps(s[t][0], s[t][1]), scale, sum[t]);
        }
    }
    for (int t = 0; t < T; t++) {
        y[(size_t)t * ldy + (size_t)r] = _mm512_reduce_add_ps(sum[t]);
    }
}

SIMD static void dequant_nf4(const struct eco_matrix *w, int row, int col, int n, float *out)
{
    const __m512 table = _mm512_loadu_ps(eco_engine_nf4_table);
    const __m512i shifts =
        _mm512_setr_epi32(4, 0, 12, 8, 20, 16, 28, 24, 4, 0, 12, 8, 20, 16, 28, 24);
    size_t at = (size_t)row * (size_t)w->cols + (size_t)col;
    if (at % 16 != 0 || n % 16 != 0 || w->cols % ECO_NF4_BLOCK != 0) {
        eco_engine_dequant(w, row, col, n, out);
        return;
    }
    for (int i = 0; i < n; i += 16, at += 16) {
        const uint8_t *p = (const uint8_t *)w->data + at / 2;
        uint32_t a, b;
        memcpy(&a, p, 4);
        memcpy(&b, p + 4, 4);
        __m512i words =
            _mm512_mask_mov_epi32(_mm512_set1_epi32((int)a), 0xff00u, _mm512_set1_epi32((int)b));
        __m512 v = _mm512_permutexvar_ps(_mm512_srlv_epi32(words, shifts), table);
        __m512 scale = _mm512_set1_ps(eco_engine_nf4_absmax(w, at / ECO_NF4_BLOCK));
        _mm512_storeu_ps(out + i, _mm512_mul_ps(v, scale));
    }
}

SIMD static void rows_nf4(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
                          float *y, size_t ldy)
{
    if (w->cols % ECO_NF4_BLOCK != 0) { /* blocks cross rows */
        eco_engine_rows_by_dequant(w, begin, end, x, y, ldy, eco_engine_avx2_dot);
        return;
    }
    if (x->n >= ECO_MANY) {
        eco_engine_rows_by_tiles(w, begin, end, x, y, ldy, dequant_nf4, tile);
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

/* ---- integers: VNNI takes unsigned by signed bytes ------------------------------------------- */

/* One row by T tokens: codes + 128 are unsigned; 128 times the sum of q is taken off again. */
SIMD_INLINE void row_i8(const struct eco_matrix *w, int r, const struct eco_act *x, int first,
                        int T, float *y, size_t ldy)
{
    const size_t cols = (size_t)w->cols;
    const int8_t *a = (const int8_t *)w->data + (size_t)r * cols;
    const __m512i flip = _mm512_set1_epi8((char)-128);
    __m512i s[4];
    for (int t = 0; t < T; t++) {
        s[t] = _mm512_setzero_si512();
    }
    for (size_t c = 0; c < cols; c += 64) {
        __mmask64 m = cols - c >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << (cols - c)) - 1;
        __m512i v = _mm512_xor_si512(_mm512_maskz_loadu_epi8(m, a + c), flip);
        _mm_prefetch((const char *)a + c + 2048, _MM_HINT_T0);
        for (int t = 0; t < T; t++) {
            const int8_t *q = x->q + (size_t)(first + t) * cols + c;
            s[t] = _mm512_dpbusd_epi32(s[t], v, _mm512_maskz_loadu_epi8(m, q));
        }
    }
    for (int t = 0; t < T; t++) {
        int sum = _mm512_reduce_add_epi32(s[t]) - 128 * x->q_sum[first + t];
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
        eco_engine_add_outliers(w, r, x, y, ldy);
    }
}

SIMD_INLINE __m256i load_bytes(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

SIMD_INLINE float half_scale(const uint8_t *block)
{
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(eco_load_u16(block))));
}

/* The codes of a block as unsigned bytes, and what they are too large by. */
SIMD_INLINE __m256i block_codes(const uint8_t *block, bool q8)
{
    if (q8) {
        return _mm256_xor_si256(load_bytes(block + 2), _mm256_set1_epi8((char)-128));
    }
    __m128i half = _mm_loadu_si128((const __m128i *)(const void *)(block + 2));
    return _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(half, 4), half), _mm256_set1_epi8(15));
}

/* One row by T tokens. The eight sums start at -offset/8 sum(q) each, which is what is too much. */
SIMD_INLINE void row_q(const struct eco_matrix *w, int r, const struct eco_act *x, int first, int T,
                       float *y, size_t ldy, bool q8)
{
    const size_t blocks = (size_t)w->cols / ECO_Q_BLOCK, size = q8 ? 34 : 18;
    const uint8_t *p = (const uint8_t *)w->data + (size_t)r * blocks * size;
    __m256 s[4][2];
    for (int t = 0; t < T; t++) {
        s[t][0] = s[t][1] = _mm256_setzero_ps();
    }
    for (size_t b = 0; b < blocks; b++) {
        const uint8_t *block = p + size * b;
        __m256i codes = block_codes(block, q8);
        float d = half_scale(block);
        _mm_prefetch((const char *)block + 1088, _MM_HINT_T0);
        for (int t = 0; t < T; t++) {
            size_t at = (size_t)(first + t) * blocks + b;
            __m256i sum = _mm256_set1_epi32(q8 ? -16 * x->q_sum[at] : -x->q_sum[at]);
            sum = _mm256_dpbusd_epi32(sum, codes, load_bytes(x->q + at * ECO_Q_BLOCK));
            s[t][b % 2] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), _mm256_set1_ps(d * x->scale[at]),
                                          s[t][b % 2]);
        }
    }
    for (int t = 0; t < T; t++) {
        y[(size_t)(first + t) * ldy + (size_t)r] = sum8(_mm256_add_ps(s[t][0], s[t][1]));
    }
}

#define BLOCK_ROWS(name, q8)                                                                       \
    SIMD static void name(const struct eco_matrix *w, int begin, int end, const struct eco_act *x, \
                          float *y, size_t ldy)                                                    \
    {                                                                                              \
        for (int r = begin; r < end; r++) {                                                        \
            int t = 0;                                                                             \
            for (; t + 4 <= x->n; t += 4) {                                                        \
                row_q(w, r, x, t, 4, y, ldy, q8);                                                  \
            }                                                                                      \
            for (; t < x->n; t++) {                                                                \
                row_q(w, r, x, t, 1, y, ldy, q8);                                                  \
            }                                                                                      \
        }                                                                                          \
    }

BLOCK_ROWS(rows_q8_0, true)
BLOCK_ROWS(rows_q4_0, false)

SIMD static void rows_other(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
                            float *y, size_t ldy)
{
    if (x->n >= ECO_MANY) {
        eco_engine_rows_by_tiles(w, begin, end, x, y, ldy, eco_engine_dequant, tile);
    } else {
        eco_engine_rows_by_dequant(w, begin, end, x, y, ldy, eco_engine_avx2_dot);
    }
}

const struct eco_kernels eco_engine_kernels_avx512 = {
    .isa = ECO_ENGINE_ISA_AVX512,
    .dot = eco_engine_avx2_dot,
    .axpy = eco_engine_avx2_axpy,
    .dot_f16 = eco_engine_avx2_dot_f16,
    .axpy_f16 = eco_engine_avx2_axpy_f16,
    .to_f16 = eco_engine_avx2_to_f16,
    .gate = eco_engine_avx2_gate,
    .absmax = eco_engine_avx2_absmax,
    .codes = eco_engine_avx2_codes,
    .prepare_q8 = eco_engine_avx2_prepare_q8,
    .rows = {[ECO_FORMAT_F32] = rows_f32,
             [ECO_FORMAT_F16] = rows_f16,
             [ECO_FORMAT_BF16] = rows_bf16,
             [ECO_FORMAT_NF4] = rows_nf4,
             [ECO_FORMAT_NF4_DQ] = rows_nf4,
             [ECO_FORMAT_I8] = rows_i8,
             [ECO_FORMAT_Q8_0] = rows_q8_0,
             [ECO_FORMAT_Q4_0] = rows_q4_0,
             [ECO_FORMAT_Q4_K] = rows_other,
             [ECO_FORMAT_Q6_K] = rows_other},
    .kind = {[ECO_FORMAT_NF4] = ECO_ACT_NF4,
             [ECO_FORMAT_NF4_DQ] = ECO_ACT_NF4,
             [ECO_FORMAT_I8] = ECO_ACT_I8,
             [ECO_FORMAT_Q8_0] = ECO_ACT_Q8,
             [ECO_FORMAT_Q4_0] = ECO_ACT_Q8},
};

#endif /* ECO_ENGINE_X86 */
