/* The head of a .gguf file: metadata and the list of tensors, versions 2 and 3, little-endian. */
#include "gguf.h"

#include "base/arena.h"
#include "base/buf.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PAIRS 65536u
#define MAX_NAME 255u
#define MORE 1 /* the header goes on behind the bytes at hand */

enum value_type {
    T_U8,
    T_I8,
    T_U16,
    T_I16,
    T_U32,
    T_I32,
    T_F32,
    T_BOOL,
    T_STRING,
    T_ARRAY,
    T_U64,
    T_I64,
    T_F64,
    T_COUNT
};

static const unsigned char value_size[T_COUNT] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

static const struct {
    const char *name; /* NULL: no such type */
    unsigned weights, bytes;
    enum eco_dtype dtype;
    enum eco_precision precision;
} types[ECO_GGML_TYPE_IDS] = {
#define X(id, name, weights, bytes, dtype, precision)                                              \
    [id] = {#name, weights, bytes, ECO_DTYPE_##dtype, ECO_PREC_##precision},
    ECO_GGML_TYPES(X)
#undef X
};

const char *eco_model_ggml_type(uint32_t type)
{
    return type < ECO_GGML_TYPE_IDS ? types[type].name : NULL;
}

static const struct {
    const char *key;
    size_t offset;
    int64_t hi;
} number_keys[] = {
#define X(field, key, hi) {key, offsetof(struct eco_gguf_meta, field), hi},
    ECO_GGUF_KEYS(X)
#undef X
};

struct name {
    const char *s; /* not NUL-terminated */
    size_t len;
    uint64_t at;
};

struct reader {
    const char *file;
    const unsigned char *p;
    size_t len, at;
    uint64_t file_bytes; /* 0: not known */
    struct eco_err *err;
    struct eco_arena arena;
    struct eco_gguf_meta meta;
    uint64_t type_bytes[ECO_GGML_TYPE_IDS]; /* of matrices */
};

static int bad(struct reader *r, uint64_t at, const char *what)
{
    return eco_err_set_at(r->err, ECO_E_CONTENT, r->file, 0, (long)at, "'%.80s' byte %llu: %.100s",
                          r->file, (unsigned long long)at, what);
}

/** 0 when n more bytes are there; MORE when the file goes on; else the file is cut off. */
static int need(struct reader *r, uint64_t n, const char *what)
{
    if (n <= r->len - r->at) {
        return 0;
    }
    uint64_t end = r->file_bytes > 0 ? r->file_bytes : (uint64_t)ECO_MODEL_MAX_GGUF_HEADER;
    if (end < r->at || n > end - r->at) {
        return bad(r, r->at, what);
    }
    return r->file_bytes == 0 || r->file_bytes > r->len ? MORE : bad(r, r->at, what);
}

static uint64_t little(const unsigned char *p, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = n; i > 0; i--) {
        v = v << 8 | p[i - 1];
    }
    return v;
}

static int take(struct reader *r, unsigned n, uint64_t *out)
{
    int rc = need(r, n, "the file ends inside its header");
    if (rc == 0) {
        *out = little(r->p + r->at, n);
        r->at += n;
    }
    return rc;
}

static int take_string(struct reader *r, struct name *out, uint64_t limit, const char *what)
{
    uint64_t n;
    uint64_t at = r->at;
    int rc = take(r, 8, &n);
    if (rc) {
        return rc;
    }
    if (n > limit) {
        return bad(r, at, what);
    }
    rc = need(r, n, what);
    if (rc == 0) {
        *out = (struct name){(const char *)r->p + r->at, (size_t)n, at};
        r->at += (size_t)n;
    }
    return rc;
}

static bool same(const struct name *n, const char *text)
{
    return n->len == strlen(text) && memcmp(n->s, text, n->len) == 0;
}

