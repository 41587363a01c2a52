/* Names and their definitions: what is assigned where, and which of them reach a place. */
#include "py_flow.h"

#include "py_names.h"

#include <string.h>

#define MAX_KEY 200
#define MODULE_FRAMES 64 /* nesting of scopes that a look-up climbs */

/* ---- tables ---------------------------------------------------------------------------------- */

static uint32_t hash_of(uint32_t scope, const char *key, size_t len)
{
    uint32_t h = 2166136261u ^ (scope * 2654435761u);
    for (size_t i = 0; i < len; i++) {
        h = (h ^ (unsigned char)key[i]) * 16777619u;
    }
    return h;
}

struct eco_py_symbol *eco_py_find(const struct eco_py_flow *f, uint32_t scope, const char *key)
{
    size_t len = strlen(key);
    uint32_t mask = f->symbols_cap - 1;
    for (uint32_t i = hash_of(scope, key, len) & mask; f->symbols_cap; i = (i + 1) & mask) {
        struct eco_py_symbol *s = &f->symbols[i];
        if (!s->key) {
            return NULL;
        }
        if (s->scope == scope && strcmp(s->key, key) == 0) {
            return s;
        }
    }
    return NULL;
}

static bool rehash(struct eco_py_flow *f)
{
    uint32_t cap = f->symbols_cap ? f->symbols_cap * 2 : 256;
    struct eco_py_symbol *s = eco_arena_array(f->arena, cap, sizeof(*s));
    if (!s) {
        return false;
    }
    for (uint32_t i = 0; i < f->symbols_cap; i++) {
        const struct eco_py_symbol *old = &f->symbols[i];
        if (old->key) {
            uint32_t at = hash_of(old->scope, old->key, strlen(old->key)) & (cap - 1);
            while (s[at].key) {
                at = (at + 1) & (cap - 1);
            }
            s[at] = *old;
        }
    }
    f->symbols = s;
    f->symbols_cap = cap;
    return true;
}

static struct eco_py_symbol *intern(struct eco_py_flow *f, uint32_t scope, const char *key)
{
    struct eco_py_symbol *s = eco_py_find(f, scope, key);
    if (s) {
        return s;
    }
    if (f->symbols_count * 2 >= f->symbols_cap && !rehash(f)) {
        f->failed = true;
        return NULL;
    }
    uint32_t mask = f->symbols_cap - 1, i = hash_of(scope, key, strlen(key)) & mask;
    while (f->symbols[i].key) {
        i = (i + 1) & mask;
    }
    f->symbols[i] = (struct eco_py_symbol){key, scope, ECO_PY_NO};
    f->symbols_count++;
    return &f->symbols[i];
}

void eco_py_define(struct eco_py_flow *f, uint32_t scope, const char *key, struct eco_py_def def)
{
    if (!key || f->failed) {
        return;
    }
    if (f->defs_count == f->defs_cap) {
        uint32_t cap = f->defs_cap ? f->defs_cap * 2 : 256;
        struct eco_py_def *d = eco_arena_array(f->arena, cap, sizeof(*d));
        if (!d) {
            f->failed = true;
            return;
        }
        if (f->defs_count) {
            memcpy(d, f->defs, f->defs_count * sizeof(*d));
        }
        f->defs = d;
        f->defs_cap = cap;
    }
    struct eco_py_symbol *s = intern(f, scope, key);
    if (s) {
        def.prev = s->last;
        s->last = f->defs_count;
        f->defs[f->defs_count++] = def;
    }
}

/* ---- keys and scopes ------------------------------------------------------------------------- */

static size_t put(char *out, size_t n, const char *s, size_t len)
{
    if (n == 0 || n + len >= MAX_KEY) {
        return 0;
    }
    memcpy(out + n, s, len);
    return n + len;
}

