/* The keys and tensors of a GGUF file, from a Hugging Face folder. */
#include "quantize_inside.h"

#include "base/file.h"
#include "base/json.h"
#include "file_tensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIDE_FILE (16u << 20)

/* The converter's architecture: Mistral's files are llama's there. */
static const char *architecture(const struct eco_shape *s)
{
    return strcmp(s->architecture, "mistral") == 0 ? "llama" : s->architecture;
}

static const char *key(char out[96], const struct eco_shape *s, const char *name)
{
    snprintf(out, 96, "%s.%s", architecture(s), name);
    return out;
}

static void put_name(struct eco_gguf_writer *w, const char *path)
{
    size_t end = strlen(path), begin = 0;
    while (end > 0 && path[end - 1] == '/') {
        end--;
    }
    for (size_t i = 0; i < end; i++) {
        begin = path[i] == '/' ? i + 1 : begin;
    }
    eco_gguf_put_text(w, "general.name", path + begin, end - begin);
}

static void put_shape(struct eco_gguf_writer *w, const struct eco_shape *s)
{
    const struct {
        const char *name;
        int v;
    } rows[] = {{"block_count", s->layers},
                {"context_length", s->max_context},
                {"embedding_length", s->hidden},
                {"feed_forward_length", s->intermediate},
                {"attention.head_count", s->heads},
                {"attention.head_count_kv", s->kv_heads},
                {"attention.key_length", s->head_dim},
                {"attention.value_length", s->head_dim},
                {"rope.dimension_count", s->rope.dims},
                {"vocab_size", s->vocab},
                {"attention.sliding_window", s->window}};
    char name[96];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].v > 0) {
            eco_gguf_put_u32(w, key(name, s, rows[i].name), (uint32_t)rows[i].v);
        }
    }
    eco_gguf_put_f32(w, key(name, s, "attention.layer_norm_rms_epsilon"), s->norm_eps);
    eco_gguf_put_f32(w, key(name, s, "rope.freq_base"), (float)s->rope.theta);
    if (s->attn_softcap > 0.0f) {
        eco_gguf_put_f32(w, key(name, s, "attn_logit_softcapping"), s->attn_softcap);
    }
    if (s->logit_softcap > 0.0f) {
        eco_gguf_put_f32(w, key(name, s, "final_logit_softcapping"), s->logit_softcap);
    }
}

/* Llama 3's slowing of long waves is a tensor that divides the frequencies. */
static int put_llama3(struct eco_quantize_run *q, const struct eco_shape *s, struct eco_err *err)
{
    int n = s->rope.dims / 2;
    struct eco_rope plain = {.theta = s->rope.theta, .dims = s->rope.dims};
    float *f = malloc(2 * (size_t)n * sizeof(*f));
    if (!f) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    eco_engine_rope_frequencies(&plain, f);
    eco_engine_rope_frequencies(&s->rope, f + n);
    for (int i = 0; i < n; i++) {
        f[i] /= f[n + i];
    }
    q->rope_factors = f;
    struct eco_quantize_tensor t = {.name = "rope_freqs.weight",
                                    .format = ECO_FORMAT_F32,
                                    .cols = n,
                                    .data = f,
                                    .stored = ECO_FORMAT_F32};
    return eco_quantize_add(q, &t, err);
}

/* The kind, the original context, and what a file must say of cosine and sine. */
static void put_long_kind(struct eco_quantize_run *q, const struct eco_shape *s, const char *kind,
                          double attention)
{
    char name[96];
    eco_gguf_put_text(&q->w, key(name, s, "rope.scaling.type"), kind, strlen(kind));
    eco_gguf_put_u32(&q->w, key(name, s, "rope.scaling.original_context_length"),
                     (uint32_t)s->rope.original_context);
    eco_gguf_put_f32(&q->w, key(name, s, "rope.scaling.attn_factor"), (float)attention);
}