/** A scalar as a whole number; false for a fraction, a string or over 2^63. */
static bool whole(unsigned type, uint64_t raw, int64_t *out)
{
    switch (type) {
    case T_U8:
    case T_U16:
    case T_U32:
    case T_BOOL:
        *out = (int64_t)raw;
        return true;
    case T_I8:
        *out = raw < 0x80 ? (int64_t)raw : (int64_t)raw - 0x100;
        return true;
    case T_I16:
        *out = (int16_t)raw;
        return true;
    case T_I32:
        *out = (int32_t)raw;
        return true;
    case T_U64:
    case T_I64:
        *out = (int64_t)raw;
        return *out >= 0;
    default:
        return false;
    }
}

/** Where a key's number goes; NULL: a key that does not matter. */
static int64_t *field_of(struct eco_gguf_meta *m, const struct name *key, int64_t *hi)
{
    *hi = INT64_C(1) << 20;
    if (same(key, "general.file_type")) {
        return &m->file_type;
    }
    if (same(key, "general.alignment")) {
        return &m->alignment;
    }
    if (same(key, "split.count")) {
        return &m->splits;
    }
    const char *dot = memchr(key->s, '.', key->len);
    if (dot == NULL || strncmp(key->s, "general.", 8) == 0) {
        return NULL;
    }
    struct name rest = {dot + 1, key->len - (size_t)(dot + 1 - key->s), 0};
    for (size_t i = 0; i < sizeof number_keys / sizeof number_keys[0]; i++) {
        if (same(&rest, number_keys[i].key)) {
            *hi = number_keys[i].hi;
            return (int64_t *)(void *)((char *)m + number_keys[i].offset);
        }
    }
    return NULL;
}

static int store(struct reader *r, const struct name *key, unsigned type, uint64_t raw)
{
    int64_t hi, v, *field = field_of(&r->meta, key, &hi);
    if (field == NULL) {
        return 0;
    }
    if (!whole(type, raw, &v) || v < 0 || v > hi) {
        return bad(r, key->at, "a number of the metadata is out of its range");
    }
    *field = v;
    return 0;
}

/** A list by layer: the largest counts; a list of booleans counts its true entries. */
static int store_list(struct reader *r, const struct name *key, unsigned type, uint64_t count)
{
    int64_t hi, most = 0, trues = 0, *field = field_of(&r->meta, key, &hi);
    if (same(key, "tokenizer.ggml.tokens")) {
        r->meta.tokens = count <= 1u << 26 ? (int64_t)count : -1;
    }
    if (field == NULL || count == 0 || count > 4096) {
        return 0;
    }
    for (uint64_t i = 0; i < count; i++) {
        int64_t v;
        if (!whole(type, little(r->p + r->at + i * value_size[type], value_size[type]), &v) ||
            v < 0 || v > hi) {
            return bad(r, key->at, "a number of the metadata is out of its range");
        }
        most = v > most ? v : most;
        trues += v != 0;
    }
    bool pattern = field == &r->meta.window_layers;
    *field = pattern ? trues : most;
    r->meta.window_list |= pattern;
    r->meta.widest |= !pattern;
    return 0;
}

static int take_list(struct reader *r, const struct name *key)
{
    uint64_t type, count, at = r->at;
    struct name text;
    int rc = take(r, 4, &type);
    rc = rc ? rc : take(r, 8, &count);
    if (rc) {
        return rc;
    }
    if (type >= T_COUNT || type == T_ARRAY) {
        return bad(r, at, "a list of an unknown type");
    }
    if (type == T_STRING) {
        rc = store_list(r, key, T_STRING, count);
        for (uint64_t i = 0; rc == 0 && i < count; i++) {
            rc = take_string(r, &text, UINT64_MAX, "a string reaches beyond the file");
        }
        return rc;
    }
    if (count > UINT64_MAX / 8) {
        return bad(r, at, "a list reaches beyond the file");
    }
    uint64_t bytes = count * value_size[type];
    rc = need(r, bytes, "a list reaches beyond the file");
    rc = rc ? rc : store_list(r, key, (unsigned)type, count);
    r->at += rc ? 0 : (size_t)bytes;
    return rc;
}

