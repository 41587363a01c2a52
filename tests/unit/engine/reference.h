/*
 * An independent reference: a decoder in float64, one token after the other, no cache, no threads,
 * written from the papers; and a writer of the same weights as a Hugging Face folder. It shares no
 * code with src/engine. All matrices are [rows][cols] as PyTorch has them.
 */
#ifndef ECO_TEST_REFERENCE_H
#define ECO_TEST_REFERENCE_H

#include <math.h>
#include <stdarg.h>
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
    double llama3_factor; /* 0: plain rope */
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

/* ---- forward --------------------------------------------------------------------------------- */

static inline void ref_norm(const struct ref_config *c, const double *x, const float *w, int n,
                            double *y)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    double r = 1.0 / sqrt(sum / n + c->eps);
    for (int i = 0; i < n; i++) {
        y[i] = x[i] * r * ((double)w[i] + (c->gemma2 ? 1.0 : 0.0));
    }
}

static inline void ref_matvec(const float *w, const float *bias, int rows, int cols,
                              const double *x, double *y)
{
    for (int r = 0; r < rows; r++) {
        double s = bias ? (double)bias[r] : 0.0;
        for (int k = 0; k < cols; k++) {
            s += (double)w[(size_t)r * (size_t)cols + (size_t)k] * x[k];
        }
        y[r] = s;
    }
}

static inline double ref_frequency(const struct ref_config *c, int i)
{
    double f = 1.0 / pow(c->theta, (double)(2 * i) / c->head_dim);
    if (c->llama3_factor > 0) { /* Llama 3.1: low 1, high 4, original context 64 in these tests */
        double wavelength = 6.283185307179586 / f;
        if (wavelength > 64.0 / 1.0) {
            f /= c->llama3_factor;
        } else if (wavelength >= 64.0 / 4.0) {
            double smooth = (64.0 / wavelength - 1.0) / (4.0 - 1.0);
            f = (1 - smooth) * f / c->llama3_factor + smooth * f;
        }
    }
    return f;
}

static inline void ref_rotate(const struct ref_config *c, double *head, int pos)
{
    int half = c->head_dim / 2;
    for (int i = 0; i < half; i++) {
        double a = pos * ref_frequency(c, i), u = head[i], v = head[i + half];
        head[i] = u * cos(a) - v * sin(a);
        head[i + half] = v * cos(a) + u * sin(a);
    }
}

/* Attention of token t over keys and values [token][kv_heads][head_dim]. */
static inline void ref_attend(const struct ref_config *c, int layer, int t, const double *q,
                              const double *keys, const double *values, double *out)
{
    int d = c->head_dim, kv = c->kv_heads * d;
    double scale = 1.0 / sqrt(c->gemma2 ? 24.0 : d); /* gemma2's query_pre_attn_scalar here: 24 */
    int windowed = c->window > 0 && layer % (c->window_every ? c->window_every : 1) == 0;
    double *p = malloc(((size_t)t + 1) * sizeof(double));
    for (int h = 0; h < c->heads; h++) {
        const int g = h / (c->heads / c->kv_heads);
        double sum = 0, max = -1e300;
        for (int j = 0; j <= t; j++) {
            double s = 0;
            for (int i = 0; i < d; i++) {
                s += q[h * d + i] * keys[j * kv + g * d + i];
            }
            s *= scale;
            s = c->gemma2 ? 50.0 * tanh(s / 50.0) : s;
            p[j] = windowed && t - j >= c->window ? -1e300 : s;
            max = p[j] > max ? p[j] : max;
        }
        for (int j = 0; j <= t; j++) {
            p[j] = p[j] < -1e299 ? 0.0 : exp(p[j] - max);
            sum += p[j];
        }
        for (int i = 0; i < d; i++) {
            double s = 0;
            for (int j = 0; j <= t; j++) {
                s += p[j] / sum * values[j * kv + g * d + i];
            }
            out[h * d + i] = s;
        }
    }
    free(p);
}

