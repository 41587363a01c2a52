/*
 * A GGUF file (version 2 or 3; ggml's docs/gguf.md), mapped: metadata to a shape, tensors by name.
 * Everything read is checked against the end of the file first.
 */
#include "file_tensors.h"
#include "gguf_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BLK "blk.%d."

const struct eco_names eco_engine_gguf_names = {
    .role = {[ECO_ROLE_EMBED] = "token_embd.weight",
             [ECO_ROLE_HEAD] = "output.weight",
             [ECO_ROLE_OUT_NORM] = "output_norm.weight",
             [ECO_ROLE_Q] = BLK "attn_q.weight",
             [ECO_ROLE_K] = BLK "attn_k.weight",
             [ECO_ROLE_V] = BLK "attn_v.weight",
             [ECO_ROLE_O] = BLK "attn_output.weight",
             [ECO_ROLE_GATE] = BLK "ffn_gate.weight",
             [ECO_ROLE_UP] = BLK "ffn_up.weight",
             [ECO_ROLE_DOWN] = BLK "ffn_down.weight",
             [ECO_ROLE_ATTN_NORM] = BLK "attn_norm.weight",
             [ECO_ROLE_FFN_NORM] = BLK "ffn_norm.weight",
             [ECO_ROLE_POST_ATTN_NORM] = BLK "post_attention_norm.weight",
             [ECO_ROLE_POST_FFN_NORM] = BLK "post_ffw_norm.weight",
             [ECO_ROLE_Q_BIAS] = BLK "attn_q.bias",
             [ECO_ROLE_K_BIAS] = BLK "attn_k.bias",
             [ECO_ROLE_V_BIAS] = BLK "attn_v.bias",
             [ECO_ROLE_O_BIAS] = BLK "attn_output.bias",
             [ECO_ROLE_Q_NORM] = BLK "attn_q_norm.weight",
             [ECO_ROLE_K_NORM] = BLK "attn_k_norm.weight"},
    .qkv = BLK "attn_qkv.weight",
    .qkv_bias = BLK "attn_qkv.bias",
    .gate_up = BLK "ffn_up.weight",
    .layers = "blk.",
};

static bool format_of_type(uint64_t type, enum eco_format *out)
{
    static const struct {
        unsigned id;
        enum eco_format format;
    } known[] = {{0, ECO_FORMAT_F32},  {1, ECO_FORMAT_F16},   {2, ECO_FORMAT_Q4_0},
                 {8, ECO_FORMAT_Q8_0}, {12, ECO_FORMAT_Q4_K}, {14, ECO_FORMAT_Q6_K},
                 {30, ECO_FORMAT_BF16}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].id == type) {
            *out = known[i].format;
            return true;
        }
    }
    return false;
}

/* One entry of the tensor list; types the engine has no kernel for are only marked. */
static int read_tensor(struct eco_gguf *h, struct eco_gguf_tensor *out, struct eco_err *err)
{
    struct eco_gguf_cursor *c = &h->c;
    uint64_t len = eco_gguf_uint(c, 8), d[4] = {1, 1, 1, 1}, codes = 0, constants = 0;
    const unsigned char *name = eco_gguf_take(c, len);
    uint64_t dims = eco_gguf_uint(c, 4);
    if (c->bad || len == 0 || len >= ECO_GGUF_MAX_KEY || dims < 1 || dims > 4) {
        return eco_gguf_bad(h, "a tensor's entry is wrong", err);
    }
    for (uint64_t i = 0; i < dims; i++) {
        d[i] = eco_gguf_uint(c, 8);
    }
    out->type = (uint32_t)eco_gguf_uint(c, 4);
    out->offset = eco_gguf_uint(c, 8);
    out->dims = (int)dims;
    memcpy(out->name, name, (size_t)len);
    out->name[len] = '\0';
    out->t.cols = d[0];
    out->t.rows = d[1];
    if (c->bad || d[0] == 0 || d[1] == 0 || d[0] > 1u << 30 || d[1] > 1u << 30) {
        return eco_gguf_bad(h, "a tensor's extents are wrong", err);
    }
    out->usable = format_of_type(out->type, &out->t.format) && d[2] == 1 && d[3] == 1;
    if (out->usable &&
        !eco_engine_matrix_bytes(out->t.format, (int)d[1], (int)d[0], &codes, &constants)) {
        return eco_gguf_bad(h, "a row is not made of whole blocks", err);
    }
    out->t.bytes = codes;
    return 0;
}

