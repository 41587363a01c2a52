/* The head of a GGUF file: its keys and values. */
#include "gguf_read.h"

#include "half.h"

#include <stdio.h>
#include <string.h>

#define MAX_KEYS 65536

static const unsigned char value_bytes[ECO_GGUF_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

const unsigned char *eco_gguf_take(struct eco_gguf_cursor *c, uint64_t n)
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

uint64_t eco_gguf_uint(struct eco_gguf_cursor *c, int n)
{
    const unsigned char *p = eco_gguf_take(c, (uint64_t)n);
    return p ? little(p, n) : 0;
}

static void skip_array(struct eco_gguf_cursor *c)
{
    uint64_t type = eco_gguf_uint(c, 4), n = eco_gguf_uint(c, 8);
    if (type == ECO_GGUF_STRING) {
        for (uint64_t i = 0; i < n && !c->bad; i++) {
            eco_gguf_take(c, eco_gguf_uint(c, 8));
        }
    } else if (type < ECO_GGUF_TYPES && value_bytes[type] > 0 && n <= c->end) {
        eco_gguf_take(c, n * value_bytes[type]);
    } else { /* arrays of arrays are not in use */
        c->bad = true;
    }
}

static void read_key(struct eco_gguf_cursor *c, struct eco_gguf_key *k)
{
    uint64_t len = eco_gguf_uint(c, 8);
    k->name = (const char *)eco_gguf_take(c, len);
    k->len = (size_t)len;
    uint64_t type = eco_gguf_uint(c, 4);
    c->bad = c->bad || type >= ECO_GGUF_TYPES || len == 0 || len > ECO_GGUF_MAX_KEY;
    if (c->bad) {
        return;
    }
    k->type = (enum eco_gguf_type)type;
    if (type == ECO_GGUF_ARRAY) {
        size_t from = c->at;
        k->value = c->data + from;
        skip_array(c);
        k->value_len = c->at - from;
    } else {
        k->value_len = type == ECO_GGUF_STRING ? (size_t)eco_gguf_uint(c, 8) : value_bytes[type];
        k->value = eco_gguf_take(c, k->value_len);
    }
}

/* A key of the file, or of the architecture when the name begins with a dot. */
const struct eco_gguf_key *eco_gguf_find(const struct eco_gguf *g, const char *name)
{
    char full[ECO_GGUF_MAX_KEY];
    int len = snprintf(full, sizeof(full), "%s%s", name[0] == '.' ? g->architecture : "", name);
    for (size_t i = 0; i < g->n_keys; i++) {
        if (g->keys[i].len == (size_t)len && memcmp(g->keys[i].name, full, (size_t)len) == 0) {
            return &g->keys[i];
        }
    }
    return NULL;
}

double eco_gguf_num(const struct eco_gguf *g, const char *name, double otherwise)
{
    const struct eco_gguf_key *k = eco_gguf_find(g, name);
    uint64_t bits =
        k && k->value_len <= 8 && k->type != ECO_GGUF_STRING && k->type != ECO_GGUF_ARRAY
            ? little(k->value, (int)k->value_len)
            : 0;
    double d;
    switch (k ? k->type : ECO_GGUF_TYPES) {
    case ECO_GGUF_BOOL:
    case ECO_GGUF_U8:
    case ECO_GGUF_U16:
    case ECO_GGUF_U32:
    case ECO_GGUF_U64:
        return (double)bits;
    case ECO_GGUF_I8:
        return (double)(int8_t)bits;
    case ECO_GGUF_I16:
        return (double)(int16_t)bits;
    case ECO_GGUF_I32:
        return (double)(int32_t)bits;
    case ECO_GGUF_I64:
        return (double)(int64_t)bits;
    case ECO_GGUF_F32:
        return (double)eco_bits_float((uint32_t)bits);
    case ECO_GGUF_F64:
        memcpy(&d, &bits, sizeof(d));
        return d;
    default:
        return otherwise;
    }
}

int eco_gguf_int(const struct eco_gguf *g, const char *name, int otherwise)
{
    double v = eco_gguf_num(g, name, (double)otherwise);
    return v >= 0.0 && v <= 1073741824.0 ? (int)v : -1; /* the shape's check names it */
}

bool eco_gguf_is(const struct eco_gguf_key *k, const char *text)
{
    return k && k->type == ECO_GGUF_STRING && k->value_len == strlen(text) &&
           memcmp(k->value, text, k->value_len) == 0;
}

int eco_gguf_bad(const struct eco_gguf *g, const char *what, struct eco_err *err)
{
    return eco_err_set_at(err, ECO_E_CONTENT, g->file, 0, (long)g->c.at, "'%.160s': %s", g->file,
                          what);
}

static int read_keys(struct eco_gguf *g, uint64_t n, struct eco_arena *arena, struct eco_err *err)
{
    if (n > MAX_KEYS) {
        return eco_gguf_bad(g, "too many keys", err);
    }
    g->keys = eco_arena_array(arena, (size_t)n + 1, sizeof(*g->keys));
    if (!g->keys) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    for (uint64_t i = 0; i < n; i++) {
        read_key(&g->c, &g->keys[i]);
        if (g->c.bad) {
            return eco_gguf_bad(g, "a key does not lie in the file", err);
        }
    }
    g->n_keys = (size_t)n;
    const struct eco_gguf_key *arch = eco_gguf_find(g, "general.architecture");
    if (!arch || arch->type != ECO_GGUF_STRING) {
        return eco_gguf_bad(g, "no architecture", err);
    }
    snprintf(g->architecture, sizeof(g->architecture), "%.*s",
             arch->value_len < 31 ? (int)arch->value_len : 31, (const char *)arch->value);
    return 0;
}

int eco_gguf_read(const char *file, const void *bytes, size_t len, struct eco_arena *arena,
                  struct eco_gguf *out, struct eco_err *err)
{
    struct eco_gguf g = {.file = file, .c = {.data = bytes, .end = len}};
    const unsigned char *magic = eco_gguf_take(&g.c, 4);
    uint64_t version = eco_gguf_uint(&g.c, 4);
    g.n_tensors = eco_gguf_uint(&g.c, 8);
    uint64_t keys = eco_gguf_uint(&g.c, 8);
    if (g.c.bad || memcmp(magic, "GGUF", 4) != 0 || version < 2 || version > 3) {
        return eco_gguf_bad(&g, "this is no GGUF file of version 2 or 3", err);
    }
    int rc = read_keys(&g, keys, arena, err);
    if (rc == 0) {
        *out = g;
    }
    return rc;
}

bool eco_gguf_array(const struct eco_gguf *g, const char *name, struct eco_gguf_items *out)
{
    const struct eco_gguf_key *k = eco_gguf_find(g, name);
    if (!k || k->type != ECO_GGUF_ARRAY) {
        return false;
    }
    struct eco_gguf_cursor c = {.data = k->value, .end = k->value_len};
    out->type = (enum eco_gguf_type)eco_gguf_uint(&c, 4); /* checked when the key was read */
    out->n = eco_gguf_uint(&c, 8);
    out->c = c;
    return true;
}

const char *eco_gguf_text(struct eco_gguf_cursor *c, size_t *len)
{
    uint64_t n = eco_gguf_uint(c, 8);
    const char *s = (const char *)eco_gguf_take(c, n);
    *len = s ? (size_t)n : 0;
    return s;
}
