/*
 * Writes the reference's model as a GGUF file of any tensor type, from ggml's docs/gguf.md.
 * Matrices get random codes; what they decode to, by decoders of this file, becomes the
 * reference's weights.
 */
#ifndef ECO_TEST_REFERENCE_GGUF_H
#define ECO_TEST_REFERENCE_GGUF_H

#include "reference_weights.h"

enum { T_F32 = 0, T_F16 = 1, T_Q4_0 = 2, T_Q8_0 = 8, T_Q4_K = 12, T_Q6_K = 14, T_BF16 = 30 };

struct gguf_out {
    unsigned char *data;
    size_t len, cap;
};

static inline void put(struct gguf_out *o, const void *bytes, size_t n)
{
    if (o->len + n > o->cap) {
        o->cap = 2 * (o->len + n) + 4096;
        o->data = realloc(o->data, o->cap);
    }
    if (bytes) {
        memcpy(o->data + o->len, bytes, n);
    } else {
        memset(o->data + o->len, 0, n);
    }
    o->len += n;
}

static inline void put_int(struct gguf_out *o, uint64_t v, size_t n)
{
    put(o, &v, n); /* little endian, as all machines of these tests */
}

static inline void put_text(struct gguf_out *o, const char *s)
{
    put_int(o, strlen(s), 8);
    put(o, s, strlen(s));
}

static inline void put_u32(struct gguf_out *o, const char *key, uint32_t v)
{
    put_text(o, key);
    put_int(o, 4, 4);
    put_int(o, v, 4);
}

