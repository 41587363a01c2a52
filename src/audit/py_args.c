/* Arguments of calls and items of dictionaries, wherever they were written or set. */
#include "py_flow.h"
#include "py_names.h"

#include <string.h>

static const struct eco_py_arg absent = {.have = ECO_PY_ABSENT, .at = ECO_PY_NO};

static struct eco_py_arg present(struct eco_py_flow *f, uint32_t at, uint32_t value)
{
    return (struct eco_py_arg){ECO_PY_PRESENT, at, eco_py_eval(f, value)};
}

static struct eco_py_arg perhaps(uint32_t at)
{
    struct eco_py_arg a = {.have = ECO_PY_MAYBE, .at = at};
    a.vals.n = 1;
    a.vals.v[0].what = ECO_PYV_UNKNOWN;
    return a;
}

/* `key` in whatever `node` stands for: the first dictionary of its alternatives that has it. */
static struct eco_py_arg in_expression(struct eco_py_flow *f, uint32_t node, const char *key)
{
    struct eco_py_vals v = eco_py_eval(f, node);
    struct eco_py_arg found = absent;
    for (uint32_t i = 0; i < v.n; i++) {
        struct eco_py_arg a = absent;
        if (v.v[i].what == ECO_PYV_DICT) {
            a = eco_py_dict_item(f, &v.v[i], key);
        } else if (v.v[i].what != ECO_PYV_NONE) {
            a = perhaps(node);
        }
        if (a.have == ECO_PY_PRESENT) {
            return a;
        }
        found = a.have == ECO_PY_MAYBE ? a : found;
    }
    return found;
}

static struct eco_py_arg literal_item(struct eco_py_flow *f, uint32_t dict, const char *key)
{
    const struct eco_py_node *n = f->t->nodes;
    struct eco_py_arg found = absent;
    for (uint32_t c = n[dict].first; c != ECO_PY_NO && eco_py_spend(f, 1); c = n[c].next) {
        struct eco_py_arg a = absent;
        if (n[c].kind == ECO_PY_PAIR) {
            struct eco_py_vals k = eco_py_eval(f, eco_py_child(f->t, c, ECO_PYF_KEY));
            if (k.n == 1 && k.v[0].what == ECO_PYV_STR && strcmp(k.v[0].s, key) == 0) {
                a = present(f, c, eco_py_child(f->t, c, ECO_PYF_VALUE));
            }
        } else if (n[c].kind == ECO_PY_DICT_SPLAT) {
            a = in_expression(f, n[c].first, key);
        }
        found = a.have == ECO_PY_ABSENT ? found : a; /* the last one counts */
    }
    return found;
}

static struct eco_py_arg set_as(struct eco_py_flow *f, const struct eco_py_val *v,
                                const char *format, const char *key);

struct eco_py_arg eco_py_dict_item(struct eco_py_flow *f, const struct eco_py_val *dict,
                                   const char *key)
{
    const struct eco_py_node *n = &f->t->nodes[dict->node];
    struct eco_py_arg a;
    if (f->depth >= ECO_PY_MAX_DEPTH) {
        return perhaps(dict->node);
    }
    f->depth++;
    if (n->kind == ECO_PY_DICT) {
        a = literal_item(f, dict->node, key);
    } else if (n->kind == ECO_PY_CALL) {
        a = eco_py_call_arg(f, dict->node, key, -1);
        uint32_t args = eco_py_child(f->t, dict->node, ECO_PYF_ARGUMENTS);
        uint32_t base = args == ECO_PY_NO ? args : f->t->nodes[args].first;
        if (a.have == ECO_PY_ABSENT && base != ECO_PY_NO &&
            f->t->nodes[base].kind != ECO_PY_KEYWORD &&
            f->t->nodes[base].kind != ECO_PY_DICT_SPLAT) {
            a = in_expression(f, base, key);
        }
    } else if (n->kind == ECO_PY_BINARY) {
        a = in_expression(f, eco_py_child(f->t, dict->node, ECO_PYF_RIGHT), key);
        if (a.have == ECO_PY_ABSENT) {
            a = in_expression(f, eco_py_child(f->t, dict->node, ECO_PYF_LEFT), key);
        }
    } else {
        a = perhaps(dict->node);
    }
    f->depth--;
    struct eco_py_val rest = *dict;
    struct eco_py_arg cleared = dict->var ? set_as(f, dict, "[]", "~") : absent;
    if (cleared.at != ECO_PY_NO) {
        rest.from = f->t->nodes[cleared.at].end;
        a = absent;
    }
    struct eco_py_arg later = eco_py_set_later(f, &rest, key);
    a = later.have == ECO_PY_ABSENT && later.at == ECO_PY_NO ? a : later;
    return a.have == ECO_PY_ABSENT && dict->var ? set_as(f, dict, "[?", key) : a;
}