/* Readers multiply cosine and sine by what follows from the factor, then by attn_factor. */
static void put_yarn(struct eco_quantize_run *q, const struct eco_shape *s)
{
    char name[96];
    struct eco_rope usual = s->rope;
    usual.attention_factor = 0.0;
    put_long_kind(q, s, "yarn",
                  (double)eco_engine_rope_magnitude(&s->rope) /
                      (double)eco_engine_rope_magnitude(&usual));
    eco_gguf_put_f32(&q->w, key(name, s, "rope.scaling.factor"), (float)s->rope.factor);
    eco_gguf_put_f32(&q->w, key(name, s, "rope.scaling.yarn_beta_fast"), (float)s->rope.beta_fast);
    eco_gguf_put_f32(&q->w, key(name, s, "rope.scaling.yarn_beta_slow"), (float)s->rope.beta_slow);
}

static int put_longrope(struct eco_quantize_run *q, const struct eco_shape *s, struct eco_err *err)
{
    struct eco_quantize_tensor t = {
        .format = ECO_FORMAT_F32, .cols = s->rope.dims / 2, .stored = ECO_FORMAT_F32};
    put_long_kind(q, s, "longrope", (double)eco_engine_rope_magnitude(&s->rope));
    t.data = s->rope.long_factor;
    snprintf(t.name, sizeof(t.name), "rope_factors_long.weight");
    int rc = eco_quantize_add(q, &t, err);
    t.data = s->rope.short_factor;
    snprintf(t.name, sizeof(t.name), "rope_factors_short.weight");
    return rc ? rc : eco_quantize_add(q, &t, err);
}

static int put_rope(struct eco_quantize_run *q, const struct eco_shape *s, struct eco_err *err)
{
    char name[96];
    switch (s->rope.kind) {
    case ECO_ROPE_LINEAR:
        eco_gguf_put_text(&q->w, key(name, s, "rope.scaling.type"), "linear", 6);
        eco_gguf_put_f32(&q->w, key(name, s, "rope.scaling.factor"), (float)s->rope.factor);
        return 0;
    case ECO_ROPE_LLAMA3:
        return put_llama3(q, s, err);
    case ECO_ROPE_YARN:
        put_yarn(q, s);
        return 0;
    case ECO_ROPE_LONGROPE:
        return put_longrope(q, s, err);
    case ECO_ROPE_PLAIN:
        break;
    }
    return 0;
}

static int check(const struct eco_shape *s, struct eco_err *err)
{
    int width = s->layers == 46 ? s->hidden / s->heads : s->head_dim; /* Gemma 2 27B */
    float usual = 1.0f / sqrtf((float)width);
    if (fabsf(s->query_scale - usual) > 1e-6f) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "model",
                           "a GGUF cannot say this model's query scale (query_pre_attn_scalar)");
    }
    return 0;
}

/* ---- tensors --------------------------------------------------------------------------------- */

static void tensor_name(char *out, size_t size, const char *pattern, int layer)
{
    const char *d = strstr(pattern, "%d");
    if (d) {
        snprintf(out, size, "%.*s%d%s", (int)(d - pattern), pattern, layer, d + 2);
    } else {
        snprintf(out, size, "%s", pattern);
    }
}

/* Phi-3 keeps q, k, v and gate, up in one matrix each. */
static int fused_parts(const struct eco_shape *s, enum eco_role role, enum eco_role parts[3],
                       const char **pattern)
{
    parts[0] = role;
    *pattern = eco_engine_gguf_names.role[role];
    if (!s->fused) {
        return 1;
    }
    if (role == ECO_ROLE_Q || role == ECO_ROLE_GATE) {
        bool q = role == ECO_ROLE_Q;
        *pattern = q ? eco_engine_gguf_names.qkv : eco_engine_gguf_names.gate_up;
        parts[1] = q ? ECO_ROLE_K : ECO_ROLE_UP;
        parts[2] = ECO_ROLE_V;
        return q ? 3 : 2;
    }
    return role == ECO_ROLE_K || role == ECO_ROLE_V || role == ECO_ROLE_UP ? 0 : 1;
}

