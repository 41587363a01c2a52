/* The JSON reader: one pass, no recursion, one arena. json_write.c has the writer. */
#include "base/json.h"

#include "base/num_scan.h"
#include "base/utf8.h"

#include <string.h>

#define SMALL_OBJECT 16 /* up to here a new key is compared with all others at once */

struct frame {
    struct eco_json *node, *last; /* the open container, its newest member */
    const char *start;            /* after its bracket, with the line it is on */
    const char *line_start;
    long line;
};

struct parser {
    struct eco_json_doc *doc;
    struct eco_err *err;
    const char *at, *end;
    const char *line_start; /* of the line `at` is on */
    long line;
    char *text; /* decoded strings and numbers go here; see eco_json_reparse */
    size_t nodes;
    int depth;
    struct frame stack[ECO_JSON_MAX_DEPTH];
};

static int no_memory(struct parser *ps)
{
    return eco_err_set(ps->err, ECO_E_NO_MEMORY, NULL, "out of memory reading json");
}

static long column_of(const struct parser *ps, const char *at)
{
    return (long)(at - ps->line_start) + 1;
}

static int fail(struct parser *ps, const char *at, const char *what)
{
    return eco_err_set_at(ps->err, ECO_E_CONTENT, NULL, ps->line, column_of(ps, at),
                          "json line %ld column %ld: %s", ps->line, column_of(ps, at), what);
}

/* "expected X, found Y" at the current place. */
static int unexpected(struct parser *ps, const char *wanted)
{
    long column = column_of(ps, ps->at);
    unsigned char c = ps->at < ps->end ? (unsigned char)*ps->at : 0;
    char found[32] = "the end";

    if (ps->at < ps->end) {
        static const char hex[] = "0123456789abcdef";
        if (c > 0x20 && c < 0x7F) {
            memcpy(found, "'?'", 4);
            found[1] = (char)c;
        } else {
            memcpy(found, "byte 0x??", 10);
            found[7] = hex[c >> 4];
            found[8] = hex[c & 15];
        }
    }
    return eco_err_set_at(ps->err, ECO_E_CONTENT, NULL, ps->line, column,
                          "json line %ld column %ld: expected %s, found %s", ps->line, column,
                          wanted, found);
}