/* Writes the key after a leading byte (so that 0 can mean "none"); returns the new length. */
static size_t key_into(const struct eco_py_tree *t, uint32_t i, char *out, size_t n, int depth)
{
    if (i == ECO_PY_NO || depth > 8) {
        return 0;
    }
    const struct eco_py_node *x = &t->nodes[i];
    uint32_t a;
    switch (x->kind) {
    case ECO_PY_IDENTIFIER:
        return put(out, n, t->text + x->start, x->end - x->start);
    case ECO_PY_ATTRIBUTE:
        a = eco_py_child(t, i, ECO_PYF_ATTRIBUTE);
        n = key_into(t, eco_py_child(t, i, ECO_PYF_OBJECT), out, n, depth + 1);
        n = put(out, n, ".", 1);
        return n && a != ECO_PY_NO ? key_into(t, a, out, n, depth + 1) : 0;
    case ECO_PY_SUBSCRIPT:
        a = eco_py_child(t, i, ECO_PYF_SUBSCRIPT);
        n = key_into(t, eco_py_child(t, i, ECO_PYF_VALUE), out, n, depth + 1);
        n = put(out, n, "[", 1);
        if (n == 0 || a == ECO_PY_NO || t->nodes[a].kind != ECO_PY_STRING) {
            return 0;
        }
        for (uint32_t c = t->nodes[a].first; c != ECO_PY_NO; c = t->nodes[c].next) {
            if (t->nodes[c].kind == ECO_PY_STRING_CONTENT) {
                n = put(out, n, t->text + t->nodes[c].start, t->nodes[c].end - t->nodes[c].start);
            }
        }
        return put(out, n, "]", 1);
    default:
        return 0;
    }
}

const char *eco_py_key(struct eco_py_flow *f, uint32_t node)
{
    char key[MAX_KEY];
    key[0] = ' ';
    size_t n = key_into(f->t, node, key, 1, 0);
    return n > 1 ? eco_arena_strdup(f->arena, key + 1, n - 1) : NULL;
}

static bool is_scope(uint8_t kind)
{
    return kind == ECO_PY_FUNCTION || kind == ECO_PY_CLASS || kind == ECO_PY_LAMBDA ||
           kind == ECO_PY_LIST_COMP || kind == ECO_PY_SET_COMP || kind == ECO_PY_DICT_COMP ||
           kind == ECO_PY_GENERATOR;
}

static bool is_comprehension(uint8_t kind)
{
    return kind >= ECO_PY_LIST_COMP && kind <= ECO_PY_GENERATOR;
}

uint32_t eco_py_frame(const struct eco_py_flow *f, uint32_t node)
{
    uint32_t s = f->scope[node];
    while (s && (is_comprehension(f->t->nodes[s].kind) || f->t->nodes[s].kind == ECO_PY_LAMBDA)) {
        s = f->scope[s];
    }
    return s;
}

static bool is_self(const char *key)
{
    return strncmp(key, "self.", 5) == 0 || strncmp(key, "cls.", 4) == 0;
}

/* The class around a node, or the module. */
static uint32_t class_around(const struct eco_py_flow *f, uint32_t node)
{
    uint32_t s = f->scope[node];
    while (s && f->t->nodes[s].kind != ECO_PY_CLASS) {
        s = f->scope[s];
    }
    return s;
}

uint32_t eco_py_key_scope(struct eco_py_flow *f, uint32_t node, const char *key)
{
    if (is_self(key)) {
        return class_around(f, node);
    }
    uint32_t s = f->scope[node];
    for (int i = 0; i < MODULE_FRAMES; i++) {
        if (eco_py_find(f, s, key)) {
            return s;
        }
        if (s == 0) {
            break;
        }
        s = f->scope[s];
    }
    return eco_py_frame(f, node);
}

/* ---- collecting definitions ------------------------------------------------------------------ */

static void define_at(struct eco_py_flow *f, uint32_t target, enum eco_py_how how, uint32_t node,
                      uint32_t index, uint32_t at)
{
    const char *key = eco_py_key(f, target);
    if (key) {
        uint32_t scope = is_self(key) ? class_around(f, target) : f->scope[target];
        eco_py_define(f, scope, key,
                      (struct eco_py_def){at, node, target, ECO_PY_NO, how, index, NULL});
    }
}

static bool is_sequence(uint8_t kind)
{
    return kind == ECO_PY_TUPLE || kind == ECO_PY_LIST || kind == ECO_PY_EXPRESSION_LIST ||
           kind == ECO_PY_PATTERN_LIST || kind == ECO_PY_TUPLE_PATTERN ||
           kind == ECO_PY_LIST_PATTERN;
}

