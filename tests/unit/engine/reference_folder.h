/* Writes the reference's weights as a Hugging Face folder. */
#ifndef ECO_TEST_REFERENCE_FOLDER_H
#define ECO_TEST_REFERENCE_FOLDER_H

#include "reference_weights.h"

/* ---- a Hugging Face folder ------------------------------------------------------------------- */

static inline void ref_write_rope(const struct ref_config *c, FILE *f)
{
    fprintf(f, ", \"original_max_position_embeddings\": %g", c->rope_original);
    fprintf(f, ", \"rope_scaling\": {\"type\": \"%s\"", c->rope);
    if (strcmp(c->rope, "longrope") != 0) { /* there it follows from the contexts */
        fprintf(f, ", \"factor\": %g", c->rope_factor);
        fprintf(f, ", \"original_max_position_embeddings\": %g", c->rope_original);
    }
    if (c->rope_attention > 0) {
        fprintf(f, ", \"attention_factor\": %g", c->rope_attention);
    }
    for (int list = 0; list < 2 && strcmp(c->rope, "longrope") == 0; list++) {
        fprintf(f, ", \"%s\": [", list ? "long_factor" : "short_factor");
        for (int i = 0; i < c->head_dim / 2; i++) {
            fprintf(f, "%s%.17g", i ? ", " : "", (double)(float)(1.0 + (list ? 1.5 : 0.25) * i));
        }
        fprintf(f, "]");
    }
    fprintf(f, "}");
}

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
    if (c->rope) {
        ref_write_rope(c, f);
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
