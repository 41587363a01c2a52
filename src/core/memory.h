/*
 * Inside the memory model: what the mixes of ggml store in each class of tensors. Pure, no state.
 */
#ifndef ECO_CORE_MEMORY_H
#define ECO_CORE_MEMORY_H

#include "eco_memory.h"

struct eco_gguf_mix {
    double linear_bits, embedding_bits, lm_head_bits; /* bits a weight, scales inside */
};

/**
 * Mean bits of each class of `m` under a GGUF mix; false when `p` is no GGUF precision. The choice
 * of types follows ggml's quantizer (llama.cpp, llama-quant.cpp, 2026): more bits for attention
 * values and the down projection of some layers, 256-blocks only where rows allow them.
 */
bool eco_memory_gguf_mix(const struct eco_model *m, enum eco_precision p, struct eco_gguf_mix *out);

#endif
