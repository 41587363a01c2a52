/*
 * Seeded weights of a small model, by the names of PyTorch, for reference.h and the writers of
 * files. Shares no code with src/engine. All matrices are [rows][cols].
 */
#ifndef ECO_TEST_REFERENCE_WEIGHTS_H
#define ECO_TEST_REFERENCE_WEIGHTS_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REF_LAYERS 3
#define REF_MAX_TENSORS 96

struct ref_config {
    const char *type; /* model_type */
    int hidden, heads, kv_heads, head_dim, inter, vocab, layers;
    int window, window_every; /* 0: none */
    double theta, eps;
    double llama3_factor;                              /* 0: plain rope */
    const char *rope;                                  /* NULL, or "linear", "yarn", "longrope" */
    double rope_factor, rope_original, rope_attention; /* attention 0: as the paper has it */
    int rope_long;                                     /* longrope: the long factors are due */
    int tied, qkv_bias, out_bias, qk_norm, fused, gemma2;
    int f16, bf16; /* how the file stores it; else F32 */
};

struct ref_tensor {
    char name[96];
    int rows, cols; /* rows 0: a vector */
    float *v;
};

struct ref_model {
    struct ref_config c;
    struct ref_tensor t[REF_MAX_TENSORS];
    int n;
    uint64_t rng;
};

/* ---- weights --------------------------------------------------------------------------------- */

static inline double ref_uniform(struct ref_model *m)
{
    m->rng ^= m->rng << 13;
    m->rng ^= m->rng >> 7;
    m->rng ^= m->rng << 17;
    return (double)(m->rng >> 11) / 9007199254740992.0;
}

static inline uint16_t ref_half(float x)
{
    /* by search over all halves: slow, and owes nothing to bit tricks */
    int sign = x < 0, e;
    double a = fabs((double)x);
    if (a == 0.0) {
        return 0;
    }
    frexp(a, &e);
    e = e < -13 ? -13 : e;
    double unit = ldexp(1.0, e - 11), steps = nearbyint(a / unit);
    double value = steps * unit;
    if (value == 0.0) { /* rounded away */
        return (uint16_t)((unsigned)sign << 15);
    }
    frexp(value, &e);
    unsigned bits =
        e < -13 ? (unsigned)(value / ldexp(1.0, -24))
                : (unsigned)((e + 14) << 10) + (unsigned)(value / ldexp(1.0, e - 11) - 1024.0);
    return (uint16_t)(bits | (unsigned)sign << 15);
}

static inline double ref_half_value(uint16_t h)
{
    int e = h >> 10 & 31, f = h & 1023;
    double v = e ? ldexp(1024 + f, e - 25) : ldexp(f, -24);
    return h & 0x8000 ? -v : v;
}

static inline float ref_stored(const struct ref_config *c, double v)
{
    float x = (float)v;
    if (c->f16) {
        return (float)ref_half_value(ref_half(x));
    }
    if (c->bf16) { /* a value with few bits, so that storing is exact */
        x = (float)(nearbyint(v * 256.0) / 256.0);
        return fabsf(x) < 1.0f ? x : x > 0 ? 0.5f : -0.5f;
    }
    return x;
}

static inline float *ref_add(struct ref_model *m, int layer, const char *name, int rows, int cols,
                             double center, double spread)
{
    struct ref_tensor *t = &m->t[m->n++];
    size_t n = (size_t)(rows ? rows : 1) * (size_t)cols;
    if (layer >= 0) {
        snprintf(t->name, sizeof(t->name), "model.layers.%d.%s", layer, name);
    } else {
        snprintf(t->name, sizeof(t->name), "%s", name);
    }
    t->rows = rows;
    t->cols = cols;
    t->v = malloc(n * sizeof(float));
    for (size_t i = 0; i < n; i++) {
        double u = ref_uniform(m) + ref_uniform(m) + ref_uniform(m) - 1.5; /* sd 0.5 */
        t->v[i] = ref_stored(&m->c, center + 2.0 * spread * u);
    }
    return t->v;
}