static int take_pair(struct reader *r, struct name *key)
{
    uint64_t type, raw;
    struct name text;
    int rc = take_string(r, key, 65535, "a key is longer than 65535 bytes");
    rc = rc ? rc : take(r, 4, &type);
    if (rc) {
        return rc;
    }
    if (key->len == 0 || !eco_str_is_utf8(key->s, key->len)) {
        return bad(r, key->at, "a key is empty or not UTF-8");
    }
    if (type >= T_COUNT) {
        return bad(r, r->at - 4, "a value of an unknown type");
    }
    if (type == T_ARRAY) {
        return take_list(r, key);
    }
    if (type != T_STRING) {
        rc = take(r, value_size[type], &raw);
        return rc ? rc : store(r, key, (unsigned)type, raw);
    }
    rc = take_string(r, &text, UINT64_MAX, "a string reaches beyond the file");
    if (rc == 0 && same(key, "general.architecture")) {
        size_t n = text.len < sizeof r->meta.architecture ? text.len : 0;
        for (size_t i = 0; i < n; i++) {
            n = text.s[i] > 0x20 && text.s[i] < 0x7f ? n : 0;
        }
        if (n == 0) {
            return bad(r, text.at, "'general.architecture' is no name");
        }
        memcpy(r->meta.architecture, text.s, n);
        r->meta.architecture[n] = '\0';
    }
    return rc;
}

static int compare_names(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int d = memcmp(x->s, y->s, n);
    return d ? d : (x->len > y->len) - (x->len < y->len);
}

static int check_twice(struct reader *r, struct name *names, size_t n, const char *what)
{
    if (n > 1) {
        qsort(names, n, sizeof *names, compare_names);
    }
    for (size_t i = 1; i < n; i++) {
        if (compare_names(&names[i - 1], &names[i]) == 0) {
            uint64_t at = names[i].at > names[i - 1].at ? names[i].at : names[i - 1].at;
            return bad(r, at, what);
        }
    }
    return 0;
}

/** Grows with what was read, not with what the header claims. */
static struct name *grow(struct reader *r, struct name *names, size_t n)
{
    if (n & (n - 1) || (n > 0 && n < 64)) {
        return names;
    }
    struct name *bigger = eco_arena_array(&r->arena, n > 0 ? 2 * n : 64, sizeof *names);
    if (bigger != NULL && n > 0) {
        memcpy(bigger, names, n * sizeof *names);
    }
    return bigger;
}

static int no_memory(struct reader *r)
{
    return eco_err_set(r->err, ECO_E_NO_MEMORY, r->file, "out of memory");
}

static int take_metadata(struct reader *r, uint64_t pairs)
{
    struct name *names = NULL;
    for (size_t i = 0; i < pairs; i++) {
        names = grow(r, names, i);
        if (names == NULL) {
            return no_memory(r);
        }
        int rc = take_pair(r, &names[i]);
        if (rc) {
            return rc;
        }
    }
    return check_twice(r, names, (size_t)pairs, "a key is there twice");
}