int eco_gguf_usable(const struct eco_gguf_tensor *t, const char *file, struct eco_err *err)
{
    enum eco_format format;
    const char *type = eco_model_ggml_type(t->type);
    if (t->usable) {
        return 0;
    }
    if (format_of_type(t->type, &format)) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, file, "tensor '%.80s' has %d dimensions",
                           t->name, t->dims);
    }
    return eco_err_set(err, ECO_E_UNSUPPORTED, file,
                       "tensor '%.80s' is of type %s: the engine reads F32, F16, BF16, Q8_0, Q4_0, "
                       "Q4_K and Q6_K; take the model's Q4_K_M, Q8_0 or F16 file",
                       t->name, type ? type : "unknown");
}

int eco_gguf_tensors(struct eco_gguf *h, struct eco_arena *arena, struct eco_gguf_tensor **out,
                     struct eco_err *err)
{
    struct eco_gguf_cursor *c = &h->c;
    uint64_t n = h->n_tensors;
    double align = eco_gguf_num(h, "general.alignment", 32.0);
    if (n > ECO_MODEL_MAX_TENSORS || !(align >= 1.0 && align <= 1048576.0)) {
        return eco_gguf_bad(h, "too many tensors, or an alignment out of range", err);
    }
    struct eco_gguf_tensor *list = eco_arena_array(arena, (size_t)n + 1, sizeof(*list));
    if (!list) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    int rc = 0;
    for (uint64_t i = 0; i < n && rc == 0; i++) {
        rc = read_tensor(h, &list[i], err);
    }
    size_t step = (size_t)align, base = (c->at + step - 1) / step * step;
    for (uint64_t i = 0; i < n && rc == 0; i++) {
        struct eco_gguf_tensor *x = &list[i];
        x->t.name = x->name;
        if (!x->usable) {
            continue;
        }
        if (base > c->end || x->offset > c->end - base || x->t.bytes > c->end - base - x->offset) {
            return eco_err_set(err, ECO_E_CONTENT, h->file,
                               "tensor '%.80s' does not lie in the file (cut short?)", x->name);
        }
        x->t.data = c->data + base + x->offset;
    }
    *out = list;
    return rc;
}

static int read_tensors(struct eco_gguf *h, struct eco_file_tensors *f, struct eco_err *err)
{
    struct eco_gguf_tensor *list = NULL;
    int rc = eco_gguf_tensors(h, eco_engine_files_arena(f), &list, err);
    for (uint64_t i = 0; list && i < h->n_tensors && rc == 0; i++) {
        rc = eco_gguf_usable(&list[i], h->file, err); /* without its head, a model would be tied */
        rc = rc ? rc : eco_engine_files_add(f, &list[i].t, err);
    }
    return rc;
}

static int family(const struct eco_gguf *h, struct eco_shape *s, struct eco_err *err)
{
    static const char *const known[] = {"llama", "qwen2", "qwen3", "phi3", "gemma2"};
    size_t i = 0;
    while (i < 5 && strcmp(known[i], h->architecture) != 0) {
        i++;
    }
    if (i == 5 || eco_gguf_num(h, ".expert_count", 0.0) > 0.0) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, h->file,
                           "architecture '%s'%s: the engine runs dense llama, qwen2, qwen3, phi3 "
                           "and gemma2 files",
                           h->architecture, i < 5 ? " with experts" : "");
    }
    s->rope.interleaved = i == 0; /* the converter reorders llama's q and k to pairs */
    s->qk_norm = i == 2;
    s->fused = i == 3;
    if (i == 4) {
        s->post_norms = s->gelu = true; /* its norms have their 1 added by the converter */
        s->embed_scale = sqrtf((float)s->hidden);
        s->window_every = 2;
        s->attn_softcap = (float)eco_gguf_num(h, ".attn_logit_softcapping", 50.0);
        s->logit_softcap = (float)eco_gguf_num(h, ".final_logit_softcapping", 30.0);
        s->query_scale = s->layers == 46 ? 1.0f / sqrtf((float)s->hidden / (float)s->heads) : 0.0f;
    }
    return 0;
}

