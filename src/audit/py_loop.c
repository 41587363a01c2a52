/* What a loop brings each turn: one item or several. */
#include "py_loop.h"

#include <string.h>

#define MAX_DEPTH 6

static bool has_word(const char *s, const char *word)
{
    size_t n = strlen(word);
    for (; *s; s++) {
        if (eco_str_ncasecmp(s, word, n) == 0) {
            return true;
        }
    }
    return false;
}

static bool names_batch(const char *s)
{
    return has_word(s, "batch") || has_word(s, "chunk") || has_word(s, "loader") ||
           has_word(s, "shard");
}

static void add_targets(struct eco_scan *s, uint32_t left, struct eco_loop *l)
{
    if (left == ECO_PY_NO) {
        return;
    }
    for (uint32_t i = left; i < s->tree.nodes[left].last; i++) {
        if (s->tree.nodes[i].kind == ECO_PY_IDENTIFIER && l->n < ECO_LOOP_TARGETS) {
            const char *key = eco_py_key(&s->flow, i);
            if (key) {
                l->targets[l->n++] = key;
            }
        }
    }
}

static bool is_one(const struct eco_py_arg *a)
{
    return a->have == ECO_PY_PRESENT && a->vals.n == 1 && a->vals.v[0].what == ECO_PYV_NUM &&
           a->vals.v[0].num == 1;
}

/* What one call inside the iterable says about the items. */
static void judge_call(struct eco_scan *s, uint32_t call, struct eco_loop *l)
{
    uint32_t m = eco_scan_method(s, call);
    const char *name = m == ECO_PY_NO ? NULL : eco_py_key(&s->flow, m);
    struct eco_py_arg size = eco_py_call_arg(&s->flow, call, "batch_size", -1);
    if (!name) {
        return;
    }
    if (has_word(name, "DataLoader")) {
        size = eco_py_call_arg(&s->flow, call, "batch_size", 1);
        bool one = size.have == ECO_PY_ABSENT || is_one(&size);
        one &= eco_py_call_arg(&s->flow, call, "batch_sampler", -1).have == ECO_PY_ABSENT;
        l->tensors |= one;
        l->batched |= !one;
    } else if (strcmp(name, "range") == 0) {
        struct eco_py_arg step = eco_py_call_arg(&s->flow, call, NULL, 2);
        l->batched |= step.have == ECO_PY_PRESENT && !is_one(&step);
    } else if (size.have != ECO_PY_ABSENT) {
        l->batched |= !is_one(&size);
    } else if (names_batch(name) || has_word(name, "split") || has_word(name, "sliced") ||
               has_word(name, "group") || has_word(name, "ichunk")) {
        bool text = strcmp(name, "split") == 0 || strcmp(name, "splitlines") == 0 ||
                    has_word(name, "get_dataset_split");
        l->batched |= !text;
    }
}

/* [tok(b) for b in batches]: is what it was made from batches? */
static bool made_of_batches(struct eco_scan *s, uint32_t list, int depth)
{
    struct eco_loop from = {.depth = depth + 1};
    for (uint32_t c = s->tree.nodes[list].first; c != ECO_PY_NO && depth < MAX_DEPTH;
         c = s->tree.nodes[c].next) {
        if (s->tree.nodes[c].kind == ECO_PY_FOR_IN) {
            eco_loop_judge(s, eco_py_child(&s->tree, c, ECO_PYF_RIGHT), &from);
        }
    }
    return from.batched;
}

static void judge_list(struct eco_scan *s, uint32_t list, struct eco_loop *l)
{
    const struct eco_py_node *n = s->tree.nodes;
    uint32_t item = n[list].first;
    if (n[list].kind == ECO_PY_LIST_COMP) {
        item = eco_py_child(&s->tree, list, ECO_PYF_BODY);
        l->batched |= item != ECO_PY_NO && n[item].kind == ECO_PY_SUBSCRIPT &&
                      eco_py_mentions(&s->tree, item, ":");
        bool encoded = item != ECO_PY_NO && eco_py_mentions(&s->tree, item, "return_tensors");
        bool batches = encoded && made_of_batches(s, list, l->depth);
        l->batched |= batches;
        l->tensors |= encoded && !batches;
    }
    if (item != ECO_PY_NO && n[item].kind == ECO_PY_LIST) {
        uint32_t first = n[item].first;
        bool chat = first != ECO_PY_NO && n[first].kind == ECO_PY_DICT;
        l->batched |= !chat && first != ECO_PY_NO && n[first].next != ECO_PY_NO;
    }
}