static void skip_space(struct parser *ps)
{
    for (; ps->at < ps->end; ps->at++) {
        char c = *ps->at;
        if (c == '\n') {
            ps->line++;
            ps->line_start = ps->at + 1;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

static int hex4(const char *s, const char *end)
{
    int v = 0;

    if (end - s < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        char c = s[i];
        int d = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (d < 0) {
            return -1;
        }
        v = v << 4 | d;
    }
    return v;
}

/* \uXXXX at ps->at (the backslash), with its other half when it is a surrogate. */
static int take_unicode(struct parser *ps)
{
    const char *start = ps->at;
    int unit = hex4(start + 2, ps->end);
    uint32_t c = (uint32_t)unit;

    if (unit < 0) {
        return fail(ps, start, "'\\u' must be followed by four hexadecimal digits");
    }
    ps->at += 6;
    if (c >= 0xD800 && c < 0xE000) {
        int low = -1;
        if (ps->end - ps->at >= 6 && ps->at[0] == '\\' && ps->at[1] == 'u') {
            low = hex4(ps->at + 2, ps->end);
        }
        if (c >= 0xDC00 || low < 0xDC00 || low > 0xDFFF) {
            return fail(ps, start, "half of a surrogate pair stands alone");
        }
        c = 0x10000 + ((c - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
        ps->at += 6;
    }
    ps->text += eco_utf8_encode(c, ps->text);
    return 0;
}

static int take_escape(struct parser *ps)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *hit;

    if (ps->end - ps->at < 2) {
        return fail(ps, ps->at, "the text ends inside a string");
    }
    if (ps->at[1] == 'u') {
        return take_unicode(ps);
    }
    hit = ps->at[1] == '\0' ? NULL : strchr(from, ps->at[1]);
    if (hit == NULL) {
        return fail(ps, ps->at, "unknown escape in a string");
    }
    *ps->text++ = to[hit - from];
    ps->at += 2;
    return 0;
}

/* A string at ps->at (its quote), decoded to ps->text with a NUL. */
static int take_string(struct parser *ps, const char **out, size_t *out_len)
{
    const char *open = ps->at++;
    char *first = ps->text;

    for (;;) {
        while (ps->at < ps->end && (signed char)*ps->at >= 0x20 && *ps->at != '"' &&
               *ps->at != '\\') {
            *ps->text++ = *ps->at++;
        }
        if (ps->at == ps->end) {
            return fail(ps, open, "the string that starts here does not end");
        }
        unsigned char c = (unsigned char)*ps->at;
        if (c == '"') {
            break;
        }
        if (c == '\\') {
            int code = take_escape(ps);
            if (code < 0) {
                return code;
            }
        } else if (c < 0x20) {
            return fail(ps, ps->at, "a control character in a string must be escaped");
        } else {
            uint32_t point;
            size_t n = eco_utf8_decode(ps->at, (size_t)(ps->end - ps->at), &point);
            if (n == 0) {
                return fail(ps, ps->at, "the text is not UTF-8");
            }
            memcpy(ps->text, ps->at, n);
            ps->text += n;
            ps->at += n;
        }
    }
    ps->at++;
    *out = first;
    *out_len = (size_t)(ps->text - first);
    *ps->text++ = '\0';
    return 0;
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '+' || c == '-' || c == '_';
}

static int take_number(struct parser *ps, struct eco_json *v)
{
    struct eco_num_scan scan;
    size_t len = eco_num_scan(ps->at, (size_t)(ps->end - ps->at), false, &scan);

    if (len == 0 || (ps->at + len < ps->end && is_word(ps->at[len]))) {
        return fail(ps, ps->at, "not a json number");
    }
    if (eco_num_scan_double(&scan, ps->at, len, &v->num) < 0) {
        return fail(ps, ps->at, "the number is too large for a double");
    }
    v->type = ECO_JSON_NUMBER;
    v->is_integer = eco_num_scan_i64(&scan, &v->i64);
    memcpy(ps->text, ps->at, len);
    v->str = ps->text;
    v->len = len;
    ps->text += len;
    *ps->text++ = '\0';
    ps->at += len;
    return 0;
}

static int take_word(struct parser *ps, struct eco_json *v)
{
    static const struct {
        const char *text;
        size_t len;
        enum eco_json_type type;
    } words[] = {
        {"null", 4, ECO_JSON_NULL}, {"true", 4, ECO_JSON_TRUE}, {"false", 5, ECO_JSON_FALSE}};
    size_t left = (size_t)(ps->end - ps->at);

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = words[i].len;
        if (left >= n && memcmp(ps->at, words[i].text, n) == 0 &&
            (left == n || !is_word(ps->at[n]))) {
            v->type = words[i].type;
            ps->at += n;
            return 0;
        }
    }
    return unexpected(ps, "a value");
}

static int open_container(struct parser *ps, struct eco_json *v, enum eco_json_type type)
{
    struct frame *f = &ps->stack[ps->depth];

    if (ps->depth == ECO_JSON_MAX_DEPTH) {
        return eco_err_set_at(ps->err, ECO_E_TOO_LARGE, NULL, ps->line, column_of(ps, ps->at),
                              "json line %ld column %ld: nested deeper than %d levels", ps->line,
                              column_of(ps, ps->at), ECO_JSON_MAX_DEPTH);
    }
    v->type = type;
    ps->at++;
    f->node = v;
    f->last = NULL;
    f->start = ps->at;
    f->line_start = ps->line_start;
    f->line = ps->line;
    ps->depth++;
    return 0;
}

/* One value at ps->at, appended to the open container; a container is only opened. */
static int take_value(struct parser *ps, const char *key, size_t key_len)
{
    struct eco_json *v;
    char c = ps->at < ps->end ? *ps->at : '\0';

    if (ps->nodes++ == ECO_JSON_MAX_NODES) {
        return eco_err_set(ps->err, ECO_E_TOO_LARGE, NULL, "json of more than %u values",
                           ECO_JSON_MAX_NODES);
    }
    v = eco_arena_alloc(&ps->doc->arena, sizeof *v);
    if (v == NULL) {
        return no_memory(ps);
    }
    v->key = key;
    v->key_len = key_len;
    v->line = ps->line;
    v->column = column_of(ps, ps->at);
    if (ps->depth == 0) {
        ps->doc->root = v;
    } else {
        struct frame *f = &ps->stack[ps->depth - 1];
        if (f->last == NULL) {
            f->node->child = v;
        } else {
            f->last->next = v;
        }
        f->last = v;
        f->node->count++;
    }
    if (c == '"') {
        v->type = ECO_JSON_STRING;
        return take_string(ps, &v->str, &v->len);
    }
    if (c == '{' || c == '[') {
        return open_container(ps, v, c == '{' ? ECO_JSON_OBJECT : ECO_JSON_ARRAY);
    }
    return c == '-' || (c >= '0' && c <= '9') ? take_number(ps, v) : take_word(ps, v);
}

static int compare_keys(const struct eco_json *a, const struct eco_json *b)
{
    if (a->key_len != b->key_len) {
        return a->key_len < b->key_len ? -1 : 1;
    }
    return memcmp(a->key, b->key, a->key_len);
}

/* Bottom-up merge sort of list[0..n), stable; the result is in the array returned. */
static const struct eco_json **sort_keys(const struct eco_json **list,
                                         const struct eco_json **aside, size_t n)
{
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * width) {
            size_t mid = lo + width < n ? lo + width : n;
            size_t hi = lo + 2 * width < n ? lo + 2 * width : n;
            size_t a = lo, b = mid;
            for (size_t k = lo; k < hi; k++) {
                bool left = a < mid && (b >= hi || compare_keys(list[a], list[b]) <= 0);
                aside[k] = list[left ? a++ : b++];
            }
        }
        const struct eco_json **swap = list;
        list = aside;
        aside = swap;
    }
    return list;
}

static bool is_before(const struct eco_json *a, const struct eco_json *b)
{
    return a->line < b->line || (a->line == b->line && a->column < b->column);
}

/* Moves the parser back to the key of member `index` of an object that was read before. */
static void seek_key(struct parser *ps, const struct frame *f, const struct eco_json *member)
{
    long commas = 0, depth = 0;

    for (const struct eco_json *m = f->node->child; m != member; m = m->next) {
        commas++;
    }
    ps->at = f->start;
    ps->line = f->line;
    ps->line_start = f->line_start;
    for (skip_space(ps); commas > 0; skip_space(ps)) {
        char c = *ps->at++;
        if (c == '"') {
            for (; *ps->at != '"'; ps->at++) {
                ps->at += *ps->at == '\\';
            }
            ps->at++;
        }
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        commas -= c == ',' && depth == 0;
    }
}

static int duplicate(struct parser *ps, const char *at, const char *key)
{
    return eco_err_set_at(ps->err, ECO_E_CONTENT, key, ps->line, column_of(ps, at),
                          "json line %ld column %ld: the name '%s' is there twice", ps->line,
                          column_of(ps, at), key);
}

/* The check of an object too large for comparing each key with each: sort, look at neighbours. */
static int check_keys(struct parser *ps, const struct frame *f)
{
    size_t n = f->node->count, i = 0;
    const struct eco_json **list = eco_arena_array(&ps->doc->arena, 2 * n, sizeof(void *));
    const struct eco_json *first = NULL;

    if (list == NULL) {
        return no_memory(ps);
    }
    for (const struct eco_json *m = f->node->child; m != NULL; m = m->next) {
        list[i++] = m;
    }
    list = sort_keys(list, list + n, n);
    for (i = 1; i < n; i++) {
        if (compare_keys(list[i - 1], list[i]) == 0 &&
            (first == NULL || is_before(list[i], first))) {
            first = list[i];
        }
    }
    if (first == NULL) {
        return 0;
    }
    seek_key(ps, f, first);
    return duplicate(ps, ps->at, first->key);
}

static int take_member(struct parser *ps, const struct frame *f)
{
    const char *key, *at = ps->at;
    size_t len;
    int code;

    if (ps->at == ps->end || *ps->at != '"') {
        return unexpected(ps, "a name in double quotes");
    }
    code = take_string(ps, &key, &len);
    if (code < 0) {
        return code;
    }
    if (f->node->count < SMALL_OBJECT) {
        for (const struct eco_json *m = f->node->child; m != NULL; m = m->next) {
            if (m->key_len == len && memcmp(m->key, key, len) == 0) {
                return duplicate(ps, at, key);
            }
        }
    }
    skip_space(ps);
    if (ps->at == ps->end || *ps->at != ':') {
        return unexpected(ps, "':'");
    }
    ps->at++;
    skip_space(ps);
    return take_value(ps, key, len);
}

/* The next step inside the innermost open container: a member, or its end. */
static int step(struct parser *ps)
{
    struct frame *f = &ps->stack[ps->depth - 1];
    bool object = f->node->type == ECO_JSON_OBJECT;
    bool empty = f->node->count == 0;

    if (ps->at < ps->end && *ps->at == (object ? '}' : ']')) {
        ps->at++;
        ps->depth--;
        return object && f->node->count > SMALL_OBJECT ? check_keys(ps, f) : 0;
    }
    if (!empty) {
        if (ps->at == ps->end || *ps->at != ',') {
            return unexpected(ps, object ? "',' or '}'" : "',' or ']'");
        }
        ps->at++;
        skip_space(ps);
    }
    if (object) {
        return take_member(ps, f);
    }
    if (empty && ps->at == ps->end) {
        return unexpected(ps, "a value or ']'");
    }
    return take_value(ps, NULL, 0);
}

static int parse_all(struct parser *ps)
{
    int code;

    if (ps->end - ps->at >= 3 && memcmp(ps->at, "\xEF\xBB\xBF", 3) == 0) {
        return fail(ps, ps->at, "a byte order mark is not json");
    }
    skip_space(ps);
    code = take_value(ps, NULL, 0);
    while (code == 0 && ps->depth > 0) {
        skip_space(ps);
        code = step(ps);
    }
    if (code < 0) {
        return code;
    }
    skip_space(ps);
    return ps->at < ps->end ? unexpected(ps, "the end") : 0;
}

int eco_json_reparse(struct eco_json_doc *doc, const char *text, size_t len, struct eco_err *err)
{
    struct parser ps;
    int code;

    eco_json_reset(doc);
    if (len > ECO_JSON_MAX_BYTES) {
        return eco_err_set(err, ECO_E_TOO_LARGE, NULL, "json of %zu bytes; at most %u are read",
                           len, ECO_JSON_MAX_BYTES);
    }
    ps.doc = doc;
    ps.err = err;
    ps.at = ps.line_start = text;
    ps.end = text + len;
    ps.line = 1;
    ps.nodes = 0;
    ps.depth = 0;
    /* A string loses its two quotes and gains a NUL; a number gains one, but a separator or the
     * end of the text stands after it: the decoded texts are never longer than this. */
    ps.text = eco_arena_alloc(&doc->arena, len + 1);
    if (ps.text == NULL) {
        return no_memory(&ps);
    }
    code = parse_all(&ps);
    if (code < 0) {
        eco_json_reset(doc);
    }
    return code;
}

int eco_json_parse(struct eco_json_doc *doc, const char *text, size_t len, struct eco_err *err)
{
    struct eco_json_doc fresh = {{0}, NULL};
    int code = eco_json_reparse(&fresh, text, len, err);

    if (code < 0) {
        eco_json_done(&fresh);
        return code;
    }
    *doc = fresh;
    return 0;
}

void eco_json_done(struct eco_json_doc *doc)
{
    if (doc != NULL) {
        eco_arena_done(&doc->arena);
        doc->root = NULL;
    }
}

void eco_json_reset(struct eco_json_doc *doc)
{
    eco_arena_reset(&doc->arena);
    doc->root = NULL;
}

const struct eco_json *eco_json_get(const struct eco_json *object, const char *key)
{
    if (object == NULL || object->type != ECO_JSON_OBJECT) {
        return NULL;
    }
    size_t len = strlen(key);
    for (const struct eco_json *m = object->child; m != NULL; m = m->next) {
        if (m->key_len == len && memcmp(m->key, key, len) == 0) {
            return m;
        }
    }
    return NULL;
}

/* Does a pointer's token (RFC 6901: ~1 is '/', ~0 is '~') name this key? */
static bool token_is(const char *token, size_t len, const struct eco_json *m)
{
    size_t k = 0;

    for (size_t i = 0; i < len; i++, k++) {
        char c = token[i];
        if (c == '~' && i + 1 < len && (token[i + 1] == '0' || token[i + 1] == '1')) {
            c = token[++i] == '0' ? '~' : '/';
        }
        if (k >= m->key_len || m->key[k] != c) {
            return false;
        }
    }
    return k == m->key_len;
}

static bool token_index(const char *token, size_t len, uint32_t *out)
{
    struct eco_num_scan n;
    int64_t v;

    if (len == 0 || token[0] == '-' || eco_num_scan(token, len, false, &n) != len ||
        !eco_num_scan_i64(&n, &v) || v > UINT32_MAX) {
        return false;
    }
    *out = (uint32_t)v;
    return true;
}

const struct eco_json *eco_json_at(const struct eco_json *root, const char *pointer)
{
    const struct eco_json *v = root;

    while (v != NULL && *pointer == '/') {
        const char *token = pointer + 1;
        size_t len = strcspn(token, "/");
        uint32_t index = 0;
        const struct eco_json *m = v->child;
        if (v->type == ECO_JSON_ARRAY && token_index(token, len, &index)) {
            while (m != NULL && index-- > 0) {
                m = m->next;
            }
        } else if (v->type == ECO_JSON_OBJECT) {
            while (m != NULL && !token_is(token, len, m)) {
                m = m->next;
            }
        } else {
            return NULL;
        }
        v = m;
        pointer = token + len;
    }
    return *pointer == '\0' ? v : NULL;
}

const char *eco_json_type_name(enum eco_json_type t)
{
    static const char *const names[] = {"null",   "boolean", "boolean", "number",
                                        "string", "array",   "object"};

    return (unsigned)t < sizeof names / sizeof names[0] ? names[t] : "unknown";
}