/* A tensor of one float for each rotated pair. */
static int read_factors(const struct eco_gguf *h, const struct eco_file_tensors *f,
                        const char *name, const struct eco_rope *r, float *out, struct eco_err *err)
{
    const struct eco_file_tensor *t = eco_engine_files_find(f, name);
    if (!t || t->format != ECO_FORMAT_F32 || t->rows != 1 || t->cols * 2 != (uint64_t)r->dims ||
        t->cols > ECO_LONGROPE_MAX) {
        return eco_err_set(err, ECO_E_CONTENT, h->file, "'%s' is missing or has a wrong extent",
                           name);
    }
    memcpy(out, t->data, (size_t)t->cols * sizeof(*out));
    return 0;
}

/* YaRN as llama.cpp reads it: cosine and sine grow with the factor, and by a number of the file. */
static int read_yarn(const struct eco_gguf *h, struct eco_rope *r, struct eco_err *err)
{
    double part = eco_gguf_num(h, ".rope.scaling.yarn_ext_factor", 1.0);
    double log_mul = eco_gguf_num(h, ".rope.scaling.yarn_log_multiplier", 0.0);
    double own = eco_gguf_num(h, ".rope.scaling.yarn_attn_factor", 1.0);
    if (part != 1.0 || log_mul != 0.0 || own != 1.0) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, h->file,
                           "rope scaling 'yarn' with yarn_ext_factor, yarn_attn_factor or "
                           "yarn_log_multiplier of its own is not built in");
    }
    r->kind = ECO_ROPE_YARN;
    r->beta_fast = eco_gguf_num(h, ".rope.scaling.yarn_beta_fast", 32.0);
    r->beta_slow = eco_gguf_num(h, ".rope.scaling.yarn_beta_slow", 1.0);
    double by = r->attention_factor;
    r->attention_factor = 0.0; /* what the factor alone gives */
    r->attention_factor = by * (double)eco_engine_rope_magnitude(r);
    return 0;
}

/* Lists for short and long contexts; a factor that the file has besides divides all of them. */
static int read_longrope(const struct eco_gguf *h, const struct eco_file_tensors *f,
                         struct eco_rope *r, struct eco_err *err)
{
    int rc = read_factors(h, f, "rope_factors_long.weight", r, r->long_factor, err);
    rc = rc ? rc : read_factors(h, f, "rope_factors_short.weight", r, r->short_factor, err);
    r->kind = ECO_ROPE_LONGROPE;
    for (int i = 0; rc == 0 && i < r->dims / 2; i++) {
        r->long_factor[i] *= (float)r->factor;
        r->short_factor[i] *= (float)r->factor;
    }
    return rc;
}

static int read_scaling(const struct eco_gguf *h, const struct eco_file_tensors *f,
                        struct eco_rope *r, int context, struct eco_err *err)
{
    const struct eco_gguf_key *kind = eco_gguf_find(h, ".rope.scaling.type");
    r->factor = eco_gguf_num(h, ".rope.scaling.factor", eco_gguf_num(h, ".rope.scale_linear", 0.0));
    r->factor = r->factor != 0.0 ? r->factor : 1.0;
    r->original_context = eco_gguf_num(h, ".rope.scaling.original_context_length", context);
    r->attention_factor = eco_gguf_num(h, ".rope.scaling.attn_factor", 1.0);
    if (eco_engine_files_find(f, "rope_factors_long.weight") || eco_gguf_is(kind, "longrope")) {
        return read_longrope(h, f, r, err);
    }
    if (eco_gguf_is(kind, "yarn")) {
        return read_yarn(h, r, err);
    }
    if (kind && !eco_gguf_is(kind, "none") && !eco_gguf_is(kind, "linear")) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, h->file,
                           "rope scaling of this kind is not built in (linear, yarn, longrope and "
                           "Llama 3's are)");
    }
    r->kind = r->factor != 1.0 && !eco_gguf_is(kind, "none") ? ECO_ROPE_LINEAR : ECO_ROPE_PLAIN;
    return 0;
}

