#include "py_tree.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

void eco_py_done(struct eco_py_tree *t)
{
    if (t) {
        free(t->nodes);
        *t = (struct eco_py_tree){0};
    }
}

uint32_t eco_py_child(const struct eco_py_tree *t, uint32_t i, enum eco_py_field field)
{
    if (i == ECO_PY_NO) {
        return ECO_PY_NO;
    }
    for (uint32_t c = t->nodes[i].first; c != ECO_PY_NO; c = t->nodes[c].next) {
        if (t->nodes[c].field == field) {
            return c;
        }
    }
    return ECO_PY_NO;
}

bool eco_py_is(const struct eco_py_tree *t, uint32_t i, const char *s)
{
    if (i == ECO_PY_NO) {
        return false;
    }
    size_t len = t->nodes[i].end - t->nodes[i].start;
    return strlen(s) == len && memcmp(t->text + t->nodes[i].start, s, len) == 0;
}

bool eco_py_mentions(const struct eco_py_tree *t, uint32_t i, const char *needle)
{
    if (i == ECO_PY_NO) {
        return false;
    }
    size_t n = strlen(needle), start = t->nodes[i].start, end = t->nodes[i].end;
    for (size_t at = start; n <= end && at <= end - n; at++) {
        if (eco_str_ncasecmp(t->text + at, needle, n) == 0) {
            return true;
        }
    }
    return false;
}

bool eco_py_inside(const struct eco_py_tree *t, uint32_t i, uint32_t ancestor)
{
    return ancestor != ECO_PY_NO && i != ECO_PY_NO && i >= ancestor && i < t->nodes[ancestor].last;
}

#ifndef ECO_HAVE_TREE_SITTER

bool eco_py_available(void)
{
    return false;
}

int eco_py_parse(struct eco_py_tree *t, const char *text, size_t len, struct eco_err *err)
{
    (void)t, (void)text, (void)len;
    return eco_err_set(err, ECO_E_UNSUPPORTED, "",
                       "audit is not built in: the Python grammar was "
                       "not there when this program was built");
}

#else

#include <tree_sitter/api.h>

/* The parser's work may grow faster than the text on hostile input: it may call back this often
 * per byte and then some (it calls every hundred steps; 2,500 files of Python's own library take
 * up to 20 per KB), then the file is given up. */
#define CALLS_PER_KB 48
#define CALLS_FREE 4000
/* At each line of a run of comments the grammar reads to the run's end: what is read has an end
 * too. Runs of 1,500 lines of 50 bytes pass, and that library needs up to 32 times the text. */
#define CHUNK ((size_t)4 << 10)
#define READ_TIMES 64
#define READ_FREE ((uint64_t)64 << 20)

const TSLanguage *tree_sitter_python(void);

bool eco_py_available(void)
{
    return true;
}

struct source {
    const char *text;
    size_t len;
    uint64_t calls, read; /* left */
};

static const char *read_text(void *payload, uint32_t at, TSPoint point, uint32_t *n)
{
    struct source *s = payload;
    size_t left = at < s->len ? s->len - at : 0, part = left < CHUNK ? left : CHUNK;
    (void)point;
    if (s->read < part) {
        s->read = part = 0;
    }
    s->read -= part;
    *n = (uint32_t)part;
    return part ? s->text + at : "";
}

static bool give_up(TSParseState *state)
{
    struct source *s = state->payload;
    s->calls -= s->calls > 0;
    return s->calls == 0 || s->read == 0;
}

/* Grammar numbers -> our kinds and fields; a table per parse is cheap beside the parse. */
struct map {
    uint8_t kind[1024], field[128];
};

static void fill_map(const TSLanguage *lang, struct map *m)
{
    static const char *const kinds[] = {
#define X(kind, name) name,
        ECO_PY_KINDS(X)
#undef X
    };
    static const char *const fields[] = {"",
#define X(field, name) name,
                                         ECO_PY_FIELDS(X)
#undef X
    };
    memset(m, 0, sizeof(*m));
    uint32_t n = ts_language_symbol_count(lang);
    for (uint32_t s = 0; s < n && s < 1024; s++) {
        const char *name = ts_language_symbol_name(lang, (TSSymbol)s);
        bool named = ts_language_symbol_type(lang, (TSSymbol)s) == TSSymbolTypeRegular;
        for (size_t k = 1; named && name && k < ECO_PY_KINDS_COUNT; k++) {
            if (strcmp(name, kinds[k]) == 0) {
                m->kind[s] = (uint8_t)k;
            }
        }
    }
    n = ts_language_field_count(lang);
    for (uint32_t f = 1; f <= n && f < 128; f++) {
        const char *name = ts_language_field_name_for_id(lang, (TSFieldId)f);
        for (size_t k = 1; name && k < ECO_PYF_COUNT; k++) {
            if (strcmp(name, fields[k]) == 0) {
                m->field[f] = (uint8_t)k;
            }
        }
    }
}

