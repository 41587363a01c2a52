/*
 * Inside the module: a config.json as numbers, the architecture families, and the counting. Pure.
 * Absent numbers are -1; booleans are -1 (absent), 0, 1.
 */
#ifndef ECO_MODEL_CONFIG_H
#define ECO_MODEL_CONFIG_H

#include "base/json.h"
#include "model.h"

/* X(field, "names, the first that is there", lo, hi) */
#define ECO_CONFIG_INTS(X)                                                                         \
    X(hidden, "hidden_size n_embd d_model n_embed", 1, 1 << 20)                                    \
    X(layers, "num_hidden_layers n_layer n_layers num_layers", 1, 4096)                            \
    X(heads, "num_attention_heads n_head n_heads num_heads", 1, 1 << 16)                           \
    X(kv_heads, "num_key_value_heads num_kv_heads n_head_kv", 1, 1 << 16)                          \
    X(head_dim, "head_dim kv_channels attention_head_dim", 1, 1 << 16)                             \
    X(intermediate, "intermediate_size ffn_dim n_inner ffn_hidden_size", 1, 1 << 24)               \
    X(vocab, "vocab_size", 1, 1 << 26)                                                             \
    X(max_context, "max_position_embeddings n_positions n_ctx max_seq_len seq_length", 1, 1 << 30) \
    X(window, "sliding_window", 0, 1 << 30)                                                        \
    X(max_window_layers, "max_window_layers", 0, 1 << 20)                                          \
    X(window_pattern, "sliding_window_pattern _sliding_window_pattern", 1, 4096)                   \
    X(experts, "num_local_experts num_experts n_routed_experts", 0, 1 << 16)                       \
    X(experts_per_token, "num_experts_per_tok num_experts_per_token experts_per_token", 1,         \
      1 << 16)                                                                                     \
    X(expert_intermediate, "moe_intermediate_size", 1, 1 << 24)                                    \
    X(shared_experts, "n_shared_experts", 0, 4096)                                                 \
    X(shared_intermediate, "shared_expert_intermediate_size", 0, 1 << 24)                          \
    X(first_dense, "first_k_dense_replace", 0, 4096)                                               \
    X(moe_step, "decoder_sparse_step moe_layer_freq", 1, 4096)                                     \
    X(kv_lora_rank, "kv_lora_rank", 1, 1 << 20)                                                    \
    X(q_lora_rank, "q_lora_rank", 1, 1 << 20)                                                      \
    X(rope_dim, "qk_rope_head_dim", 1, 1 << 16)                                                    \
    X(nope_dim, "qk_nope_head_dim", 1, 1 << 16)                                                    \
    X(v_dim, "v_head_dim", 1, 1 << 16)                                                             \
    X(word_dim, "word_embed_proj_dim", 1, 1 << 20)                                                 \
    X(ff_ratio, "expansion_ratio", 1, 64)                                                          \
    X(parallel_norms, "num_ln_in_parallel_attn", 1, 2)

#define ECO_CONFIG_BOOLS(X)                                                                        \
    X(tied, "tie_word_embeddings")                                                                 \
    X(attention_bias, "attention_bias use_qkv_bias qkv_bias")                                      \
    X(output_bias, "attention_out_bias")                                                           \
    X(mlp_bias, "mlp_bias")                                                                        \
    X(bias, "bias use_bias enable_bias")                                                           \
    X(parallel, "parallel_attn use_parallel_residual")                                             \
    X(multi_query, "multi_query")                                                                  \
    X(new_decoder, "new_decoder_architecture")                                                     \
    X(use_window, "use_sliding_window")                                                            \
    X(qk_norm, "use_qk_norm qk_layernorm")                                                         \
    X(norm_before, "do_layer_norm_before")                                                         \
    X(no_final_norm, "_remove_final_layer_norm")                                                   \
    X(no_bias, "no_bias")

struct eco_family;

/** The SigLIP tower of Gemma 3; hidden -1: no vision part. */
struct eco_vision {
    int hidden, layers, intermediate, patch, image, channels;
};

struct eco_config {
    char type[48];                   /* model_type of the text part */
    char name[128];                  /* "_name_or_path", or "" */
    const struct eco_family *family; /* NULL: not known */
#define X(field, names, lo, hi) int field;
    ECO_CONFIG_INTS(X)
#undef X
#define X(field, names) signed char field;
    ECO_CONFIG_BOOLS(X)
#undef X
    int layer_types, window_types; /* entries of layer_types, those with a window; -1: no list */
    int dense_list;                /* entries of mlp_only_layers */
    bool multimodal;               /* a text_config inside */
    bool has_vision;
    struct eco_vision vision;
    enum eco_precision stored; /* quantization_config, else the dtype */
    int quant_bits;            /* of packed weights; 0: not quantized, -1: not said */
    char quant_method[32];
};

