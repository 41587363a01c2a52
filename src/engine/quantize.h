/*
 * Writing a model as a GGUF file in another precision: from a Hugging Face folder or a GGUF file.
 * Matrices are quantized row by row as they stream by, vectors stay FP32, tables are quantized
 * like the others (llama.cpp's `--pure`). A GGUF's keys are kept; a folder's shape and tokenizer
 * become keys. Memory: a few MB a thread, whatever the model.
 */
#ifndef ECO_ENGINE_QUANTIZE_H
#define ECO_ENGINE_QUANTIZE_H

#include "eco_err.h"
#include "eco_types.h"

#include <stdbool.h>
#include <stdint.h>

struct eco_quantized {
    uint64_t file_bytes, matrix_params;
    int tensors;
    double seconds;
    char warning[240]; /* "" when there is nothing to warn about */
};

/** F32, F16, BF16, Q8_0 or Q4_0; ECO_E_UNSUPPORTED names the way out for others. */
int eco_engine_quantize(const char *from, const char *to, enum eco_precision p, int threads,
                        bool force, struct eco_quantized *out, struct eco_err *err);

#endif