static inline void put_f32(struct gguf_out *o, const char *key, float v)
{
    put_text(o, key);
    put_int(o, 6, 4);
    put(o, &v, 4);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static inline int block_weights(int type)
{
    return type == T_Q4_K || type == T_Q6_K ? 256 : type == T_Q4_0 || type == T_Q8_0 ? 32 : 1;
}

static inline int block_bytes(int type)
{
    return type == T_F32    ? 4
           : type == T_Q4_0 ? 18
           : type == T_Q8_0 ? 34
           : type == T_Q4_K ? 144
           : type == T_Q6_K ? 210
                            : 2;
}

/* Random codes of one block, with scales that give weights of about `size`. */
static inline void random_block(struct ref_model *m, int type, double size, unsigned char *b)
{
    uint16_t h;
    for (int i = 0; i < block_bytes(type); i++) {
        b[i] = (unsigned char)(ref_uniform(m) * 256.0);
    }
    if (type == T_F32 || type == T_F16 || type == T_BF16) {
        float v = (float)(3.4 * size * (ref_uniform(m) - 0.5));
        uint32_t u;
        memcpy(&u, &v, 4);
        h = type == T_F16 ? ref_half(v) : (uint16_t)(u >> 16);
        memcpy(b, type == T_F32 ? (void *)&v : (void *)&h, type == T_F32 ? 4 : 2);
    } else if (type == T_Q4_0 || type == T_Q8_0) {
        h = ref_half((float)(size / (type == T_Q4_0 ? 4.6 : 73.0)));
        memcpy(b, &h, 2);
    } else if (type == T_Q4_K) {
        h = ref_half((float)(size / 170.0));
        memcpy(b, &h, 2);
        h = ref_half((float)(size / 25.0));
        memcpy(b + 2, &h, 2);
    } else {
        h = ref_half((float)(size / 1300.0));
        memcpy(b + 208, &h, 2);
    }
}

static inline double half_at(const unsigned char *p)
{
    uint16_t h;
    memcpy(&h, p, 2);
    return ref_half_value(h);
}

/* Weight i of a Q4_K block: 8 groups of 32, six-bit scales and minima in 12 bytes. */
static inline double q4_k_weight(const unsigned char *b, int i)
{
    int g = i / 32, scale, min;
    const unsigned char *s = b + 4;
    if (g < 4) {
        scale = s[g] % 64;
        min = s[4 + g] % 64;
    } else {
        scale = s[4 + g] % 16 + 16 * (s[g - 4] / 64);
        min = s[4 + g] / 16 + 16 * (s[g] / 64);
    }
    int byte = b[16 + 32 * (g / 2) + i % 32], code = g % 2 ? byte / 16 : byte % 16;
    return half_at(b) * scale * code - half_at(b + 2) * min;
}

/* Weight i of a Q6_K block: low nibbles, two high bits, a signed scale for 16. */
static inline double q6_k_weight(const unsigned char *b, int i)
{
    int h = i / 128, q = i % 128 / 32, l = i % 32;
    int byte = b[64 * h + 32 * (q % 2) + l], low = q < 2 ? byte % 16 : byte / 16;
    int high = b[128 + 32 * h + l] >> (2 * q) & 3;
    return half_at(b + 208) * (signed char)b[192 + i / 16] * (low + 16 * high - 32);
}

static inline double block_weight(int type, const unsigned char *b, int i)
{
    float f;
    uint32_t u = 0;
    switch (type) {
    case T_F32:
        memcpy(&f, b, 4);
        return (double)f;
    case T_F16:
        return half_at(b);
    case T_BF16:
        u = (uint32_t)b[0] << 16 | (uint32_t)b[1] << 24;
        memcpy(&f, &u, 4);
        return (double)f;
    case T_Q8_0:
        return half_at(b) * (signed char)b[2 + i];
    case T_Q4_0:
        return half_at(b) * ((i < 16 ? b[2 + i] % 16 : b[2 + i - 16] / 16) - 8);
    case T_Q4_K:
        return q4_k_weight(b, i);
    default:
        return q6_k_weight(b, i);
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

static inline void gguf_name(const struct ref_config *c, const char *from, char *out, size_t size)
{
    static const char *const pairs[][2] = {
        {"self_attn.q_proj.", "attn_q."},
        {"self_attn.k_proj.", "attn_k."},
        {"self_attn.v_proj.", "attn_v."},
        {"self_attn.o_proj.", "attn_output."},
        {"self_attn.q_norm.", "attn_q_norm."},
        {"self_attn.k_norm.", "attn_k_norm."},
        {"self_attn.qkv_proj.", "attn_qkv."},
        {"mlp.gate_up_proj.", "ffn_up."},
        {"mlp.gate_proj.", "ffn_gate."},
        {"mlp.up_proj.", "ffn_up."},
        {"mlp.down_proj.", "ffn_down."},
        {"input_layernorm.", "attn_norm."},
        {"pre_feedforward_layernorm.", "ffn_norm."},
        {"post_feedforward_layernorm.", "post_ffw_norm."},
    };
    int layer = 0, used = 0;
    if (sscanf(from, "model.layers.%d.%n", &layer, &used) < 1) {
        snprintf(out, size, "%s",
                 strstr(from, "embed")     ? "token_embd.weight"
                 : strstr(from, "lm_head") ? "output.weight"
                                           : "output_norm.weight");
        return;
    }
    const char *rest = from + used, *name = c->gemma2 ? "post_attention_norm." : "ffn_norm.";
    const char *kind = strrchr(from, '.') + 1;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        name = strncmp(rest, pairs[i][0], strlen(pairs[i][0])) == 0 ? pairs[i][1] : name;
    }
    snprintf(out, size, "blk.%d.%s%s", layer, name, kind);
}

/* The reference's row that row r of the file is: llama's q and k lie in pairs. */
static inline int reference_row(const struct ref_config *c, const char *name, int r)
{
    int d = c->head_dim, in = r % d;
    bool pairs =
        strcmp(c->type, "llama") == 0 && (strstr(name, "q_proj") || strstr(name, "k_proj"));
    return pairs ? r / d * d + in / 2 + in % 2 * (d / 2) : r;
}

/* ---- the file -------------------------------------------------------------------------------- */

static inline void put_keys(struct gguf_out *o, const struct ref_config *c)
{
    char key[96];
    const struct {
        const char *name;
        int v;
    } ints[] = {{"block_count", c->layers},
                {"embedding_length", c->hidden},
                {"feed_forward_length", c->inter},
                {"attention.head_count", c->heads},
                {"attention.head_count_kv", c->kv_heads},
                {"attention.key_length", c->head_dim},
                {"attention.value_length", c->head_dim},
                {"rope.dimension_count", c->head_dim},
                {"context_length", 512},
                {"vocab_size", c->vocab},
                {"attention.sliding_window", c->window}};
    put_text(o, "general.architecture");
    put_int(o, 8, 4);
    put_text(o, c->type);
    for (size_t i = 0; i < 11; i++) {
        snprintf(key, sizeof(key), "%s.%s", c->type, ints[i].name);
        put_u32(o, key, (uint32_t)ints[i].v);
    }
    snprintf(key, sizeof(key), "%s.rope.freq_base", c->type);
    put_f32(o, key, (float)c->theta);
    snprintf(key, sizeof(key), "%s.attention.layer_norm_rms_epsilon", c->type);
    put_f32(o, key, (float)c->eps);
    put_text(o, "tokenizer.ggml.tokens"); /* an array to be passed over */
    put_int(o, 9, 4);
    put_int(o, 8, 4);
    put_int(o, (uint64_t)c->vocab, 8);
    for (int i = 0; i < c->vocab; i++) {
        snprintf(key, sizeof(key), "t%d", i);
        put_text(o, key);
    }
}

static inline void put_data(struct gguf_out *o, struct ref_model *m, struct ref_tensor *t, int type)
{
    unsigned char block[256];
    int rows = t->rows ? t->rows : 1, w = block_weights(type);
    for (int r = 0; r < rows; r++) {
        float *row = t->v + (size_t)reference_row(&m->c, t->name, r) * (size_t)t->cols;
        for (int c = 0; c < t->cols; c += w) {
            if (t->rows) {
                random_block(m, type, 1.0 / sqrt(t->cols), block);
                for (int i = 0; i < w; i++) {
                    row[c + i] = (float)block_weight(type, block, i);
                }
            } else { /* vectors are F32; Gemma's norms have their 1 in the file */
                float v = row[c] + (m->c.gemma2 ? 1.0f : 0.0f);
                memcpy(block, &v, 4);
            }
            put(o, block, (size_t)block_bytes(type));
        }
    }
}

/* `type` for all matrices; the file's bytes are the caller's to free. */
static inline void gguf_make(struct ref_model *m, int type, struct gguf_out *o)
{
    uint64_t offset = 0;
    put(o, "GGUF", 4);
    put_int(o, 3, 4);
    put_int(o, (uint64_t)m->n, 8);
    put_int(o, 15, 8);
    put_keys(o, &m->c);
    for (int i = 0; i < m->n; i++) {
        char name[128];
        struct ref_tensor *t = &m->t[i];
        int own = t->rows ? type : T_F32;
        gguf_name(&m->c, t->name, name, sizeof(name));
        put_text(o, name);
        put_int(o, t->rows ? 2 : 1, 4);
        put_int(o, (uint64_t)t->cols, 8);
        if (t->rows) {
            put_int(o, (uint64_t)t->rows, 8);
        }
        put_int(o, (uint64_t)own, 4);
        put_int(o, offset, 8);
        offset += (uint64_t)(t->rows ? t->rows : 1) * (uint64_t)(t->cols / block_weights(own)) *
                  (uint64_t)block_bytes(own);
        offset = (offset + 31) / 32 * 32;
    }
    for (int i = 0; i < m->n; i++) {
        put(o, NULL, (32 - o->len % 32) % 32);
        put_data(o, m, &m->t[i], m->t[i].rows ? type : T_F32);
    }
}

#endif