/* target = value; tuples element by element where both sides are written out. */
static void bind(struct eco_py_flow *f, uint32_t target, uint32_t value, enum eco_py_how how,
                 uint32_t at)
{
    const struct eco_py_node *n = f->t->nodes;
    if (target == ECO_PY_NO) {
        return;
    }
    if (!is_sequence(n[target].kind)) {
        define_at(f, target, how, value, 0, at);
        return;
    }
    bool pairwise = how == ECO_PYD_VALUE && value != ECO_PY_NO && is_sequence(n[value].kind);
    uint32_t v = pairwise ? n[value].first : ECO_PY_NO, index = 0;
    for (uint32_t c = n[target].first; c != ECO_PY_NO; c = n[c].next, index++) {
        if (n[c].kind == ECO_PY_COMMENT) {
            continue;
        }
        if (pairwise) {
            bind(f, c, v, v == ECO_PY_NO ? ECO_PYD_OPAQUE : ECO_PYD_VALUE, at);
            v = v == ECO_PY_NO ? v : n[v].next;
        } else if (is_sequence(n[c].kind)) {
            bind(f, c, value, ECO_PYD_OPAQUE, at);
        } else {
            define_at(f, c, how == ECO_PYD_VALUE ? ECO_PYD_UNPACK : how, value, index, at);
        }
    }
}

static char *text_of(struct eco_py_flow *f, uint32_t i)
{
    return eco_arena_strdup(f->arena, f->t->text + f->t->nodes[i].start,
                            f->t->nodes[i].end - f->t->nodes[i].start);
}

static void define_import(struct eco_py_flow *f, uint32_t i)
{
    const struct eco_py_node *n = f->t->nodes;
    uint32_t module = eco_py_child(f->t, i, ECO_PYF_MODULE_NAME);
    for (uint32_t c = n[i].first; c != ECO_PY_NO; c = n[c].next) {
        if (c == module || (n[c].kind != ECO_PY_DOTTED && n[c].kind != ECO_PY_ALIASED)) {
            continue;
        }
        uint32_t name = c, alias = c;
        if (n[c].kind == ECO_PY_ALIASED) {
            name = eco_py_child(f->t, c, ECO_PYF_NAME);
            alias = eco_py_child(f->t, c, ECO_PYF_ALIAS);
        }
        if (name == ECO_PY_NO || alias == ECO_PY_NO) {
            continue;
        }
        char *full = text_of(f, name), *key = text_of(f, alias);
        if (!full || !key) {
            f->failed = true;
            return;
        }
        if (n[i].kind == ECO_PY_IMPORT && alias == name) { /* import a.b binds a */
            key[strcspn(key, ".")] = '\0';
            full = key;
        }
        if (module != ECO_PY_NO) {
            char *from = text_of(f, module);
            full = from ? eco_arena_printf(f->arena, "%s.%s", from, full) : NULL;
        }
        eco_py_define(f, f->scope[i], key,
                      (struct eco_py_def){n[i].end, i, c, ECO_PY_NO, ECO_PYD_IMPORT, 0, full});
    }
}

static void define_params(struct eco_py_flow *f, uint32_t function)
{
    const struct eco_py_node *n = f->t->nodes;
    uint32_t params = eco_py_child(f->t, function, ECO_PYF_PARAMETERS);
    uint32_t index = 0;
    for (uint32_t c = params == ECO_PY_NO ? params : n[params].first; c != ECO_PY_NO;
         c = n[c].next) {
        uint32_t name = eco_py_child(f->t, c, ECO_PYF_NAME);
        enum eco_py_how how = ECO_PYD_PARAM;
        if (n[c].kind == ECO_PY_IDENTIFIER) {
            name = c;
        } else if (n[c].kind == ECO_PY_TYPED_PARAMETER) {
            name = n[c].first;
        } else if (n[c].kind == ECO_PY_DICT_SPLAT_PATTERN ||
                   n[c].kind == ECO_PY_LIST_SPLAT_PATTERN) {
            name = n[c].first;
            how = ECO_PYD_OPAQUE;
        }
        if (name == ECO_PY_NO || n[name].kind != ECO_PY_IDENTIFIER) {
            continue;
        }
        char *key = text_of(f, name);
        eco_py_define(
            f, function, key,
            (struct eco_py_def){n[function].start, c, name, ECO_PY_NO, how, index++, NULL});
    }
}

