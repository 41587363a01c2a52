/*
 * What a shell script or a Dockerfile assigns to its variables, and in which branch, loop or stage.
 * No whole shell: what is not understood makes a name unknown, never known.
 */
#include "text_vars.h"

#include <ctype.h>
#include <string.h>

#define MAX_DEEP 64
#define MAX_LOOKED ((size_t)1 << 20) /* bytes of a file that are read for them */

enum state { COMMAND, WORDS, DECLARES, SETS, ONE_NAME };

struct shell {
    struct eco_scan *s;
    struct eco_vars *v;
    const char *p, *end;
    uint32_t line;
    enum state state;
    bool maybe;       /* behind && or || */
    uint32_t pending; /* assignments before the command's own word: only for that command */
    uint32_t chain;   /* v->n where this line began */
    uint32_t stack[MAX_DEEP];
    char kind[MAX_DEEP]; /* 'i'f, 'l'oop, 'c'ase, '{', '(' */
    int deep;
    char quote;
    uint32_t quote_from;
    char here[64]; /* the word that ends a text to come, or "" */
    bool here_literal;
};

static uint32_t block_of(const struct shell *h)
{
    return h->deep ? h->stack[h->deep - 1] : 0;
}

static void push(struct shell *h, char kind)
{
    if (h->deep == MAX_DEEP) {
        h->v->lost = true;
        return;
    }
    uint32_t b = eco_vars_open(h->v, block_of(h), h->line);
    h->kind[h->deep] = kind;
    h->stack[h->deep++] = b;
}

static void pop(struct shell *h, char kind)
{
    if (h->deep && h->kind[h->deep - 1] == kind) {
        uint32_t b = h->stack[--h->deep];
        if (b) {
            h->v->blocks[b].to = h->line;
        }
    }
}

static void literal(struct eco_vars *v, uint32_t from, uint32_t to)
{
    uint32_t b = eco_vars_open(v, 0, from);
    if (b == 0 || v->n_literal == sizeof(v->literal) / sizeof(v->literal[0])) {
        v->lost = true;
        return;
    }
    v->blocks[b].to = to;
    v->literal[v->n_literal++] = b;
}

static void unknown(struct shell *h, const char *name, size_t n, bool here)
{
    struct eco_var x = {.name = name, .name_len = n, .at = h->line};
    x.block = here ? block_of(h) : 0;
    if (n > 0) {
        eco_vars_set(h->s, h->v, &x);
    }
}

const char *eco_vars_value_end(const char *p, const char *end)
{
    char quote = 0;
    int brace = 0;
    for (; p < end; p++) {
        if (*p == '\\' && quote != '\'' && p + 1 < end) {
            p++;
        } else if (quote) {
            quote = *p == quote ? 0 : quote;
        } else if (*p == '"' || *p == '\'' || *p == '`') {
            quote = *p;
        } else if (*p == '\n' || (brace == 0 && strchr(" \t\r;&|()", *p))) {
            break;
        } else {
            brace += *p == '{' ? 1 : *p == '}' && brace ? -1 : 0;
        }
    }
    return p;
}

static uint32_t lines_in(const char *p, const char *end)
{
    uint32_t n = 0;
    for (; p < end; p++) {
        n += *p == '\n';
    }
    return n;
}

/* "NAME=value" at a place where a shell assigns; h->p is behind it afterwards. */
static void assign(struct shell *h, const char *name, size_t n)
{
    const char *from = name + n + 1, *to = eco_vars_value_end(from, h->end);
    bool array = from < h->end && *from == '(';
    struct eco_var x = {.name = name, .name_len = n, .at = h->line, .block = block_of(h)};
    x.value = array || (to < h->end && *to == '(') ? NULL : from;
    x.value_len = (size_t)(to - from);
    x.maybe = h->maybe;
    h->line += lines_in(from, to);
    h->v->lost |= x.value_len > ECO_VARS_MAX_VALUE; /* a quote that nothing closes? */
    uint32_t before = h->v->n;
    eco_vars_set(h->s, h->v, &x);
    h->pending += h->state == COMMAND ? h->v->n - before : 0;
    h->p = to;
}

