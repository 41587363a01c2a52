/*
 * What a workflow gives its variables: "env:" and its like hold for the mapping that they stand in
 * (the innermost counts), "NAME=value" of a script for the lines below it.
 */
#include "text_vars.h"

#include <string.h>

#define MAX_DEEP 64
#define MAX_LOOKED ((size_t)1 << 20)

struct level {
    size_t column;
    uint32_t block;
    bool variables; /* its keys are variables */
    bool opens;     /* its last key is one that holds variables */
};

struct doc {
    struct eco_scan *s;
    struct eco_vars *v;
    struct level stack[MAX_DEEP];
    int deep;
    uint32_t line;
    bool compose; /* "services:" of containers: what is put in comes from elsewhere */
};

static void close_behind(struct doc *d, size_t column)
{
    while (d->deep > 1 && d->stack[d->deep - 1].column > column) {
        const struct level *top = &d->stack[d->deep - 1];
        if (top->block) {
            d->v->blocks[top->block].to = d->line - 1;
        }
        d->deep--;
    }
}

static void open_level(struct doc *d, size_t column)
{
    const struct level *top = &d->stack[d->deep - 1];
    if (column <= top->column && d->deep > 1) {
        return;
    }
    if (d->deep == MAX_DEEP) {
        d->v->lost = true;
        return;
    }
    uint32_t b = column == 0 ? 0 : eco_vars_open(d->v, top->block, d->line);
    d->stack[d->deep++] = (struct level){column, b, top->opens, false};
}

static void set(struct doc *d, const char *name, size_t n, const char *value, size_t len,
                const struct level *in, bool scoped)
{
    struct eco_var x = {.name = name, .name_len = n, .value = value, .value_len = len};
    x.block = in ? in->block : 0;
    x.scoped = scoped;
    x.at = scoped ? d->v->blocks[x.block].from : d->line;
    eco_vars_set(d->s, d->v, &x);
}

/* "NAME=" anywhere in a line: said to somebody, so unknown. */
static void told(struct doc *d, const char *p, const char *end)
{
    while (p < end) {
        const char *name = p;
        while (p < end && eco_vars_name_char(*p)) {
            p++;
        }
        if (p > name && p < end && (*p == '=' || (*p == '+' && p + 1 < end && p[1] == '='))) {
            set(d, name, (size_t)(p - name), NULL, 0, NULL, false);
        }
        p += p == name;
    }
}

static const char *plain_end(const char *p, const char *end)
{
    char quote = *p == '"' || *p == '\'' ? *p : 0;
    const char *q = quote ? p + 1 : p;
    while (q < end && (quote ? *q != quote : !(*q == '#' && q > p && q[-1] == ' '))) {
        q++;
    }
    q += quote && q < end;
    while (!quote && q > p && strchr(" \t\r", q[-1])) {
        q--;
    }
    return q;
}

/* "NAME: value" below "env:". */
static void variable(struct doc *d, const char *name, size_t n, const char *p, const char *end)
{
    const struct level *in = d->deep > 2 ? &d->stack[d->deep - 2] : NULL;
    while (p < end && (*p == ' ' || *p == '\t')) {
        p++;
    }
    const char *to = p < end ? plain_end(p, end) : p;
    bool odd = p < end && strchr("|>&*{[!", *p);
    set(d, name, n, odd ? NULL : p, (size_t)(to - p), in, true);
}

/* "NAME=value" that begins a line: of a list of variables, or of a script. */
static void assignment(struct doc *d, const char *p, size_t n, const char *end, bool variables)
{
    const char *from = p + n + 1, *to = from;
    char quote = from < end && (*from == '"' || *from == '\'') ? *from : 0;
    to += quote != 0;
    while (to < end && (quote ? *to != quote : !strchr(" \t\r;&|", *to))) {
        to++;
    }
    to += quote && to < end;
    const char *rest = to;
    while (rest < end && strchr(" \t\r", *rest)) {
        rest++;
    }
    if (variables) {
        const struct level *in = d->deep > 2 ? &d->stack[d->deep - 2] : NULL;
        set(d, p, n, from, (size_t)(to - from), in, true);
    } else if (rest == end || *rest == '#') {
        set(d, p, n, from, (size_t)(to - from), &d->stack[d->deep - 1], false);
    } else {
        told(d, p, end);
    }
}

static bool is(const char *p, size_t n, const char *what)
{
    return strlen(what) == n && memcmp(p, what, n) == 0;
}

static void content(struct doc *d, const char *p, const char *end, bool item)
{
    bool variables = d->stack[d->deep - 1].variables;
    p += end - p > 7 && memcmp(p, "export ", 7) == 0 ? 7 : 0;
    const char *q = p;
    while (q < end && (eco_vars_name_char(*q) || *q == '-')) {
        q++;
    }
    size_t n = (size_t)(q - p);
    struct level *here = &d->stack[d->deep - 1];
    here->opens = false;
    if (n && q < end && *q == ':' && (q + 1 == end || strchr(" \t\r", q[1]))) {
        if (variables && !item) {
            variable(d, p, n, q + 1, end);
            return;
        }
        here->opens =
            is(p, n, "env") || is(p, n, "variables") || (is(p, n, "environment") && !d->compose);
        d->compose |= d->deep == 2 && d->stack[1].column == 0 && is(p, n, "services");
        told(d, q, end);
    } else if (n && q < end && *q == '=') {
        assignment(d, p, n, end, variables);
    } else {
        told(d, p, end);
        const char *name = p + 4; /* for NAME in … */
        if (end - p > 5 && memcmp(p, "for ", 4) == 0) {
            for (q = name; q < end && eco_vars_name_char(*q);) {
                q++;
            }
            set(d, name, (size_t)(q - name), NULL, 0, NULL, false);
        }
    }
}

static void one_line(struct doc *d, const char *p, const char *end)
{
    const char *from = p;
    bool item = false;
    while (p < end && (*p == ' ' || *p == '\t')) {
        p++;
    }
    if (p == end || *p == '#' || *p == '\r') {
        return;
    }
    size_t column = (size_t)(p - from);
    if (end - p > 1 && p[0] == '-' && p[1] == ' ') {
        close_behind(d, column); /* what the last item opened is over */
        item = true;
        while (p < end && (*p == '-' || *p == ' ')) {
            p++;
        }
        column = (size_t)(p - from);
    } else {
        close_behind(d, column);
    }
    open_level(d, column);
    content(d, p, end, item);
}

void eco_vars_read_yaml(struct eco_scan *s, struct eco_vars *v)
{
    struct doc d = {.s = s, .v = v, .deep = 1};
    const char *p = s->text, *end = s->text + s->len;
    v->lost = s->len > MAX_LOOKED;
    while (p < end && !v->lost) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end;
        d.line++;
        one_line(&d, p, stop);
        p = stop + 1;
    }
}
