/*
 * An independent reference: a decoder in float64, one token after the other, no cache, no threads,
 * written from the papers. It shares no code with src/engine.
 */
#ifndef ECO_TEST_REFERENCE_H
#define ECO_TEST_REFERENCE_H

#include "reference_weights.h"

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
    if (c->rope && strcmp(c->rope, "linear") == 0) {
        f /= c->rope_factor;
    } else if (c->rope && strcmp(c->rope, "longrope") == 0) {
        f /= 1.0 + (c->rope_long ? 1.5 : 0.25) * i;
    } else if (c->rope && strcmp(c->rope, "yarn") == 0) {
        /* the paper's NTK-by-parts over pairs, its bounds rounded outwards as in its code: 32 turns
         * and more keep their frequency, 1 turn and fewer are slowed */
        double at32 = 0, at1 = 0;
        for (int k = 0; k < c->head_dim; k++) { /* no logarithms: the last pair with the turns */
            double turns =
                c->rope_original * pow(c->theta, -2.0 * k / c->head_dim) / 6.283185307179586;
            at32 = turns >= 32.0 ? k : at32;
            at1 = turns > 1.0 ? k + 1 : at1;
        }
        at1 = at1 > c->head_dim - 1 ? c->head_dim - 1 : at1;
        double slow = at1 > at32 ? (i - at32) / (at1 - at32) : i > at32;
        slow = slow < 0 ? 0 : slow > 1 ? 1 : slow;
        f = f * (1 - slow) + f / c->rope_factor * slow;
    }
    return f;
}

/* What yarn and longrope multiply rotated vectors with. */
static inline double ref_magnitude(const struct ref_config *c)
{
    if (!c->rope || strcmp(c->rope, "linear") == 0) {
        return 1.0;
    }
    if (c->rope_attention > 0) {
        return c->rope_attention;
    }
    return strcmp(c->rope, "yarn") == 0 ? 1.0 + log(c->rope_factor) / 10.0
                                        : sqrt(1.0 + log(c->rope_factor) / log(c->rope_original));
}

static inline void ref_rotate(const struct ref_config *c, double *head, int pos)
{
    int half = c->head_dim / 2;
    for (int i = 0; i < half; i++) {
        double a = pos * ref_frequency(c, i), by = ref_magnitude(c);
        double u = by * head[i], v = by * head[i + half];
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

#endif
