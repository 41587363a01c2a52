/*
 * A GGUF file (version 2 or 3; ggml's docs/gguf.md), mapped: metadata to a shape, tensors by name.
 * Everything read is checked against the end of the file first.
 */
#include "file_tensors.h"

#include "half.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_KEYS 65536
#define MAX_KEY_BYTES 256
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
};

enum value_type {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_TYPES
};

static const unsigned char value_bytes[GGUF_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/* A place in the file; `bad` once something lay behind the end: reads are 0 from then on. */
struct cursor {
    const unsigned char *data;
    size_t at, end;
    bool bad;
};

struct key {
    const char *name; /* not NUL-terminated */
    size_t len;
    enum value_type type;
    const unsigned char *value; /* of a STRING: its bytes */
    size_t value_len;
};

struct header {
    const char *file;
    struct key *keys;
    size_t n_keys;
    char architecture[32];
};

static const unsigned char *take(struct cursor *c, uint64_t n)
{
    if (c->bad || n > c->end - c->at) {
        c->bad = true;
        return NULL;
    }
    const unsigned char *p = c->data + c->at;
    c->at += (size_t)n;
    return p;
}

static uint64_t little(const unsigned char *p, int n)
{
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; i--) {
        v = v << 8 | p[i];
    }
    return v;
}

static uint64_t number(struct cursor *c, int n)
{
    const unsigned char *p = take(c, (uint64_t)n);
    return p ? little(p, n) : 0;
}

static void skip_array(struct cursor *c)
{
    uint64_t type = number(c, 4), n = number(c, 8);
    if (type == GGUF_STRING) {
        for (uint64_t i = 0; i < n && !c->bad; i++) {
            take(c, number(c, 8));
        }
    } else if (type < GGUF_TYPES && value_bytes[type] > 0 && n <= c->end) {
        take(c, n * value_bytes[type]);
    } else { /* arrays of arrays are not in use */
        c->bad = true;
    }
}

static void read_key(struct cursor *c, struct key *k)
{
    uint64_t len = number(c, 8);
    k->name = (const char *)take(c, len);
    k->len = (size_t)len;
    uint64_t type = number(c, 4);
    c->bad = c->bad || type >= GGUF_TYPES || len == 0 || len > MAX_KEY_BYTES;
    if (c->bad) {
        return;
    }
    k->type = (enum value_type)type;
    if (type == GGUF_ARRAY) {
        k->value = c->data + c->at;
        skip_array(c);
    } else {
        k->value_len = type == GGUF_STRING ? (size_t)number(c, 8) : value_bytes[type];
        k->value = take(c, k->value_len);
    }
}

/* A key of the file, or of the architecture when the name begins with a dot. */
static const struct key *find(const struct header *h, const char *name)
{
    char full[MAX_KEY_BYTES];
    int len = snprintf(full, sizeof(full), "%s%s", name[0] == '.' ? h->architecture : "", name);
    for (size_t i = 0; i < h->n_keys; i++) {
        if (h->keys[i].len == (size_t)len && memcmp(h->keys[i].name, full, (size_t)len) == 0) {
            return &h->keys[i];
        }
    }
    return NULL;
}

static double get_num(const struct header *h, const char *name, double otherwise)
{
    const struct key *k = find(h, name);
    uint64_t bits = k && k->value_len <= 8 && k->type != GGUF_STRING && k->type != GGUF_ARRAY
                        ? little(k->value, (int)k->value_len)
                        : 0;
    double d;
    switch (k ? k->type : GGUF_TYPES) {
    case GGUF_U8:
    case GGUF_U16:
    case GGUF_U32:
    case GGUF_U64:
        return (double)bits;
    case GGUF_I8:
        return (double)(int8_t)bits;
    case GGUF_I16:
        return (double)(int16_t)bits;
    case GGUF_I32:
        return (double)(int32_t)bits;
    case GGUF_I64:
        return (double)(int64_t)bits;
    case GGUF_F32:
        return (double)eco_bits_float((uint32_t)bits);
    case GGUF_F64:
        memcpy(&d, &bits, sizeof(d));
        return d;
    default:
        return otherwise;
    }
}

