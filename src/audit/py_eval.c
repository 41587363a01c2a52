/* Expressions to values. */
#include "base/num.h"
#include "py_flow.h"
#include "py_names.h"

#include <string.h>

#define MAX_DEFS 8
#define MAX_TEXT 4096

static struct eco_py_vals unknown(void)
{
    struct eco_py_vals v = {.n = 1};
    v.v[0].what = ECO_PYV_UNKNOWN;
    return v;
}

static struct eco_py_vals one(struct eco_py_val v)
{
    struct eco_py_vals r = {.n = 1};
    r.v[0] = v;
    return r;
}

static struct eco_py_vals of_node(enum eco_py_what what, uint32_t node)
{
    return one((struct eco_py_val){.what = what, .node = node});
}

static struct eco_py_vals of_bool(bool b)
{
    return one((struct eco_py_val){.what = ECO_PYV_BOOL, .num = b});
}

static void merge(struct eco_py_vals *into, const struct eco_py_vals *more)
{
    into->open |= more->open;
    for (uint32_t i = 0; i < more->n; i++) {
        if (into->n == ECO_PY_MAX_VALS) {
            into->open = true;
            return;
        }
        into->v[into->n++] = more->v[i];
    }
}

static struct eco_py_vals of_text(struct eco_py_flow *f, enum eco_py_what what, const char *s,
                                  size_t len)
{
    const char *copy = eco_arena_strdup(f->arena, s, len);
    return copy ? one((struct eco_py_val){.what = what, .s = copy, .len = len}) : unknown();
}

const char *eco_py_last(const char *dotted)
{
    const char *dot = strrchr(dotted, '.');
    return dot ? dot + 1 : dotted;
}

