/* Inside the module: loops for AVX2 that the set for AVX-512 shares. */
#ifndef ECO_ENGINE_KERNELS_X86_H
#define ECO_ENGINE_KERNELS_X86_H

#include "kernels.h"

#if defined(ECO_ENGINE_X86)
#include <immintrin.h>

float eco_engine_avx2_dot(const float *a, const float *b, int n);
void eco_engine_avx2_axpy(float *y, float a, const float *x, int n);
float eco_engine_avx2_dot_f16(const float *a, const uint16_t *b, int n);
void eco_engine_avx2_axpy_f16(float *y, float a, const uint16_t *x, int n);
void eco_engine_avx2_to_f16(uint16_t *out, const float *x, int n);
void eco_engine_avx2_gate(float *g, const float *u, int n, bool gelu);
float eco_engine_avx2_absmax(const float *x, int n);
int32_t eco_engine_avx2_codes(const float *x, int n, float inv, int8_t *q);
void eco_engine_avx2_add_outliers(const struct eco_matrix *w, int begin, int end,
                                  const struct eco_act *x, float *y, size_t ldy);
void eco_engine_avx2_mark(const float *x, int n, float threshold, int8_t *marks);
void eco_engine_avx2_dequant_q4_k(const struct eco_matrix *w, int row, int col, int n, float *out);
void eco_engine_avx2_dequant_q6_k(const struct eco_matrix *w, int row, int col, int n, float *out);
void eco_engine_avx2_prepare_a8(const float *x, int n, int8_t *q, float *scale, int32_t *q_sum);
eco_rows_fn eco_engine_avx2_rows_nf4_a8, eco_engine_avx512_rows_nf4_a8;
void eco_engine_avx2_prepare_q8(const float *x, int n, int8_t *q, float *scale, int32_t *q_sum);

/*
 * Both ask for memory some KB before it is used: the processor's own fetching stops at the end of
 * each page, and what a block computes fills the window in which it sees loads that are to come.
 * Past the end of a matrix nothing happens: a prefetch never faults. Always inline: a call that
 * does nothing but this is taken for one without effect, and left out.
 */
__attribute__((always_inline)) static inline void eco_nf4_ahead(const struct eco_matrix *w,
                                                                const uint8_t *codes, size_t block)
{
    _mm_prefetch((const char *)codes + 4096, _MM_HINT_T0);
    if (w->format == ECO_FORMAT_NF4) {
        _mm_prefetch((const char *)(w->scale + block) + 512, _MM_HINT_T0);
    }
}

/* A block of a packed group: its scales lie behind its codes, then the next group's codes. */
__attribute__((always_inline)) static inline void eco_packed_ahead(const uint8_t *codes,
                                                                   const uint8_t *scales, bool q8)
{
    for (int i = 0; i < (q8 ? 8 : 4); i++) {
        _mm_prefetch((const char *)codes + 6144 + 64 * i, _MM_HINT_T0);
    }
    _mm_prefetch((const char *)scales + 6144, _MM_HINT_T0);
}
#endif

#endif