/** Dimensions (innermost first in the file), type, offset: into x and its byte range. */
static int take_layout(struct reader *r, const struct name *name, struct eco_tensor *x,
                       struct eco_range *range)
{
    uint64_t n_dims, type = 0, offset = 0, file_dims[4] = {0};
    int rc = take(r, 4, &n_dims);
    if (rc) {
        return rc;
    }
    if (n_dims > 4) {
        return bad(r, name->at, "a tensor has more than 4 dimensions");
    }
    x->n_dims = (int)n_dims;
    x->elements = 1;
    for (int i = 0; rc == 0 && i < x->n_dims; i++) {
        rc = take(r, 8, &file_dims[i]);
        uint64_t d = file_dims[i];
        if (rc == 0 && d != 0 && x->elements > UINT64_MAX / 512 / d) {
            return bad(r, name->at, "a tensor has impossible dimensions");
        }
        x->elements *= d;
        x->dims[x->n_dims - 1 - i] = d;
    }
    rc = rc ? rc : take(r, 4, &type);
    rc = rc ? rc : take(r, 8, &offset);
    if (rc) {
        return rc;
    }
    if (type >= ECO_GGML_TYPE_IDS || types[type].name == NULL) {
        return bad(r, name->at, "a tensor has an unknown type");
    }
    if (file_dims[0] % types[type].weights != 0) {
        return bad(r, name->at, "the rows of a tensor are no whole blocks of its type");
    }
    x->dtype = types[type].dtype;
    x->bytes = x->elements / types[type].weights * types[type].bytes;
    if (offset > UINT64_MAX / 4 || x->bytes > UINT64_MAX / 4) {
        return bad(r, name->at, "a tensor reaches beyond the file");
    }
    *range = (struct eco_range){offset, offset + x->bytes, (uint32_t)type};
    return 0;
}

static int take_tensor(struct reader *r, struct name *name, struct eco_range *range,
                       struct eco_tally *t)
{
    char text[MAX_NAME + 1];
    struct eco_tensor x = {.name = text};
    int rc = take_string(r, name, MAX_NAME, "a tensor's name is longer than 255 bytes");
    if (rc) {
        return rc;
    }
    if (name->len == 0 || memchr(name->s, '\0', name->len) != NULL ||
        !eco_str_is_utf8(name->s, name->len)) {
        return bad(r, name->at, "a tensor's name is empty or not UTF-8");
    }
    memcpy(text, name->s, name->len);
    text[name->len] = '\0';
    rc = take_layout(r, name, &x, range);
    if (rc) {
        return rc;
    }
    enum eco_tensor_class c = eco_tensor_classify(&x, t->layers);
    if (c == ECO_TENSOR_LINEAR || c == ECO_TENSOR_EXPERT) {
        uint64_t *sum = &r->type_bytes[range->index];
        *sum = x.bytes > UINT64_MAX - *sum ? UINT64_MAX : *sum + x.bytes;
    }
    eco_tally_add(t, &x);
    return 0;
}

/** Ranges must start on the alignment, lie in the file and not overlap. */
static int check_ranges(struct reader *r, struct eco_range *ranges, size_t n)
{
    uint64_t align = r->meta.alignment > 0 ? (uint64_t)r->meta.alignment : 32, at = 0;
    if (align & (align - 1) || align > 65536) {
        return bad(r, 0, "'general.alignment' is no power of two up to 65536");
    }
    uint64_t data = (r->at + align - 1) / align * align;
    eco_range_sort(ranges, n);
    for (size_t i = 0; i < n; i++) {
        const struct eco_range *x = &ranges[i];
        if (x->begin % align != 0) {
            return bad(r, data + x->begin, "a tensor starts off the alignment");
        }
        if (x->begin < at) {
            return bad(r, data + x->begin, "two tensors overlap");
        }
        if (r->file_bytes > 0 && (r->file_bytes < data || x->end > r->file_bytes - data)) {
            return bad(r, data + x->begin, "a tensor reaches beyond the end of the file");
        }
        at = x->end;
    }
    return 0;
}

static int take_tensors(struct reader *r, uint64_t n, struct eco_tally *t)
{
    struct name *names = NULL;
    /* a tensor's entry has 24 bytes at least: a count cannot claim more than the bytes hold */
    int rc = need(r, n * 24, "the file ends inside its list of tensors");
    struct eco_range *ranges =
        rc ? NULL : eco_arena_array(&r->arena, (size_t)n + 1, sizeof *ranges);
    if (rc || ranges == NULL) {
        return rc ? rc : no_memory(r);
    }
    for (size_t i = 0; i < n; i++) {
        names = grow(r, names, i);
        if (names == NULL) {
            return no_memory(r);
        }
        rc = take_tensor(r, &names[i], &ranges[i], t);
        if (rc) {
            return rc;
        }
    }
    rc = check_twice(r, names, (size_t)n, "two tensors have one name");
    return rc ? rc : check_ranges(r, ranges, (size_t)n);
}

