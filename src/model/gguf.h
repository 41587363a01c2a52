/*
 * Inside the module: the tables of GGUF (https://github.com/ggml-org/ggml, docs/gguf.md). Pure.
 */
#ifndef ECO_MODEL_GGUF_H
#define ECO_MODEL_GGUF_H

#include "tensors.h"

/* X(id, NAME, weights a block, bytes a block, dtype, precision): ggml_type. */
#define ECO_GGML_TYPES(X)                                                                          \
    X(0, F32, 1, 4, F32, FP32)                                                                     \
    X(1, F16, 1, 2, F16, FP16)                                                                     \
    X(2, Q4_0, 32, 18, NONE, GGUF_Q4_0)                                                            \
    X(3, Q4_1, 32, 20, NONE, GGUF_Q4_0)                                                            \
    X(6, Q5_0, 32, 22, NONE, GGUF_Q5_0)                                                            \
    X(7, Q5_1, 32, 24, NONE, GGUF_Q5_0)                                                            \
    X(8, Q8_0, 32, 34, NONE, GGUF_Q8_0)                                                            \
    X(9, Q8_1, 32, 36, NONE, GGUF_Q8_0)                                                            \
    X(10, Q2_K, 256, 84, NONE, GGUF_Q2_K)                                                          \
    X(11, Q3_K, 256, 110, NONE, GGUF_Q3_K_M)                                                       \
    X(12, Q4_K, 256, 144, NONE, GGUF_Q4_K_M)                                                       \
    X(13, Q5_K, 256, 176, NONE, GGUF_Q5_K_M)                                                       \
    X(14, Q6_K, 256, 210, NONE, GGUF_Q6_K)                                                         \
    X(15, Q8_K, 256, 292, NONE, GGUF_Q8_0)                                                         \
    X(16, IQ2_XXS, 256, 66, NONE, GGUF_IQ2_M)                                                      \
    X(17, IQ2_XS, 256, 74, NONE, GGUF_IQ2_M)                                                       \
    X(18, IQ3_XXS, 256, 98, NONE, GGUF_IQ3_XS)                                                     \
    X(19, IQ1_S, 256, 50, NONE, GGUF_IQ2_M)                                                        \
    X(20, IQ4_NL, 32, 18, NONE, GGUF_IQ4_XS)                                                       \
    X(21, IQ3_S, 256, 110, NONE, GGUF_IQ3_XS)                                                      \
    X(22, IQ2_S, 256, 82, NONE, GGUF_IQ2_M)                                                        \
    X(23, IQ4_XS, 256, 136, NONE, GGUF_IQ4_XS)                                                     \
    X(24, I8, 1, 1, NONE, NONE)                                                                    \
    X(25, I16, 1, 2, NONE, NONE)                                                                   \
    X(26, I32, 1, 4, NONE, NONE)                                                                   \
    X(27, I64, 1, 8, NONE, NONE)                                                                   \
    X(28, F64, 1, 8, F64, NONE)                                                                    \
    X(29, IQ1_M, 256, 56, NONE, GGUF_IQ2_M)                                                        \
    X(30, BF16, 1, 2, BF16, BF16)                                                                  \
    X(34, TQ1_0, 256, 54, NONE, GGUF_Q2_K)                                                         \
    X(35, TQ2_0, 256, 66, NONE, GGUF_Q2_K)                                                         \
    X(39, MXFP4, 32, 17, NONE, MXFP4)                                                              \
    X(40, NVFP4, 64, 36, NONE, NVFP4)

