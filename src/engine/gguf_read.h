/*
 * Inside the module: reading the head of a GGUF file (version 2 or 3; ggml's docs/gguf.md) that
 * lies in memory. Keys point into it. Everything read is checked against the end first.
 */
#ifndef ECO_ENGINE_GGUF_READ_H
#define ECO_ENGINE_GGUF_READ_H

#include "base/arena.h"
#include "eco_err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ECO_GGUF_MAX_KEY 256

enum eco_gguf_type {
    ECO_GGUF_U8,
    ECO_GGUF_I8,
    ECO_GGUF_U16,
    ECO_GGUF_I16,
    ECO_GGUF_U32,
    ECO_GGUF_I32,
    ECO_GGUF_F32,
    ECO_GGUF_BOOL,
    ECO_GGUF_STRING,
    ECO_GGUF_ARRAY,
    ECO_GGUF_U64,
    ECO_GGUF_I64,
    ECO_GGUF_F64,
    ECO_GGUF_TYPES
};

/** A place in the file; `bad` once something lay behind the end: reads are 0 from then on. */
struct eco_gguf_cursor {
    const unsigned char *data;
    size_t at, end;
    bool bad;
};

struct eco_gguf_key {
    const char *name; /* not NUL-terminated */
    size_t len;
    enum eco_gguf_type type;
    const unsigned char *value; /* of a STRING: its bytes; of an ARRAY: item type, count, items */
    size_t value_len;
};

struct eco_gguf {
    const char *file; /* for messages */
    struct eco_gguf_key *keys;
    size_t n_keys;
    uint64_t n_tensors;
    char architecture[32];
    struct eco_gguf_cursor c; /* behind the keys: at the list of tensors */
};

/** Magic and keys of bytes[0..len); the keys lie in the arena. */
int eco_gguf_read(const char *file, const void *bytes, size_t len, struct eco_arena *arena,
                  struct eco_gguf *out, struct eco_err *err);
int eco_gguf_bad(const struct eco_gguf *g, const char *what, struct eco_err *err);

const unsigned char *eco_gguf_take(struct eco_gguf_cursor *c, uint64_t n);
uint64_t eco_gguf_uint(struct eco_gguf_cursor *c, int n); /* of n bytes */

/** A key of the file, or of the architecture when the name begins with a dot; NULL. */
const struct eco_gguf_key *eco_gguf_find(const struct eco_gguf *g, const char *name);
double eco_gguf_num(const struct eco_gguf *g, const char *name, double otherwise);
/** A whole number of 0..2^30, -1 when it is none. */
int eco_gguf_int(const struct eco_gguf *g, const char *name, int otherwise);
bool eco_gguf_is(const struct eco_gguf_key *k_or_null, const char *text);

/** The items of an ARRAY key: their type, their number and a cursor over them; false when the key
 * is absent or no array. Texts are read with eco_gguf_text. */
struct eco_gguf_items {
    enum eco_gguf_type type;
    uint64_t n;
    struct eco_gguf_cursor c;
};
bool eco_gguf_array(const struct eco_gguf *g, const char *name, struct eco_gguf_items *out);
const char *eco_gguf_text(struct eco_gguf_cursor *c, size_t *len);

#endif
