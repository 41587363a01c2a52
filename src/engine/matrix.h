/*
 * Inside the module: a weight matrix as it lies in memory, and the formats of its codes.
 * A matrix is [rows][cols], row-major: y = W x has rows results. Scales are apart from the codes
 * for the bitsandbytes formats and inside the blocks for those of ggml.
 */
#ifndef ECO_ENGINE_MATRIX_H
#define ECO_ENGINE_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(NAME, weights a block, bytes a block) */
#define ECO_FORMATS(X)                                                                             \
    X(F32, 1, 4)                                                                                   \
    X(F16, 1, 2)                                                                                   \
    X(BF16, 1, 2)                                                                                  \
    X(NF4, 2, 1)      /* codes; absmax of 64 apart */                                              \
    X(NF4_DQ, 2, 1)   /* codes; absmax of 64 as a byte, scale of 256 of those */                   \
    X(NF4_A8, 64, 32) /* as NF4, the table in whole numbers, for tokens of int8 */                 \
    X(I8, 1, 1)       /* LLM.int8(): absmax a row apart */                                         \
    X(Q8_0, 32, 34)                                                                                \
    X(Q4_0, 32, 18)                                                                                \
    X(Q4_K, 256, 144)                                                                              \
    X(Q6_K, 256, 210)

enum eco_format {
#define X(name, weights, bytes) ECO_FORMAT_##name,
    ECO_FORMATS(X)
#undef X
        ECO_FORMAT_COUNT
};

#define ECO_NF4_BLOCK 64
#define ECO_DQ_BLOCK 256
#define ECO_Q_BLOCK 32
#define ECO_K_BLOCK 256
#define ECO_INT8_THRESHOLD 6.0f
#define ECO_A8_ONE 124.0f /* what stands for 1.0 in the table of whole numbers */

struct eco_matrix {
    enum eco_format format;
    int rows, cols;
    const void *data;          /* codes */
    const float *scale;        /* NF4, NF4_A8: absmax [blocks of 64]; I8: [rows] */
    const uint8_t *scale_code; /* NF4_DQ [blocks of 64] */
    const float *scale_scale;  /* NF4_DQ [blocks of 256 absmax] */
    float scale_offset;        /* NF4_DQ: the mean absmax */
    bool mixed;                /* I8: outlier columns in FP16 */
    bool packed;               /* Q8_0, Q4_0: sixteen rows together, as packed.h says */
    uint64_t code_bytes, constant_bytes;
};

extern const float eco_engine_nf4_table[16];
extern const int8_t eco_engine_nf4_a8_table[16]; /* the same times ECO_A8_ONE, rounded */
extern const float eco_engine_nf4_midpoints[15];
extern const float eco_engine_dynamic_map[256]; /* bitsandbytes' signed dynamic map, ascending */

/** absmax of a block of 64, for both NF4 formats. */
static inline float eco_engine_nf4_absmax(const struct eco_matrix *w, size_t block)
{
    if (w->format == ECO_FORMAT_NF4) {
        return w->scale[block];
    }
    return eco_engine_dynamic_map[w->scale_code[block]] * w->scale_scale[block / ECO_DQ_BLOCK] +
           w->scale_offset;
}

const char *eco_engine_format_name(enum eco_format f);
/** Bytes of codes and of constants apart; false when cols is not a multiple of the block. */
bool eco_engine_matrix_bytes(enum eco_format f, int rows, int cols, uint64_t *codes,
                             uint64_t *constants);
/** Bytes of one row of codes, for formats whose rows are whole blocks. */
size_t eco_engine_row_bytes(enum eco_format f, int cols);
/** Weights [row][col .. col + n) as floats; col and n multiples of the format's block. */
void eco_engine_dequant(const struct eco_matrix *w, int row, int col, int n, float *out);
/** Q4_K: the six-bit scale and minimum of sub-block j of 8, packed in 12 bytes. */
void eco_engine_q4_k_scale(const uint8_t *s, int j, int *scale, int *min);

#endif
