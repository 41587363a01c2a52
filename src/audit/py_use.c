/* How an expression inside a loop depends on what the loop brings. */
#include "py_loop.h"
#include "py_names.h"

#include <string.h>

#define MAX_DEPTH 24

static void merge(struct eco_use *u, const struct eco_use *more)
{
    u->dep |= more->dep;
    u->batch |= more->dep && more->batch;
    u->text |= more->dep && more->text;
    u->no_claim |= more->no_claim;
    u->target = u->target ? u->target : more->target;
    u->unpadded = u->unpadded != ECO_PY_NO ? u->unpadded : more->unpadded;
}

static struct eco_use nothing(void)
{
    return (struct eco_use){.unpadded = ECO_PY_NO};
}

static bool plural(const char *s)
{
    size_t n = strlen(s);
    return n > 2 && s[n - 1] == 's' && s[n - 2] != 's' && s[n - 2] != 'i' && s[n - 2] != 'u';
}

static bool in_body(const struct eco_loop *l, uint32_t node)
{
    return node != ECO_PY_NO && node >= l->first && node < l->last;
}

static bool batch_word(const char *s)
{
    for (; *s; s++) {
        if (eco_str_ncasecmp(s, "batch", 5) == 0 || eco_str_ncasecmp(s, "chunk", 5) == 0) {
            return true;
        }
    }
    return false;
}

