/* One Python text: magics out, parse, data flow, then every rule on every node. */
#include "scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "!pip install …", "%pip install …", "%env X=1", "%%bash" at the start of a line. */
static bool is_magic(const char *s, size_t len)
{
    size_t i = 0;
    while (i < len && (s[i] == ' ' || s[i] == '\t')) {
        i++;
    }
    if (i + 1 >= len) {
        return false;
    }
    if (s[i] == '!') {
        return s[i + 1] != '=';
    }
    return i == 0 && s[0] == '%' && (s[1] == '%' || isalpha((unsigned char)s[1]));
}

static bool has_magics(const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        const char *nl = memchr(text + at, '\n', len - at);
        size_t n = nl ? (size_t)(nl - text) - at : len - at;
        if (is_magic(text + at, n)) {
            return true;
        }
        at += n + 1;
    }
    return false;
}

static void erase_magics(const char *text, size_t len, char *copy)
{
    memcpy(copy, text, len);
    copy[len] = '\0';
    for (size_t at = 0; at < len;) {
        const char *nl = memchr(text + at, '\n', len - at);
        size_t n = nl ? (size_t)(nl - text) - at : len - at;
        if (is_magic(text + at, n)) {
            size_t i = at;
            while (copy[i] == ' ' || copy[i] == '\t') {
                i++;
            }
            copy[i] = '0'; /* a statement, so that a block is not left empty */
            for (i++; i < at + n; i++) {
                copy[i] = copy[i] == '\r' ? '\r' : ' ';
            }
        }
        at += n + 1;
    }
}

/* `byte` only grows from call to call: *cursor remembers the string that was reached. */
static bool in_string(const struct eco_py_tree *t, size_t byte, uint32_t *cursor)
{
    while (*cursor < t->count &&
           (t->nodes[*cursor].kind != ECO_PY_STRING || t->nodes[*cursor].end <= byte)) {
        (*cursor)++;
    }
    return *cursor < t->count && t->nodes[*cursor].start <= byte;
}

static void scan_magics(struct eco_scan *s, const char *text, size_t len)
{
    uint32_t row = 0, cursor = 0;
    for (size_t at = 0; at < len; row++) {
        const char *nl = memchr(text + at, '\n', len - at);
        size_t n = nl ? (size_t)(nl - text) - at : len - at;
        if (is_magic(text + at, n) && !in_string(&s->tree, at, &cursor)) {
            size_t i = at;
            while (i < at + n && strchr(" \t!%", text[i])) {
                i++;
            }
            uint32_t line = s->line_map && row < s->rows ? s->line_map[row] : row + 1;
            eco_scan_command(s, text + i, at + n - i, line);
        }
        at += n + 1;
    }
}

static bool ends_with(const char *text, size_t len, const char *what)
{
    size_t n = strlen(what);
    return len >= n && memcmp(text + len - n, what, n) == 0;
}

static bool names_library(const char *text, size_t len)
{
    static const char *const libraries[] = {
        "transformers", "bitsandbytes", "peft",      "accelerate", "optimum",
        "AutoModel",    "huggingface",  "auto_gptq", "unsloth",    "lm_eval"};
    for (const char *p = text, *end = text + len; p < end; p++) {
        for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
            size_t n = *p == libraries[i][0] ? strlen(libraries[i]) : 0;
            if (n && (size_t)(end - p) >= n && memcmp(p, libraries[i], n) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* What the file does elsewhere that settles where models run. */
static void read_facts(struct eco_scan *s)
{
    static const char *const placing[] = {"set_default_device",
                                          "set_default_tensor_type",
                                          "prepare",
                                          "init_inference",
                                          "initialize",
                                          NULL};
    for (uint32_t i = 0; i < s->tree.count; i++) {
        uint32_t m = s->tree.nodes[i].kind == ECO_PY_CALL ? eco_scan_method(s, i) : ECO_PY_NO;
        if (m == ECO_PY_NO) {
            continue;
        }
        const char *name = s->tree.text + s->tree.nodes[m].start;
        size_t len = s->tree.nodes[m].end - s->tree.nodes[m].start;
        s->trains |= ends_with(name, len, "Trainer");
        for (size_t k = 0; placing[k]; k++) {
            s->places |= eco_py_is(&s->tree, m, placing[k]);
        }
    }
    s->places |= s->trains;
    s->loads_models = names_library(s->tree.text, s->tree.len);
}

static void rules_of_call(struct eco_scan *s, uint32_t call)
{
    const char *callee = eco_py_callee(&s->flow, call);
    eco_rule_config(s, call, callee);
    eco_rule_load(s, call, callee);
    eco_rule_fp8(s, call, callee);
    eco_rule_vllm(s, call, callee);
    eco_rule_cache(s, call, callee);
    eco_rule_install(s, call, callee);
    eco_rule_loop(s, call);
}

static int scan_tree(struct eco_scan *s, struct eco_err *err)
{
    int rc = eco_py_flow_init(&s->flow, &s->tree, &s->scratch, err);
    if (rc) {
        return rc;
    }
    read_facts(s);
    for (uint32_t i = 0; i < s->tree.count; i++) {
        if (s->tree.nodes[i].kind == ECO_PY_CALL) {
            rules_of_call(s, i);
        } else if (s->tree.nodes[i].kind == ECO_PY_ASSIGNMENT) {
            eco_rule_cache_config(s, i);
        }
    }
    return 0;
}

int eco_scan_python(struct eco_scan *s, const char *text, size_t len, struct eco_err *err)
{
    bool magics = has_magics(text, len);
    char *copy = magics ? malloc(len + 1) : NULL;
    if (magics && !copy) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    if (copy) {
        erase_magics(text, len, copy);
    }
    int rc = eco_py_parse(&s->tree, copy ? copy : text, len, err);
    if (rc == 0) {
        s->a->parsed++;
        rc = scan_tree(s, err);
    }
    if (rc == 0 && copy) {
        scan_magics(s, text, len);
    }
    eco_py_done(&s->tree);
    free(copy);
    return rc;
}