static bool is(const char *w, size_t n, const char *what)
{
    return strlen(what) == n && memcmp(w, what, n) == 0;
}

static bool one_of(const char *w, size_t n, const char *const *list)
{
    for (; *list; list++) {
        if (is(w, n, *list)) {
            return true;
        }
    }
    return false;
}

/* Words that open and close blocks; true: a command may follow. */
static bool keyword(struct shell *h, const char *w, size_t n)
{
    static const char *const ifs[] = {"if", "ifeq", "ifneq", "ifdef", "ifndef", NULL};
    static const char *const loops[] = {"while", "until", "for", "select", NULL};
    static const char *const other[] = {"then", "do", "time", "exec", "!", NULL};
    static const char *const ends[] = {"fi", "endif", NULL};
    if (one_of(w, n, ifs)) {
        push(h, 'i');
    } else if (is(w, n, "elif") || is(w, n, "else")) {
        pop(h, 'i');
        push(h, 'i');
    } else if (one_of(w, n, ends)) {
        pop(h, 'i');
    } else if (one_of(w, n, loops)) {
        push(h, 'l');
        h->state = n == 3 || n == 6 ? ONE_NAME : COMMAND; /* for, select */
    } else if (is(w, n, "done")) {
        pop(h, 'l');
    } else if (is(w, n, "case")) {
        push(h, 'c');
    } else if (is(w, n, "esac")) {
        pop(h, 'c');
    } else if (is(w, n, "function")) {
        h->v->functions = true;
        h->state = ONE_NAME;
    } else if (!one_of(w, n, other)) {
        return false;
    }
    return !is(w, n, "case");
}

/* "source config.env": it may set anything; what only puts tools into reach is taken as such. */
static void loads(struct shell *h)
{
    const char *p = h->p;
    while (p < h->end && *p != '\n' && *p != ';' && *p != '&') {
        if (h->end - p > 8 && (memcmp(p, "activate", 8) == 0 || memcmp(p, "conda.sh", 8) == 0 ||
                               memcmp(p, "setvars.", 8) == 0)) {
            return;
        }
        p++;
    }
    if (h->v->n_loads == sizeof(h->v->loads) / sizeof(h->v->loads[0])) {
        h->v->lost = true;
        return;
    }
    h->v->loads[h->v->n_loads++] = h->line;
}

static void command_word(struct shell *h, const char *w, size_t n)
{
    static const char *const declares[] = {"export",   "local",   "declare",
                                           "readonly", "typeset", NULL};
    static const char *const sets[] = {"read",    "unset", "mapfile", "readarray",
                                       "getopts", "let",   "printf",  NULL};
    if (keyword(h, w, n)) {
        return;
    }
    if (h->state != COMMAND) {
        return;
    }
    eco_vars_drop(h->v, h->pending); /* "A=1 program": for the program only */
    h->pending = 0;
    if (one_of(w, n, declares)) {
        h->state = DECLARES;
    } else if (one_of(w, n, sets)) {
        h->state = SETS;
    } else {
        h->state = WORDS;
        if (is(w, n, "source") || is(w, n, ".") || is(w, n, "eval")) {
            loads(h);
        }
    }
}

/* " = ", " := ", " ?= " of a Makefile at p. */
static bool made(const char *p, const char *end)
{
    size_t n = (size_t)(end - p), i = 0;
    while (i < n && (p[i] == ' ' || p[i] == '\t')) {
        i++;
    }
    if (i + 2 >= n) {
        return false;
    }
    p += i;
    return (*p == '=' && p[1] != '=') ||
           (strchr(":?+", *p) && (p[1] == '=' || (p[1] == ':' && p[2] == '=')));
}