static int read_rope(const struct eco_gguf *h, const struct eco_file_tensors *f,
                     struct eco_shape *s, struct eco_err *err)
{
    const struct eco_file_tensor *factors = eco_engine_files_find(f, "rope_freqs.weight");
    s->rope.theta = eco_gguf_num(h, ".rope.freq_base", 10000.0);
    s->rope.dims = eco_gguf_int(h, ".rope.dimension_count", s->head_dim);
    if (factors) {
        if (factors->format != ECO_FORMAT_F32 || factors->cols * 2 != (uint64_t)s->rope.dims) {
            return eco_err_set(err, ECO_E_CONTENT, h->file, "rope_freqs.weight has a wrong extent");
        }
        s->rope.factors = factors->data;
    }
    return read_scaling(h, f, &s->rope, s->max_context, err);
}

static int read_shape(const struct eco_gguf *h, const struct eco_file_tensors *f,
                      struct eco_shape *out, struct eco_err *err)
{
    struct eco_shape s = {0};
    const struct eco_file_tensor *table = eco_engine_files_find(f, "token_embd.weight");
    if (!table) {
        return eco_err_set(err, ECO_E_CONTENT, h->file, "tensor 'token_embd.weight' is missing");
    }
    snprintf(s.architecture, sizeof(s.architecture), "%s", h->architecture);
    s.layers = eco_gguf_int(h, ".block_count", 0);
    s.hidden = eco_gguf_int(h, ".embedding_length", 0);
    s.heads = eco_gguf_int(h, ".attention.head_count", 0);
    s.kv_heads = eco_gguf_int(h, ".attention.head_count_kv", s.heads);
    s.head_dim = eco_gguf_int(h, ".attention.key_length", s.heads > 0 ? s.hidden / s.heads : 0);
    s.intermediate = eco_gguf_int(h, ".feed_forward_length", 0);
    s.max_context = eco_gguf_int(h, ".context_length", 0);
    s.window = eco_gguf_int(h, ".attention.sliding_window", 0);
    s.norm_eps = (float)eco_gguf_num(h, ".attention.layer_norm_rms_epsilon", 0.0);
    s.vocab = (int)table->rows;
    s.tied = !eco_engine_files_find(f, "output.weight");
    s.qkv_bias = eco_engine_files_find(f, "blk.0.attn_q.bias") ||
                 eco_engine_files_find(f, "blk.0.attn_qkv.bias");
    s.out_bias = eco_engine_files_find(f, "blk.0.attn_output.bias");
    int rc = family(h, &s, err);
    rc = rc ? rc : read_rope(h, f, &s, err);
    rc = rc ? rc : eco_engine_shape_check(&s, err);
    if (rc == 0) {
        *out = s;
    }
    return rc;
}

static int read_file(struct eco_file_tensors *f, const char *path, struct eco_shape *shape,
                     struct eco_err *err)
{
    struct eco_mapped m;
    struct eco_gguf h;
    struct eco_shape none = {0};
    int rc = eco_engine_files_map(f, path, &m, err);
    rc = rc ? rc : eco_gguf_read(path, m.data, m.bytes, eco_engine_files_arena(f), &h, err);
    rc = rc ? rc : family(&h, &none, err); /* experts before their tensors' dimensions */
    rc = rc ? rc : read_tensors(&h, f, err);
    rc = rc ? rc : eco_engine_files_sort(f, path, err);
    return rc ? rc : read_shape(&h, f, shape, err);
}

int eco_engine_open_gguf(const char *path, struct eco_shape *shape, struct eco_file_tensors **files,
                         struct eco_err *err)
{
    struct eco_file_tensors *f = NULL;
    int rc = eco_engine_files_new(&f, err);
    rc = rc ? rc : read_file(f, path, shape, err);
    if (rc) {
        eco_engine_files_free(f);
        return rc;
    }
    *files = f;
    return 0;
}