enum eco_py_truth eco_py_truth(const struct eco_py_vals *v)
{
    int yes = 0, no = 0, dunno = v->open ? 1 : 0;
    for (uint32_t i = 0; i < v->n; i++) {
        switch (v->v[i].what) {
        case ECO_PYV_NONE:
            no++;
            break;
        case ECO_PYV_BOOL:
        case ECO_PYV_NUM:
            v->v[i].num != 0 ? yes++ : no++;
            break;
        case ECO_PYV_STR:
            v->v[i].len ? yes++ : no++;
            break;
        default:
            dunno++;
        }
    }
    if (yes) {
        return no == 0 && dunno == 0 ? ECO_PY_TRUE_ALWAYS : ECO_PY_TRUE_SOMETIMES;
    }
    return no && dunno == 0 ? ECO_PY_FALSE_ALWAYS : ECO_PY_DUNNO;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Appends the text of a string node; false when a part of it cannot be told. */
static bool string_into(struct eco_py_flow *f, uint32_t i, char *out, size_t *n)
{
    const struct eco_py_node *nodes = f->t->nodes;
    for (uint32_t c = nodes[i].first; c != ECO_PY_NO; c = nodes[c].next) {
        const char *s = f->t->text + nodes[c].start;
        size_t len = nodes[c].end - nodes[c].start;
        struct eco_py_vals v;
        char number[ECO_NUM_MAX];
        if (nodes[c].kind == ECO_PY_STRING) {
            if (!string_into(f, c, out, n)) {
                return false;
            }
            continue;
        }
        if (nodes[c].kind == ECO_PY_INTERPOLATION) {
            v = eco_py_eval(f, eco_py_child(f->t, c, ECO_PYF_EXPRESSION));
            if (v.n != 1 || v.open) {
                return false;
            }
            if (v.v[0].what == ECO_PYV_STR) {
                s = v.v[0].s, len = v.v[0].len;
            } else if (v.v[0].what == ECO_PYV_NUM) {
                len = (size_t)eco_num_format(v.v[0].num, number);
                s = number;
            } else {
                return false;
            }
        } else if (nodes[c].kind != ECO_PY_STRING_CONTENT) {
            continue;
        }
        if (*n + len >= MAX_TEXT) {
            return false;
        }
        memcpy(out + *n, s, len);
        *n += len;
    }
    return true;
}

static struct eco_py_vals eval_string(struct eco_py_flow *f, uint32_t i)
{
    char text[MAX_TEXT];
    size_t n = 0;
    return string_into(f, i, text, &n) ? of_text(f, ECO_PYV_STR, text, n) : unknown();
}

static struct eco_py_vals eval_number(struct eco_py_flow *f, uint32_t i)
{
    char text[64];
    size_t n = 0;
    for (uint32_t at = f->t->nodes[i].start; at < f->t->nodes[i].end && n < sizeof(text); at++) {
        if (f->t->text[at] != '_') {
            text[n++] = f->t->text[at];
        }
    }
    double v;
    if (n > 1 && text[n - 1] == '.') {
        n--; /* 0. */
    }
    if (n < sizeof(text) && eco_num_parse_lenient(text, n, &v) == 0) {
        return one((struct eco_py_val){.what = ECO_PYV_NUM, .num = v});
    }
    return unknown();
}

/* ---- functions of this file ------------------------------------------------------------------ */

uint32_t eco_py_next_call(struct eco_py_flow *f, const char *name, uint32_t *state)
{
    if (*state == 0) {
        const struct eco_py_symbol *s = eco_py_find(f, ECO_PY_CALLS, name);
        *state = s ? s->last : ECO_PY_NO;
    } else {
        *state = f->defs[*state - 1].prev;
    }
    if (*state == ECO_PY_NO || !eco_py_spend(f, 1)) {
        return ECO_PY_NO;
    }
    return f->defs[(*state)++].node;
}

static bool is_method(const struct eco_py_flow *f, uint32_t function)
{
    return f->t->nodes[f->scope[function]].kind == ECO_PY_CLASS;
}

/* The argument of one call for parameter `index` named `key`. */
static struct eco_py_arg passed(struct eco_py_flow *f, uint32_t call, uint32_t index, bool method,
                                const char *key)
{
    int position = (int)index - (method ? 1 : 0);
    return eco_py_call_arg(f, call, key, position);
}

static const char *call_name(struct eco_py_flow *f, uint32_t function)
{
    uint32_t name = eco_py_child(f->t, function, ECO_PYF_NAME);
    if (name == ECO_PY_NO) {
        return NULL;
    }
    if (eco_py_is(f->t, name, "__init__") && is_method(f, function)) {
        name = eco_py_child(f->t, f->scope[function], ECO_PYF_NAME);
    }
    return name == ECO_PY_NO ? NULL : eco_py_key(f, name);
}

/* What callers in this file pass, or the default. */
static struct eco_py_vals eval_param(struct eco_py_flow *f, const struct eco_py_def *def,
                                     const char *key)
{
    uint32_t function = f->scope[def->target];
    while (function && f->t->nodes[function].kind != ECO_PY_FUNCTION) {
        function = f->scope[function];
    }
    uint32_t value = eco_py_child(f->t, def->node, ECO_PYF_VALUE), state = 0, call;
    const char *name = function ? call_name(f, function) : NULL;
    struct eco_py_vals all = {.n = 0};
    bool use_default = value != ECO_PY_NO, called = false;
    for (int i = 0; name && i < MAX_DEFS; i++) {
        call = eco_py_next_call(f, name, &state);
        if (call == ECO_PY_NO) {
            break;
        }
        use_default = called ? use_default : false;
        called = true;
        struct eco_py_arg a = passed(f, call, def->index, is_method(f, function), key);
        if (a.have == ECO_PY_ABSENT) {
            use_default = true;
        } else {
            merge(&all, &a.vals);
            all.open |= a.have == ECO_PY_MAYBE;
        }
    }
    if (use_default && value != ECO_PY_NO) {
        struct eco_py_vals d = eco_py_eval(f, value);
        merge(&all, &d);
    }
    all.open |= !called;
    return all.n ? all : unknown();
}

static struct eco_py_vals eval_returns(struct eco_py_flow *f, uint32_t function)
{
    struct eco_py_vals all = {.n = 0};
    if (f->t->nodes[function].kind == ECO_PY_LAMBDA) {
        return eco_py_eval(f, eco_py_child(f->t, function, ECO_PYF_BODY));
    }
    for (uint32_t i = function; i < f->t->nodes[function].last && eco_py_spend(f, 1); i++) {
        if (f->t->nodes[i].kind == ECO_PY_RETURN && f->t->nodes[i].first != ECO_PY_NO &&
            eco_py_frame(f, i) == function) {
            struct eco_py_vals v = eco_py_eval(f, f->t->nodes[i].first);
            merge(&all, &v);
        }
    }
    return all.n ? all : unknown();
}

/* ---- names ----------------------------------------------------------------------------------- */

static struct eco_py_vals element(struct eco_py_flow *f, uint32_t list, uint32_t index)
{
    uint32_t at = 0;
    for (uint32_t c = f->t->nodes[list].first; c != ECO_PY_NO && eco_py_spend(f, 1);
         c = f->t->nodes[c].next) {
        if (f->t->nodes[c].kind != ECO_PY_COMMENT && at++ == index) {
            return eco_py_eval(f, c);
        }
    }
    return unknown();
}

static struct eco_py_vals eval_unpacked(struct eco_py_flow *f, const struct eco_py_def *def)
{
    struct eco_py_vals v = eco_py_eval(f, def->node), all = {.n = 0};
    for (uint32_t i = 0; i < v.n; i++) {
        struct eco_py_vals e = unknown();
        if (v.v[i].what == ECO_PYV_LIST) {
            e = element(f, v.v[i].node, def->index);
        } else if (v.v[i].what == ECO_PYV_CALL && def->index == 0) {
            e = one(v.v[i]); /* model, tokenizer = load(...) */
        }
        merge(&all, &e);
    }
    return all.n ? all : unknown();
}

static struct eco_py_vals eval_def(struct eco_py_flow *f, const struct eco_py_symbol *s, uint32_t d,
                                   uint32_t use)
{
    const struct eco_py_def def = f->defs[d];
    struct eco_py_vals v;
    switch (def.how) {
    case ECO_PYD_VALUE:
        v = eco_py_eval(f, def.node);
        for (uint32_t i = 0; i < v.n; i++) {
            v.v[i].var = s->key;
            v.v[i].var_scope = s->scope;
            v.v[i].from = def.at;
            v.v[i].to = f->t->nodes[use].start;
        }
        return v;
    case ECO_PYD_UNPACK:
        return eval_unpacked(f, &def);
    case ECO_PYD_PARAM:
        return eval_param(f, &def, s->key);
    case ECO_PYD_FUNC:
        return of_node(ECO_PYV_FUNC, def.node);
    case ECO_PYD_CLASS:
        return of_node(ECO_PYV_CLASS, def.node);
    case ECO_PYD_IMPORT:
        return of_text(f, ECO_PYV_NAME, def.name, strlen(def.name));
    default:
        return unknown();
    }
}

static struct eco_py_vals eval_symbol(struct eco_py_flow *f, const struct eco_py_symbol *s,
                                      uint32_t use, bool ordered)
{
    uint32_t defs[MAX_DEFS];
    bool open;
    uint32_t n = eco_py_reaching(f, s, use, ordered, defs, MAX_DEFS, &open);
    if (n == 0 && ordered) { /* only defined further down: a loop, or cells run out of order */
        n = eco_py_reaching(f, s, use, false, defs, MAX_DEFS, &open);
    }
    struct eco_py_vals all = {.open = open && n == 0};
    for (uint32_t i = 0; i < n; i++) {
        struct eco_py_vals v = eval_def(f, s, defs[i], use);
        merge(&all, &v);
    }
    return all.n ? all : unknown();
}

/* false: nobody in this file defines it. */
static bool eval_name(struct eco_py_flow *f, const char *key, uint32_t use, struct eco_py_vals *out)
{
    uint32_t scope = eco_py_key_scope(f, use, key);
    const struct eco_py_symbol *s = eco_py_find(f, scope, key);
    if (!s) {
        return false;
    }
    uint32_t frame = f->scope[use];
    bool same = false;
    while (!same && frame) { /* lambdas and comprehensions run where they stand */
        same = frame == scope;
        if (f->t->nodes[frame].kind == ECO_PY_FUNCTION || f->t->nodes[frame].kind == ECO_PY_CLASS) {
            break;
        }
        frame = f->scope[frame];
    }
    same |= frame == scope;
    *out = eval_symbol(f, s, use, same && strncmp(key, "self.", 5) != 0);
    return true;
}

static struct eco_py_vals eval_identifier(struct eco_py_flow *f, uint32_t i)
{
    struct eco_py_vals v;
    const char *key = eco_py_key(f, i);
    if (!key) {
        return unknown();
    }
    return eval_name(f, key, i, &v) ? v : of_text(f, ECO_PYV_NAME, key, strlen(key));
}

/* An attribute of a class of this file: set in its body, or on self. */
static bool class_attribute(struct eco_py_flow *f, uint32_t class_node, const char *attr,
                            uint32_t use, struct eco_py_vals *out)
{
    const char *self = eco_arena_printf(f->arena, "self.%s", attr);
    const struct eco_py_symbol *s = self ? eco_py_find(f, class_node, self) : NULL;
    s = s ? s : eco_py_find(f, class_node, attr);
    if (s) {
        *out = eval_symbol(f, s, use, false);
    }
    return s != NULL;
}

static struct eco_py_vals eval_attribute(struct eco_py_flow *f, uint32_t i)
{
    const char *key = eco_py_key(f, i), *attr = NULL;
    struct eco_py_vals v, all = {.n = 0};
    if (key && eval_name(f, key, i, &v)) {
        return v;
    }
    if (key && (strncmp(key, "self.", 5) == 0 || strncmp(key, "cls.", 4) == 0)) {
        uint32_t class_node = eco_py_key_scope(f, i, key);
        if (class_attribute(f, class_node, strchr(key, '.') + 1, i, &v)) {
            return v;
        }
    }
    attr = eco_py_key(f, eco_py_child(f->t, i, ECO_PYF_ATTRIBUTE));
    v = eco_py_eval(f, eco_py_child(f->t, i, ECO_PYF_OBJECT));
    for (uint32_t k = 0; attr && k < v.n; k++) {
        struct eco_py_vals e = unknown();
        if (v.v[k].what == ECO_PYV_NAME) {
            const char *full = eco_arena_printf(f->arena, "%s.%s", v.v[k].s, attr);
            e = full ? of_text(f, ECO_PYV_NAME, full, strlen(full)) : e;
        } else if (v.v[k].what == ECO_PYV_CLASS) {
            class_attribute(f, v.v[k].node, attr, i, &e);
        } else if (v.v[k].what == ECO_PYV_CALL) {
            struct eco_py_vals c = eco_py_callee_vals(f, v.v[k].node);
            if (c.n && c.v[0].what == ECO_PYV_CLASS) {
                class_attribute(f, c.v[0].node, attr, i, &e);
            }
        }
        merge(&all, &e);
    }
    return all.n ? all : unknown();
}

/* ---- calls and operators --------------------------------------------------------------------- */

struct eco_py_vals eco_py_callee_vals(struct eco_py_flow *f, uint32_t call)
{
    return eco_py_eval(f, eco_py_child(f->t, call, ECO_PYF_FUNCTION));
}

const char *eco_py_callee(struct eco_py_flow *f, uint32_t call)
{
    struct eco_py_vals v = eco_py_callee_vals(f, call);
    for (uint32_t i = 0; i < v.n; i++) {
        if (v.v[i].what == ECO_PYV_NAME) {
            return eco_py_last(v.v[i].s);
        }
    }
    return "";
}

static uint32_t first_argument(const struct eco_py_flow *f, uint32_t call)
{
    uint32_t args = eco_py_child(f->t, call, ECO_PYF_ARGUMENTS);
    return args == ECO_PY_NO ? args : f->t->nodes[args].first;
}

/* d.get("k", default), d.pop("k"): the item. */
static bool item_of_call(struct eco_py_flow *f, uint32_t callee, uint32_t arg,
                         struct eco_py_vals *out)
{
    if (callee == ECO_PY_NO || arg == ECO_PY_NO || f->t->nodes[callee].kind != ECO_PY_ATTRIBUTE ||
        f->t->nodes[arg].kind != ECO_PY_STRING) {
        return false;
    }
    uint32_t name = eco_py_child(f->t, callee, ECO_PYF_ATTRIBUTE);
    if (!eco_py_is(f->t, name, "get") && !eco_py_is(f->t, name, "pop")) {
        return false;
    }
    struct eco_py_vals d = eco_py_eval(f, eco_py_child(f->t, callee, ECO_PYF_OBJECT));
    struct eco_py_vals k = eco_py_eval(f, arg);
    if (d.n != 1 || d.open || d.v[0].what != ECO_PYV_DICT || k.n != 1 ||
        k.v[0].what != ECO_PYV_STR) {
        return false;
    }
    uint32_t fallback = f->t->nodes[arg].next;
    struct eco_py_arg a = eco_py_dict_item(f, &d.v[0], k.v[0].s);
    if (a.have == ECO_PY_PRESENT) {
        *out = a.vals;
    } else if (a.have == ECO_PY_ABSENT) {
        *out = fallback == ECO_PY_NO ? one((struct eco_py_val){.what = ECO_PYV_NONE})
                                     : eco_py_eval(f, fallback);
    } else {
        *out = unknown();
    }
    return true;
}

static struct eco_py_vals eval_call(struct eco_py_flow *f, uint32_t i)
{
    uint32_t callee = eco_py_child(f->t, i, ECO_PYF_FUNCTION);
    uint32_t arg = first_argument(f, i);
    if (callee != ECO_PY_NO && f->t->nodes[callee].kind == ECO_PY_ATTRIBUTE &&
        eco_py_is(f->t, eco_py_child(f->t, callee, ECO_PYF_ATTRIBUTE), "copy") &&
        arg == ECO_PY_NO) {
        return eco_py_eval(f, eco_py_child(f->t, callee, ECO_PYF_OBJECT));
    }
    struct eco_py_vals v, all = {.n = 0};
    if (item_of_call(f, callee, arg, &v)) {
        return v;
    }
    v = eco_py_eval(f, callee);
    for (uint32_t k = 0; k < v.n; k++) {
        struct eco_py_vals e = of_node(ECO_PYV_CALL, i);
        const char *name = v.v[k].what == ECO_PYV_NAME ? eco_py_last(v.v[k].s) : "";
        if (v.v[k].what == ECO_PYV_FUNC) {
            e = eval_returns(f, v.v[k].node);
        } else if (strcmp(name, "dict") == 0) {
            e = of_node(ECO_PYV_DICT, i);
        } else if (arg != ECO_PY_NO && (strcmp(name, "float") == 0 || strcmp(name, "int") == 0 ||
                                        strcmp(name, "bool") == 0 || strcmp(name, "str") == 0 ||
                                        strcmp(name, "deepcopy") == 0 ||
                                        strcmp(name, "copy") == 0 || strcmp(name, "Path") == 0)) {
            e = eco_py_eval(f, arg);
        }
        merge(&all, &e);
    }
    return all.n ? all : unknown();
}

static struct eco_py_vals eval_conditional(struct eco_py_flow *f, uint32_t i)
{
    uint32_t yes = f->t->nodes[i].first;
    uint32_t cond = yes == ECO_PY_NO ? yes : f->t->nodes[yes].next;
    uint32_t no = cond == ECO_PY_NO ? cond : f->t->nodes[cond].next;
    struct eco_py_vals c = eco_py_eval(f, cond), a = eco_py_eval(f, yes), b = eco_py_eval(f, no);
    enum eco_py_truth t = eco_py_truth(&c), ta = eco_py_truth(&a), tb = eco_py_truth(&b);
    if (t == ECO_PY_TRUE_ALWAYS || t == ECO_PY_FALSE_ALWAYS) {
        return t == ECO_PY_TRUE_ALWAYS ? a : b;
    }
    if (ta != tb && a.n == 1 && (a.v[0].what == ECO_PYV_BOOL || a.v[0].what == ECO_PYV_NUM)) {
        return unknown(); /* which of them is decided elsewhere */
    }
    merge(&a, &b);
    return a;
}

static struct eco_py_vals eval_boolean(struct eco_py_flow *f, uint32_t i)
{
    struct eco_py_vals a = eco_py_eval(f, eco_py_child(f->t, i, ECO_PYF_LEFT));
    struct eco_py_vals b = eco_py_eval(f, eco_py_child(f->t, i, ECO_PYF_RIGHT));
    bool is_or = eco_py_is(f->t, eco_py_child(f->t, i, ECO_PYF_OPERATOR), "or");
    enum eco_py_truth t = eco_py_truth(&a), tb = eco_py_truth(&b);
    if (t == ECO_PY_TRUE_ALWAYS) {
        return is_or ? a : b;
    }
    if (t == ECO_PY_FALSE_ALWAYS) {
        return is_or ? b : a;
    }
    if (is_or ? tb == ECO_PY_TRUE_ALWAYS : tb == ECO_PY_FALSE_ALWAYS) {
        return b; /* x or True, x and False */
    }
    return unknown();
}

static bool same_value(const struct eco_py_val *a, const struct eco_py_val *b, bool *equal)
{
    bool na = a->what == ECO_PYV_NUM || a->what == ECO_PYV_BOOL;
    bool nb = b->what == ECO_PYV_NUM || b->what == ECO_PYV_BOOL;
    if (na && nb) {
        *equal = a->num == b->num;
        return true;
    }
    bool known = (na || a->what == ECO_PYV_STR || a->what == ECO_PYV_NONE) &&
                 (nb || b->what == ECO_PYV_STR || b->what == ECO_PYV_NONE);
    *equal = a->what == b->what &&
             (a->what == ECO_PYV_NONE ||
              (a->len == b->len && (a->len == 0 || memcmp(a->s, b->s, a->len) == 0)));
    return known;
}

static struct eco_py_vals eval_comparison(struct eco_py_flow *f, uint32_t i)
{
    const struct eco_py_node *n = f->t->nodes;
    uint32_t kids[4], count = 0, op = ECO_PY_NO;
    for (uint32_t c = n[i].first; c != ECO_PY_NO && count < 4; c = n[c].next) {
        if (n[c].field == ECO_PYF_OPERATORS) {
            op = c;
        } else {
            kids[count++] = c;
        }
    }
    if (count != 2 || op == ECO_PY_NO) {
        return unknown();
    }
    struct eco_py_vals a = eco_py_eval(f, kids[0]), b = eco_py_eval(f, kids[1]);
    bool equal;
    if (a.n != 1 || b.n != 1 || a.open || b.open || !same_value(&a.v[0], &b.v[0], &equal)) {
        return unknown();
    }
    bool numbers = a.v[0].what == ECO_PYV_NUM && b.v[0].what == ECO_PYV_NUM;
    if (eco_py_is(f->t, op, "==") || eco_py_is(f->t, op, "is")) {
        return of_bool(equal);
    }
    if (eco_py_is(f->t, op, "!=") || eco_py_is(f->t, op, "is not")) {
        return of_bool(!equal);
    }
    if (numbers && (eco_py_is(f->t, op, "<") || eco_py_is(f->t, op, "<="))) {
        return of_bool(a.v[0].num < b.v[0].num || (equal && n[op].end - n[op].start == 2));
    }
    if (numbers && (eco_py_is(f->t, op, ">") || eco_py_is(f->t, op, ">="))) {
        return of_bool(a.v[0].num > b.v[0].num || (equal && n[op].end - n[op].start == 2));
    }
    return unknown();
}

static struct eco_py_vals arithmetic(struct eco_py_flow *f, uint32_t i, const struct eco_py_val *a,
                                     const struct eco_py_val *b)
{
    uint32_t op = eco_py_child(f->t, i, ECO_PYF_OPERATOR);
    char o = op == ECO_PY_NO || f->t->nodes[op].end - f->t->nodes[op].start != 1
                 ? ' '
                 : f->t->text[f->t->nodes[op].start];
    if (a->what == ECO_PYV_STR && b->what == ECO_PYV_STR && (o == '+' || o == '/')) {
        const char *s = eco_arena_printf(f->arena, o == '+' ? "%s%s" : "%s/%s", a->s, b->s);
        return s && strlen(s) < MAX_TEXT ? of_text(f, ECO_PYV_STR, s, strlen(s)) : unknown();
    }
    if (a->what != ECO_PYV_NUM || b->what != ECO_PYV_NUM) {
        return unknown();
    }
    double v = o == '+'                  ? a->num + b->num
               : o == '-'                ? a->num - b->num
               : o == '*'                ? a->num * b->num
               : o == '/' && b->num != 0 ? a->num / b->num
                                         : 0;
    return strchr("+-*/", o) && (o != '/' || b->num != 0)
               ? one((struct eco_py_val){.what = ECO_PYV_NUM, .num = v})
               : unknown();
}

static struct eco_py_vals eval_binary(struct eco_py_flow *f, uint32_t i)
{
    struct eco_py_vals a = eco_py_eval(f, eco_py_child(f->t, i, ECO_PYF_LEFT));
    struct eco_py_vals b = eco_py_eval(f, eco_py_child(f->t, i, ECO_PYF_RIGHT));
    if (a.n && a.v[0].what == ECO_PYV_DICT &&
        eco_py_is(f->t, eco_py_child(f->t, i, ECO_PYF_OPERATOR), "|")) {
        return of_node(ECO_PYV_DICT, i);
    }
    return a.n == 1 && b.n == 1 && !a.open && !b.open ? arithmetic(f, i, &a.v[0], &b.v[0])
                                                      : unknown();
}

static struct eco_py_vals eval_subscript(struct eco_py_flow *f, uint32_t i)
{
    const char *key = eco_py_key(f, i);
    struct eco_py_vals v, all = {.n = 0};
    if (key && eval_name(f, key, i, &v)) {
        return v;
    }
    v = eco_py_eval(f, eco_py_child(f->t, i, ECO_PYF_VALUE));
    struct eco_py_vals k = eco_py_eval(f, eco_py_child(f->t, i, ECO_PYF_SUBSCRIPT));
    for (uint32_t d = 0; d < v.n && k.n == 1; d++) {
        struct eco_py_vals e = unknown();
        if (v.v[d].what == ECO_PYV_DICT && k.v[0].what == ECO_PYV_STR) {
            struct eco_py_arg a = eco_py_dict_item(f, &v.v[d], k.v[0].s);
            e = a.have == ECO_PY_PRESENT ? a.vals : e;
        } else if (v.v[d].what == ECO_PYV_LIST && k.v[0].what == ECO_PYV_NUM && k.v[0].num >= 0 &&
                   k.v[0].num < 1e6) {
            e = element(f, v.v[d].node, (uint32_t)k.v[0].num);
        }
        merge(&all, &e);
    }
    return all.n ? all : unknown();
}

static struct eco_py_vals eval_unary(struct eco_py_flow *f, uint32_t i)
{
    struct eco_py_vals v = eco_py_eval(f, eco_py_child(f->t, i, ECO_PYF_ARGUMENT));
    if (f->t->nodes[i].kind == ECO_PY_NOT) {
        enum eco_py_truth t = eco_py_truth(&v);
        return t == ECO_PY_TRUE_ALWAYS || t == ECO_PY_FALSE_ALWAYS
                   ? of_bool(t == ECO_PY_FALSE_ALWAYS)
                   : unknown();
    }
    if (v.n == 1 && v.v[0].what == ECO_PYV_NUM && f->t->text[f->t->nodes[i].start] == '-') {
        v.v[0].num = -v.v[0].num;
        return v;
    }
    return unknown();
}

static struct eco_py_vals eval_node(struct eco_py_flow *f, uint32_t i)
{
    switch (f->t->nodes[i].kind) {
    case ECO_PY_IDENTIFIER:
        return eval_identifier(f, i);
    case ECO_PY_ATTRIBUTE:
        return eval_attribute(f, i);
    case ECO_PY_CALL:
        return eval_call(f, i);
    case ECO_PY_TRUE:
    case ECO_PY_FALSE:
        return of_bool(f->t->nodes[i].kind == ECO_PY_TRUE);
    case ECO_PY_NONE:
        return one((struct eco_py_val){.what = ECO_PYV_NONE});
    case ECO_PY_INTEGER:
    case ECO_PY_FLOAT:
        return eval_number(f, i);
    case ECO_PY_STRING:
    case ECO_PY_CONCATENATED:
        return eval_string(f, i);
    case ECO_PY_DICT:
    case ECO_PY_DICT_COMP:
        return of_node(ECO_PYV_DICT, i);
    case ECO_PY_LIST:
    case ECO_PY_TUPLE:
    case ECO_PY_SET:
    case ECO_PY_EXPRESSION_LIST:
    case ECO_PY_LIST_COMP:
        return of_node(ECO_PYV_LIST, i);
    case ECO_PY_LAMBDA:
        return of_node(ECO_PYV_FUNC, i);
    case ECO_PY_CONDITIONAL:
        return eval_conditional(f, i);
    case ECO_PY_BOOLEAN:
        return eval_boolean(f, i);
    case ECO_PY_COMPARISON:
        return eval_comparison(f, i);
    case ECO_PY_BINARY:
        return eval_binary(f, i);
    case ECO_PY_SUBSCRIPT:
        return eval_subscript(f, i);
    case ECO_PY_UNARY:
    case ECO_PY_NOT:
        return eval_unary(f, i);
    case ECO_PY_NAMED:
        return eco_py_eval(f, eco_py_child(f->t, i, ECO_PYF_VALUE));
    case ECO_PY_ASSIGNMENT: /* a = b = value */
        return eco_py_eval(f, eco_py_child(f->t, i, ECO_PYF_RIGHT));
    case ECO_PY_PAREN:
    case ECO_PY_AWAIT:
        return eco_py_eval(f, f->t->nodes[i].first);
    default:
        return unknown();
    }
}

/* A result that is kept: only the alternatives that are used. */
struct eco_py_memo {
    uint32_t n;
    bool open;
    struct eco_py_val v[];
};

static const struct eco_py_memo busy; /* in the table while its node is being looked into */

static struct eco_py_vals remembered(const struct eco_py_memo *memo)
{
    struct eco_py_vals v = {.n = memo->n, .open = memo->open};
    if (memo == &busy) { /* a value that depends on itself */
        return unknown();
    }
    memcpy(v.v, memo->v, memo->n * sizeof(v.v[0]));
    return v;
}

static void remember(struct eco_py_flow *f, uint32_t node, const struct eco_py_vals *v)
{
    struct eco_py_memo *memo = eco_arena_alloc(f->arena, sizeof(*memo) + v->n * sizeof(v->v[0]));
    if (memo) {
        memo->n = v->n;
        memo->open = v->open;
        memcpy(memo->v, v->v, v->n * sizeof(v->v[0]));
    }
    f->memo[node] = memo;
}

/* Through functions and their callers one node is asked for again and again, and sometimes on the
 * way to itself: each is worked out once. */
struct eco_py_vals eco_py_eval(struct eco_py_flow *f, uint32_t node)
{
    if (node == ECO_PY_NO || f->depth >= ECO_PY_MAX_DEPTH || !eco_py_spend(f, 4)) {
        return unknown();
    }
    if (f->memo[node]) {
        return remembered(f->memo[node]);
    }
    f->memo[node] = &busy;
    f->depth++;
    struct eco_py_vals v = eval_node(f, node);
    f->depth--;
    remember(f, node, &v);
    return v;
}