/* A word that begins at h->p, outside quotes. */
static void word(struct shell *h)
{
    const char *w = h->p, *p = w;
    while (p < h->end && eco_vars_name_char(*p)) {
        p++;
    }
    size_t n = (size_t)(p - w);
    char c = p < h->end ? *p : '\n', d = p + 1 < h->end ? p[1] : '\n';
    h->p = p;
    if (n && c == '=' && (h->state == COMMAND || h->state == DECLARES)) {
        assign(h, w, n);
        return;
    }
    bool other = (c == '[' && h->state == COMMAND) || (strchr("+:?", c) && d == '=') ||
                 (c == ':' && d == ':');
    if (n && (c == '=' || other)) { /* appended to, of an array, or told to another program */
        unknown(h, w, n, h->state == COMMAND);
        return;
    }
    if (n && h->state == COMMAND && made(p, h->end)) {
        unknown(h, w, n, false);
    }
    while (p < h->end && !strchr(" \t\r\n;&|()<>\"'\\$`", *p)) {
        p++;
    }
    if (n && (h->state == SETS || h->state == ONE_NAME)) {
        bool loop = h->deep && h->kind[h->deep - 1] == 'l';
        unknown(h, w, n, loop);
        h->state = h->state == SETS ? SETS : loop ? WORDS : COMMAND;
    } else if (n && p == w + n && p + 1 < h->end && p[0] == '(' && p[1] == ')') {
        h->v->functions = true;
        p += 2;
    } else if (h->state == COMMAND) {
        command_word(h, w, (size_t)(p - w));
    }
    h->p = p > w ? p : w + 1;
}

/* "NAME=" in a text that somebody else may run. */
static void told(struct shell *h)
{
    const char *p = h->p;
    while (p < h->end && eco_vars_name_char(*p)) {
        p++;
    }
    if (p > h->p && p < h->end && (*p == '=' || (*p == '+' && p + 1 < h->end && p[1] == '='))) {
        unknown(h, h->p, (size_t)(p - h->p), false);
    }
    h->p = p > h->p ? p : h->p + 1;
}

/* "<<WORD": the lines up to WORD are a text. */
static void here_word(struct shell *h)
{
    const char *p = h->p + 2;
    size_t n = 0;
    if (p < h->end && *p == '<') {
        h->p = p + 1;
        return;
    }
    p += p < h->end && *p == '-';
    while (p < h->end && (*p == ' ' || *p == '\t')) {
        p++;
    }
    h->here_literal = p < h->end && strchr("'\"\\", *p);
    while (p < h->end && !strchr(" \t\r\n;&|<>()", *p) && n + 1 < sizeof(h->here)) {
        if (!strchr("'\"\\", *p)) {
            h->here[n++] = *p;
        }
        p++;
    }
    h->here[n] = '\0';
    h->p = p;
}

static void here_text(struct shell *h)
{
    uint32_t from = h->line;
    while (h->p < h->end) {
        const char *nl = memchr(h->p, '\n', (size_t)(h->end - h->p)), *stop = nl ? nl : h->end;
        size_t n = (size_t)(stop - h->p), tabs = 0;
        n -= n > 0 && stop[-1] == '\r' ? 1 : 0;
        while (tabs < n && h->p[tabs] == '\t') {
            tabs++;
        }
        bool last = is(h->p + tabs, n - tabs, h->here);
        while (!last && h->p < stop) {
            told(h);
        }
        h->p = nl ? nl + 1 : h->end;
        h->line += nl != NULL;
        if (last) {
            break;
        }
    }
    if (h->here_literal) {
        literal(h->v, from, h->line);
    }
    h->here[0] = '\0';
}

