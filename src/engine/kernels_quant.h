/*
 * Inside the module: floats to codes in bulk, one function a format. Every set gives the same bits:
 * the portable one is the definition, the others are compared with it for all inputs that matter.
 */
#ifndef ECO_ENGINE_KERNELS_QUANT_H
#define ECO_ENGINE_KERNELS_QUANT_H

#include "kernels.h"

struct eco_quantizers {
    /* n weights, blocks of 64 (the last may be shorter): two codes a byte, absmax a block */
    void (*nf4)(uint8_t *codes, float *absmax, const float *x, size_t n);
    /* n a multiple of 32: ggml's blocks */
    void (*q8_0)(uint8_t *blocks, const float *x, size_t n);
    void (*q4_0)(uint8_t *blocks, const float *x, size_t n);
    /* one row: codes and its absmax */
    void (*i8)(int8_t *codes, float *absmax, const float *x, size_t n);
    void (*to_f16)(uint16_t *out, const float *x, size_t n);
    void (*from_f16)(float *out, const uint16_t *x, size_t n);
};

extern const struct eco_quantizers eco_engine_quantizers_scalar;
#if defined(ECO_ENGINE_X86)
extern const struct eco_quantizers eco_engine_quantizers_avx2;
#endif
/** The best set of this processor. */
const struct eco_quantizers *eco_engine_quantizers(void);

#endif
