/*
 * Inside the module: everything the forward pass must know about an architecture, as plain
 * numbers; the names of its tensors in files. Llama 2/3, TinyLlama, Mistral, Yi, SmolLM2, Qwen2,
 * Qwen2.5, Qwen3, Phi-3, Gemma 2.
 */
#ifndef ECO_ENGINE_SHAPE_H
#define ECO_ENGINE_SHAPE_H

#include "base/json.h"
#include "eco_err.h"
#include "eco_types.h"

#include <stdbool.h>

#define ECO_LONGROPE_MAX 128 /* factors: half the rotated dimensions */

enum eco_rope_kind {
    ECO_ROPE_PLAIN = 0,
    ECO_ROPE_LINEAR,
    ECO_ROPE_LLAMA3,
    ECO_ROPE_YARN,    /* Peng et al. 2023 */
    ECO_ROPE_LONGROPE /* Ding et al. 2024: Phi-3's long contexts */
};

struct eco_rope {
    double theta;
    int dims; /* rotated dimensions of a head, even */
    enum eco_rope_kind kind;
    double factor, low_factor, high_factor;
    double original_context;
    double beta_fast, beta_slow; /* yarn: turns within the original context */
    double attention_factor;     /* of cosine and sine; 0: as the kind defines it */
    float short_factor[ECO_LONGROPE_MAX], long_factor[ECO_LONGROPE_MAX];
    bool beyond; /* longrope: the context is longer than the original, the long factors count */
    const void *factors; /* [dims / 2] floats that divide the frequencies, or NULL */
    bool interleaved;    /* pairs (2i, 2i + 1) as in GGUF's llama; else (i, i + dims / 2) */
};

struct eco_shape {
    char architecture[32];
    int layers, hidden, heads, kv_heads, head_dim, intermediate, vocab, max_context;
    struct eco_rope rope;
    float norm_eps;
    int window;       /* sliding window in tokens, 0: none */
    int window_every; /* 1: all layers; 2: layers 0, 2, 4 … */
    bool tied, qkv_bias, out_bias, qk_norm;
    bool post_norms;     /* Gemma 2: norms behind attention and feed-forward too */
    bool gelu;           /* gate by tanh-GELU instead of SiLU */
    float embed_scale;   /* 1, or sqrt(hidden) */
    float query_scale;   /* 1/sqrt(head_dim), or the model's own */
    float attn_softcap;  /* 0: none */
    float logit_softcap; /* 0: none */
    bool norm_plus_one;  /* the files store w - 1 (Gemma in safetensors) */
    bool fused;          /* the files hold qkv and gate_up in one matrix each (Phi-3) */
};

enum eco_role {
    ECO_ROLE_EMBED,
    ECO_ROLE_HEAD,
    ECO_ROLE_Q,
    ECO_ROLE_K,
    ECO_ROLE_V,
    ECO_ROLE_O,
    ECO_ROLE_GATE,
    ECO_ROLE_UP,
    ECO_ROLE_DOWN,
    ECO_ROLE_MATRICES, /* the vectors follow */
    ECO_ROLE_OUT_NORM = ECO_ROLE_MATRICES,
    ECO_ROLE_ATTN_NORM,
    ECO_ROLE_FFN_NORM,
    ECO_ROLE_POST_ATTN_NORM,
    ECO_ROLE_POST_FFN_NORM,
    ECO_ROLE_Q_BIAS,
    ECO_ROLE_K_BIAS,
    ECO_ROLE_V_BIAS,
    ECO_ROLE_O_BIAS,
    ECO_ROLE_Q_NORM,
    ECO_ROLE_K_NORM,
    ECO_ROLE_COUNT
};

/** A tensor of the model; layer -1 for those outside the layers. A vector has one row. */
struct eco_slot {
    enum eco_role role;
    int layer, rows, cols;
};

/** The slot's extents; rows 0 when this architecture has no such tensor. */
struct eco_slot eco_engine_slot(const struct eco_shape *s, enum eco_role role, int layer);

/** From a row of models.csv: what its counts say about biases and norms. */
int eco_engine_shape_from_model(const struct eco_model *m, struct eco_shape *out,
                                struct eco_err *err);
/** From a config.json. */
int eco_engine_shape_from_config(const char *file, const struct eco_json *root,
                                 struct eco_shape *out, struct eco_err *err);
/** Whole numbers in range, heads that divide, a context that fits; fills defaults. */
int eco_engine_shape_check(struct eco_shape *s, struct eco_err *err);
/** What cosine and sine are multiplied by: 1 but for yarn and longrope. */
float eco_engine_rope_magnitude(const struct eco_rope *r);
/** Inverse frequencies [dims / 2] of the rotation, after scaling. */
void eco_engine_rope_frequencies(const struct eco_rope *r, float *inv_freq);

#endif