/* A command is over; `why`: the sign that ends it. */
static void end_command(struct shell *h, char why, bool twice)
{
    bool goes_on = why == '\n' && h->state == COMMAND && h->pending == 0; /* "… &&" above */
    h->state = COMMAND;
    h->pending = 0;
    if (twice && (why == '&' || why == '|')) {
        h->maybe = true;
    } else if (why == ';' || why == '&') {
        h->maybe = false; /* and what hung on && is perhaps not there for what follows */
        for (uint32_t i = h->chain; i < h->v->n; i++) {
            if (h->v->v[i].maybe) {
                h->v->v[i].value = NULL;
            }
        }
    } else if (why == '\n') {
        h->maybe &= goes_on;
        h->chain = h->maybe ? h->chain : h->v->n;
    }
    if (twice && why == '|') {
        for (uint32_t i = h->chain; i < h->v->n; i++) {
            h->v->v[i].value = NULL;
        }
    }
    if (twice && why == ';') {
        pop(h, 'c');
        push(h, 'c');
    }
}

static void sign(struct shell *h)
{
    char c = *h->p, next = h->p + 1 < h->end ? h->p[1] : '\n';
    bool twice = next == c;
    h->p++;
    if (c == '&' && (next == '>' || (h->p - h->s->text > 1 && strchr("<>", h->p[-2])))) {
        return; /* 2>&1 */
    }
    if (c == ';' || c == '|' || c == '&') {
        h->p += twice;
        end_command(h, c, twice);
    } else if (c == '(') {
        if (next == ')') { /* name () */
            h->v->functions = true;
            h->p++;
        } else {
            push(h, '(');
        }
        h->state = twice || (h->p - h->s->text > 1 && h->p[-2] == '(') ? SETS : COMMAND;
        h->pending = 0;
    } else if (c == ')') {
        pop(h, '(');
        h->state = h->deep && h->kind[h->deep - 1] == 'c' ? COMMAND : WORDS;
    } else if (c == '{' && h->state == COMMAND) {
        push(h, '{');
    } else if (c == '}' && h->state == COMMAND) {
        pop(h, '{');
    } else if (c == '<' && twice) {
        h->p--;
        here_word(h);
    } else if (c == '\\' && h->p < h->end) {
        h->line += *h->p == '\n';
        h->p++;
    }
}

/* "${NAME:=value}" assigns too. */
static void dollar(struct shell *h)
{
    const char *p = h->p + 1;
    h->p++;
    if (p < h->end && *p == '{') {
        const char *name = ++p;
        while (p < h->end && eco_vars_name_char(*p)) {
            p++;
        }
        if (h->end - p > 2 && (*p == '=' || (*p == ':' && p[1] == '='))) {
            unknown(h, name, (size_t)(p - name), true);
        }
        while (p < h->end && !strchr("}\n\"'", *p)) { /* "#" in it is no comment */
            p++;
        }
        h->p = p;
    } else if (p < h->end && strchr("#?!@*$-", *p)) {
        h->p = p + 1;
    }
}

static void in_quotes(struct shell *h)
{
    char c = *h->p;
    if (c == '\n') {
        h->line++;
        h->p++;
    } else if (c == h->quote) {
        if (c == '\'' && h->line > h->quote_from) {
            literal(h->v, h->quote_from + 1, h->line);
        }
        h->quote = 0;
        h->p++;
    } else if (c == '\\' && h->quote == '"' && h->p + 1 < h->end) {
        h->line += h->p[1] == '\n';
        h->p += 2;
    } else if (c == '$' && h->quote == '"') {
        dollar(h);
    } else {
        told(h);
    }
}

static void step(struct shell *h)
{
    char c = *h->p;
    if (h->quote) {
        in_quotes(h);
    } else if (c == '\n') {
        h->p++;
        h->line++;
        end_command(h, '\n', false);
        if (h->here[0]) {
            here_text(h);
        }
    } else if (c == ' ' || c == '\t' || c == '\r') {
        h->p++;
    } else if (c == '#') {
        const char *nl = memchr(h->p, '\n', (size_t)(h->end - h->p));
        h->p = nl ? nl : h->end;
    } else if (c == '"' || c == '\'') {
        h->quote = c;
        h->quote_from = h->line;
        if (h->state == COMMAND) {
            command_word(h, "\"", 1);
        }
        h->p++;
    } else if (c == '$') {
        if (h->state == COMMAND) {
            command_word(h, "$", 1);
        }
        dollar(h);
    } else if (strchr(";|&(){}<>\\`", c)) {
        sign(h);
    } else {
        word(h);
    }
}

