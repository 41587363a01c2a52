/*
 * Inside the module: what a device must be able to do. The forward pass (forward.c) is written once
 * on top of it and never looks into the vectors it passes, so that a backend may keep them on its
 * own device and may queue the work; read() is the only call that must wait.
 * All vectors are [n][dim], one row a token. Sources of the operations: Vaswani et al. 2017
 * (attention), Zhang and Sennrich 2019 (RMSNorm), Su et al. 2021 (RoPE), Shazeer 2020 (SwiGLU),
 * Ainslie et al. 2023 (GQA).
 */
#ifndef ECO_ENGINE_ENGINE_BACKEND_H
#define ECO_ENGINE_ENGINE_BACKEND_H

#include "engine.h"
#include "engine_shape.h"
#include "pool.h"
#include "weights.h"

/** y = W x (+ bias): y [n][w->rows]. */
struct eco_product {
    const struct eco_matrix *w;
    const float *bias; /* [w->rows] or NULL */
    float *y;
};

/** Keys and values of one layer, [batch][kv_heads][context][head_dim]. */
struct eco_kv {
    void *k, *v;
    bool half; /* FP16, else FP32 */
    int context, kv_heads, head_dim;
};

/** The tokens of one pass: each belongs to a sequence and has a position there. */
struct eco_tokens {
    int n;
    const int *id, *seq, *pos; /* [n] */
};

struct eco_attention {
    int heads;
    float scale, softcap; /* softcap 0: none */
    int window;           /* 0: all positions before */
};

struct eco_backend_ctx;

struct eco_engine_backend {
    const char *name;
    int (*open)(struct eco_backend_ctx **out, const struct eco_shape *s, enum eco_engine_isa isa,
                struct eco_pool *pool, int tokens, int context, struct eco_err *err);
    void (*close)(struct eco_backend_ctx *b);
    uint64_t (*scratch_bytes)(const struct eco_shape *s, int threads, int tokens, int context);
    enum eco_engine_isa (*isa)(const struct eco_backend_ctx *b);
    /** The pass that comes: angles of its positions may be prepared. */
    void (*begin)(struct eco_backend_ctx *b, const struct eco_rope *r, const struct eco_tokens *t);
    /** x[t] = scale * table[id[t]] */
    void (*embed)(struct eco_backend_ctx *b, const struct eco_matrix *table,
                  const struct eco_tokens *t, float scale, float *x);
    /** y[r] = x[r] / sqrt(mean(x[r]^2) + eps) * w, r < rows; y may be x */
    void (*rmsnorm)(struct eco_backend_ctx *b, const float *x, const float *w, int rows, int dim,
                    float eps, float *y);
    /** products of the same x [n][cols] */
    void (*matmul)(struct eco_backend_ctx *b, const struct eco_product *p, int count,
                   const float *x, int n);
    /** rotates x [n][heads][head_dim] by the positions of begin(), in place */
    void (*rope)(struct eco_backend_ctx *b, const struct eco_rope *r, const struct eco_tokens *t,
                 int heads, int head_dim, float *x);
    /** keeps k, v [n][kv_heads][head_dim] at the tokens' positions */
    void (*store)(struct eco_backend_ctx *b, const struct eco_kv *kv, const struct eco_tokens *t,
                  const float *k, const float *v);
    /** out [n][heads][head_dim] = softmax(scale q k) v over each token's own sequence */
    void (*attend)(struct eco_backend_ctx *b, const struct eco_kv *kv, const struct eco_tokens *t,
                   const struct eco_attention *a, const float *q, float *out);
    /** gate = act(gate) * up over n floats */
    void (*gate)(struct eco_backend_ctx *b, float *gate, const float *up, size_t n, bool gelu);
    /** x += y over n floats */
    void (*add)(struct eco_backend_ctx *b, float *x, const float *y, size_t n);
    /** x = cap * tanh(x / cap) over n floats */
    void (*softcap)(struct eco_backend_ctx *b, float *x, size_t n, float cap);
    /** waits for all that was queued; x [n] may then be read by the caller */
    void (*read)(struct eco_backend_ctx *b, float *x, size_t n);
};

extern const struct eco_engine_backend eco_engine_backend_cpu;

#endif
