/*
 * Variables of shell scripts, Dockerfiles and workflows: "ARG V=0.9.0.dev20250210", "V=…",
 * "V: …". A command is looked at with what the same file gives them.
 */
#include "scan.h"

#include <ctype.h>
#include <string.h>

#define MAX_VARS 64
#define MAX_USE 200                  /* bytes of one ${…} */
#define MAX_LOOKED ((size_t)1 << 20) /* bytes of a file that are searched for them */

struct eco_var {
    const char *name, *value;
    size_t name_len, value_len;
};

static bool name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool eco_vars_used(const char *text, size_t len)
{
    return memchr(text, '$', len) != NULL;
}

/* A value that is a nightly build by itself is told where it stands. */
static void keep(struct eco_scan *s, const char *name, size_t n, const char *value, size_t len)
{
    char found[8];
    if (s->n_vars < MAX_VARS && n > 1 && len > 0 &&
        !eco_scan_nightly(value, len, found, sizeof(found))) {
        s->vars[s->n_vars++] = (struct eco_var){name, value, n, len};
    }
}

/* "NAME=value", "NAME: value", "NAME value" at p: past it, or `end`. */
static const char *read_one(struct eco_scan *s, const char *p, const char *end, bool blank)
{
    const char *name = p;
    while (p < end && name_char(*p)) {
        p++;
    }
    size_t n = (size_t)(p - name);
    bool yaml = p + 1 < end && *p == ':' && p[1] == ' ';
    if (n == 0 || p >= end || (*p != '=' && !yaml && !(blank && *p == ' '))) {
        return end;
    }
    for (p++; p < end && *p == ' ';) {
        p++;
    }
    char quote = p < end && (*p == '"' || *p == '\'') ? *p++ : 0;
    const char *value = p;
    while (p < end && (quote ? *p != quote : !strchr(" \t\r;", *p))) {
        p++;
    }
    keep(s, name, n, value, (size_t)(p - value));
    return p < end && quote ? p + 1 : p;
}

static const char *after_word(const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - p) > n && eco_str_ncasecmp(p, word, n) == 0 ? p + n : NULL;
}

static void read_line(struct eco_scan *s, const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '-')) {
        p++;
    }
    const char *arg = after_word(p, end, "ARG "), *env = after_word(p, end, "ENV ");
    const char *shell = after_word(p, end, "export ");
    p = arg ? arg : env ? env : shell ? shell : p;
    bool first = true;
    while (p < end) {
        p = read_one(s, p, end, env && first);
        first = false;
        if (!env) {
            return;
        }
        while (p < end && *p == ' ') {
            p++;
        }
    }
}

static void gather(struct eco_scan *s)
{
    const char *at = s->text, *end = s->text + (s->len < MAX_LOOKED ? s->len : MAX_LOOKED);
    s->vars = eco_arena_array(&s->scratch, MAX_VARS, sizeof(*s->vars));
    s->vars_read = true;
    while (s->vars && at < end && s->n_vars < MAX_VARS) {
        const char *nl = memchr(at, '\n', (size_t)(end - at)), *stop = nl ? nl : end;
        read_line(s, at, stop);
        at = stop + 1;
    }
}

static const struct eco_var *find(const struct eco_scan *s, const char *name, size_t n)
{
    for (size_t i = 0; i < s->n_vars; i++) {
        if (s->vars[i].name_len == n && memcmp(s->vars[i].name, name, n) == 0) {
            return &s->vars[i];
        }
    }
    return NULL;
}

/* "$NAME", "${NAME}", "${NAME:-value}", "${{ env.NAME }}" at p: its end; p when it is none. */
static const char *one_use(struct eco_scan *s, const char *p, const char *end, struct eco_buf *out)
{
    const char *q = p + 1, *name, *fallback = NULL;
    size_t braces = 0, n;
    while (q < end && *q == '{' && braces < 2) {
        q++;
        braces++;
    }
    while (braces == 2 && q < end && *q == ' ') {
        q++;
    }
    q = braces == 2 && end - q > 4 && memcmp(q, "env.", 4) == 0 ? q + 4 : q;
    for (name = q; q < end && q - name < MAX_USE && name_char(*q);) {
        q++;
    }
    n = (size_t)(q - name);
    if (n == 0) {
        return p;
    }
    if (braces) {
        fallback = end - q > 2 && q[0] == ':' && q[1] == '-' ? q + 2 : NULL;
        const char *most = end - q > MAX_USE ? q + MAX_USE : end;
        while (q < most && *q != '}') {
            q++;
        }
    }
    const char *stop = q;
    q += braces && (size_t)(end - q) >= braces ? braces : 0;
    const struct eco_var *v = find(s, name, n);
    if (v) {
        eco_buf_put(out, v->value, v->value_len);
    } else if (fallback) {
        eco_buf_put(out, fallback, (size_t)(stop - fallback));
    } else {
        return p;
    }
    return q;
}

void eco_vars_expand(struct eco_scan *s, const char *text, size_t len, struct eco_buf *out)
{
    const char *end = text + len;
    if (!s->vars_read) {
        gather(s);
    }
    for (const char *p = text; p < end;) {
        const char *after = *p == '$' ? one_use(s, p, end, out) : p;
        if (after == p) {
            eco_buf_putc(out, *p++);
        } else {
            p = after;
        }
    }
}