/* The iterable: calls in it, and the variables it names. */
void eco_loop_judge(struct eco_scan *s, uint32_t iterable, struct eco_loop *l)
{
    const struct eco_py_node *n = s->tree.nodes;
    if (iterable == ECO_PY_NO) {
        return;
    }
    for (uint32_t i = iterable; i < n[iterable].last && eco_py_spend(&s->flow, 1); i++) {
        if (n[i].kind == ECO_PY_CALL) {
            judge_call(s, i, l);
        }
        if ((n[i].kind != ECO_PY_IDENTIFIER && n[i].kind != ECO_PY_ATTRIBUTE) ||
            n[i].field == ECO_PYF_NAME || n[i].field == ECO_PYF_FUNCTION) {
            continue;
        }
        struct eco_py_vals v = eco_py_eval(&s->flow, i);
        bool told = false;
        for (uint32_t k = 0; k < v.n; k++) {
            if (v.v[k].what == ECO_PYV_CALL) {
                bool before = l->batched || l->tensors;
                judge_call(s, v.v[k].node, l);
                told |= before != (l->batched || l->tensors);
            } else if (v.v[k].what == ECO_PYV_LIST && i == iterable) {
                judge_list(s, v.v[k].node, l);
            }
        }
        const char *key = told ? NULL : eco_py_key(&s->flow, i);
        l->batched |= key && !l->tensors && names_batch(eco_py_last(key)) &&
                      !has_word(eco_py_last(key), "batch_size") && n[i].parent != ECO_PY_NO &&
                      n[i].field != ECO_PYF_OBJECT;
    }
    if (n[iterable].kind == ECO_PY_LIST || n[iterable].kind == ECO_PY_TUPLE ||
        n[iterable].kind == ECO_PY_LIST_COMP) {
        judge_list(s, iterable, l);
    }
}

/* while i < n: … i += 1; while queue: p = queue.pop() */
static bool while_targets(struct eco_scan *s, uint32_t loop, struct eco_loop *l)
{
    const struct eco_py_node *n = s->tree.nodes;
    uint32_t condition = eco_py_child(&s->tree, loop, ECO_PYF_CONDITION);
    if (condition == ECO_PY_NO || n[condition].kind == ECO_PY_TRUE ||
        n[condition].kind == ECO_PY_INTEGER) {
        return false; /* a server or a chat: nothing to batch is at hand */
    }
    for (uint32_t i = l->first; i < l->last && eco_py_spend(&s->flow, 1); i++) {
        uint32_t left = eco_py_child(&s->tree, i, ECO_PYF_LEFT);
        uint32_t right = eco_py_child(&s->tree, i, ECO_PYF_RIGHT);
        if (n[i].kind == ECO_PY_AUGMENTED && left != ECO_PY_NO &&
            n[left].kind == ECO_PY_IDENTIFIER) {
            struct eco_py_vals step = eco_py_eval(&s->flow, right);
            const char *key = eco_py_key(&s->flow, left);
            if (key && eco_py_mentions(&s->tree, condition, key)) {
                add_targets(s, left, l);
                l->batched |= !(step.n == 1 && step.v[0].what == ECO_PYV_NUM && step.v[0].num == 1);
            }
        } else if (n[i].kind == ECO_PY_ASSIGNMENT && right != ECO_PY_NO &&
                   n[right].kind == ECO_PY_CALL) {
            uint32_t m = eco_scan_method(s, right);
            if (eco_py_is(&s->tree, m, "pop") || eco_py_is(&s->tree, m, "popleft")) {
                add_targets(s, left, l);
            }
        }
    }
    return l->n > 0;
}

