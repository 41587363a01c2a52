/*
 * NF4-A8: NF4's codes, looked up as whole numbers sixteen at a time, times tokens of int8. One
 * block of 64 is one product of 64 bytes; it counts absmax times the token's scale. Activations as
 * prepare_a8 has them: of each block the even columns, which are the high nibbles, then the odd.
 */
#include "kernels_x86.h"

#if defined(ECO_ENGINE_X86)

#include <immintrin.h>

#define AVX2 "avx2,fma,f16c"
#define AVX512 "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c"
#define HALF (ECO_NF4_BLOCK / 2)
#define BIAS 128 /* VNNI takes unsigned by signed bytes: the table is this much too large there */

__attribute__((target(AVX2))) void eco_engine_avx2_prepare_a8(const float *x, int n, int8_t *q,
                                                              float *scale, int32_t *q_sum)
{
    const __m256i split = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
    for (int b = 0; b < n; b += ECO_NF4_BLOCK, q += ECO_NF4_BLOCK) {
        float m = eco_engine_avx2_absmax(x + b, ECO_NF4_BLOCK);
        __m256i *at = (__m256i *)(void *)q, half[2];
        *scale++ = eco_engine_a8_scale(m);
        *q_sum++ = eco_engine_avx2_codes(x + b, ECO_NF4_BLOCK, m > 0.0f ? 127.0f / m : 0.0f, q);
        for (int k = 0; k < 2; k++) { /* eight even, eight odd; then their quarters together */
            half[k] = _mm256_shuffle_epi8(_mm256_loadu_si256(at + k), split);
            half[k] = _mm256_permute4x64_epi64(half[k], 0xd8);
        }
        _mm256_storeu_si256(at, _mm256_permute2x128_si256(half[0], half[1], 0x20));
        _mm256_storeu_si256(at + 1, _mm256_permute2x128_si256(half[0], half[1], 0x31));
    }
}

/* ---- AVX2: magnitudes by signed bytes -------------------------------------------------------- */

/* Sums of four products each. A pair is at most 2 * 124 * 127, which fits 16 bits. */
__attribute__((target(AVX2), always_inline)) static inline __m256i dot_signed(__m256i magnitude,
                                                                              __m256i v, __m256i q)
{
    return _mm256_madd_epi16(_mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(q, v)),
                             _mm256_set1_epi16(1));
}

/* Block b of a row by T tokens. */
__attribute__((target(AVX2), always_inline)) static inline void block_avx2(const uint8_t *p,
                                                                           float absmax,
                                                                           const struct eco_act *x,
                                                                           size_t at, size_t blocks,
                                                                           int T, __m256 *s)
{
    const __m256i table = _mm256_broadcastsi128_si256(
        _mm_loadu_si128((const __m128i *)(const void *)eco_engine_nf4_a8_table));
    const __m256i size = _mm256_abs_epi8(table), low = _mm256_set1_epi8(15);
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i even = _mm256_and_si256(_mm256_srli_epi16(v, 4), low), odd = _mm256_and_si256(v, low);
    __m256i e = _mm256_shuffle_epi8(table, even), o = _mm256_shuffle_epi8(table, odd);
    __m256i es = _mm256_shuffle_epi8(size, even), os = _mm256_shuffle_epi8(size, odd);
    for (int t = 0; t < T; t++, at += blocks) {
        const __m256i *q = (const __m256i *)(const void *)(x->q + at * ECO_NF4_BLOCK);
        __m256i d = _mm256_add_epi32(dot_signed(es, e, _mm256_loadu_si256(q)),
                                     dot_signed(os, o, _mm256_loadu_si256(q + 1)));
        s[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(d), _mm256_set1_ps(absmax * x->scale[at]), s[t]);
    }
}

__attribute__((target(AVX2), always_inline)) static inline float sum_avx2(__m256 a)
{
    __m128 v = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    v = _mm_add_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
}

/* ---- AVX-512: sixteen sums start at what the table is too large by --------------------------- */

