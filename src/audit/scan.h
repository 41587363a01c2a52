/* Inside of audit: one file's scan. The scanners add findings to a `struct eco_audit`; the tree,
 * the data flow and all scratch lie in an arena of the file's own. */
#ifndef ECO_AUDIT_SCAN_H
#define ECO_AUDIT_SCAN_H

#include "audit.h"
#include "py_flow.h"

struct eco_vars;

enum eco_vars_in { ECO_VARS_NONE, ECO_VARS_SHELL, ECO_VARS_DOCKER, ECO_VARS_YAML };

struct eco_scan {
    struct eco_audit *a;
    const char *path; /* in a->arena */
    const char *text; /* as on disk */
    size_t len;
    struct eco_arena scratch;
    struct eco_py_tree tree;
    struct eco_py_flow flow;
    size_t base; /* findings before this file */
    /* notebooks: the Python text is made of cells; this maps its lines back */
    const uint32_t *line_map; /* [rows], or NULL: as it is */
    uint32_t rows;
    struct eco_vars *vars;    /* text_vars.c: what the file gives its variables */
    enum eco_vars_in vars_in; /* how it does */
    bool vars_read;
    unsigned searched;   /* names looked for in the whole text so far */
    bool trains, places; /* a Trainer is there; something else puts models on devices */
    bool loads_models;   /* a library that loads language models is named */
};

/** What a scanner fills; the rest follows. Message: a format for the finding's own words. */
struct eco_spot {
    uint32_t line, end_line, column; /* from 1 */
    const char *model;
    double params_b;
    struct eco_audit_edit edit;
    bool safe;
};

void eco_scan_add(struct eco_scan *s, enum eco_audit_rule rule, const struct eco_spot *spot,
                  const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/** The place of a Python node. */
struct eco_spot eco_scan_spot(const struct eco_scan *s, uint32_t node);

/* Python: each looks at one node of the tree. */
int eco_scan_python(struct eco_scan *s, const char *text, size_t len, struct eco_err *err);
void eco_rule_config(struct eco_scan *s, uint32_t call, const char *callee);
void eco_rule_load(struct eco_scan *s, uint32_t call, const char *callee);
void eco_rule_fp8(struct eco_scan *s, uint32_t call, const char *callee);
void eco_rule_vllm(struct eco_scan *s, uint32_t call, const char *callee);
void eco_rule_cache(struct eco_scan *s, uint32_t call, const char *callee);
/** `class_name`: the dotted name before .from_pretrained. */
void eco_rule_device(struct eco_scan *s, uint32_t call, const char *class_name);
void eco_rule_cache_config(struct eco_scan *s, uint32_t assignment);
/** A load whose quantization_config is torchao's FP8. */
void eco_rule_fp8_load(struct eco_scan *s, uint32_t call);
void eco_rule_install(struct eco_scan *s, uint32_t call, const char *callee);
void eco_rule_loop(struct eco_scan *s, uint32_t call);
/** The file calls something of this name. */
bool eco_scan_calls(struct eco_scan *s, const char *name);
/** The callee's own last name, as written: "generate" of a.b.generate(...). */
uint32_t eco_scan_method(const struct eco_scan *s, uint32_t call);

/* Text: line by line. */
void eco_scan_requirements(struct eco_scan *s);
void eco_scan_dockerfile(struct eco_scan *s);
void eco_scan_yaml(struct eco_scan *s);
void eco_scan_toml(struct eco_scan *s);
void eco_scan_shell(struct eco_scan *s);
/** One command line (without its newline) that starts at `line`, from 1. */
void eco_scan_command(struct eco_scan *s, const char *text, size_t len, uint32_t line);
/** "torch==2.12.0.dev20260315", a nightly index, a nightly wheel; NULL: nothing of the kind. */
const char *eco_scan_nightly(const char *text, size_t len, char *name, size_t cap);
/** A package that sets the speed, without a version. */
bool eco_scan_loose_package(const char *text, size_t len, char *name, size_t cap);

/** Text of the lines first..last with what the file gives $NAME, ${NAME}, ${NAME:-value} put in;
 *  text_vars.c. */
bool eco_vars_used(const char *text, size_t len);
void eco_vars_expand(struct eco_scan *s, const char *text, size_t len, uint32_t first,
                     uint32_t last, struct eco_buf *out);
/** The text only assigns, and to names that are used: what that leads to is told at the use. */
bool eco_vars_only_sets(struct eco_scan *s, const char *text, size_t len);

int eco_scan_notebook(struct eco_scan *s, struct eco_err *err);

#endif