static inline void ref_layer_attention(const struct ref_model *m, int l, int n, double *x)
{
    const struct ref_config *c = &m->c;
    int qn = c->heads * c->head_dim, kvn = c->kv_heads * c->head_dim, h = c->hidden;
    double *keys = calloc((size_t)(n * kvn), sizeof(double));
    double *values = calloc((size_t)(n * kvn), sizeof(double));
    double *in = calloc((size_t)h, sizeof(double)), *q = calloc((size_t)qn, sizeof(double));
    double *o = calloc((size_t)qn, sizeof(double)), *y = calloc((size_t)h, sizeof(double));
    const float *wq, *wk, *wv;
    if (c->fused) {
        wq = ref_get(m, l, "self_attn.qkv_proj.weight");
        wk = wq + qn * h;
        wv = wk + kvn * h;
    } else {
        wq = ref_get(m, l, "self_attn.q_proj.weight");
        wk = ref_get(m, l, "self_attn.k_proj.weight");
        wv = ref_get(m, l, "self_attn.v_proj.weight");
    }
    const float *bq = c->qkv_bias ? ref_get(m, l, "self_attn.q_proj.bias") : NULL;
    const float *bk = c->qkv_bias ? ref_get(m, l, "self_attn.k_proj.bias") : NULL;
    const float *bv = c->qkv_bias ? ref_get(m, l, "self_attn.v_proj.bias") : NULL;
    for (int t = 0; t < n; t++) {
        double *k = keys + t * kvn;
        ref_norm(c, x + t * h, ref_get(m, l, "input_layernorm.weight"), h, in);
        ref_matvec(wq, bq, qn, h, in, q);
        ref_matvec(wk, bk, kvn, h, in, k);
        ref_matvec(wv, bv, kvn, h, in, values + t * kvn);
        for (int i = 0; i < c->heads; i++) {
            if (c->qk_norm) {
                ref_norm(c, q + i * c->head_dim, ref_get(m, l, "self_attn.q_norm.weight"),
                         c->head_dim, q + i * c->head_dim);
            }
            ref_rotate(c, q + i * c->head_dim, t);
        }
        for (int i = 0; i < c->kv_heads; i++) {
            if (c->qk_norm) {
                ref_norm(c, k + i * c->head_dim, ref_get(m, l, "self_attn.k_norm.weight"),
                         c->head_dim, k + i * c->head_dim);
            }
            ref_rotate(c, k + i * c->head_dim, t);
        }
        ref_attend(c, l, t, q, keys, values, o);
        ref_matvec(ref_get(m, l, "self_attn.o_proj.weight"),
                   c->out_bias ? ref_get(m, l, "self_attn.o_proj.bias") : NULL, h, qn, o, y);
        if (c->gemma2) {
            ref_norm(c, y, ref_get(m, l, "post_attention_layernorm.weight"), h, y);
        }
        for (int i = 0; i < h; i++) {
            x[t * h + i] += y[i];
        }
    }
    free(keys);
    free(values);
    free(in);
    free(q);
    free(o);
    free(y);
}

static inline void ref_layer_mlp(const struct ref_model *m, int l, double *x)
{
    const struct ref_config *c = &m->c;
    int h = c->hidden, inter = c->inter;
    double *in = calloc((size_t)h, sizeof(double)), *g = calloc((size_t)inter, sizeof(double));
    double *u = calloc((size_t)inter, sizeof(double)), *y = calloc((size_t)h, sizeof(double));
    const float *wg = ref_get(m, l, c->fused ? "mlp.gate_up_proj.weight" : "mlp.gate_proj.weight");
    const float *wu = c->fused ? wg + inter * h : ref_get(m, l, "mlp.up_proj.weight");
    ref_norm(
        c, x,
        ref_get(m, l,
                c->gemma2 ? "pre_feedforward_layernorm.weight" : "post_attention_layernorm.weight"),
        h, in);
    ref_matvec(wg, NULL, inter, h, in, g);
    ref_matvec(wu, NULL, inter, h, in, u);
    for (int i = 0; i < inter; i++) {
        double a = g[i];
        double act =
            c->gemma2
                ? 0.5 * a *
                      (1 + tanh(sqrt(2 / 3.14159265358979323846) * (a + 0.044715 * a * a * a)))
                : a / (1 + exp(-a));
        g[i] = act * u[i];
    }
    ref_matvec(ref_get(m, l, "mlp.down_proj.weight"), NULL, h, inter, g, y);
    if (c->gemma2) {
        ref_norm(c, y, ref_get(m, l, "post_feedforward_layernorm.weight"), h, y);
    }
    for (int i = 0; i < h; i++) {
        x[i] += y[i];
    }
    free(in);
    free(g);
    free(u);
    free(y);
}

/* logits [n][vocab] */
static inline void ref_logits(const struct ref_model *m, const int *ids, int n, double *logits)
{
    const struct ref_config *c = &m->c;
    int h = c->hidden;
    const float *table = ref_get(m, -1, "model.embed_tokens.weight");
    const float *head = c->tied ? table : ref_get(m, -1, "lm_head.weight");
    double *x = calloc((size_t)(n * h), sizeof(double)), *y = calloc((size_t)h, sizeof(double));
    for (int i = 0; i < n * h; i++) {
        x[i] = (double)table[ids[i / h] * h + i % h] * (c->gemma2 ? sqrt(h) : 1.0);
    }
    for (int l = 0; l < c->layers; l++) {
        ref_layer_attention(m, l, n, x);
        for (int t = 0; t < n; t++) {
            ref_layer_mlp(m, l, x + t * h);
        }
    }
    for (int t = 0; t < n; t++) {
        double *out = logits + (size_t)t * (size_t)c->vocab;
        ref_norm(c, x + t * h, ref_get(m, -1, "model.norm.weight"), h, y);
        ref_matvec(head, NULL, c->vocab, h, y, out);
        for (int i = 0; c->gemma2 && i < c->vocab; i++) {
            out[i] = 30.0 * tanh(out[i] / 30.0);
        }
    }
    free(x);
    free(y);
}

/* ---- a Hugging Face folder ------------------------------------------------------------------- */