static bool interactive(struct eco_scan *s, uint32_t iterable)
{
    return eco_py_mentions(&s->tree, iterable, "stdin") ||
           eco_py_mentions(&s->tree, iterable, "iter(input");
}

/* What an `async for` waits for one by one: nothing to batch is at hand. */
static bool arrives(struct eco_scan *s, uint32_t iterable)
{
    static const char *const words[] = {
        "socket",  "ws",      "queue",  "stream", "listen",  "subscri",  "update",
        "event",   "message", "chat",   "consum", "channel", "incoming", "poll",
        "receive", "request", "client", "tick",   "pubsub",  "bot",      "generate"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (eco_py_mentions(&s->tree, iterable, words[i])) {
            return true;
        }
    }
    return false;
}

bool eco_loop_of(struct eco_scan *s, uint32_t i, struct eco_loop *l)
{
    const struct eco_py_node *n = &s->tree.nodes[i];
    *l = (struct eco_loop){.node = i, .first = i + 1, .last = n->last};
    uint32_t body = eco_py_child(&s->tree, i, ECO_PYF_BODY);
    if (body == ECO_PY_NO) {
        return false;
    }
    switch (n->kind) {
    case ECO_PY_FOR:
        if (interactive(s, eco_py_child(&s->tree, i, ECO_PYF_RIGHT)) ||
            (strncmp(s->tree.text + n->start, "async", 5) == 0 &&
             arrives(s, eco_py_child(&s->tree, i, ECO_PYF_RIGHT)))) {
            return false;
        }
        l->first = body;
        l->last = s->tree.nodes[body].last;
        add_targets(s, eco_py_child(&s->tree, i, ECO_PYF_LEFT), l);
        eco_loop_judge(s, eco_py_child(&s->tree, i, ECO_PYF_RIGHT), l);
        return true;
    case ECO_PY_WHILE:
        l->first = body;
        l->last = s->tree.nodes[body].last;
        return while_targets(s, i, l);
    case ECO_PY_LIST_COMP:
    case ECO_PY_SET_COMP:
    case ECO_PY_DICT_COMP:
    case ECO_PY_GENERATOR:
        l->last = s->tree.nodes[body].last;
        for (uint32_t c = n->first; c != ECO_PY_NO; c = s->tree.nodes[c].next) {
            if (s->tree.nodes[c].kind == ECO_PY_FOR_IN) {
                add_targets(s, eco_py_child(&s->tree, c, ECO_PYF_LEFT), l);
                eco_loop_judge(s, eco_py_child(&s->tree, c, ECO_PYF_RIGHT), l);
            }
        }
        return true;
    default:
        return false;
    }
}

void eco_loop_of_function(struct eco_scan *s, uint32_t function, struct eco_loop *l)
{
    uint32_t params = eco_py_child(&s->tree, function, ECO_PYF_PARAMETERS);
    uint32_t body = eco_py_child(&s->tree, function, ECO_PYF_BODY);
    *l = (struct eco_loop){.node = function};
    if (body == ECO_PY_NO || params == ECO_PY_NO) {
        return;
    }
    l->first = body;
    l->last = s->tree.nodes[body].last;
    for (uint32_t c = s->tree.nodes[params].first; c != ECO_PY_NO; c = s->tree.nodes[c].next) {
        uint32_t name = eco_py_child(&s->tree, c, ECO_PYF_NAME);
        name = name != ECO_PY_NO                                 ? name
               : s->tree.nodes[c].kind == ECO_PY_TYPED_PARAMETER ? s->tree.nodes[c].first
                                                                 : c;
        if (name != ECO_PY_NO && s->tree.nodes[name].kind == ECO_PY_IDENTIFIER) {
            add_targets(s, name, l);
        }
    }
    for (uint32_t i = 0; i < l->n; i++) { /* keeps its place, stands for no item */
        bool self = strcmp(l->targets[i], "self") == 0 || strcmp(l->targets[i], "cls") == 0;
        l->targets[i] = self ? "" : l->targets[i];
    }
}
