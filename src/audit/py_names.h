/* Inside of py_flow: the tables of names and definitions. py_flow.c fills them, py_eval.c asks. */
#ifndef ECO_AUDIT_PY_NAMES_H
#define ECO_AUDIT_PY_NAMES_H

#include "py_flow.h"

#define ECO_PY_CALLS (UINT32_MAX - 1) /* the scope under which calls lie, by their callee's name */

enum eco_py_how {
    ECO_PYD_VALUE,
    ECO_PYD_UNPACK, /* element `index` of the value */
    ECO_PYD_PARAM,  /* parameter `index`; node: the parameter */
    ECO_PYD_FUNC,
    ECO_PYD_CLASS,
    ECO_PYD_IMPORT, /* name: as imported */
    ECO_PYD_LOOP,
    ECO_PYD_UPDATE,  /* of "name[*]": a dictionary merged in */
    ECO_PYD_REMOVED, /* of "name[key]": popped, deleted; of "name[~]": all cleared */
    ECO_PYD_OPAQUE
};

struct eco_py_def {
    uint32_t at;     /* from this byte on */
    uint32_t node;   /* value */
    uint32_t target; /* where it is written */
    uint32_t prev;   /* the definition of the same name before it */
    enum eco_py_how how;
    uint32_t index;
    const char *name;
};

struct eco_py_symbol {
    const char *key; /* NULL: a free slot */
    uint32_t scope, last;
};

struct eco_py_symbol *eco_py_find(const struct eco_py_flow *f, uint32_t scope, const char *key);
void eco_py_define(struct eco_py_flow *f, uint32_t scope, const char *key, struct eco_py_def def);
/**
 * Definitions of `s` that can hold at `use`, latest first; `ordered`: by position in one frame,
 * else all. *open: the name may also be unset or come from elsewhere.
 */
uint32_t eco_py_reaching(struct eco_py_flow *f, const struct eco_py_symbol *s, uint32_t use,
                         bool ordered, uint32_t *out, uint32_t cap, bool *open);

/** Does what stands at node `i` run only on some ways to a place at byte `use` behind it? */
bool eco_py_conditional_at(struct eco_py_flow *f, uint32_t i, uint32_t use);

#endif
