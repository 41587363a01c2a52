/*
 * Inner loops for AVX-512 (F, BW, VL, VNNI): a register holds the whole NF4 table, and four byte
 * products are added in one instruction. What is not limited by these is shared with AVX2.
 */
#include "kernels_x86.h"

#if defined(ECO_ENGINE_X86)

#include "half.h"
#include "packed.h"

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

/*
 * One row by T tokens; four sums each hide the latency of one token, two that of more. One stream
 * read in order is what the processor fetches ahead best: asking for lines beforehand, or reading
 * several rows at once, made it slower.
 */
SIMD_INLINE void row_float(const struct eco_matrix *w, int r, const float *x, int T, float *y,
                           size_t ldy, enum eco_format f)
{
    const size_t size = f == ECO_FORMAT_F32 ? 4 : 2, cols = (size_t)w->cols;
    const uint8_t *p = (const uint8_t *)w->data + (size_t)r * cols * size;
    const size_t sums = T == 1 ? 4 : 2, step = 16 * sums;
    __m512 s[4][4];
    size_t c = 0;
    for (int t = 0; t < T; t++) {
        s[t][0] = s[t][1] = s[t][2] = s[t][3] = _mm512_setzero_ps();
    }
    for (; c + step <= cols; c += step) {
        for (size_t k = 0; k < sums; k++) {
            __m512 a = load_weights(f, p + (c + 16 * k) * size);
            for (int t = 0; t < T; t++) {
                const float *v = x + (size_t)t * cols + c + 16 * k;
                s[t][k] = _mm512_fmadd_ps(a, _mm512_loadu_ps(v), s[t][k]);
            }
        }
    }
    for (int t = 0; t < T; t++) {
        __m512 sum =
            _mm512_add_ps(_mm512_add_ps(s[t][0], s[t][1]), _mm512_add_ps(s[t][2], s[t][3]));
        y[(size_t)t * ldy + (size_t)r] =
            _mm512_reduce_add_ps(sum) + tail_sum(w, r, c, x + (size_t)t * cols);
    }
}

SIMD_INLINE __m256 halves(__m512 v)
{
    __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(v), 1));
    return _mm256_add_ps(_mm512_castps512_ps256(v), high);
}

/* The sums of four registers. */
SIMD_INLINE __m128 sums4(__m512 a, __m512 b, __m512 c, __m512 d)
{
    __m256 v =
        _mm256_hadd_ps(_mm256_hadd_ps(halves(a), halves(b)), _mm256_hadd_ps(halves(c), halves(d)));
    return _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
}