/* d.update(k=v), d.update({...}), d.setdefault(k, v), setattr(o, "k", v) */
static void define_update(struct eco_py_flow *f, uint32_t call, uint32_t object)
{
    const struct eco_py_node *n = f->t->nodes;
    const char *base = eco_py_key(f, object);
    uint32_t args = eco_py_child(f->t, call, ECO_PYF_ARGUMENTS);
    if (!base || args == ECO_PY_NO) {
        return;
    }
    uint32_t scope = is_self(base) ? class_around(f, object) : f->scope[object];
    for (uint32_t c = n[args].first; c != ECO_PY_NO; c = n[c].next) {
        if (n[c].kind == ECO_PY_KEYWORD) {
            char *k = text_of(f, eco_py_child(f->t, c, ECO_PYF_NAME));
            eco_py_define(f, scope, eco_arena_printf(f->arena, "%s[%s]", base, k ? k : ""),
                          (struct eco_py_def){n[call].end, eco_py_child(f->t, c, ECO_PYF_VALUE), c,
                                              ECO_PY_NO, ECO_PYD_VALUE, 0, NULL});
        } else if (n[c].kind != ECO_PY_COMMENT) { /* a dictionary: looked into when asked */
            eco_py_define(
                f, scope, eco_arena_printf(f->arena, "%s[*]", base),
                (struct eco_py_def){n[call].end, c, c, ECO_PY_NO, ECO_PYD_UPDATE, 0, NULL});
        }
    }
}

/* d.pop("k"), d.clear(): "d[k]" and "d[~]" are gone from here on. */
static void define_removal(struct eco_py_flow *f, uint32_t call, uint32_t object, bool all)
{
    const struct eco_py_node *n = f->t->nodes;
    const char *base = eco_py_key(f, object);
    uint32_t args = eco_py_child(f->t, call, ECO_PYF_ARGUMENTS);
    uint32_t key = args == ECO_PY_NO ? args : n[args].first;
    char *k = NULL;
    if (!base || (!all && (key == ECO_PY_NO || n[key].kind == ECO_PY_INTEGER))) {
        return;
    }
    for (uint32_t c = all ? ECO_PY_NO : n[key].first; c != ECO_PY_NO && !k; c = n[c].next) {
        k = n[c].kind == ECO_PY_STRING_CONTENT ? text_of(f, c) : NULL;
    }
    uint32_t scope = is_self(base) ? class_around(f, object) : f->scope[object];
    if (!all && n[key].kind != ECO_PY_STRING) { /* which one, nobody can tell here */
        eco_py_define(
            f, scope, eco_arena_printf(f->arena, "%s[*]", base),
            (struct eco_py_def){n[call].end, call, call, ECO_PY_NO, ECO_PYD_UPDATE, 0, NULL});
        return;
    }
    const char *name = eco_arena_printf(f->arena, "%s[%s]", base, all ? "~" : k ? k : "");
    eco_py_define(
        f, scope, name,
        (struct eco_py_def){n[call].end, call, call, ECO_PY_NO, ECO_PYD_REMOVED, 0, NULL});
}

/* del d["k"]: gone from here on; del d[k]: which one, nobody can tell here. */
static void define_deleted(struct eco_py_flow *f, uint32_t target, uint32_t statement)
{
    const struct eco_py_node *n = f->t->nodes;
    const char *key = eco_py_key(f, target);
    uint32_t value = key ? target : eco_py_child(f->t, target, ECO_PYF_VALUE);
    const char *base = key ? key : value == ECO_PY_NO ? NULL : eco_py_key(f, value);
    if (!base) {
        return;
    }
    uint32_t index = eco_py_child(f->t, target, ECO_PYF_SUBSCRIPT);
    if (!key && index != ECO_PY_NO && n[index].kind == ECO_PY_INTEGER) {
        return; /* a list's item */
    }
    uint32_t scope = is_self(base) ? class_around(f, target) : f->scope[target];
    eco_py_define(f, scope, key ? key : eco_arena_printf(f->arena, "%s[*]", base),
                  (struct eco_py_def){n[statement].end, statement, target, ECO_PY_NO,
                                      key ? ECO_PYD_REMOVED : ECO_PYD_UPDATE, 0, NULL});
}

/* del a["k"], (b["k"], c): its own targets only, not what their indexes read. */
static void define_deletion(struct eco_py_flow *f, uint32_t statement)
{
    const struct eco_py_node *n = f->t->nodes;
    for (uint32_t i = statement + 1; i < n[statement].last;) {
        if (is_sequence(n[i].kind) || n[i].kind == ECO_PY_PAREN) {
            i++; /* the targets inside come next */
            continue;
        }
        if (n[i].kind == ECO_PY_SUBSCRIPT) {
            define_deleted(f, i, statement);
        }
        i = n[i].last > i ? n[i].last : i + 1;
    }
}