__attribute__((target(AVX512), always_inline)) static inline void block_avx512(
    const uint8_t *p, float absmax, const struct eco_act *x, size_t at, size_t blocks, int T,
    __m512 *s)
{
    const __m512i table =
        _mm512_xor_si512(_mm512_broadcast_i32x4(_mm_loadu_si128(
                             (const __m128i *)(const void *)eco_engine_nf4_a8_table)),
                         _mm512_set1_epi8((char)-BIAS));
    const __m512i high_first = _mm512_maskz_set1_epi16(0x0000ffffu, 4);
    __m512i v = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)(const void *)p));
    v = _mm512_and_si512(_mm512_srlv_epi16(v, high_first), _mm512_set1_epi8(15));
    v = _mm512_shuffle_epi8(table, v);
    for (int t = 0; t < T; t++, at += blocks) {
        __m512i d = _mm512_set1_epi32(-(BIAS / 16) * x->q_sum[at]);
        d = _mm512_dpbusd_epi32(d, v, _mm512_loadu_si512(x->q + at * ECO_NF4_BLOCK));
        s[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(d), _mm512_set1_ps(absmax * x->scale[at]), s[t]);
    }
}

__attribute__((target(AVX512), always_inline)) static inline float sum_avx512(__m512 a)
{
    return _mm512_reduce_add_ps(a);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* One row by T tokens; with one token four blocks have sums of their own, which hides latency. */
#define A8_ROW(name, isa, block, vector, zero, add, sum)                                           \
    __attribute__((target(isa), always_inline)) static inline void name(                           \
        const struct eco_matrix *w, int r, const struct eco_act *x, int first, int T, float *y,    \
        size_t ldy)                                                                                \
    {                                                                                              \
        const size_t blocks = (size_t)w->cols / ECO_NF4_BLOCK, many = T == 1 ? 4 : 1;              \
        const uint8_t *p = (const uint8_t *)w->data + (size_t)r * blocks * HALF;                   \
        const float *absmax = w->scale + (size_t)r * blocks;                                       \
        const size_t at = (size_t)first * blocks;                                                  \
        vector s[4] = {zero(), zero(), zero(), zero()};                                            \
        size_t b = 0;                                                                              \
        for (; b + many <= blocks; b += many) {                                                    \
            for (size_t k = 0; k < many; k++) {                                                    \
                block(p + HALF * (b + k), absmax[b + k], x, at + b + k, blocks, T, s + k);         \
            }                                                                                      \
        }                                                                                          \
        for (; b < blocks; b++) {                                                                  \
            block(p + HALF * b, absmax[b], x, at + b, blocks, T, s);                               \
        }                                                                                          \
        if (T == 1) {                                                                              \
            s[0] = add(add(s[0], s[1]), add(s[2], s[3]));                                          \
        }                                                                                          \
        for (int t = 0; t < T; t++) {                                                              \
            y[(size_t)(first + t) * ldy + (size_t)r] = sum(s[t]);                                  \
        }                                                                                          \
    }

A8_ROW(row_avx2, AVX2, block_avx2, __m256, _mm256_setzero_ps, _mm256_add_ps, sum_avx2)
A8_ROW(row_avx512, AVX512, block_avx512, __m512, _mm512_setzero_ps, _mm512_add_ps, sum_avx512)

#define A8_ROWS(name, isa, row)                                                                    \
    __attribute__((target(isa))) void name(const struct eco_matrix *w, int begin, int end,         \
                                           const struct eco_act *x, float *y, size_t ldy)          \
    {                                                                                              \
        for (int r = begin; r < end; r++) {                                                        \
            int t = 0;                                                                             \
            for (; t + 4 <= x->n; t += 4) {                                                        \
                row(w, r, x, t, 4, y, ldy);                                                        \
            }                                                                                      \
            for (; t < x->n; t++) {                                                                \
                row(w, r, x, t, 1, y, ldy);                                                        \
            }                                                                                      \
        }                                                                                          \
    }

A8_ROWS(eco_engine_avx2_rows_nf4_a8, AVX2, row_avx2)
A8_ROWS(eco_engine_avx512_rows_nf4_a8, AVX512, row_avx512)

#endif /* ECO_ENGINE_X86 */
