/*
 * The header of a safetensors file: 8 bytes of length, a JSON object of tensors, their bytes
 * without holes or overlaps. Everything that lies about the file is an error with its offset.
 */
#include "tensors.h"

#include "base/arena.h"
#include "base/json.h"

#include <string.h>

/* The JSON tree of the largest real headers takes about seven times their text. */
#define TREE_LIMIT ((size_t)256 << 20)

struct header {
    const char *file;
    const struct eco_json *root;
    uint64_t data_bytes; /* after the header; UINT64_MAX: not known */
    uint64_t data_at;    /* offset of the data in the file */
    struct eco_range *ranges;
    size_t n;
    struct eco_arena arena;
};

static const struct {
    const char *name;
    unsigned bits;
} dtypes[] = {{"", 0},
#define X(name, bits) {#name, bits},
              ECO_DTYPES(X)
#undef X
};

static int bad(const char *file, uint64_t at, struct eco_err *err, const char *name,
               const char *what)
{
    return eco_err_set_at(err, ECO_E_CONTENT, file, 0, (long)at, "'%.60s' byte %llu: '%.60s' %s",
                          file, (unsigned long long)at, name, what);
}

int eco_safetensors_header(const char *file, const unsigned char first[8], uint64_t file_bytes,
                           size_t *head, struct eco_err *err)
{
    uint64_t n = 0;
    for (int i = 7; i >= 0; i--) {
        n = n << 8 | first[i];
    }
    if (n < 2 || (file_bytes > 0 && (file_bytes < 8 || n > file_bytes - 8))) {
        return eco_err_set_at(err, ECO_E_CONTENT, file, 0, 0,
                              "'%.80s' byte 0: a header of %llu bytes in a file of %llu", file,
                              (unsigned long long)n, (unsigned long long)file_bytes);
    }
    if (n > ECO_MODEL_MAX_ST_HEADER) {
        return eco_err_set_at(err, ECO_E_TOO_LARGE, file, 0, 0,
                              "'%.80s' byte 0: a header of %llu bytes; at most %u are read", file,
                              (unsigned long long)n, ECO_MODEL_MAX_ST_HEADER);
    }
    *head = (size_t)n + 8;
    return 0;
}

static enum eco_dtype dtype_of(const struct eco_json *v)
{
    if (v != NULL && v->type == ECO_JSON_STRING) {
        for (int i = 1; i < ECO_DTYPE_COUNT; i++) {
            if (strcmp(v->str, dtypes[i].name) == 0 && strlen(v->str) == v->len) {
                return (enum eco_dtype)i;
            }
        }
    }
    return ECO_DTYPE_NONE;
}

static bool natural(const struct eco_json *v, uint64_t *out)
{
    if (v == NULL || v->type != ECO_JSON_NUMBER || !v->is_integer || v->i64 < 0) {
        return false;
    }
    *out = (uint64_t)v->i64;
    return true;
}

/** dims and elements of "shape"; false when it is no list of whole numbers or overflows. */
static bool read_shape(const struct eco_json *v, struct eco_tensor *x)
{
    if (v == NULL || v->type != ECO_JSON_ARRAY || v->count > ECO_TENSOR_MAX_DIMS) {
        return false;
    }
    x->elements = 1;
    for (const struct eco_json *d = v->child; d != NULL; d = d->next) {
        uint64_t n;
        if (!natural(d, &n) || (n != 0 && x->elements > UINT64_MAX / 64 / n)) {
            return false;
        }
        x->dims[x->n_dims++] = n;
        x->elements *= n;
    }
    return true;
}

/** Byte offset of a node in the file: the header is one line in practice, but need not be. */
static uint64_t offset_of(const struct eco_json *v)
{
    return 8 + (uint64_t)(v->line == 1 ? v->column - 1 : 0);
}

static int read_tensor(struct header *h, const struct eco_json *v, struct eco_tensor *x,
                       struct eco_err *err)
{
    uint64_t at = offset_of(v), begin, end;
    const struct eco_json *offsets = eco_json_get(v, "data_offsets");
    memset(x, 0, sizeof *x);
    x->name = v->key;
    if (v->type != ECO_JSON_OBJECT) {
        return bad(h->file, at, err, v->key, "must be an object");
    }
    if (v->key_len != strlen(v->key) || v->key_len == 0 || v->key_len > 1024) {
        return bad(h->file, at, err, v->key, "is no name for a tensor");
    }
    x->dtype = dtype_of(eco_json_get(v, "dtype"));
    if (x->dtype == ECO_DTYPE_NONE) {
        return bad(h->file, at, err, v->key, "has an unknown dtype");
    }
    if (!read_shape(eco_json_get(v, "shape"), x)) {
        return bad(h->file, at, err, v->key, "has an impossible shape");
    }
    if (offsets == NULL || offsets->type != ECO_JSON_ARRAY || offsets->count != 2 ||
        !natural(offsets->child, &begin) || !natural(offsets->child->next, &end) || begin > end) {
        return bad(h->file, at, err, v->key, "has impossible data_offsets");
    }
    if (h->data_bytes != UINT64_MAX && end > h->data_bytes) {
        return bad(h->file, at, err, v->key, "reaches beyond the end of the file");
    }
    uint64_t bits = x->elements * dtypes[x->dtype].bits;
    x->bytes = end - begin;
    if (bits % 8 != 0 || bits / 8 != x->bytes) {
        return bad(h->file, at, err, v->key, "has offsets that contradict its shape and dtype");
    }
    h->ranges[h->n] = (struct eco_range){begin, end, (uint32_t)h->n};
    h->n++;
    return 0;
}