/* X(id, "name", precision, exact): general.file_type; exact 0: the nearest precision we have. */
#define ECO_GGUF_FTYPES(X)                                                                         \
    X(0, "F32", FP32, 1)                                                                           \
    X(1, "F16", FP16, 1)                                                                           \
    X(2, "Q4_0", GGUF_Q4_0, 1)                                                                     \
    X(3, "Q4_1", GGUF_Q4_0, 0)                                                                     \
    X(7, "Q8_0", GGUF_Q8_0, 1)                                                                     \
    X(8, "Q5_0", GGUF_Q5_0, 1)                                                                     \
    X(9, "Q5_1", GGUF_Q5_0, 0)                                                                     \
    X(10, "Q2_K", GGUF_Q2_K, 1)                                                                    \
    X(11, "Q3_K_S", GGUF_Q3_K_M, 0)                                                                \
    X(12, "Q3_K_M", GGUF_Q3_K_M, 1)                                                                \
    X(13, "Q3_K_L", GGUF_Q3_K_L, 1)                                                                \
    X(14, "Q4_K_S", GGUF_Q4_K_S, 1)                                                                \
    X(15, "Q4_K_M", GGUF_Q4_K_M, 1)                                                                \
    X(16, "Q5_K_S", GGUF_Q5_K_S, 1)                                                                \
    X(17, "Q5_K_M", GGUF_Q5_K_M, 1)                                                                \
    X(18, "Q6_K", GGUF_Q6_K, 1)                                                                    \
    X(19, "IQ2_XXS", GGUF_IQ2_M, 0)                                                                \
    X(20, "IQ2_XS", GGUF_IQ2_M, 0)                                                                 \
    X(21, "Q2_K_S", GGUF_Q2_K, 0)                                                                  \
    X(22, "IQ3_XS", GGUF_IQ3_XS, 1)                                                                \
    X(23, "IQ3_XXS", GGUF_IQ3_XS, 0)                                                               \
    X(24, "IQ1_S", GGUF_IQ2_M, 0)                                                                  \
    X(25, "IQ4_NL", GGUF_IQ4_XS, 0)                                                                \
    X(26, "IQ3_S", GGUF_IQ3_XS, 0)                                                                 \
    X(27, "IQ3_M", GGUF_IQ3_XS, 0)                                                                 \
    X(28, "IQ2_S", GGUF_IQ2_M, 0)                                                                  \
    X(29, "IQ2_M", GGUF_IQ2_M, 1)                                                                  \
    X(30, "IQ4_XS", GGUF_IQ4_XS, 1)                                                                \
    X(31, "IQ1_M", GGUF_IQ2_M, 0)                                                                  \
    X(32, "BF16", BF16, 1)                                                                         \
    X(36, "TQ1_0", GGUF_Q2_K, 0)                                                                   \
    X(37, "TQ2_0", GGUF_Q2_K, 0)                                                                   \
    X(38, "MXFP4", MXFP4, 1)                                                                       \
    X(39, "NVFP4", NVFP4, 1)

#define ECO_GGML_TYPE_IDS 41

/* X(field, "key after the architecture's name", hi) — whole numbers of the metadata. */
#define ECO_GGUF_KEYS(X)                                                                           \
    X(context, "context_length", INT64_C(1) << 30)                                                 \
    X(hidden, "embedding_length", INT64_C(1) << 20)                                                \
    X(layers, "block_count", 4096)                                                                 \
    X(intermediate, "feed_forward_length", INT64_C(1) << 24)                                       \
    X(heads, "attention.head_count", INT64_C(1) << 16)                                             \
    X(kv_heads, "attention.head_count_kv", INT64_C(1) << 16)                                       \
    X(key_length, "attention.key_length", INT64_C(1) << 16)                                        \
    X(kv_lora_rank, "attention.kv_lora_rank", INT64_C(1) << 20)                                    \
    X(rope_dim, "rope.dimension_count", INT64_C(1) << 16)                                          \
    X(window, "attention.sliding_window", INT64_C(1) << 30)                                        \
    X(window_layers, "attention.sliding_window_pattern", 4096)                                     \
    X(experts, "expert_count", INT64_C(1) << 16)                                                   \
    X(experts_used, "expert_used_count", INT64_C(1) << 16)                                         \
    X(expert_intermediate, "expert_feed_forward_length", INT64_C(1) << 24)                         \
    X(vocab, "vocab_size", INT64_C(1) << 26)

/** What the metadata said; -1: nothing. */
struct eco_gguf_meta {
#define X(field, key, hi) int64_t field;
    ECO_GGUF_KEYS(X)
#undef X
    int64_t file_type, alignment, tokens, splits;
    bool window_list; /* window_layers counts the true entries of a list */
    bool widest;      /* a number by layer was given: the largest is taken */
    char architecture[48];
};

#endif