/** How an architecture counts, after its family's rules met its config. */
struct eco_layout {
    int heads, kv_heads, head_dim;
    uint64_t intermediate;
    int norms;       /* norm vectors a layer, of width hidden */
    int norm_arrays; /* 2: weight and bias, 1: weight, 0: no parameters */
    bool final_norm, embedding_norm;
    bool qkv_bias, output_bias, mlp_bias, head_bias, router_bias, expert_bias;
    bool gated, tied, sinks, correction, shared_gate;
    int qk_norm;   /* 0, 1: vectors of head_dim, 2: of the whole width */
    int positions; /* rows of a learned position table */
    int window_layers;
};

enum {
    ECO_F_QKV_BIAS = 1 << 0,
    ECO_F_OUTPUT_BIAS = 1 << 1,
    ECO_F_MLP_BIAS = 1 << 2,
    ECO_F_BIASES = ECO_F_QKV_BIAS | ECO_F_OUTPUT_BIAS | ECO_F_MLP_BIAS,
    ECO_F_QKV_BIAS_KEY = 1 << 3,  /* attention_bias, where said, decides on q, k, v */
    ECO_F_ATTN_BIAS_KEY = 1 << 4, /* and on o */
    ECO_F_MLP_BIAS_KEY = 1 << 5,
    ECO_F_ALL_BIAS_KEY = 1 << 6, /* "bias", where said, decides on all of them */
    ECO_F_LAYERNORM = 1 << 7,    /* norms have a bias too */
    ECO_F_PLAIN_NORM = 1 << 8,   /* norms have no parameters */
    ECO_F_UNGATED = 1 << 9,      /* two feed-forward matrices instead of three */
    ECO_F_QK_NORM = 1 << 10,
    ECO_F_QK_NORM_WIDE = 1 << 11,
    ECO_F_QK_NORM_KEY = 1 << 12,
    ECO_F_POSITIONS = 1 << 13,
    ECO_F_HEAD_BIAS = 1 << 14,
    ECO_F_TIED = 1 << 15, /* where the config does not say */
    ECO_F_EXPERT_BIAS = 1 << 16,
    ECO_F_SINKS = 1 << 17,
    ECO_F_CORRECTION = 1 << 18, /* one number an expert beside the router */
    ECO_F_SHARED_GATE = 1 << 19,
    ECO_F_MLA = 1 << 20
};

enum eco_window_rule {
    ECO_WINDOW_NONE,
    ECO_WINDOW_ALL,       /* every layer, when the config has a window */
    ECO_WINDOW_ALTERNATE, /* the even layers */
    ECO_WINDOW_PATTERN,   /* all but every n-th */
    ECO_WINDOW_UPPER      /* from max_window_layers on, when use_sliding_window says so */
};

struct eco_family {
    const char *type;
    unsigned flags;
    int norms;
    enum eco_window_rule window_rule;
    int window, window_pattern;             /* where the config does not say */
    void (*defaults)(struct eco_config *c); /* may be NULL */
    void (*adjust)(const struct eco_config *c, struct eco_layout *l); /* may be NULL */
};

/** NULL when not known. */
const struct eco_family *eco_family_find(const char *type);

/** Reads; ECO_E_CONTENT with line and column. An unknown architecture is no error here. */
int eco_config_parse(const char *file, const char *text, size_t len, struct eco_config *out,
                     struct eco_err *err);
/** quantization_config and dtype of the root object, into stored, quant_bits, quant_method. */
void eco_config_precision(const struct eco_json *root, const struct eco_json *text,
                          struct eco_config *c);
/** Shape only: what struct eco_model can hold of it. ECO_E_CONTENT names a missing key. */
int eco_config_shape(const char *file, const struct eco_config *c, struct eco_model *m,
                     struct eco_err *err);
/** Counts by the family's formula into `m` and `info`. ECO_E_UNSUPPORTED without a family. */
int eco_config_count(const char *file, const struct eco_config *c, struct eco_model *m,
                     struct eco_model_info *info, struct eco_err *err);
void eco_config_layout(const struct eco_config *c, struct eco_layout *l);
int eco_config_moe_layers(const struct eco_config *c);

/** Sets total, active and the classes of `m` from info's classes; false when over the limit. */
bool eco_model_total(struct eco_model *m, const struct eco_model_info *info);
/** The last part of a path, into a model's name. */
void eco_model_set_name(struct eco_model *m, const char *path);

#endif
