/* Inside the module: loops for ARM64 that the set with byte products shares. */
#ifndef ECO_ENGINE_KERNELS_NEON_H
#define ECO_ENGINE_KERNELS_NEON_H

#include "kernels.h"

#if defined(ECO_ENGINE_NEON)
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

/* Members of both tables. */
#define ECO_NEON_SHARED                                                                            \
    .dot = eco_engine_neon_dot, .axpy = eco_engine_neon_axpy, .dot_f16 = eco_engine_neon_dot_f16,  \
    .axpy_f16 = eco_engine_neon_axpy_f16, .to_f16 = eco_engine_neon_to_f16,                        \
    .gate = eco_engine_neon_gate, .absmax = eco_engine_neon_absmax,                                \
    .codes = eco_engine_neon_codes, .prepare_q8 = eco_engine_neon_prepare_q8
#define ECO_NEON_SHARED_ROWS                                                                       \
    [ECO_FORMAT_F32] = eco_engine_neon_rows_f32, [ECO_FORMAT_F16] = eco_engine_neon_rows_f16,      \
    [ECO_FORMAT_BF16] = eco_engine_neon_rows_bf16, [ECO_FORMAT_NF4] = eco_engine_neon_rows_nf4,    \
    [ECO_FORMAT_NF4_DQ] = eco_engine_neon_rows_nf4, [ECO_FORMAT_Q4_K] = eco_engine_neon_rows_k,    \
    [ECO_FORMAT_Q6_K] = eco_engine_neon_rows_k
#define ECO_NEON_KINDS                                                                             \
    {                                                                                              \
        [ECO_FORMAT_I8] = ECO_ACT_I8, [ECO_FORMAT_Q8_0] = ECO_ACT_Q8,                              \
        [ECO_FORMAT_Q4_0] = ECO_ACT_Q8                                                             \
    }
#endif

#endif
