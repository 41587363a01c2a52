/* Floats to codes with AVX2; the same bits as the portable loops of quant.c. */
#include "kernels_quant.h"

#if defined(ECO_ENGINE_X86)

#include "half.h"

#include <immintrin.h>
#include <string.h>

#define SIMD __attribute__((target("avx2,fma,f16c")))
#define SIMD_INLINE __attribute__((target("avx2,fma,f16c"), always_inline)) static inline

SIMD_INLINE __m256 magnitude(__m256 v)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v);
}

/* Largest magnitude; a NaN is passed over, as a > m is false for it: max takes its second operand
 * when either is NaN. */
SIMD_INLINE float absmax_of(const float *x, size_t n)
{
    __m256 m = _mm256_setzero_ps();
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        m = _mm256_max_ps(magnitude(_mm256_loadu_ps(x + i)), m);
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

/*
 * How many midpoints lie below each of eight values: a search in four steps, all of them false for
 * NaN. The midpoints of a step are one look-up: 3 and 11; 1, 5, 9, 13; the even ones.
 */
SIMD_INLINE __m256i nf4_codes8(__m256 v)
{
    const float *m = eco_engine_nf4_midpoints;
    const __m256 second = _mm256_setr_ps(m[1], m[5], m[9], m[13], 0, 0, 0, 0);
    const __m256 last = _mm256_setr_ps(m[0], m[2], m[4], m[6], m[8], m[10], m[12], m[14]);
    __m256 c8 = _mm256_cmp_ps(v, _mm256_set1_ps(m[7]), _CMP_GT_OQ);
    __m256 first = _mm256_blendv_ps(_mm256_set1_ps(m[3]), _mm256_set1_ps(m[11]), c8);
    __m256i code = _mm256_and_si256(_mm256_castps_si256(c8), _mm256_set1_epi32(2));
    code = _mm256_sub_epi32(code, _mm256_castps_si256(_mm256_cmp_ps(v, first, _CMP_GT_OQ)));
    __m256 at = _mm256_permutevar8x32_ps(second, code);
    code = _mm256_slli_epi32(code, 1);
    code = _mm256_sub_epi32(code, _mm256_castps_si256(_mm256_cmp_ps(v, at, _CMP_GT_OQ)));
    at = _mm256_permutevar8x32_ps(last, code);
    code = _mm256_slli_epi32(code, 1);
    return _mm256_sub_epi32(code, _mm256_castps_si256(_mm256_cmp_ps(v, at, _CMP_GT_OQ)));
}

/* Sixteen codes to eight bytes, the first of a pair in the high half. */
SIMD_INLINE void store_pairs(uint8_t *out, __m256i a, __m256i b)
{
    /* packs works in halves of the register: a0 b0 a1 b1, put right at the end */
    __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
    __m256i pairs = _mm256_madd_epi16(words, _mm256_set1_epi32(0x00010010));
    __m128i p = _mm_packs_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
    _mm_storel_epi64((__m128i *)(void *)out, _mm_packus_epi16(p, p));
}

SIMD static void quantize_nf4(uint8_t *codes, float *absmax, const float *x, size_t n)
{
    size_t at = 0;
    for (; at + ECO_NF4_BLOCK <= n; at += ECO_NF4_BLOCK) {
        float m = absmax_of(x + at, ECO_NF4_BLOCK);
        const __m256 scale = _mm256_set1_ps(1.0f / m);
        absmax[at / ECO_NF4_BLOCK] = m;
        for (size_t i = at; i < at + ECO_NF4_BLOCK; i += 16) {
            __m256i a = nf4_codes8(_mm256_mul_ps(_mm256_loadu_ps(x + i), scale));
            __m256i b = nf4_codes8(_mm256_mul_ps(_mm256_loadu_ps(x + i + 8), scale));
            store_pairs(codes + i / 2, a, b);
        }
    }
    eco_engine_quantizers_scalar.nf4(codes + at / 2, absmax + at / ECO_NF4_BLOCK, x + at, n - at);
}

/* Whole numbers of 32 floats as bytes. */
SIMD_INLINE __m256i bytes_of(const __m256i c[4])
{
    __m256i p = _mm256_packs_epi16(_mm256_packs_epi32(c[0], c[1]), _mm256_packs_epi32(c[2], c[3]));
    return _mm256_permutevar8x32_epi32(p, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* roundf: to the nearest, halves away from zero. */
SIMD_INLINE __m256i round_away(__m256 v)
{
    const __m256 sign = _mm256_set1_ps(-0.0f), half = _mm256_set1_ps(0.5f);
    __m256 even = _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 side = _mm256_and_ps(v, sign); /* a half that went towards zero goes one further */
    __m256 short_by = _mm256_cmp_ps(_mm256_sub_ps(v, even), _mm256_or_ps(half, side), _CMP_EQ_OQ);
    __m256 one = _mm256_and_ps(short_by, _mm256_or_ps(_mm256_set1_ps(1.0f), side));
    return _mm256_cvtps_epi32(_mm256_add_ps(even, one));
}

SIMD static void quantize_q8_0(uint8_t *block, const float *x, size_t n)
{
    for (size_t b = 0; b < n; b += ECO_Q_BLOCK, block += 34) {
        float d = absmax_of(x + b, ECO_Q_BLOCK) / 127.0f;
        const __m256 inv = _mm256_set1_ps(d > 0.0f ? 1.0f / d : 0.0f);
        uint16_t h = eco_f32_to_f16(d);
        __m256i c[4];
        memcpy(block, &h, 2);
        for (size_t k = 0; k < 4; k++) {
            c[k] = round_away(_mm256_mul_ps(_mm256_loadu_ps(x + b + 8 * k), inv));
        }
        _mm256_storeu_si256((__m256i *)(void *)(block + 2), bytes_of(c));
    }
}

/* The first value of largest magnitude m, with its sign. */
SIMD_INLINE float extreme_of(const float *x, float m)
{
    const __m256 top = _mm256_set1_ps(m);
    for (int i = 0; i < ECO_Q_BLOCK; i += 8) {
        __m256 v = _mm256_loadu_ps(x + i);
        int hit = _mm256_movemask_ps(_mm256_cmp_ps(magnitude(v), top, _CMP_EQ_OQ));
        if (hit) {
            return x[i + __builtin_ctz((unsigned)hit)];
        }
    }
    return 0.0f;
}

SIMD static void quantize_q4_0(uint8_t *block, const float *x, size_t n)
{
    const __m256 half = _mm256_set1_ps(8.5f);
    for (size_t b = 0; b < n; b += ECO_Q_BLOCK, block += 18) {
        float m = absmax_of(x + b, ECO_Q_BLOCK);
        float d = (m > 0.0f ? extreme_of(x + b, m) : 0.0f) / -8.0f;
        const __m256 inv = _mm256_set1_ps(d != 0.0f ? 1.0f / d : 0.0f);
        uint16_t h = eco_f32_to_f16(d);
        __m256i c[4];
        memcpy(block, &h, 2);
        for (size_t k = 0; k < 4; k++) {
            __m256 v = _mm256_mul_ps(_mm256_loadu_ps(x + b + 8 * k), inv);
            c[k] = _mm256_min_epi32(_mm256_cvttps_epi32(_mm256_add_ps(v, half)),
                                    _mm256_set1_epi32(15));
        }
        __m256i all = bytes_of(c);
        __m128i high = _mm_slli_epi16(_mm256_extracti128_si256(all, 1), 4);
        __m128i both = _mm_or_si128(_mm256_castsi256_si128(all), high);
        _mm_storeu_si128((__m128i *)(void *)(block + 2), both);
    }
}

SIMD static void quantize_i8(int8_t *codes, float *absmax, const float *x, size_t n)
{
    float m = absmax_of(x, n), inv = m > 0.0f ? 127.0f / m : 0.0f;
    size_t i = 0;
    *absmax = m;
    for (; i + 32 <= n; i += 32) {
        __m256i c[4];
        for (size_t k = 0; k < 4; k++) { /* the conversion rounds to nearest even */
            c[k] = _mm256_cvtps_epi32(
                _mm256_mul_ps(_mm256_loadu_ps(x + i + 8 * k), _mm256_set1_ps(inv)));
        }
        _mm256_storeu_si256((__m256i *)(void *)(codes + i), bytes_of(c));
    }
    for (; i < n; i++) {
        codes[i] = (int8_t)_mm_cvtss_si32(_mm_set_ss(x[i] * inv));
    }
}

SIMD static void to_f16(uint16_t *out, const float *x, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(out + i), h);
    }
    eco_engine_quantizers_scalar.to_f16(out + i, x + i, n - i);
}

SIMD static void from_f16(float *out, const uint16_t *x, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i h = _mm_loadu_si128((const __m128i *)(const void *)(x + i));
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(h));
    }
    eco_engine_quantizers_scalar.from_f16(out + i, x + i, n - i);
}

const struct eco_quantizers eco_engine_quantizers_avx2 = {
    quantize_nf4, quantize_q8_0, quantize_q4_0, quantize_i8, to_f16, from_f16,
};

#endif /* ECO_ENGINE_X86 */