static int read_all(struct reader *r, struct eco_tally *t)
{
    uint64_t magic, version, tensors, pairs;
    int rc = take(r, 4, &magic);
    rc = rc ? rc : take(r, 4, &version);
    if (rc) {
        return rc;
    }
    if (magic != 0x46554747u) {
        return bad(r, 0, "this is no GGUF file");
    }
    if (version != 2 && version != 3) {
        return bad(r, 4,
                   version & 0xffff ? "only versions 2 and 3 of GGUF are read"
                                    : "big-endian GGUF files are not read");
    }
    rc = take(r, 8, &tensors);
    rc = rc ? rc : take(r, 8, &pairs);
    if (rc) {
        return rc;
    }
    if (tensors > ECO_MODEL_MAX_TENSORS || pairs > MAX_PAIRS) {
        return bad(r, 8, "more than 262144 tensors or 65536 keys");
    }
    rc = take_metadata(r, pairs);
    if (rc) {
        return rc;
    }
    if (r->meta.splits > 1) {
        return bad(r, 8, "this is one part of a split file: merge the parts, or give --params-b");
    }
    t->layers = r->meta.layers > 0 ? (int)r->meta.layers : 0;
    return take_tensors(r, tensors, t);
}

static int windowed_layers(const struct eco_gguf_meta *g)
{
    static const struct {
        const char *architecture;
        int every; /* all but every n-th layer */
    } rules[] = {{"gemma2", 2}, {"gemma3", 6}, {"gpt-oss", 2}, {"cohere2", 4}, {"olmo2", 4}};
    int n = (int)g->layers;
    if (g->window_list) {
        return (int)g->window_layers < n ? (int)g->window_layers : n;
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (strcmp(g->architecture, rules[i].architecture) == 0) {
            int every = g->window_layers > 0 ? (int)g->window_layers : rules[i].every;
            return n - n / every;
        }
    }
    return n;
}

static int fill_shape(struct reader *r, const struct eco_tally *t, struct eco_model *m)
{
    const struct eco_gguf_meta *g = &r->meta;
    if (g->architecture[0] == '\0' || g->layers < 1 || g->hidden < 1 || g->heads < 1) {
        return bad(r, 24,
                   "the metadata lack general.architecture, block_count, embedding_length or "
                   "attention.head_count");
    }
    if (t->vocab > 1u << 26) {
        return bad(r, 24, "the token table has more than 67108864 rows");
    }
    m->layers = (int)g->layers;
    m->hidden = (int)g->hidden;
    m->n_heads = (int)g->heads;
    m->n_kv_heads = (int)(g->kv_heads > 0 ? g->kv_heads : g->heads);
    m->head_dim = (int)(g->key_length > 0 ? g->key_length : g->hidden / g->heads);
    m->max_context = g->context > 0 ? (int)g->context : 0;
    m->vocab = t->vocab > 0    ? (int)t->vocab
               : g->tokens > 0 ? (int)g->tokens
               : g->vocab > 0  ? (int)g->vocab
                               : 0;
    if (m->vocab == 0) {
        return bad(r, 24, "there is no token table and no list of tokens");
    }
    if (g->kv_lora_rank > 0) {
        m->kv_lora_rank = (int)g->kv_lora_rank;
        m->rope_head_dim = g->rope_dim > 0 ? (int)g->rope_dim : 0;
        m->n_kv_heads = m->n_heads;
    }
    if (g->experts > 1) {
        m->experts = (int)g->experts;
        m->experts_per_token = (int)(g->experts_used > 0 ? g->experts_used : g->experts);
    }
    int64_t ff =
        m->experts && g->expert_intermediate > 0 ? g->expert_intermediate : g->intermediate;
    m->intermediate = ff > 0 ? (int)ff : 0;
    if (g->window > 0) {
        m->sliding_window = (int)g->window;
        m->sliding_layers = windowed_layers(g);
    }
    if (m->n_kv_heads > m->n_heads || m->head_dim < 1 || m->experts_per_token > m->experts) {
        return bad(r, 24, "heads, key-value heads, experts and widths contradict each other");
    }
    return 0;
}