static int add_role(struct eco_quantize_run *q, const struct eco_shape *s, enum eco_role role,
                    int layer, struct eco_err *err)
{
    enum eco_role parts[3] = {role};
    const char *pattern = NULL;
    bool vector = role >= ECO_ROLE_MATRICES;
    bool bias = role >= ECO_ROLE_Q_BIAS && role <= ECO_ROLE_O_BIAS;
    bool turned = role == ECO_ROLE_Q || role == ECO_ROLE_K || role == ECO_ROLE_Q_BIAS ||
                  role == ECO_ROLE_K_BIAS;
    struct eco_quantize_tensor t = {.format = vector ? ECO_FORMAT_F32 : q->format};
    t.parts = fused_parts(s, role, parts, &pattern);
    if (t.parts == 0 || eco_engine_slot(s, role, layer).rows == 0) {
        return 0;
    }
    for (int i = 0; i < t.parts; i++) {
        t.part[i] = eco_engine_slot(s, parts[i], layer);
        t.rows += vector ? 0 : t.part[i].rows;
        t.cols = t.part[i].cols;
    }
    t.pairs_of = turned && strcmp(architecture(s), "llama") == 0 ? s->head_dim : 0;
    t.plus = vector && !bias && s->norm_plus_one ? 1.0f : 0.0f;
    tensor_name(t.name, sizeof(t.name), pattern, layer);
    return eco_quantize_add(q, &t, err);
}

static int add_tensors(struct eco_quantize_run *q, const struct eco_shape *s, struct eco_err *err)
{
    int rc = 0;
    for (int layer = -1; layer < s->layers && rc == 0; layer++) {
        for (int r = 0; r < ECO_ROLE_COUNT && rc == 0; r++) {
            bool outside = r == ECO_ROLE_EMBED || r == ECO_ROLE_HEAD || r == ECO_ROLE_OUT_NORM;
            rc = outside == (layer < 0) ? add_role(q, s, (enum eco_role)r, layer, err) : 0;
        }
    }
    return rc;
}

/* ---- the tokenizer --------------------------------------------------------------------------- */

static void put_chat_template(struct eco_gguf_writer *w, const char *folder)
{
    char path[4096];
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_json_doc doc;
    snprintf(path, sizeof(path), "%s/tokenizer_config.json", folder);
    if (eco_file_exists(path) && eco_file_read(path, MAX_SIDE_FILE, &text, NULL) == 0 &&
        eco_json_parse(&doc, eco_buf_str(&text), text.len, NULL) == 0) {
        const struct eco_json *v = eco_json_get(doc.root, "chat_template");
        if (v && v->type == ECO_JSON_STRING) {
            eco_gguf_put_text(w, "tokenizer.chat_template", v->str, v->len);
        }
        eco_json_done(&doc);
    }
    eco_buf_done(&text);
}

static int put_tokenizer(struct eco_quantize_run *q, const char *path, const struct eco_shape *s,
                         struct eco_err *err)
{
    struct eco_tokenizer *t = NULL;
    struct eco_err why = {0};
    bool exact = false;
    int rc = eco_tokenizer_open(path, &t, &why);
    if (rc == 0) {
        rc = eco_quantize_tokenizer(&q->w, t, s->vocab, &exact, err);
        snprintf(why.message, sizeof(why.message), "a GGUF cannot say all of its rules");
    } else if (rc != ECO_E_NO_MEMORY) {
        rc = 0; /* weights without words still measure */
    }
    if (rc == 0 && exact) {
        put_chat_template(&q->w, path);
    } else if (rc == 0) {
        eco_gguf_put_text(&q->w, "tokenizer.ggml.model", "none", 4);
        snprintf(q->out->warning, sizeof(q->out->warning),
                 "written without a tokenizer (prompts are ids): %.180s", why.message);
    }
    eco_tokenizer_free(t);
    return rc;
}

int eco_quantize_folder(struct eco_quantize_run *q, const char *path, const struct eco_shape *s,
                        struct eco_err *err)
{
    int rc = check(s, err);
    if (rc) {
        return rc;
    }
    const char *arch = architecture(s);
    eco_gguf_put_text(&q->w, "general.architecture", arch, strlen(arch));
    put_name(&q->w, path);
    put_shape(&q->w, s);
    rc = put_rope(q, s, err);
    rc = rc ? rc : put_tokenizer(q, path, s, err);
    return rc ? rc : add_tensors(q, s, err);
}