/* history.append(answer): the next turn needs this one. */
static bool grows(struct eco_scan *s, const struct eco_loop *l, const char *key)
{
    static const char *const methods[] = {"append", "extend", "insert", "add_turn"};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        uint32_t state = 0, call;
        while ((call = eco_py_next_call(&s->flow, methods[i], &state)) != ECO_PY_NO) {
            uint32_t callee = eco_py_child(&s->tree, call, ECO_PYF_FUNCTION);
            const char *k =
                in_body(l, call)
                    ? eco_py_key(&s->flow, eco_py_child(&s->tree, callee, ECO_PYF_OBJECT))
                    : NULL;
            if (k && strcmp(k, key) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* A variable set inside the loop: what it was set to. */
static void use_of_variable(struct eco_scan *s, const struct eco_loop *l, uint32_t node,
                            const char *key, int depth, struct eco_use *u)
{
    uint32_t scope = eco_py_key_scope(&s->flow, node, key);
    const struct eco_py_symbol *sym = eco_py_find(&s->flow, scope, key);
    bool before = false, after = false;
    uint32_t start = s->tree.nodes[node].start;
    for (uint32_t d = sym ? sym->last : ECO_PY_NO; d != ECO_PY_NO && eco_py_spend(&s->flow, 1);
         d = s->flow.defs[d].prev) {
        const struct eco_py_def def = s->flow.defs[d];
        if (!in_body(l, def.target)) {
            continue;
        }
        if (def.at > start) {
            after = true;
        } else if (!before && (def.how == ECO_PYD_VALUE || def.how == ECO_PYD_UNPACK)) {
            before = true;
            uint32_t m = s->tree.nodes[def.node].kind == ECO_PY_CALL ? eco_scan_method(s, def.node)
                                                                     : ECO_PY_NO;
            if (!eco_py_is(&s->tree, m, "from_pretrained")) { /* a tokenizer is no input */
                eco_loop_use(s, l, def.node, depth + 1, u);
            }
        } else if (!before && def.how == ECO_PYD_LOOP) {
            before = true; /* an inner loop: over something of the outer one? */
            uint32_t right = eco_py_child(&s->tree, def.node, ECO_PYF_RIGHT);
            eco_loop_use(s, l, right, depth + 1, u);
        } else if (!before) {
            u->no_claim = true; /* text += …: grown turn by turn */
        }
    }
    if ((after && !before) || grows(s, l, key)) {
        u->no_claim = true;
    }
}

static void use_of_name(struct eco_scan *s, const struct eco_loop *l, uint32_t node, int depth,
                        struct eco_use *u)
{
    const char *key = eco_py_key(&s->flow, node);
    if (!key) {
        return;
    }
    for (uint32_t i = 0; i < l->n; i++) {
        if (strcmp(l->targets[i], key) == 0) {
            u->dep = true;
            u->target = key;
            u->batch |= l->batched || (batch_word(key) && !l->tensors); /* "batch" of one */
            return;
        }
    }
    use_of_variable(s, l, node, key, depth, u);
}

static void use_of_children(struct eco_scan *s, const struct eco_loop *l, uint32_t node, int depth,
                            struct eco_use *u)
{
    for (uint32_t c = s->tree.nodes[node].first; c != ECO_PY_NO; c = s->tree.nodes[c].next) {
        struct eco_use more = nothing();
        eco_loop_use(s, l, c, depth + 1, &more);
        merge(u, &more);
    }
}

static bool one_item_slice(struct eco_scan *s, uint32_t slice)
{
    const struct eco_py_node *n = s->tree.nodes;
    uint32_t a = n[slice].first, b = a == ECO_PY_NO ? a : n[a].next;
    if (b == ECO_PY_NO || n[b].kind != ECO_PY_BINARY) {
        return false;
    }
    uint32_t left = eco_py_child(&s->tree, b, ECO_PYF_LEFT);
    size_t len = n[a].end - n[a].start;
    if (left == ECO_PY_NO || n[left].end - n[left].start != len ||
        memcmp(s->tree.text + n[a].start, s->tree.text + n[left].start, len) != 0) {
        return false;
    }
    struct eco_py_vals width = eco_py_eval(&s->flow, eco_py_child(&s->tree, b, ECO_PYF_RIGHT));
    return width.n == 1 && width.v[0].what == ECO_PYV_NUM && width.v[0].num == 1;
}

/* prompts[i], prompts[i:i + 8], text[:512] */
static void use_of_subscript(struct eco_scan *s, const struct eco_loop *l, uint32_t node, int depth,
                             struct eco_use *u)
{
    uint32_t index = eco_py_child(&s->tree, node, ECO_PYF_SUBSCRIPT);
    struct eco_use at = nothing();
    eco_loop_use(s, l, eco_py_child(&s->tree, node, ECO_PYF_VALUE), depth + 1, u);
    if (index != ECO_PY_NO) {
        eco_loop_use(s, l, index, depth + 1, &at);
        bool slice = s->tree.nodes[index].kind == ECO_PY_SLICE;
        at.batch = slice ? !one_item_slice(s, index) : at.batch;
        merge(u, &at);
    }
}

static void use_of_list(struct eco_scan *s, const struct eco_loop *l, uint32_t node, int depth,
                        struct eco_use *u)
{
    const struct eco_py_node *n = s->tree.nodes;
    int deps = 0;
    for (uint32_t c = n[node].first; c != ECO_PY_NO; c = n[c].next) {
        struct eco_use more = nothing();
        eco_loop_use(s, l, c, depth + 1, &more);
        deps += more.dep && n[c].kind != ECO_PY_DICT;
        merge(u, &more);
    }
    u->batch |= deps > 1;
    u->text |= u->dep;
}

/* [f(x) for x in items]: several, when the items hang on the loop. */
static void use_of_comprehension(struct eco_scan *s, const struct eco_loop *l, uint32_t node,
                                 int depth, struct eco_use *u)
{
    const struct eco_py_node *n = s->tree.nodes;
    struct eco_use body = nothing();
    for (uint32_t c = n[node].first; c != ECO_PY_NO; c = n[c].next) {
        if (n[c].kind == ECO_PY_FOR_IN) {
            eco_loop_use(s, l, eco_py_child(&s->tree, c, ECO_PYF_RIGHT), depth + 1, u);
        }
    }
    eco_loop_use(s, l, eco_py_child(&s->tree, node, ECO_PYF_BODY), depth + 1, &body);
    bool several = n[node].kind == ECO_PY_LIST_COMP || n[node].kind == ECO_PY_GENERATOR;
    merge(u, &body);
    u->batch |= several && u->dep;
}

/* ["x"] * 8 is a batch; "x " * n a sweep of lengths. */
static void use_of_binary(struct eco_scan *s, const struct eco_loop *l, uint32_t node, int depth,
                          struct eco_use *u)
{
    uint32_t left = eco_py_child(&s->tree, node, ECO_PYF_LEFT);
    uint32_t right = eco_py_child(&s->tree, node, ECO_PYF_RIGHT);
    use_of_children(s, l, node, depth, u);
    if (left == ECO_PY_NO || right == ECO_PY_NO || !u->dep) {
        return;
    }
    uint8_t a = s->tree.nodes[left].kind, b = s->tree.nodes[right].kind;
    if (eco_py_is(&s->tree, eco_py_child(&s->tree, node, ECO_PYF_OPERATOR), "*")) {
        u->batch |= a == ECO_PY_LIST || b == ECO_PY_LIST;
        u->no_claim |= a == ECO_PY_STRING || b == ECO_PY_STRING;
    }
    u->text |= a == ECO_PY_STRING || b == ECO_PY_STRING;
}

static bool encodes(struct eco_scan *s, uint32_t call)
{
    static const char *const names[] = {"encode",   "encode_plus", "apply_chat_template",
                                        "tokenize", "unsqueeze",   "tokenizer",
                                        "tok"};
    uint32_t m = eco_scan_method(s, call);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (eco_py_is(&s->tree, m, names[i])) {
            return true;
        }
    }
    return eco_py_call_arg(&s->flow, call, "return_tensors", -1).have == ECO_PY_PRESENT;
}

/* Does the encoded argument itself name several things: batch["texts"], row.prompts? */
static bool names_several(struct eco_scan *s, uint32_t arg)
{
    if (arg == ECO_PY_NO) {
        return false;
    }
    uint8_t kind = s->tree.nodes[arg].kind;
    if (kind == ECO_PY_STRING) {
        struct eco_py_vals v = eco_py_eval(&s->flow, arg);
        return v.n == 1 && v.v[0].what == ECO_PYV_STR && plural(v.v[0].s);
    }
    if (kind == ECO_PY_SUBSCRIPT) {
        return names_several(s, eco_py_child(&s->tree, arg, ECO_PYF_SUBSCRIPT));
    }
    const char *key =
        kind == ECO_PY_IDENTIFIER || kind == ECO_PY_ATTRIBUTE ? eco_py_key(&s->flow, arg) : NULL;
    return key && plural(eco_py_last(key));
}

static void judge_encoding(struct eco_scan *s, uint32_t call, struct eco_use *u)
{
    struct eco_py_arg padding = eco_py_call_arg(&s->flow, call, "padding", -1);
    struct eco_py_arg tensors = eco_py_call_arg(&s->flow, call, "return_tensors", -1);
    struct eco_py_arg text = eco_py_call_arg(&s->flow, call, "text", 0);
    bool padded =
        padding.have != ECO_PY_ABSENT && eco_py_truth(&padding.vals) != ECO_PY_FALSE_ALWAYS;
    u->text = true;
    if (padded && text.have == ECO_PY_PRESENT && names_several(s, text.at)) {
        u->batch = true;
    }
    if (u->batch && padding.have == ECO_PY_ABSENT && tensors.have == ECO_PY_PRESENT) {
        u->unpadded = call;
    }
}

static void use_of_call(struct eco_scan *s, const struct eco_loop *l, uint32_t node, int depth,
                        struct eco_use *u)
{
    uint32_t callee = eco_py_child(&s->tree, node, ECO_PYF_FUNCTION);
    uint32_t args = eco_py_child(&s->tree, node, ECO_PYF_ARGUMENTS);
    uint32_t m = eco_scan_method(s, node);
    const char *name = m == ECO_PY_NO ? NULL : eco_py_key(&s->flow, m);
    if (callee != ECO_PY_NO && s->tree.nodes[callee].kind == ECO_PY_ATTRIBUTE) {
        eco_loop_use(s, l, eco_py_child(&s->tree, callee, ECO_PYF_OBJECT), depth + 1, u);
    }
    if (args != ECO_PY_NO) {
        struct eco_use in = nothing();
        eco_loop_use(s, l, args, depth + 1, &in);
        merge(u, &in);
    }
    if (name && strcmp(name, "input") == 0) {
        u->no_claim = true;
    }
    if (!u->dep) {
        return;
    }
    if (encodes(s, node)) {
        judge_encoding(s, node, u);
    } else if (name && (batch_word(name) || strcmp(name, "stack") == 0 ||
                        strcmp(name, "pad_sequence") == 0 || strcmp(name, "collate_fn") == 0)) {
        u->batch = true;
    }
}

void eco_loop_use(struct eco_scan *s, const struct eco_loop *l, uint32_t node, int depth,
                  struct eco_use *u)
{
    if (node == ECO_PY_NO || depth > MAX_DEPTH || !eco_py_spend(&s->flow, 2)) {
        u->no_claim |= node != ECO_PY_NO;
        return;
    }
    switch (s->tree.nodes[node].kind) {
    case ECO_PY_IDENTIFIER:
        use_of_name(s, l, node, depth, u);
        return;
    case ECO_PY_ATTRIBUTE: {
        uint32_t object = eco_py_child(&s->tree, node, ECO_PYF_OBJECT);
        if (eco_py_is(&s->tree, object, "self")) {
            use_of_name(s, l, node, depth, u);
        } else {
            eco_loop_use(s, l, object, depth + 1, u);
        }
        return;
    }
    case ECO_PY_KEYWORD:
        eco_loop_use(s, l, eco_py_child(&s->tree, node, ECO_PYF_VALUE), depth + 1, u);
        return;
    case ECO_PY_SUBSCRIPT:
        use_of_subscript(s, l, node, depth, u);
        return;
    case ECO_PY_LIST:
    case ECO_PY_TUPLE:
        use_of_list(s, l, node, depth, u);
        return;
    case ECO_PY_LIST_COMP:
    case ECO_PY_SET_COMP:
    case ECO_PY_DICT_COMP:
    case ECO_PY_GENERATOR:
        use_of_comprehension(s, l, node, depth, u);
        return;
    case ECO_PY_BINARY:
        use_of_binary(s, l, node, depth, u);
        return;
    case ECO_PY_CALL:
        use_of_call(s, l, node, depth, u);
        return;
    case ECO_PY_STRING:
    case ECO_PY_CONCATENATED:
        use_of_children(s, l, node, depth, u);
        u->text |= u->dep;
        return;
    default:
        use_of_children(s, l, node, depth, u);
    }
}
