/*
 * The rules of energy.json as data: one row a field. The validator walks the rows, and our JSON
 * Schema is written from the same rows, so the two cannot drift. Two tables: the published 1.1
 * rules (facts of that schema) and ours, which implies them for the precisions both know.
 * Everything is const.
 */
#ifndef ECO_REPORT_RULES_H
#define ECO_REPORT_RULES_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * path: "" is the document; "results.basis"; "trials[]" an element; "software.packages.*" any key.
 * A row's children follow it directly.
 */
struct eco_report_rule {
    const char *path;
    const char
        *types;    /* any of: s string, n number, i integer, b boolean, o object, a array, 0 null */
    bool required; /* the key must be there (its value may be null when types has 0) */
    const char *choices;  /* "a|b|c" (strings only), or NULL */
    const char *constant; /* JSON text the value must equal, or NULL */
    double min;           /* NAN: none */
    const char *unit;     /* "mJ"; NULL: none */
    const char *help;     /* what it means, one sentence; NULL in the published table */
};

const struct eco_report_rule *eco_report_rules(bool ours, size_t *count);
/** The key of rule `child` when it is a direct child of rule `parent`, else NULL. "[]", "*" too. */
const char *eco_report_rule_key(const struct eco_report_rule *parent,
                                const struct eco_report_rule *child);
/** true while `rule` lies in the subtree of `root` (rows are in tree order). */
bool eco_report_rule_within(const struct eco_report_rule *root, const struct eco_report_rule *rule);
/** The choices of our precision field, made from the precision table: "FP16|NF4|INT8|FP32|…". */
void eco_report_precisions(struct eco_buf *out);

#endif