SIMD static void tile(const float *w, const float *x, size_t ldx, int n, float out[4][4])
{
    __m512 s[4][4];
    for (int k = 0; k < 16; k++) {
        s[k / 4][k % 4] = _mm512_setzero_ps();
    }
    int i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512 v[4];
        for (int t = 0; t < 4; t++) {
            v[t] = _mm512_loadu_ps(x + (size_t)t * ldx + i);
        }
        for (int r = 0; r < 4; r++) {
            __m512 a = _mm512_load_ps(w + r * ECO_TILE + i);
            for (int t = 0; t < 4; t++) {
                s[r][t] = _mm512_fmadd_ps(a, v[t], s[r][t]);
            }
        }
    }
    if (i < n) {
        __mmask16 m = (__mmask16)((1u << (n - i)) - 1u);
        for (int r = 0; r < 4; r++) {
            __m512 a = _mm512_maskz_loadu_ps(m, w + r * ECO_TILE + i);
            for (int t = 0; t < 4; t++) {
                s[r][t] =
                    _mm512_fmadd_ps(a, _mm512_maskz_loadu_ps(m, x + (size_t)t * ldx + i), s[r][t]);
            }
        }
    }
    for (int r = 0; r < 4; r++) {
        __m128 v = sums4(s[r][0], s[r][1], s[r][2], s[r][3]);
        _mm_storeu_ps(out[r], _mm_add_ps(_mm_loadu_ps(out[r]), v));
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
            eco_engine_rows_by_tiles(w, begin, end, x, x->x, y, ldy, dequant_fn, tile);            \
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
SIMD_INLINE __m512 two_scales(const struct eco_matrix *w, size_t b)
{
    if (w->format == ECO_FORMAT_NF4) {
        return _mm512_mask_broadcastss_ps(_mm512_set1_ps(w->scale[b]), 0xff00u,
                                          _mm_load_ss(w->scale + b + 1));
    }
    return _mm512_mask_mov_ps(_mm512_set1_ps(eco_engine_nf4_absmax(w, b)), 0xff00u,
                              _mm512_set1_ps(eco_engine_nf4_absmax(w, b + 1)));
}

/* The last block of a row with an odd number of them; half a register. */
SIMD_INLINE __m512 last_block(const uint8_t *p, const float *x, __m512 table)
{
    __m512i codes = _mm512_maskz_loadu_epi32(0x00ffu, p);
    __m512 s = _mm512_setzero_ps();
    for (int k = 0; k < 8; k++, codes = _mm512_srli_epi32(codes, 4)) {
        __m512 a = _mm512_maskz_loadu_ps(0x00ffu, x + 8 * k);
        s = _mm512_fmadd_ps(_mm512_permutexvar_ps(codes, table), a, s);
    }
    return s;
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
    size_t b = 0;
    for (int t = 0; t < T; t++) {
        sum[t] = _mm512_setzero_ps();
    }
    for (; b + 2 <= blocks; b += 2) {
        __m512i codes = _mm512_loadu_si512(p + 32 * b);
        __m512 s[4][2], scale = two_scales(w, first + b);
        eco_nf4_ahead(w, p + 32 * b, first + b);
        for (int t = 0; t < T; t++) {
            s[t][0] = s[t][1] = _mm512_setzero_ps();
        }
        for (int k = 0; k < 8; k++) {
            __m512 v = _mm512_permutexvar_ps(_mm512_srli_epi32(codes, (unsigned)(4 * k)), table);
            for (int t = 0; t < T; t++) {
                const float *a = x + (size_t)t * cols + 64 * b + 16 * (size_t)k;
                s[t][k % 2] = _mm512_fmadd_ps(v, _mm512_loadu_ps(a), s[t][k % 2]);
            }
        }
        for (int t = 0; t < T; t++) {
            sum[t] = _mm512_fmadd_ps(_mm512_add_ps(s[t][0], s[t][1]), scale, sum[t]);
        }
    }
    for (int t = 0; t < T; t++) {
        if (b < blocks) {
            __m512 s = last_block(p + 32 * b, x + (size_t)t * cols + 64 * b, table);
            sum[t] =
                _mm512_fmadd_ps(s, _mm512_set1_ps(eco_engine_nf4_absmax(w, first + b)), sum[t]);
        }
        y[(size_t)t * ldy + (size_t)r] = _mm512_reduce_add_ps(sum[t]);
    }
}

/* Weights in the order of prepare_nf4; col and n are whole groups, or reach the row's end. */
SIMD static void dequant_nf4(const struct eco_matrix *w, int row, int col, int n, float *out)
{
    const __m512 table = _mm512_loadu_ps(eco_engine_nf4_table);
    size_t at = (size_t)row * (size_t)w->cols + (size_t)col, b = at / ECO_NF4_BLOCK;
    const uint8_t *p = (const uint8_t *)w->data + at / 2;
    int i = 0;
    for (; i + 128 <= n; i += 128, b += 2, p += 64) {
        __m512i codes = _mm512_loadu_si512(p);
        __m512 scale = two_scales(w, b);
        for (int k = 0; k < 8; k++) {
            __m512 v = _mm512_permutexvar_ps(_mm512_srli_epi32(codes, (unsigned)(4 * k)), table);
            _mm512_storeu_ps(out + i + 16 * k, _mm512_mul_ps(v, scale));
        }
    }
    if (i < n) {
        __m512i codes = _mm512_maskz_loadu_epi32(0x00ffu, p);
        __m512 scale = _mm512_set1_ps(eco_engine_nf4_absmax(w, b));
        for (int k = 0; k < 8; k++, codes = _mm512_srli_epi32(codes, 4)) {
            __m512 v = _mm512_mul_ps(_mm512_permutexvar_ps(codes, table), scale);
            _mm512_mask_storeu_ps(out + i + 8 * k, 0x00ffu, v);
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

/* ---- integers: VNNI takes unsigned by signed bytes ------------------------------------------- */

/* R rows by T tokens: codes + 128 are unsigned; 128 times the sum of q is taken off again. */
SIMD_INLINE void tile_i8(const struct eco_matrix *w, int r, int R, const struct eco_act *x,
                         int first, int T, float *y, size_t ldy)
{
    const size_t cols = (size_t)w->cols;
    const int8_t *a = (const int8_t *)w->data + (size_t)r * cols;
    const __m512i flip = _mm512_set1_epi8((char)-128);
    __m512i s[4][4];
    for (int k = 0; k < 16; k++) {
        s[k / 4][k % 4] = _mm512_setzero_si512();
    }
    for (size_t c = 0; c < cols; c += 64) {
        __mmask64 m = cols - c >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << (cols - c)) - 1;
        __m512i q[4];
        for (int t = 0; t < T; t++) {
            q[t] = _mm512_maskz_loadu_epi8(m, x->q + (size_t)(first + t) * cols + c);
        }
        for (int k = 0; k < R; k++) {
            const int8_t *at = a + (size_t)k * cols + c;
            __m512i v = _mm512_xor_si512(_mm512_maskz_loadu_epi8(m, at), flip);
            _mm_prefetch((const char *)at + 4096, _MM_HINT_T0);
            for (int t = 0; t < T; t++) {
                s[k][t] = _mm512_dpbusd_epi32(s[k][t], v, q[t]);
            }
        }
    }
    for (int k = 0; k < R; k++) {
        for (int t = 0; t < T; t++) {
            int sum = _mm512_reduce_add_epi32(s[k][t]) - 128 * x->q_sum[first + t];
            y[(size_t)(first + t) * ldy + (size_t)(r + k)] =
                (float)sum * (w->scale[r + k] * x->scale[first + t] * (1.0f / (127.0f * 127.0f)));
        }
    }
}

SIMD static void rows_i8(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
                         float *y, size_t ldy)
{
    for (int r = begin; r < end;) {
        int rows = x->n > 1 && end - r >= 4 ? 4 : 1; /* one token waits for memory: one stream */
        for (int t = 0; t < x->n;) {
            bool four = x->n - t >= 4;
            if (four && rows == 4) {
                tile_i8(w, r, 4, x, t, 4, y, ldy);
            } else if (four) {
                tile_i8(w, r, 1, x, t, 4, y, ldy);
            } else if (rows == 4) {
                tile_i8(w, r, 4, x, t, 1, y, ldy);
            } else {
                tile_i8(w, r, 1, x, t, 1, y, ldy);
            }
            t += four ? 4 : 1;
        }
        r += rows;
    }
    eco_engine_avx2_add_outliers(w, begin, end, x, y, ldy);
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

/*
 * Sixteen rows by T tokens of a packed matrix (packed.h): a word of a register is four codes of one
 * row, and four codes of a token are sent to all rows. Sums over a block of 32 columns are whole
 * numbers below 2^21.
 */
SIMD_INLINE void group_q(const struct eco_matrix *w, int r, const struct eco_act *x, int first,
                         int T, float *y, size_t ldy, bool q8)
{
    const size_t blocks = (size_t)w->cols / ECO_Q_BLOCK;
    const struct eco_packed g = eco_packed_group(w, r);
    const __m512i flip = _mm512_set1_epi8((char)-128), low = _mm512_set1_epi8(15);
    __m512 sum[8];
    for (int t = 0; t < T; t++) {
        sum[t] = _mm512_setzero_ps();
    }
    for (size_t b = 0; b < blocks; b++) {
        const uint8_t *p = g.codes + b * (q8 ? 512 : 256);
        const int8_t *q = x->q + ((size_t)first * blocks + b) * ECO_Q_BLOCK;
        __m512i s[8];
        if (first == 0) {
            eco_packed_ahead(p, g.scales + 32 * b, q8);
        }
        for (int t = 0; t < T; t++) {
            s[t] = _mm512_setzero_si512();
        }
        for (int i = 0; i < (q8 ? 8 : 4); i++) {
            __m512i v = _mm512_loadu_si512(p + 64 * i);
            __m512i u = q8 ? _mm512_xor_si512(v, flip) : _mm512_and_si512(v, low);
            __m512i h = _mm512_and_si512(_mm512_srli_epi16(v, 4), low);
            for (int t = 0; t < T; t++) {
                const int8_t *at = q + (size_t)t * blocks * ECO_Q_BLOCK + 4 * i;
                s[t] = _mm512_dpbusd_epi32(s[t], u, _mm512_set1_epi32(eco_load_i32(at)));
                if (!q8) {
                    s[t] = _mm512_dpbusd_epi32(s[t], h, _mm512_set1_epi32(eco_load_i32(at + 16)));
                }
            }
        }
        __m512 d =
            _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(g.scales + 32 * b)));
        for (int t = 0; t < T; t++) {
            size_t at = (size_t)(first + t) * blocks + b;
            __m512i over = _mm512_slli_epi32(_mm512_set1_epi32(x->q_sum[at]), q8 ? 7 : 3);
            __m512 v = _mm512_cvtepi32_ps(_mm512_sub_epi32(s[t], over));
            sum[t] = _mm512_fmadd_ps(v, _mm512_mul_ps(d, _mm512_set1_ps(x->scale[at])), sum[t]);
        }
    }
    for (int t = 0; t < T; t++) {
        _mm512_storeu_ps(y + (size_t)(first + t) * ldy + (size_t)r, sum[t]);
    }
}

#define GROUP_ROWS(name, q8)                                                                       \
    SIMD static void name(const struct eco_matrix *w, int begin, int end, const struct eco_act *x, \
                          float *y, size_t ldy)                                                    \
    {                                                                                              \
        for (int r = begin; r < end; r += ECO_PACKED_ROWS) {                                       \
            int t = 0;                                                                             \
            for (; t + 8 <= x->n; t += 8) {                                                        \
                group_q(w, r, x, t, 8, y, ldy, q8);                                                \
            }                                                                                      \
            for (; t + 4 <= x->n; t += 4) {                                                        \
                group_q(w, r, x, t, 4, y, ldy, q8);                                                \
            }                                                                                      \
            for (; t + 2 <= x->n; t += 2) {                                                        \
                group_q(w, r, x, t, 2, y, ldy, q8);                                                \
            }                                                                                      \
            for (; t < x->n; t++) {                                                                \
                group_q(w, r, x, t, 1, y, ldy, q8);                                                \
            }                                                                                      \
        }                                                                                          \
    }

GROUP_ROWS(groups_q8_0, true)
GROUP_ROWS(groups_q4_0, false)

#define BLOCK_ROWS(name, groups, q8)                                                               \
    SIMD static void name(const struct eco_matrix *w, int begin, int end, const struct eco_act *x, \
                          float *y, size_t ldy)                                                    \
    {                                                                                              \
        if (w->packed) {                                                                           \
            groups(w, begin, end, x, y, ldy);                                                      \
            return;                                                                                \
        }                                                                                          \
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

BLOCK_ROWS(rows_q8_0, groups_q8_0, true)
BLOCK_ROWS(rows_q4_0, groups_q4_0, false)

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
    .mark = eco_engine_avx2_mark,
    .prepare_q8 = eco_engine_avx2_prepare_q8,
    .prepare_a8 = eco_engine_avx2_prepare_a8,
    .rows = {[ECO_FORMAT_F32] = rows_f32,
             [ECO_FORMAT_F16] = rows_f16,
             [ECO_FORMAT_BF16] = rows_bf16,
             [ECO_FORMAT_NF4] = rows_nf4,
             [ECO_FORMAT_NF4_DQ] = rows_nf4,
             [ECO_FORMAT_NF4_A8] = eco_engine_avx512_rows_nf4_a8,
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