static inline void ref_add_layer(struct ref_model *m, int l)
{
    const struct ref_config *c = &m->c;
    int q = c->heads * c->head_dim, kv = c->kv_heads * c->head_dim;
    double s = 1.0 / sqrt(c->hidden), norm = c->gemma2 ? 0.0 : 1.0;
    if (c->fused) {
        ref_add(m, l, "self_attn.qkv_proj.weight", q + 2 * kv, c->hidden, 0, s);
        ref_add(m, l, "mlp.gate_up_proj.weight", 2 * c->inter, c->hidden, 0, s);
    } else {
        ref_add(m, l, "self_attn.q_proj.weight", q, c->hidden, 0, s);
        ref_add(m, l, "self_attn.k_proj.weight", kv, c->hidden, 0, s);
        ref_add(m, l, "self_attn.v_proj.weight", kv, c->hidden, 0, s);
        ref_add(m, l, "mlp.gate_proj.weight", c->inter, c->hidden, 0, s);
        ref_add(m, l, "mlp.up_proj.weight", c->inter, c->hidden, 0, s);
    }
    ref_add(m, l, "self_attn.o_proj.weight", c->hidden, q, 0, 1.0 / sqrt(q));
    ref_add(m, l, "mlp.down_proj.weight", c->hidden, c->inter, 0, 1.0 / sqrt(c->inter));
    ref_add(m, l, "input_layernorm.weight", 0, c->hidden, norm, 0.2);
    ref_add(m, l, "post_attention_layernorm.weight", 0, c->hidden, norm, 0.2);
    if (c->gemma2) {
        ref_add(m, l, "pre_feedforward_layernorm.weight", 0, c->hidden, norm, 0.2);
        ref_add(m, l, "post_feedforward_layernorm.weight", 0, c->hidden, norm, 0.2);
    }
    if (c->qkv_bias) {
        ref_add(m, l, "self_attn.q_proj.bias", 0, q, 0, 0.3);
        ref_add(m, l, "self_attn.k_proj.bias", 0, kv, 0, 0.3);
        ref_add(m, l, "self_attn.v_proj.bias", 0, kv, 0, 0.3);
    }
    if (c->out_bias) {
        ref_add(m, l, "self_attn.o_proj.bias", 0, c->hidden, 0, 0.3);
    }
    if (c->qk_norm) {
        ref_add(m, l, "self_attn.q_norm.weight", 0, c->head_dim, 1, 0.2);
        ref_add(m, l, "self_attn.k_norm.weight", 0, c->head_dim, 1, 0.2);
    }
}

static inline void ref_make(struct ref_model *m, const struct ref_config *c, uint64_t seed)
{
    memset(m, 0, sizeof(*m));
    m->c = *c;
    m->rng = seed * 2654435761u + 88172645463325252u;
    ref_add(m, -1, "model.embed_tokens.weight", c->vocab, c->hidden, 0, 0.5);
    if (!c->tied) {
        ref_add(m, -1, "lm_head.weight", c->vocab, c->hidden, 0, 2.0 / sqrt(c->hidden));
    }
    ref_add(m, -1, "model.norm.weight", 0, c->hidden, c->gemma2 ? 0 : 1, 0.2);
    for (int l = 0; l < c->layers; l++) {
        ref_add_layer(m, l);
    }
}

static inline void ref_done(struct ref_model *m)
{
    for (int i = 0; i < m->n; i++) {
        free(m->t[i].v);
    }
}

static inline const float *ref_get(const struct ref_model *m, int layer, const char *name)
{
    char full[128];
    if (layer >= 0) {
        snprintf(full, sizeof(full), "model.layers.%d.%s", layer, name);
    } else {
        snprintf(full, sizeof(full), "%s", name);
    }
    for (int i = 0; i < m->n; i++) {
        if (strcmp(m->t[i].name, full) == 0) {
            return m->t[i].v;
        }
    }
    fprintf(stderr, "reference: no tensor %s\n", full);
    abort();
}

#endif