void eco_vars_read_shell(struct eco_scan *s, struct eco_vars *v)
{
    struct shell h = {.s = s, .v = v, .p = s->text, .end = s->text + s->len, .line = 1};
    if (s->len > MAX_LOOKED) {
        v->lost = true;
        return;
    }
    while (h.p < h.end && !v->lost) {
        step(&h);
    }
    if (h.quote == '\'') {
        literal(v, h.quote_from + 1, UINT32_MAX);
    }
}

/* ---- Dockerfiles ----------------------------------------------------------------------------- */

struct docker {
    struct shell h; /* for its line and its text; what RUN assigns is unknown */
    uint32_t stage;
};

/* "ARG NAME=value", "ENV A=1 B=2", "ENV NAME value" */
static void docker_values(struct docker *d, const char *p, const char *end, bool arg, bool env)
{
    bool first = true;
    while (p < end) {
        while (p < end && strchr(" \t\r\\\n", *p)) {
            p++;
        }
        const char *name = p;
        while (p < end && eco_vars_name_char(*p)) {
            p++;
        }
        size_t n = (size_t)(p - name);
        if (n == 0 || p >= end || (*p != '=' && !(env && first && *p == ' '))) {
            return;
        }
        bool blank = *p == ' ';
        const char *from = p + 1, *to = blank ? end : eco_vars_value_end(from, end);
        while (blank && to > from && strchr(" \t\r", to[-1])) {
            to--;
        }
        struct eco_var x = {.name = name, .name_len = n, .value = from, .at = d->h.line};
        x.value_len = (size_t)(to - from);
        x.block = d->stage;
        x.scoped = d->stage != 0;
        x.weak = arg;
        eco_vars_set(d->h.s, d->h.v, &x);
        p = to;
        first = false;
    }
}

static bool begins(const char *p, const char *end, const char *what)
{
    size_t n = strlen(what);
    return (size_t)(end - p) > n && eco_str_ncasecmp(p, what, n) == 0 && strchr(" \t", p[n]);
}

static void docker_instruction(struct docker *d, const char *p, const char *end)
{
    bool arg = begins(p, end, "ARG"), env = begins(p, end, "ENV");
    if (arg || env) {
        docker_values(d, p + 4, end, arg, env);
    } else if (begins(p, end, "FROM")) {
        if (d->stage) {
            d->h.v->blocks[d->stage].to = d->h.line - 1;
        }
        d->stage = eco_vars_open(d->h.v, 0, d->h.line);
    } else if (begins(p, end, "RUN")) {
        for (d->h.p = p; d->h.p < end;) {
            bool starts = strchr(" \t\n;&|(\"'", *d->h.p);
            d->h.p += starts;
            if (starts && d->h.p < end) {
                told(&d->h);
            } else if (!starts) {
                d->h.p++;
            }
        }
    }
}

void eco_vars_read_docker(struct eco_scan *s, struct eco_vars *v)
{
    struct docker d = {.h = {.s = s, .v = v, .end = s->text + s->len, .line = 1}};
    const char *p = s->text, *end = s->text + s->len;
    v->lost = s->len > MAX_LOOKED;
    while (p < end && !v->lost) {
        const char *stop = p, *nl;
        uint32_t lines = 0;
        while (p < end && (*p == ' ' || *p == '\t')) {
            p++;
        }
        do { /* to the end of the last continued line */
            nl = memchr(stop, '\n', (size_t)(end - stop));
            stop = nl ? nl + 1 : end;
            lines += nl != NULL;
        } while (nl && stop < end && *p != '#' && nl > p &&
                 (nl[-1] == '\\' || (nl[-1] == '\r' && nl - 1 > p && nl[-2] == '\\')));
        docker_instruction(&d, p, nl ? nl : end);
        d.h.line += lines;
        p = stop;
    }
}
