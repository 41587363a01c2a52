/* K-quants to floats with AVX2, eight codes at a time; block layouts of ggml (ggml-common.h). */
#include "kernels_x86.h"

#if defined(ECO_ENGINE_X86)

#include "half.h"

#include <immintrin.h>

#define SIMD __attribute__((target("avx2,fma,f16c")))
#define SIMD_INLINE __attribute__((target("avx2,fma,f16c"), always_inline)) static inline

SIMD_INLINE __m256i load_bytes(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

SIMD_INLINE float half_scale(const uint8_t *p)
{
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(eco_load_u16(p))));
}

SIMD_INLINE __m256 bytes_to_floats(__m128i eight)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight));
}

/* 32 codes of one sub-block: out = scale * code - min. */
SIMD_INLINE void sub_block(__m256i codes, float scale, float min, float *out)
{
    const __m256 vs = _mm256_set1_ps(scale), vm = _mm256_set1_ps(min);
    __m128i half[2] = {_mm256_castsi256_si128(codes), _mm256_extracti128_si256(codes, 1)};
    for (int k = 0; k < 4; k++) {
        __m128i eight = k % 2 ? _mm_srli_si128(half[k / 2], 8) : half[k / 2];
        __m256 v = _mm256_mul_ps(vs, bytes_to_floats(eight));
        _mm256_storeu_ps(out + 8 * k, _mm256_sub_ps(v, vm));
    }
}

SIMD void eco_engine_avx2_dequant_q4_k(const struct eco_matrix *w, int row, int col, int n,
                                       float *out)
{
    const __m256i low = _mm256_set1_epi8(15);
    const uint8_t *p = (const uint8_t *)w->data +
                       (size_t)row * eco_engine_row_bytes(w->format, w->cols) +
                       eco_engine_row_bytes(w->format, col);
    for (int b = 0; b < n; b += ECO_K_BLOCK, p += 144) {
        float d = half_scale(p), dmin = half_scale(p + 2);
        for (int j = 0; j < 8; j += 2, out += 64) {
            __m256i q = load_bytes(p + 16 + 16 * j);
            int scale, min;
            eco_engine_q4_k_scale(p + 4, j, &scale, &min);
            sub_block(_mm256_and_si256(q, low), d * (float)scale, dmin * (float)min, out);
            eco_engine_q4_k_scale(p + 4, j + 1, &scale, &min);
            q = _mm256_and_si256(_mm256_srli_epi16(q, 4), low);
            sub_block(q, d * (float)scale, dmin * (float)min, out + 32);
        }
    }
}

/* 32 codes 0..63 of two scales: out = d * scale * (code - 32). */
SIMD_INLINE void six_bits(__m256i codes, float d, const int8_t *scale, float *out)
{
    codes = _mm256_sub_epi8(codes, _mm256_set1_epi8(32));
    __m128i half[2] = {_mm256_castsi256_si128(codes), _mm256_extracti128_si256(codes, 1)};
    for (int k = 0; k < 4; k++) {
        int of = k / 2;
        __m256 vs = _mm256_set1_ps(d * (float)scale[of]);
        __m128i eight = k % 2 ? _mm_srli_si128(half[k / 2], 8) : half[k / 2];
        _mm256_storeu_ps(out + 8 * k, _mm256_mul_ps(vs, bytes_to_floats(eight)));
    }
}

SIMD void eco_engine_avx2_dequant_q6_k(const struct eco_matrix *w, int row, int col, int n,
                                       float *out)
{
    const __m256i low = _mm256_set1_epi8(15), top = _mm256_set1_epi8(0x30);
    const uint8_t *p = (const uint8_t *)w->data +
                       (size_t)row * eco_engine_row_bytes(w->format, w->cols) +
                       eco_engine_row_bytes(w->format, col);
    for (int b = 0; b < n; b += ECO_K_BLOCK, p += 210) {
        float d = half_scale(p + 208);
        for (int half = 0; half < 2; half++, out += 128) {
            const int8_t *scale = (const int8_t *)p + 192 + 8 * half;
            __m256i a = load_bytes(p + 64 * half), c = load_bytes(p + 64 * half + 32);
            __m256i h = load_bytes(p + 128 + 32 * half);
            __m256i h0 = _mm256_and_si256(_mm256_slli_epi16(h, 4), top);
            __m256i h1 = _mm256_and_si256(_mm256_slli_epi16(h, 2), top);
            __m256i h2 = _mm256_and_si256(h, top);
            __m256i h3 = _mm256_and_si256(_mm256_srli_epi16(h, 2), top);
            __m256i a4 = _mm256_srli_epi16(a, 4), c4 = _mm256_srli_epi16(c, 4);
            six_bits(_mm256_or_si256(_mm256_and_si256(a, low), h0), d, scale, out);
            six_bits(_mm256_or_si256(_mm256_and_si256(c, low), h1), d, scale + 2, out + 32);
            six_bits(_mm256_or_si256(_mm256_and_si256(a4, low), h2), d, scale + 4, out + 64);
            six_bits(_mm256_or_si256(_mm256_and_si256(c4, low), h3), d, scale + 6, out + 96);
        }
    }
}

#endif /* ECO_ENGINE_X86 */