/* d.setdefault("k", v): "d[k?", which counts where nothing else sets k. */
static void define_default(struct eco_py_flow *f, uint32_t call, uint32_t object)
{
    const struct eco_py_node *n = f->t->nodes;
    const char *base = eco_py_key(f, object);
    uint32_t args = eco_py_child(f->t, call, ECO_PYF_ARGUMENTS);
    uint32_t key = args == ECO_PY_NO ? args : n[args].first;
    uint32_t value = key == ECO_PY_NO ? key : n[key].next;
    if (!base || value == ECO_PY_NO || n[key].kind != ECO_PY_STRING) {
        return;
    }
    uint32_t content = n[key].first;
    while (content != ECO_PY_NO && n[content].kind != ECO_PY_STRING_CONTENT) {
        content = n[content].next;
    }
    char *k = content == ECO_PY_NO ? NULL : text_of(f, content);
    uint32_t scope = is_self(base) ? class_around(f, object) : f->scope[object];
    eco_py_define(f, scope, eco_arena_printf(f->arena, "%s[%s?", base, k ? k : ""),
                  (struct eco_py_def){n[call].end, value, call, ECO_PY_NO, ECO_PYD_VALUE, 0, NULL});
}

static void define_call(struct eco_py_flow *f, uint32_t call)
{
    const struct eco_py_node *n = f->t->nodes;
    uint32_t callee = eco_py_child(f->t, call, ECO_PYF_FUNCTION), name = callee;
    if (callee == ECO_PY_NO) {
        return;
    }
    if (n[callee].kind == ECO_PY_ATTRIBUTE) {
        name = eco_py_child(f->t, callee, ECO_PYF_ATTRIBUTE);
        if (eco_py_is(f->t, name, "update")) {
            define_update(f, call, eco_py_child(f->t, callee, ECO_PYF_OBJECT));
        } else if (eco_py_is(f->t, name, "setdefault")) {
            define_default(f, call, eco_py_child(f->t, callee, ECO_PYF_OBJECT));
        } else if (eco_py_is(f->t, name, "pop") || eco_py_is(f->t, name, "clear")) {
            define_removal(f, call, eco_py_child(f->t, callee, ECO_PYF_OBJECT),
                           eco_py_is(f->t, name, "clear"));
        }
    }
    if (name != ECO_PY_NO && n[name].kind == ECO_PY_IDENTIFIER) {
        eco_py_define(
            f, ECO_PY_CALLS, text_of(f, name),
            (struct eco_py_def){n[call].start, call, call, ECO_PY_NO, ECO_PYD_OPAQUE, 0, NULL});
    }
}

static void define_node(struct eco_py_flow *f, uint32_t i)
{
    const struct eco_py_tree *t = f->t;
    const struct eco_py_node *n = &t->nodes[i];
    switch (n->kind) {
    case ECO_PY_ASSIGNMENT:
        if (eco_py_child(t, i, ECO_PYF_RIGHT) != ECO_PY_NO) {
            bind(f, eco_py_child(t, i, ECO_PYF_LEFT), eco_py_child(t, i, ECO_PYF_RIGHT),
                 ECO_PYD_VALUE, n->end);
        }
        break;
    case ECO_PY_NAMED:
        bind(f, eco_py_child(t, i, ECO_PYF_NAME), eco_py_child(t, i, ECO_PYF_VALUE), ECO_PYD_VALUE,
             n->end);
        break;
    case ECO_PY_AUGMENTED:
        bind(f, eco_py_child(t, i, ECO_PYF_LEFT), i, ECO_PYD_OPAQUE, n->end);
        break;
    case ECO_PY_FOR:
    case ECO_PY_FOR_IN:
        bind(f, eco_py_child(t, i, ECO_PYF_LEFT), i, ECO_PYD_LOOP, n->start);
        break;
    case ECO_PY_FUNCTION:
    case ECO_PY_CLASS:
        define_at(f, eco_py_child(t, i, ECO_PYF_NAME),
                  n->kind == ECO_PY_FUNCTION ? ECO_PYD_FUNC : ECO_PYD_CLASS, i, 0, n->end);
        if (n->kind == ECO_PY_FUNCTION) {
            define_params(f, i);
        }
        break;
    case ECO_PY_LAMBDA:
        define_params(f, i);
        break;
    case ECO_PY_IMPORT:
    case ECO_PY_IMPORT_FROM:
        define_import(f, i);
        break;
    case ECO_PY_AS_PATTERN:
        if (n->first != ECO_PY_NO && t->nodes[n->first].next != ECO_PY_NO) {
            uint32_t target = t->nodes[n->first].next;
            target = t->nodes[target].first == ECO_PY_NO ? target : t->nodes[target].first;
            bind(f, target, n->first, ECO_PYD_OPAQUE, n->end);
        }
        break;
    case ECO_PY_CALL:
        define_call(f, i);
        break;
    case ECO_PY_DELETE:
        define_deletion(f, i);
        break;
    default:
        break;
    }
}