static inline int ref_write_config(const struct ref_model *m, const char *folder)
{
    const struct ref_config *c = &m->c;
    char path[512];
    snprintf(path, sizeof(path), "%s/config.json", folder);
    FILE *f = fopen(path, "w");
    if (!f) {
        return -1;
    }
    fprintf(f,
            "{\"architectures\": [\"X\"], \"model_type\": \"%s\", \"hidden_size\": %d,"
            " \"num_hidden_layers\": %d, \"num_attention_heads\": %d, \"num_key_value_heads\": %d,"
            " \"head_dim\": %d, \"intermediate_size\": %d, \"vocab_size\": %d,"
            " \"max_position_embeddings\": 512, \"rms_norm_eps\": %g, \"rope_theta\": %g,"
            " \"tie_word_embeddings\": %s, \"torch_dtype\": \"%s\"",
            c->type, c->hidden, c->layers, c->heads, c->kv_heads, c->head_dim, c->inter, c->vocab,
            c->eps, c->theta, c->tied ? "true" : "false",
            c->f16    ? "float16"
            : c->bf16 ? "bfloat16"
                      : "float32");
    if (c->window) {
        fprintf(f, ", \"sliding_window\": %d", c->window);
    } else if (strcmp(c->type, "mistral") == 0) {
        fprintf(f, ", \"sliding_window\": null");
    }
    if (c->out_bias) {
        fprintf(f, ", \"attention_bias\": true");
    }
    if (c->gemma2) {
        fprintf(f, ", \"query_pre_attn_scalar\": 24, \"hidden_activation\": \"gelu_pytorch_tanh\","
                   " \"attn_logit_softcapping\": 50.0, \"final_logit_softcapping\": 30.0");
    }
    if (c->llama3_factor > 0) {
        fprintf(f,
                ", \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": %g,"
                " \"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0,"
                " \"original_max_position_embeddings\": 64}",
                c->llama3_factor);
    }
    fprintf(f, "}\n");
    return fclose(f);
}

static inline void ref_write_value(const struct ref_config *c, float v, FILE *f)
{
    uint32_t u;
    memcpy(&u, &v, 4);
    uint16_t h = c->f16 ? ref_half(v) : (uint16_t)(u >> 16);
    if (c->f16 || c->bf16) {
        fwrite(&h, 2, 1, f);
    } else {
        fwrite(&v, 4, 1, f);
    }
}

/* Tensors [first, last) as one safetensors file. */
static inline int ref_write_tensors(const struct ref_model *m, const char *path, int first,
                                    int last)
{
    static char head[1 << 16];
    size_t at = 0, offset = 0, width = m->c.f16 || m->c.bf16 ? 2 : 4;
    const char *dtype = m->c.f16 ? "F16" : m->c.bf16 ? "BF16" : "F32";
    FILE *f = fopen(path, "wb");
    if (!f) {
        return -1;
    }
    at += (size_t)snprintf(head + at, sizeof(head) - at, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (int i = first; i < last; i++) {
        const struct ref_tensor *t = &m->t[i];
        size_t bytes = (size_t)(t->rows ? t->rows : 1) * (size_t)t->cols * width;
        char shape[64];
        snprintf(shape, sizeof(shape), t->rows ? "[%d,%d]" : "[%d]", t->rows ? t->rows : t->cols,
                 t->cols);
        at += (size_t)snprintf(head + at, sizeof(head) - at,
                               ",\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
                               t->name, dtype, shape, offset, offset + bytes);
        offset += bytes;
    }
    at += (size_t)snprintf(head + at, sizeof(head) - at, "}");
    uint64_t n = at;
    fwrite(&n, 8, 1, f);
    fwrite(head, 1, at, f);
    for (int i = first; i < last; i++) {
        size_t count = (size_t)(m->t[i].rows ? m->t[i].rows : 1) * (size_t)m->t[i].cols;
        for (size_t k = 0; k < count; k++) {
            ref_write_value(&m->c, m->t[i].v[k], f);
        }
    }
    return fclose(f);
}

/* `shards` 1: model.safetensors; 2: two files and an index. */
static inline int ref_write_folder(const struct ref_model *m, const char *folder, int shards)
{
    char path[512];
    if (shards == 1) {
        snprintf(path, sizeof(path), "%s/model.safetensors", folder);
        return ref_write_config(m, folder) || ref_write_tensors(m, path, 0, m->n);
    }
    snprintf(path, sizeof(path), "%s/model.safetensors.index.json", folder);
    FILE *f = fopen(path, "w");
    if (!f) {
        return -1;
    }
    fprintf(f, "{\"metadata\": {}, \"weight_map\": {");
    for (int i = 0; i < m->n; i++) {
        fprintf(f, "%s\"%s\": \"part-%d.safetensors\"", i ? ", " : "", m->t[i].name,
                i < m->n / 2 ? 1 : 2);
    }
    fprintf(f, "}}\n");
    fclose(f);
    snprintf(path, sizeof(path), "%s/part-1.safetensors", folder);
    int rc = ref_write_tensors(m, path, 0, m->n / 2);
    snprintf(path, sizeof(path), "%s/part-2.safetensors", folder);
    return rc || ref_write_tensors(m, path, m->n / 2, m->n) || ref_write_config(m, folder);
}

#endif