/* Definitions of "var<suffix>" between the making of a value and its use. */
static struct eco_py_arg set_as(struct eco_py_flow *f, const struct eco_py_val *v,
                                const char *format, const char *key)
{
    char name[256];
    size_t n = strlen(v->var), k = strlen(key);
    if (n + k + 3 > sizeof(name)) {
        return absent;
    }
    memcpy(name, v->var, n);
    name[n] = format[0];
    memcpy(name + n + 1, key, k);
    name[n + 1 + k] = format[1];
    name[n + 2 + k] = '\0';
    const struct eco_py_symbol *s = eco_py_find(f, v->var_scope, name);
    for (uint32_t d = s ? s->last : ECO_PY_NO; d != ECO_PY_NO && eco_py_spend(f, 1);
         d = f->defs[d].prev) {
        const struct eco_py_def def = f->defs[d];
        if (def.at <= v->from || (v->to && def.at > v->to)) {
            continue;
        }
        if (def.how == ECO_PYD_REMOVED && v->to && eco_py_conditional_at(f, def.target, v->to)) {
            continue; /* taken out on some ways only */
        }
        if (def.how == ECO_PYD_REMOVED) {
            return (struct eco_py_arg){.have = ECO_PY_ABSENT, .at = def.target};
        }
        return def.how == ECO_PYD_VALUE ? present(f, def.target, def.node) : perhaps(def.target);
    }
    return absent;
}

static struct eco_py_arg merged_later(struct eco_py_flow *f, const struct eco_py_val *v,
                                      const char *key)
{
    char name[256];
    size_t n = strlen(v->var);
    if (n + 4 > sizeof(name)) {
        return absent;
    }
    memcpy(name, v->var, n);
    memcpy(name + n, "[*]", 4);
    const struct eco_py_symbol *s = eco_py_find(f, v->var_scope, name);
    for (uint32_t d = s ? s->last : ECO_PY_NO; d != ECO_PY_NO && eco_py_spend(f, 1);
         d = f->defs[d].prev) {
        const struct eco_py_def def = f->defs[d];
        if (def.at > v->from && (!v->to || def.at <= v->to)) {
            struct eco_py_arg a = in_expression(f, def.node, key);
            if (a.have != ECO_PY_ABSENT) {
                return a;
            }
        }
    }
    return absent;
}

struct eco_py_arg eco_py_set_later(struct eco_py_flow *f, const struct eco_py_val *v,
                                   const char *key)
{
    if (!v->var || f->depth >= ECO_PY_MAX_DEPTH) {
        return absent;
    }
    f->depth++;
    struct eco_py_arg a = set_as(f, v, v->what == ECO_PYV_DICT ? "[]" : ".", key);
    if (a.have == ECO_PY_ABSENT && v->what == ECO_PYV_DICT) {
        struct eco_py_val rest = *v;
        rest.from = a.at == ECO_PY_NO ? v->from : f->t->nodes[a.at].end;
        struct eco_py_arg more = merged_later(f, &rest, key);
        a = more.have == ECO_PY_ABSENT ? a : more;
    }
    f->depth--;
    return a;
}

struct eco_py_arg eco_py_call_arg(struct eco_py_flow *f, uint32_t call, const char *key,
                                  int position)
{
    const struct eco_py_node *n = f->t->nodes;
    uint32_t args = eco_py_child(f->t, call, ECO_PYF_ARGUMENTS);
    struct eco_py_arg found = absent;
    int at = 0;
    for (uint32_t c = args == ECO_PY_NO ? args : n[args].first;
         c != ECO_PY_NO && eco_py_spend(f, 1); c = n[c].next) {
        struct eco_py_arg a = absent;
        if (n[c].kind == ECO_PY_KEYWORD) {
            if (key && eco_py_is(f->t, eco_py_child(f->t, c, ECO_PYF_NAME), key)) {
                return present(f, c, eco_py_child(f->t, c, ECO_PYF_VALUE));
            }
        } else if (n[c].kind == ECO_PY_DICT_SPLAT) {
            a = key ? in_expression(f, n[c].first, key) : absent;
        } else if (n[c].kind == ECO_PY_LIST_SPLAT) {
            a = position >= at ? perhaps(c) : absent;
        } else if (n[c].kind != ECO_PY_COMMENT && at++ == position) {
            return present(f, c, c);
        }
        found = a.have == ECO_PY_ABSENT ? found : a;
    }
    return found;
}

struct eco_py_val eco_py_held(struct eco_py_flow *f, uint32_t call)
{
    struct eco_py_val v = {.what = ECO_PYV_CALL, .node = call};
    uint32_t p = f->t->nodes[call].parent;
    if (p != ECO_PY_NO && f->t->nodes[p].kind == ECO_PY_ASSIGNMENT &&
        f->t->nodes[call].field == ECO_PYF_RIGHT) {
        v.var = eco_py_key(f, eco_py_child(f->t, p, ECO_PYF_LEFT));
        v.var_scope = v.var ? eco_py_key_scope(f, call, v.var) : 0;
        v.from = f->t->nodes[p].end;
    }
    return v;
}