int eco_py_flow_init(struct eco_py_flow *f, const struct eco_py_tree *t, struct eco_arena *arena,
                     struct eco_err *err)
{
    *f = (struct eco_py_flow){.t = t, .arena = arena};
    f->steps = 10000 + (uint64_t)t->count * ECO_PY_STEPS_PER_NODE;
    f->scope = eco_arena_array(arena, t->count, sizeof(*f->scope));
    f->memo = eco_arena_array(arena, t->count, sizeof(*f->memo));
    f->failed = !f->scope || !f->memo;
    for (uint32_t i = 1; !f->failed && i < t->count; i++) {
        uint32_t p = t->nodes[i].parent;
        /* the name of a function or class belongs to what is around it */
        bool inner = is_scope(t->nodes[p].kind) && t->nodes[i].field != ECO_PYF_NAME;
        f->scope[i] = inner ? p : f->scope[p];
    }
    for (uint32_t i = 0; !f->failed && i < t->count; i++) {
        define_node(f, i);
    }
    return f->failed ? eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory") : 0;
}

/* ---- which definitions reach a place --------------------------------------------------------- */

static bool is_branch(const struct eco_py_tree *t, uint32_t i)
{
    const struct eco_py_node *n = &t->nodes[i];
    switch (n->kind) {
    case ECO_PY_ELIF:
    case ECO_PY_ELSE:
    case ECO_PY_EXCEPT:
    case ECO_PY_CASE:
    case ECO_PY_FOR:
    case ECO_PY_WHILE:
        return true;
    case ECO_PY_BLOCK:
        return n->field == ECO_PYF_CONSEQUENCE && t->nodes[n->parent].kind == ECO_PY_IF;
    default:
        return false;
    }
}

/* Does `at` run only on some ways that lead to `use`? And could both ever be on one way? */
static bool conditional(struct eco_py_flow *f, uint32_t at, uint32_t use, bool *excluded)
{
    bool some = false;
    *excluded = false;
    for (uint32_t i = f->t->nodes[at].parent; i != ECO_PY_NO && eco_py_spend(f, 1);
         i = f->t->nodes[i].parent) {
        uint8_t kind = f->t->nodes[i].kind;
        if (kind == ECO_PY_FUNCTION || kind == ECO_PY_CLASS) {
            break;
        }
        if (!is_branch(f->t, i) || eco_py_inside(f->t, use, i)) {
            continue;
        }
        some = true;
        uint32_t whole = f->t->nodes[i].parent; /* the if or match around: its other branch? */
        if ((kind == ECO_PY_BLOCK || kind == ECO_PY_ELIF || kind == ECO_PY_ELSE ||
             kind == ECO_PY_CASE) &&
            whole != ECO_PY_NO && eco_py_inside(f->t, use, whole)) {
            *excluded =
                f->t->nodes[whole].kind != ECO_PY_FOR && f->t->nodes[whole].kind != ECO_PY_WHILE;
        }
    }
    return some;
}

bool eco_py_conditional_at(struct eco_py_flow *f, uint32_t i, uint32_t use)
{
    for (i = f->t->nodes[i].parent; i != ECO_PY_NO && eco_py_spend(f, 1);
         i = f->t->nodes[i].parent) {
        uint8_t kind = f->t->nodes[i].kind;
        if (kind == ECO_PY_FUNCTION || kind == ECO_PY_CLASS) {
            return false;
        }
        if (is_branch(f->t, i) && use >= f->t->nodes[i].end) {
            return true;
        }
    }
    return false;
}

uint32_t eco_py_reaching(struct eco_py_flow *f, const struct eco_py_symbol *s, uint32_t use,
                         bool ordered, uint32_t *out, uint32_t cap, bool *open)
{
    uint32_t n = 0;
    *open = false;
    for (uint32_t d = s->last; d != ECO_PY_NO && n < cap && eco_py_spend(f, 1);
         d = f->defs[d].prev) {
        const struct eco_py_def *def = &f->defs[d];
        bool excluded = false;
        if (ordered && def->at > f->t->nodes[use].start) {
            continue;
        }
        bool maybe = ordered && conditional(f, def->target, use, &excluded);
        if (excluded) {
            continue;
        }
        out[n++] = d;
        if (ordered && !maybe) {
            return n;
        }
    }
    *open = ordered;
    return n;
}
