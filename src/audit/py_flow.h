/*
 * What a Python expression can be, as far as the file alone tells: constants through variables,
 * dictionaries and keyword order, imports under other names, functions of the same file with their
 * defaults and callers. A value is a small set of alternatives; what cannot be told is UNKNOWN,
 * never guessed. Work is bounded per file (ECO_PY_STEPS_PER_NODE): beyond it all is UNKNOWN.
 * Memory from the caller's arena; `struct eco_py_flow` borrows the tree. Not thread-safe.
 */
#ifndef ECO_AUDIT_PY_FLOW_H
#define ECO_AUDIT_PY_FLOW_H

#include "base/arena.h"
#include "py_tree.h"

#define ECO_PY_MAX_VALS 6
#define ECO_PY_MAX_DEPTH 40
#define ECO_PY_STEPS_PER_NODE 60

enum eco_py_what {
    ECO_PYV_UNKNOWN,
    ECO_PYV_NONE,
    ECO_PYV_BOOL, /* num 0 or 1 */
    ECO_PYV_NUM,
    ECO_PYV_STR,
    ECO_PYV_DICT, /* node: a literal, dict(...) or a union of such */
    ECO_PYV_CALL, /* node: the call */
    ECO_PYV_LIST, /* node: list, tuple, set or comprehension */
    ECO_PYV_NAME, /* s: dotted name as imported, "torch.float16" */
    ECO_PYV_FUNC, /* node: a function or lambda of this file */
    ECO_PYV_CLASS /* node: a class of this file */
};

struct eco_py_val {
    enum eco_py_what what;
    double num;
    const char *s; /* STR, NAME: NUL-terminated, in the arena */
    size_t len;
    uint32_t node;
    /* DICT, CALL: the variable that holds it, for items set afterwards; 0: none */
    const char *var;
    uint32_t var_scope, from, to; /* items set between these bytes count */
};

struct eco_py_vals {
    struct eco_py_val v[ECO_PY_MAX_VALS];
    uint32_t n;
    bool open; /* there may be others */
};

enum eco_py_truth { ECO_PY_FALSE_ALWAYS, ECO_PY_TRUE_ALWAYS, ECO_PY_TRUE_SOMETIMES, ECO_PY_DUNNO };
enum eco_py_have { ECO_PY_ABSENT, ECO_PY_PRESENT, ECO_PY_MAYBE };

/** An argument or dictionary item: whether it is there, where it stands, what it is. */
struct eco_py_arg {
    enum eco_py_have have;
    uint32_t at; /* keyword, pair or assignment that sets it */
    struct eco_py_vals vals;
};

struct eco_py_def;
struct eco_py_symbol;
struct eco_py_memo;

struct eco_py_flow {
    const struct eco_py_tree *t;
    struct eco_arena *arena;
    uint32_t *scope;                 /* [count]: the scope a node is in */
    const struct eco_py_memo **memo; /* [count]: what a node was found to be; NULL: not yet asked */
    struct eco_py_symbol *symbols;
    uint32_t symbols_cap, symbols_count;
    struct eco_py_def *defs;
    uint32_t defs_cap, defs_count;
    uint64_t steps;
    int depth;
    bool failed; /* out of memory */
};

/** Takes `n` of the work left; false, for good, when it is used up: the caller stops there. */
static inline bool eco_py_spend(struct eco_py_flow *f, uint64_t n)
{
    bool enough = f->steps >= n;
    f->steps = enough ? f->steps - n : 0;
    return enough;
}

int eco_py_flow_init(struct eco_py_flow *f, const struct eco_py_tree *t, struct eco_arena *arena,
                     struct eco_err *err);

struct eco_py_vals eco_py_eval(struct eco_py_flow *f, uint32_t node);
enum eco_py_truth eco_py_truth(const struct eco_py_vals *v);
/** The keyword `key` of a call, also through **dictionaries; or the positional one (-1: none). */
struct eco_py_arg eco_py_call_arg(struct eco_py_flow *f, uint32_t call, const char *key,
                                  int position);
struct eco_py_arg eco_py_dict_item(struct eco_py_flow *f, const struct eco_py_val *dict,
                                   const char *key);
/** Attribute or item `key` set on the variable that holds `v`, after it was made. */
struct eco_py_arg eco_py_set_later(struct eco_py_flow *f, const struct eco_py_val *v,
                                   const char *key);
/** The value of a call node with the variable it is assigned to filled in. */
struct eco_py_val eco_py_held(struct eco_py_flow *f, uint32_t call);
/** "model", "self.model": the variable `node` names, NULL: it is something else. */
const char *eco_py_key(struct eco_py_flow *f, uint32_t node);
/** Scope that `key` used at `node` lives in. */
uint32_t eco_py_key_scope(struct eco_py_flow *f, uint32_t node, const char *key);
/** Function, lambda, class or module around the node, comprehensions passed over. */
uint32_t eco_py_frame(const struct eco_py_flow *f, uint32_t node);
/** Last component of the name a call's callee stands for, "" when it is not a plain name. */
const char *eco_py_callee(struct eco_py_flow *f, uint32_t call);
/** The callee as a value. */
struct eco_py_vals eco_py_callee_vals(struct eco_py_flow *f, uint32_t call);
/** Calls of this file whose callee ends in `name`: pass 0 first, ends with ECO_PY_NO. */
uint32_t eco_py_next_call(struct eco_py_flow *f, const char *name, uint32_t *state);
/** Last component of a dotted name. */
const char *eco_py_last(const char *dotted);

#endif