static bool grow(struct eco_py_tree *t)
{
    if (t->count < t->cap) {
        return true;
    }
    uint32_t cap = t->cap ? t->cap * 2 : 1024;
    struct eco_py_node *nodes =
        cap < UINT32_MAX / 2 ? realloc(t->nodes, (size_t)cap * sizeof(*nodes)) : NULL;
    if (!nodes) {
        return false;
    }
    t->nodes = nodes;
    t->cap = cap;
    return true;
}

/* One node; `prev` is its elder sibling. */
static uint32_t add(struct eco_py_tree *t, const struct map *m, const TSTreeCursor *c,
                    uint32_t parent, uint32_t prev)
{
    TSNode n = ts_tree_cursor_current_node(c);
    TSSymbol s = ts_node_symbol(n);
    TSFieldId f = ts_tree_cursor_current_field_id(c);
    if (!grow(t)) {
        return ECO_PY_NO;
    }
    uint32_t i = t->count++;
    TSPoint start = ts_node_start_point(n), end = ts_node_end_point(n);
    t->nodes[i] = (struct eco_py_node){.start = ts_node_start_byte(n),
                                       .end = ts_node_end_byte(n),
                                       .row = start.row,
                                       .col = start.column,
                                       .end_row = end.row,
                                       .parent = parent,
                                       .next = ECO_PY_NO,
                                       .first = ECO_PY_NO,
                                       .kind = s == UINT16_MAX ? ECO_PY_ERROR
                                               : s < 1024      ? m->kind[s]
                                                               : ECO_PY_OTHER,
                                       .field = f < 128 ? m->field[f] : ECO_PYF_NONE};
    if (prev != ECO_PY_NO) {
        t->nodes[prev].next = i;
    } else if (parent != ECO_PY_NO) {
        t->nodes[parent].first = i;
    }
    return i;
}

static bool wanted(const TSTreeCursor *c)
{
    return ts_node_is_named(ts_tree_cursor_current_node(c)) ||
           ts_tree_cursor_current_field_id(c) != 0;
}

/* Moves the cursor to the next wanted node at this level, itself included. */
static bool settle(TSTreeCursor *c)
{
    while (!wanted(c)) {
        if (!ts_tree_cursor_goto_next_sibling(c)) {
            return false;
        }
    }
    return true;
}

static bool flatten(struct eco_py_tree *t, const struct map *m, TSTreeCursor *c)
{
    uint32_t here = add(t, m, c, ECO_PY_NO, ECO_PY_NO);
    while (here != ECO_PY_NO) {
        if (ts_tree_cursor_goto_first_child(c)) {
            if (settle(c)) {
                here = add(t, m, c, here, ECO_PY_NO);
                continue;
            }
            ts_tree_cursor_goto_parent(c);
        }
        for (;;) {
            t->nodes[here].last = t->count;
            if (t->nodes[here].parent == ECO_PY_NO) {
                return true;
            }
            if (ts_tree_cursor_goto_next_sibling(c) && settle(c)) {
                here = add(t, m, c, t->nodes[here].parent, here);
                break;
            }
            ts_tree_cursor_goto_parent(c);
            here = t->nodes[here].parent;
        }
    }
    return false;
}

static int flatten_tree(struct eco_py_tree *out, const TSTree *tree, struct eco_err *err)
{
    struct map m;
    fill_map(tree_sitter_python(), &m);
    TSTreeCursor c = ts_tree_cursor_new(ts_tree_root_node(tree));
    bool ok = flatten(out, &m, &c);
    ts_tree_cursor_delete(&c);
    if (!ok) {
        eco_py_done(out);
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    return 0;
}

int eco_py_parse(struct eco_py_tree *t, const char *text, size_t len, struct eco_err *err)
{
    struct source s = {text, len, CALLS_FREE + (uint64_t)len / 1024 * CALLS_PER_KB,
                       READ_FREE + (uint64_t)len * READ_TIMES};
    *t = (struct eco_py_tree){.text = text, .len = len};
    TSParser *p = len < UINT32_MAX / 4 ? ts_parser_new() : NULL;
    if (!p || !ts_parser_set_language(p, tree_sitter_python())) {
        ts_parser_delete(p);
        return eco_err_set(err, ECO_E_INTERNAL, "", "the Python grammar does not load");
    }
    TSInput input = {.payload = &s, .read = read_text, .encoding = TSInputEncodingUTF8};
    TSParseOptions options = {.payload = &s, .progress_callback = give_up};
    TSTree *tree = ts_parser_parse_with_options(p, NULL, input, options);
    int rc = tree && s.read ? flatten_tree(t, tree, err)
                            : eco_err_set(err, ECO_E_TOO_LARGE, "", "the parser gave up on it");
    ts_tree_delete(tree);
    ts_parser_delete(p);
    return rc;
}

#endif
