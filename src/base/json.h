/*
 * Strict JSON (RFC 8259): reader into a flat tree, and a streaming writer.
 *
 * Reader: UTF-8 checked, no duplicate keys, no NaN or Infinity, no trailing bytes, depth <= 64,
 * numbers that overflow are refused. Nodes lie in the document's arena in document order; strings
 * and the texts of numbers are copied there, NUL-terminated (an embedded \u0000 is kept: use len).
 * The text may be freed after the parse. Columns count bytes.
 * Errors: ECO_E_CONTENT with line and column, ECO_E_TOO_LARGE, ECO_E_NO_MEMORY.
 */
#ifndef ECO_BASE_JSON_H
#define ECO_BASE_JSON_H

#include "arena.h"
#include "buf.h"
#include "eco_err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ECO_JSON_MAX_DEPTH 64
#define ECO_JSON_MAX_BYTES (64u << 20)
#define ECO_JSON_MAX_NODES (4u << 20)

enum eco_json_type {
    ECO_JSON_NULL,
    ECO_JSON_FALSE,
    ECO_JSON_TRUE,
    ECO_JSON_NUMBER,
    ECO_JSON_STRING,
    ECO_JSON_ARRAY,
    ECO_JSON_OBJECT
};

struct eco_json {
    enum eco_json_type type;
    bool is_integer; /* a number written without '.', 'e' that fits int64 */
    uint32_t count;  /* members of an array or object */
    const char *key; /* name inside an object, else NULL; NUL-terminated */
    size_t key_len;
    const char *str; /* STRING: decoded text; NUMBER: the text as written */
    size_t len;
    double num;
    int64_t i64;                         /* valid when is_integer */
    long line, column;                   /* where the value starts */
    const struct eco_json *child, *next; /* first member; next sibling */
};

struct eco_json_doc {
    struct eco_arena arena;
    const struct eco_json *root;
};

/** Parses text[0..len). On success the caller owns `doc` (eco_json_done). */
int eco_json_parse(struct eco_json_doc *doc, const char *text, size_t len, struct eco_err *err);
void eco_json_done(struct eco_json_doc *doc);  /* accepts NULL */
void eco_json_reset(struct eco_json_doc *doc); /* keeps memory for the next parse (batch files) */
/** As eco_json_parse into a document whose memory is kept from before (init with {0}). */
int eco_json_reparse(struct eco_json_doc *doc, const char *text, size_t len, struct eco_err *err);
/** The member named `key` of an object, or NULL (also for NULL or a non-object). */
const struct eco_json *eco_json_get(const struct eco_json *object, const char *key);
/** A JSON pointer ("/results/basis", RFC 6901), or NULL. */
const struct eco_json *eco_json_at(const struct eco_json *root, const char *pointer);
const char *eco_json_type_name(enum eco_json_type t); /* "number", "string" … */

/* Writer: keys and values in order; commas and indentation are its own. Not checked: balance. */
struct eco_json_writer {
    struct eco_buf *out; /* borrowed */
    int indent;          /* 0: compact, else spaces a level */
    int depth;
    bool need_comma[ECO_JSON_MAX_DEPTH + 1];
    bool after_key;
};

void eco_jw_init(struct eco_json_writer *w, struct eco_buf *out, int indent);
void eco_jw_object(struct eco_json_writer *w);
void eco_jw_object_end(struct eco_json_writer *w);
void eco_jw_array(struct eco_json_writer *w);
void eco_jw_array_end(struct eco_json_writer *w);
void eco_jw_key(struct eco_json_writer *w, const char *key);
/** The same for a table's own names, which need no escape, written as ,"name": (with the comma). */
void eco_jw_token(struct eco_json_writer *w, const char *token, size_t len);
void eco_jw_null(struct eco_json_writer *w);
void eco_jw_bool(struct eco_json_writer *w, bool v);
void eco_jw_num(struct eco_json_writer *w, double v); /* NaN and inf become null */
void eco_jw_i64(struct eco_json_writer *w, int64_t v);
void eco_jw_str(struct eco_json_writer *w, const char *s);                /* NULL becomes null */
void eco_jw_strn(struct eco_json_writer *w, const char *s, size_t len);   /* bad UTF-8 -> U+FFFD */
void eco_jw_raw(struct eco_json_writer *w, const char *json, size_t len); /* already JSON */
/* key + value in one call */
void eco_jw_kv_num(struct eco_json_writer *w, const char *key, double v);
void eco_jw_kv_i64(struct eco_json_writer *w, const char *key, int64_t v);
void eco_jw_kv_str(struct eco_json_writer *w, const char *key, const char *s);
void eco_jw_kv_bool(struct eco_json_writer *w, const char *key, bool v);
/** A parsed value, written again. */
void eco_jw_value(struct eco_json_writer *w, const struct eco_json *v);

#endif
