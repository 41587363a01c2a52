/* One file: what kind it is, its scan, and the comments that silence findings. */
#include "scan_file.h"
#include "base/file.h"
#include "needles.h"
#include "scan.h"

#include <stdlib.h>
#include <string.h>

enum kind { NOT_OURS, PYTHON, NOTEBOOK, REQUIREMENTS, TOML, DOCKER, YAML, SHELL };

static bool ends(const char *s, size_t n, const char *what)
{
    size_t k = strlen(what);
    return n >= k && eco_str_ncasecmp(s + n - k, what, k) == 0;
}

static bool has(const char *s, const char *what)
{
    size_t k = strlen(what);
    for (; *s; s++) {
        if (eco_str_ncasecmp(s, what, k) == 0) {
            return true;
        }
    }
    return false;
}

static enum kind kind_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    if (strcmp(path, "-") == 0 || ends(name, n, ".py") || ends(name, n, ".pyw")) {
        return PYTHON;
    }
    if (ends(name, n, ".ipynb")) {
        return NOTEBOOK;
    }
    bool in_folder = slash && slash - path >= 12 && has(path, "requirements/");
    if ((ends(name, n, ".txt") || ends(name, n, ".in")) &&
        (has(name, "requirement") || has(name, "constraint") || has(name, "deps") || in_folder)) {
        return REQUIREMENTS;
    }
    if (strcmp(name, "setup.cfg") == 0 || strcmp(name, "pip.conf") == 0) {
        return REQUIREMENTS;
    }
    if (ends(name, n, ".toml") || strcmp(name, "Pipfile") == 0) {
        return TOML;
    }
    if (eco_str_ncasecmp(name, "dockerfile", 10) == 0 || ends(name, n, ".dockerfile") ||
        eco_str_ncasecmp(name, "containerfile", 13) == 0) {
        return DOCKER;
    }
    if (ends(name, n, ".yml") || ends(name, n, ".yaml")) {
        return YAML;
    }
    return ends(name, n, ".sh") || ends(name, n, ".bash") || strcmp(name, "Makefile") == 0
               ? SHELL
               : NOT_OURS;
}

bool eco_audit_wants(const char *path)
{
    return kind_of(path) != NOT_OURS;
}

void eco_audit_skip(struct eco_audit *a, const char *path, const char *reason)
{
    if (a->n_skipped == a->cap_skipped) {
        size_t cap = a->cap_skipped ? a->cap_skipped * 2 : 16;
        struct eco_audit_skip *s = realloc(a->skipped, cap * sizeof(*s));
        if (!s) {
            a->failed = true;
            return;
        }
        a->skipped = s;
        a->cap_skipped = cap;
    }
    const char *p = eco_arena_strdup(&a->arena, path, strlen(path));
    const char *r = eco_arena_strdup(&a->arena, reason, strlen(reason));
    a->failed |= !p || !r;
    if (p && r) {
        a->skipped[a->n_skipped++] = (struct eco_audit_skip){p, r};
    }
}

static int scan_kind(struct eco_scan *s, enum kind kind, struct eco_err *err)
{
    switch (kind) {
    case PYTHON:
        return eco_scan_python(s, s->text, s->len, err);
    case NOTEBOOK:
        return eco_scan_notebook(s, err);
    case REQUIREMENTS:
        eco_scan_requirements(s);
        return 0;
    case TOML:
        eco_scan_toml(s);
        return 0;
    case DOCKER:
        eco_scan_dockerfile(s);
        return 0;
    case YAML:
        eco_scan_yaml(s);
        return 0;
    default:
        eco_scan_shell(s);
        return 0;
    }
}

/* ---- "ecocompute: ignore", "ecocompute: ignore[int8-default, bs1-loop]" ---------------------- */

static bool listed(const char *p, const char *end, enum eco_audit_rule rule)
{
    const char *id = eco_audit_rule(rule)->id;
    size_t n = strlen(id);
    for (; p < end && *p != ']'; p++) {
        if ((size_t)(end - p) > n && memcmp(p, id, n) == 0 &&
            (p[n] == ',' || p[n] == ']' || p[n] == ' ')) {
            return true;
        }
    }
    return false;
}

static bool silences(const char *line, size_t len, enum eco_audit_rule rule, const char *word)
{
    size_t n = strlen(word);
    const char *hash = memchr(line, '#', len);
    for (const char *p = hash; p && p + n <= line + len; p++) {
        if (memcmp(p, word, n) == 0) {
            const char *after = p + n, *end = line + len;
            return after == end || *after != '[' ? after == end || *after != '-'
                                                 : listed(after + 1, end, rule);
        }
    }
    return false;
}