static int get_int(const struct header *h, const char *name, int otherwise)
{
    double v = get_num(h, name, (double)otherwise);
    return v >= 0.0 && v <= 1073741824.0 ? (int)v : -1; /* the shape's check names it */
}

static bool text_is(const struct key *k, const char *text)
{
    return k && k->type == GGUF_STRING && k->value_len == strlen(text) &&
           memcmp(k->value, text, k->value_len) == 0;
}

static int bad(const struct header *h, const struct cursor *c, const char *what,
               struct eco_err *err)
{
    return eco_err_set_at(err, ECO_E_CONTENT, h->file, 0, (long)c->at, "gguf: %s", what);
}

static int read_keys(struct header *h, struct cursor *c, uint64_t n, struct eco_arena *arena,
                     struct eco_err *err)
{
    if (n > MAX_KEYS) {
        return bad(h, c, "too many keys", err);
    }
    h->keys = eco_arena_array(arena, (size_t)n + 1, sizeof(*h->keys));
    if (!h->keys) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    for (uint64_t i = 0; i < n; i++) {
        read_key(c, &h->keys[i]);
        if (c->bad) {
            return bad(h, c, "a key does not lie in the file", err);
        }
    }
    h->n_keys = (size_t)n;
    const struct key *arch = find(h, "general.architecture");
    if (!arch || arch->type != GGUF_STRING) {
        return bad(h, c, "no architecture", err);
    }
    snprintf(h->architecture, sizeof(h->architecture), "%.*s",
             arch->value_len < 31 ? (int)arch->value_len : 31, (const char *)arch->value);
    return 0;
}

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

struct tensor_info {
    struct eco_file_tensor t;
    char name[MAX_KEY_BYTES];
    uint64_t offset;
    bool usable;
};

/* One entry of the tensor list; types the engine has no kernel for are passed over. */
static int read_tensor(const struct header *h, struct cursor *c, struct tensor_info *out,
                       struct eco_err *err)
{
    uint64_t len = number(c, 8), d[4] = {1, 1, 1, 1}, codes = 0, constants = 0;
    const unsigned char *name = take(c, len);
    uint64_t dims = number(c, 4);
    if (c->bad || len == 0 || len >= MAX_KEY_BYTES || dims < 1 || dims > 4) {
        return bad(h, c, "a tensor's entry is wrong", err);
    }
    for (uint64_t i = 0; i < dims; i++) {
        d[i] = number(c, 8);
    }
    uint64_t type = number(c, 4);
    out->offset = number(c, 8);
    memcpy(out->name, name, (size_t)len);
    out->name[len] = '\0';
    out->t.cols = d[0];
    out->t.rows = d[1];
    if (c->bad || d[0] == 0 || d[1] == 0 || d[0] > 1u << 30 || d[1] > 1u << 30) {
        return bad(h, c, "a tensor's extents are wrong", err);
    }
    out->usable = format_of_type(type, &out->t.format) && d[2] == 1 && d[3] == 1;
    if (out->usable &&
        !eco_engine_matrix_bytes(out->t.format, (int)d[1], (int)d[0], &codes, &constants)) {
        return bad(h, c, "a row is not made of whole blocks", err);
    }
    out->t.bytes = codes;
    return 0;
}

static int read_tensors(const struct header *h, struct cursor *c, uint64_t n,
                        struct eco_file_tensors *f, struct eco_err *err)
{
    struct eco_arena *arena = eco_engine_files_arena(f);
    double align = get_num(h, "general.alignment", 32.0);
    if (n > ECO_MODEL_MAX_TENSORS || !(align >= 1.0 && align <= 1048576.0)) {
        return bad(h, c, "too many tensors, or an alignment out of range", err);
    }
    struct tensor_info *list = eco_arena_array(arena, (size_t)n + 1, sizeof(*list));
    if (!list) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    int rc = 0;
    for (uint64_t i = 0; i < n && rc == 0; i++) {
        rc = read_tensor(h, c, &list[i], err);
    }
    size_t step = (size_t)align, base = (c->at + step - 1) / step * step;
    for (uint64_t i = 0; i < n && rc == 0; i++) {
        struct tensor_info *x = &list[i];
        if (!x->usable) {
            continue;
        }
        if (base > c->end || x->offset > c->end - base || x->t.bytes > c->end - base - x->offset) {
            return eco_err_set(err, ECO_E_CONTENT, h->file,
                               "tensor '%.80s' does not lie in the file (cut short?)", x->name);
        }
        x->t.data = c->data + base + x->offset;
        x->t.name = x->name;
        rc = eco_engine_files_add(f, &x->t, err);
    }
    return rc;
}