static void fill_precision(const struct reader *r, struct eco_model *m, struct eco_model_info *info)
{
    static const struct {
        int id;
        const char *name;
        enum eco_precision precision;
        bool exact;
    } ftypes[] = {
#define X(id, name, precision, exact) {id, name, ECO_PREC_##precision, exact},
        ECO_GGUF_FTYPES(X)
#undef X
    };
    for (size_t i = 0; i < sizeof ftypes / sizeof ftypes[0]; i++) {
        if (ftypes[i].id == (r->meta.file_type & ~INT64_C(1024))) {
            m->stored = ftypes[i].precision;
            if (!ftypes[i].exact) {
                snprintf(info->note, sizeof info->note, "stored as %s; taken for %s",
                         ftypes[i].name, eco_precision_name(m->stored));
            }
            return;
        }
    }
    size_t most = 0;
    for (size_t i = 1; i < ECO_GGML_TYPE_IDS; i++) {
        most = r->type_bytes[i] > r->type_bytes[most] ? i : most;
    }
    m->stored = r->type_bytes[most] > 0 ? types[most].precision : ECO_PREC_NONE;
}

static int fill(struct reader *r, struct eco_tally *t, struct eco_model *m)
{
    struct eco_model_info *info = &t->info;
    int rc = fill_shape(r, t, m);
    if (rc) {
        return rc;
    }
    m->tied = info->class_params[ECO_TENSOR_LM_HEAD] == 0;
    if (t->overflow || !eco_model_total(m, info)) {
        return bad(r, 8, "the tensors have no parameters, or more than 1e15");
    }
    fill_precision(r, m, info);
    if (r->meta.widest && info->note[0] == '\0') {
        snprintf(info->note, sizeof info->note,
                 "layers differ in heads or widths: the largest is taken for all");
    }
    for (int i = 0; i < ECO_TENSOR_CLASSES; i++) {
        m->file_bytes += info->class_bytes[i];
    }
    memcpy(info->architecture, r->meta.architecture, sizeof info->architecture);
    info->files = 1;
    m->shape_basis = ECO_BASIS_COMPUTED;
    m->source = "gguf";
    return 0;
}

int eco_model_from_gguf(const char *file, const char *name, const unsigned char *bytes, size_t len,
                        uint64_t file_bytes, struct eco_model *out, struct eco_model_info *info,
                        struct eco_err *err)
{
    struct reader r = {.file = file, .p = bytes, .len = len, .file_bytes = file_bytes, .err = err};
    struct eco_tally t;
    struct eco_model m;
    memset(&m, 0, sizeof m);
    for (size_t i = 0; i < sizeof number_keys / sizeof number_keys[0]; i++) {
        *(int64_t *)(void *)((char *)&r.meta + number_keys[i].offset) = -1;
    }
    r.meta.file_type = r.meta.alignment = r.meta.tokens = r.meta.splits = -1;
    eco_tally_init(&t, NULL);
    eco_arena_init(&r.arena, 0);
    int rc = read_all(&r, &t);
    if (rc == 0) {
        rc = fill(&r, &t, &m);
    }
    eco_arena_done(&r.arena);
    if (rc) {
        return rc;
    }
    eco_model_set_name(&m, name != NULL ? name : file);
    *out = m;
    if (info != NULL) {
        *info = t.info;
    }
    return 0;
}