struct lines {
    size_t *start; /* of each line, and one past the end; owned */
    size_t n;
};

static bool index_lines(const char *text, size_t len, struct lines *l)
{
    size_t n = 2;
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(text + len - p))); p++) {
        n++;
    }
    l->start = malloc(n * sizeof(*l->start));
    if (!l->start) {
        return false;
    }
    l->n = 0;
    l->start[l->n++] = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\n') {
            l->start[l->n++] = i + 1;
        }
    }
    l->start[l->n] = len;
    return true;
}

static bool silenced(const struct eco_scan *s, const struct lines *l,
                     const struct eco_audit_finding *f)
{
    for (int back = 0; back < 2; back++) {
        if (f->line <= (uint32_t)back || f->line - (uint32_t)back > l->n) {
            break;
        }
        size_t i = f->line - 1 - (uint32_t)back, from = l->start[i], to = l->start[i + 1];
        const char *line = s->text + from;
        size_t len = to - from, blanks = 0;
        while (len && strchr("\r\n", line[len - 1])) {
            len--;
        }
        while (blanks < len && strchr(" \t\"", line[blanks])) {
            blanks++;
        }
        bool alone = blanks < len && line[blanks] == '#';
        if ((back == 0 || alone) && silences(line, len, f->rule, "ecocompute: ignore")) {
            return true;
        }
    }
    return false;
}

static bool whole_file(const struct eco_scan *s)
{
    size_t len = s->len < 4096 ? s->len : 4096;
    static const char word[] = "# ecocompute: ignore-file";
    for (size_t i = 0; i + sizeof(word) - 1 <= len; i++) {
        if (memcmp(s->text + i, word, sizeof(word) - 1) == 0) {
            return true;
        }
    }
    return false;
}

static void drop_silenced(struct eco_scan *s)
{
    struct lines l = {0};
    if (s->a->n == s->base) {
        return;
    }
    if (!index_lines(s->text, s->len, &l)) {
        s->a->failed = true;
        return;
    }
    bool all = whole_file(s);
    size_t kept = s->base;
    for (size_t i = s->base; i < s->a->n; i++) {
        if (all || silenced(s, &l, &s->a->findings[i])) {
            s->a->suppressed++;
        } else {
            s->a->findings[kept++] = s->a->findings[i];
        }
    }
    s->a->n = kept;
    free(l.start);
}

static int scan_text(struct eco_audit *a, enum kind kind, const char *path, const char *text,
                     size_t len, struct eco_err *err)
{
    struct eco_scan s = {.a = a, .text = text, .len = len, .base = a->n};
    struct eco_err why = {0};
    s.path = eco_arena_strdup(&a->arena, path, strlen(path));
    if (!s.path) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    eco_arena_init(&s.scratch, ECO_AUDIT_MAX_MEMORY);
    int rc = scan_kind(&s, kind, &why);
    eco_arena_done(&s.scratch);
    if (rc == ECO_E_UNSUPPORTED || rc == ECO_E_INTERNAL) {
        return eco_err_set(err, rc, "", "%s", why.message);
    }
    if (rc) {
        eco_audit_skip(a, path, why.message);
        return 0;
    }
    drop_silenced(&s);
    return 0;
}

int eco_audit_scan_text(struct eco_audit *a, const struct eco_needles *needles, const char *path,
                        const char *text, size_t len, struct eco_err *err)
{
    enum kind kind = kind_of(path);
    a->files++;
    a->bytes += len;
    if (len > ECO_AUDIT_MAX_FILE) {
        eco_audit_skip(a, path, "larger than 8 MiB");
        return 0;
    }
    if (len == 0 || ((kind == PYTHON || kind == NOTEBOOK) && !eco_needles_in(needles, text, len))) {
        return 0;
    }
    if (memchr(text, '\0', len)) {
        eco_audit_skip(a, path, "holds NUL bytes: not text");
        return 0;
    }
    return scan_text(a, kind == NOT_OURS ? PYTHON : kind, path, text, len, err);
}

int eco_audit_text(struct eco_audit *a, const char *path, const char *text, size_t len,
                   struct eco_err *err)
{
    struct eco_needles *needles = malloc(sizeof(*needles));
    if (!needles) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    eco_needles_init(needles);
    int rc = eco_py_available() ? eco_audit_scan_text(a, needles, path, text, len, err)
                                : eco_py_parse(&(struct eco_py_tree){0}, text, len, err);
    free(needles);
    return rc;
}