static int family(const struct header *h, struct eco_shape *s, struct eco_err *err)
{
    static const char *const known[] = {"llama", "qwen2", "qwen3", "phi3", "gemma2"};
    size_t i = 0;
    while (i < 5 && strcmp(known[i], h->architecture) != 0) {
        i++;
    }
    if (i == 5 || get_num(h, ".expert_count", 0.0) > 0.0) {
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
        s->attn_softcap = (float)get_num(h, ".attn_logit_softcapping", 50.0);
        s->logit_softcap = (float)get_num(h, ".final_logit_softcapping", 30.0);
        s->query_scale = s->layers == 46 ? 1.0f / sqrtf((float)s->hidden / (float)s->heads) : 0.0f;
    }
    return 0;
}

static int read_rope(const struct header *h, const struct eco_file_tensors *f, struct eco_shape *s,
                     struct eco_err *err)
{
    const struct key *kind = find(h, ".rope.scaling.type");
    const struct eco_file_tensor *factors = eco_engine_files_find(f, "rope_freqs.weight");
    s->rope.theta = get_num(h, ".rope.freq_base", 10000.0);
    s->rope.dims = get_int(h, ".rope.dimension_count", s->head_dim);
    s->rope.factor = get_num(h, ".rope.scaling.factor", 1.0);
    if (text_is(kind, "linear")) {
        s->rope.kind = ECO_ROPE_LINEAR;
    } else if ((kind && !text_is(kind, "none")) ||
               eco_engine_files_find(f, "rope_factors_long.weight")) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, h->file,
                           "rope scaling of this kind is not built in (linear and Llama 3 are)");
    }
    if (factors) {
        if (factors->format != ECO_FORMAT_F32 || factors->cols * 2 != (uint64_t)s->rope.dims) {
            return eco_err_set(err, ECO_E_CONTENT, h->file, "rope_freqs.weight has a wrong extent");
        }
        s->rope.factors = factors->data;
    }
    return 0;
}

static int read_shape(const struct header *h, const struct eco_file_tensors *f,
                      struct eco_shape *out, struct eco_err *err)
{
    struct eco_shape s = {0};
    const struct eco_file_tensor *table = eco_engine_files_find(f, "token_embd.weight");
    if (!table) {
        return eco_err_set(err, ECO_E_CONTENT, h->file, "tensor 'token_embd.weight' is missing");
    }
    snprintf(s.architecture, sizeof(s.architecture), "%s", h->architecture);
    s.layers = get_int(h, ".block_count", 0);
    s.hidden = get_int(h, ".embedding_length", 0);
    s.heads = get_int(h, ".attention.head_count", 0);
    s.kv_heads = get_int(h, ".attention.head_count_kv", s.heads);
    s.head_dim = get_int(h, ".attention.key_length", s.heads > 0 ? s.hidden / s.heads : 0);
    s.intermediate = get_int(h, ".feed_forward_length", 0);
    s.max_context = get_int(h, ".context_length", 0);
    s.window = get_int(h, ".attention.sliding_window", 0);
    s.norm_eps = (float)get_num(h, ".attention.layer_norm_rms_epsilon", 0.0);
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
    struct header h = {.file = path};
    int rc = eco_engine_files_map(f, path, &m, err);
    if (rc) {
        return rc;
    }
    struct cursor c = {.data = m.data, .end = m.bytes};
    const unsigned char *magic = take(&c, 4);
    uint64_t version = number(&c, 4), tensors = number(&c, 8), keys = number(&c, 8);
    if (c.bad || memcmp(magic, "GGUF", 4) != 0 || version < 2 || version > 3) {
        return bad(&h, &c, "this is no GGUF file of version 2 or 3", err);
    }
    rc = read_keys(&h, &c, keys, eco_engine_files_arena(f), err);
    rc = rc ? rc : read_tensors(&h, &c, tensors, f, err);
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