/** The data must be covered once, from its first byte to its last. */
static int check_ranges(struct header *h, struct eco_err *err)
{
    uint64_t at = 0;
    eco_range_sort(h->ranges, h->n);
    for (size_t i = 0; i < h->n; i++) {
        if (h->ranges[i].begin != at) {
            return bad(h->file, h->data_at + h->ranges[i].begin, err, "data_offsets",
                       h->ranges[i].begin < at ? "overlap" : "leave a hole");
        }
        at = h->ranges[i].end;
    }
    if (h->data_bytes != UINT64_MAX && at != h->data_bytes) {
        return bad(h->file, h->data_at + at, err, "data_offsets", "end before the file does");
    }
    return 0;
}

static int read_all(struct header *h, const struct eco_tensor_filter *filter, struct eco_tally *t,
                    struct eco_err *err)
{
    if (h->root->type != ECO_JSON_OBJECT) {
        return bad(h->file, 8, err, "header", "must be an object");
    }
    if (h->root->count > ECO_MODEL_MAX_TENSORS) {
        return eco_err_set(err, ECO_E_TOO_LARGE, h->file, "'%.100s' lists %u tensors; at most %u",
                           h->file, h->root->count, ECO_MODEL_MAX_TENSORS);
    }
    h->ranges = eco_arena_array(&h->arena, h->root->count + 1, sizeof *h->ranges);
    if (h->ranges == NULL) {
        return eco_err_set(err, ECO_E_NO_MEMORY, h->file, "out of memory");
    }
    struct eco_tally sums = *t;
    for (const struct eco_json *v = h->root->child; v != NULL; v = v->next) {
        struct eco_tensor x;
        if (strcmp(v->key, "__metadata__") == 0) {
            if (v->type != ECO_JSON_OBJECT) {
                return bad(h->file, offset_of(v), err, v->key, "must be an object");
            }
            continue;
        }
        int rc = read_tensor(h, v, &x, err);
        if (rc) {
            return rc;
        }
        if (filter == NULL || filter->want == NULL || filter->want(filter->ctx, x.name)) {
            eco_tally_add(&sums, &x);
        }
    }
    int rc = check_ranges(h, err);
    if (rc == 0) {
        sums.info.files++;
        *t = sums;
    }
    return rc;
}

int eco_safetensors_read(const char *file, const unsigned char *bytes, size_t len,
                         uint64_t file_bytes, const struct eco_tensor_filter *filter,
                         struct eco_tally *t, struct eco_err *err)
{
    struct header h = {.file = file, .data_bytes = UINT64_MAX};
    struct eco_json_doc doc = {{0}, NULL};
    struct eco_err inner = {0};
    if (len < 8) {
        return bad(file, len, err, "header", "ends before its length does");
    }
    size_t head;
    int rc = eco_safetensors_header(file, bytes, file_bytes, &head, err);
    if (rc) {
        return rc;
    }
    if (head > len) {
        return bad(file, len, err, "header", "is cut off");
    }
    h.data_at = head;
    if (file_bytes > 0) {
        h.data_bytes = file_bytes - head;
    }
    eco_arena_init(&doc.arena, TREE_LIMIT);
    eco_arena_init(&h.arena, 0);
    rc = eco_json_reparse(&doc, (const char *)bytes + 8, head - 8, &inner);
    if (rc) {
        rc = rc == ECO_E_NO_MEMORY ? ECO_E_TOO_LARGE : rc; /* of TREE_LIMIT, as a rule */
        long at = 8 + (inner.line == 1 && inner.column > 0 ? inner.column - 1 : 0);
        rc =
            eco_err_set_at(err, rc, file, 0, at, "'%.60s' byte %ld: the header is not json: %.120s",
                           file, at, inner.message);
    } else {
        h.root = doc.root;
        rc = read_all(&h, filter, t, err);
    }
    eco_arena_done(&h.arena);
    eco_json_done(&doc);
    return rc;
}

int eco_model_from_safetensors(const char *file, const char *name, const unsigned char *bytes,
                               size_t len, uint64_t file_bytes, const char *config,
                               size_t config_len, struct eco_model *out,
                               struct eco_model_info *info, struct eco_err *err)
{
    struct eco_config c;
    struct eco_tally t;
    struct eco_model m;
    memset(&m, 0, sizeof m);
    if (config != NULL) {
        int rc = eco_config_parse("config.json", config, config_len, &c, err);
        if (rc) {
            return rc;
        }
    }
    const struct eco_config *cp = config != NULL ? &c : NULL;
    eco_tally_init(&t, cp);
    int rc = eco_safetensors_read(file, bytes, len, file_bytes, NULL, &t, err);
    if (rc == 0) {
        rc = eco_tally_finish(file, &t, cp, &m, err);
    }
    if (rc) {
        return rc;
    }
    eco_model_set_name(&m, name != NULL ? name : file);
    m.source = "safetensors";
    *out = m;
    if (info != NULL) {
        *info = t.info;
    }
    return 0;
}
