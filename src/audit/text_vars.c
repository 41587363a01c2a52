/*
 * Variables of shell scripts, Dockerfiles and workflows put into commands, where the file says what
 * they hold: the last assignment before the command when nothing can come between the two, or one
 * that all others agree with. Everything else is unknown and stays as it is written.
 */
#include "text_vars.h"

#include <ctype.h>
#include <string.h>

#define MAX_USE 200 /* bytes of one ${…} */
#define MAX_SAME 64 /* assignments of one name */
#define MAX_SEARCHED 64

enum known { NOT_SET, UNKNOWN, KNOWN };

bool eco_vars_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool eco_vars_used(const char *text, size_t len)
{
    return memchr(text, '$', len) != NULL;
}

static uint32_t head_of(const char *name, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ (unsigned char)name[i]) * 16777619u;
    }
    return (h ^ (h >> 16)) % ECO_VARS_HEADS;
}

void eco_vars_init(struct eco_vars *v)
{
    v->n = v->n_blocks = v->n_literal = v->n_loads = 0;
    v->lost = v->functions = false;
    memset(v->heads, 0xff, sizeof(v->heads));
    v->blocks[v->n_blocks++] = (struct eco_vars_block){0, UINT32_MAX, 0, 0};
}

uint32_t eco_vars_open(struct eco_vars *v, uint32_t parent, uint32_t line)
{
    if (v->n_blocks == ECO_VARS_MAX_BLOCK) {
        v->lost = true;
        return 0;
    }
    uint32_t i = v->n_blocks++, outer = parent ? v->blocks[parent].outer : i;
    v->blocks[i] = (struct eco_vars_block){line, UINT32_MAX, parent, outer};
    return i;
}

static bool inside(const struct eco_vars *v, uint32_t block, uint32_t line)
{
    return v->blocks[block].from <= line && line <= v->blocks[block].to;
}

static bool same(const struct eco_var *a, const struct eco_var *b)
{
    return a->value && b->value && a->value_len == b->value_len &&
           memcmp(a->value, b->value, a->value_len) == 0;
}

static bool named(const struct eco_var *x, const char *name, size_t n)
{
    return x->name_len == n && memcmp(x->name, name, n) == 0;
}

/* The newest assignment that is sure to be made before the lines first..last run. */
static const struct eco_var *reaching(const struct eco_vars *v, const char *name, size_t n,
                                      uint32_t first, uint32_t last)
{
    const struct eco_var *best = NULL;
    for (uint32_t i = v->heads[head_of(name, n)]; i != ECO_VARS_NO; i = v->v[i].next) {
        const struct eco_var *x = &v->v[i];
        bool before = x->at <= last || (v->functions && x->block == 0);
        bool sure = !x->maybe || (x->at >= first && x->at <= last);
        if (named(x, name, n) && before && sure && inside(v, x->block, last) &&
            (!best || x->at > best->at)) {
            best = x;
        }
    }
    return best;
}

/* May `b`, which says something else, be what the lines first..last see instead of `a`? */
static bool disturbs(const struct eco_vars *v, const struct eco_var *a, const struct eco_var *b,
                     uint32_t first, uint32_t last)
{
    if (same(a, b)) {
        return false;
    }
    if (b->scoped && !inside(v, b->block, last)) {
        return false;
    }
    if (v->functions || (b->at >= first && b->at <= last && !b->scoped)) {
        return true;
    }
    if (a->weak && !b->weak && b->scoped) {
        return true;
    }
    if (b->at > last) { /* comes round again in a loop */
        return b->block != 0 && inside(v, v->blocks[b->block].outer, last);
    }
    return b->at >= a->at;
}

static enum known find(const struct eco_vars *v, const char *name, size_t n, uint32_t first,
                       uint32_t last, const struct eco_var **out)
{
    int count = 0;
    bool any = false;
    const struct eco_var *a = v->lost ? NULL : reaching(v, name, n, first, last);
    for (uint32_t i = v->heads[head_of(name, n)]; i != ECO_VARS_NO; i = v->v[i].next) {
        const struct eco_var *b = &v->v[i];
        if (!named(b, name, n)) {
            continue;
        }
        any = true;
        if (++count > MAX_SAME || (a && b != a && disturbs(v, a, b, first, last))) {
            return UNKNOWN;
        }
    }
    if (!a || !a->value) {
        return any || v->lost ? UNKNOWN : NOT_SET;
    }
    for (uint32_t i = 0; i < v->n_loads; i++) {
        if (v->loads[i] > a->at && v->loads[i] <= last) {
            return UNKNOWN;
        }
    }
    *out = a;
    return KNOWN;
}

/* One use: what stands between "$" and the end of it. */
struct use {
    const char *name, *word, *end; /* word: behind ":-", or NULL */
    size_t n, word_len;
    bool plain; /* nothing but the name, or a default */
};

/* "$NAME", "${NAME}", "${NAME:-value}", "${{ env.NAME }}" at p; false: none of these. */
static bool read_use(const char *p, const char *end, struct use *u)
{
    const char *q = p + 1;
    bool brace = q < end && *q == '{', workflow = brace && q + 1 < end && q[1] == '{';
    q += workflow ? 2 : brace ? 1 : 0;
    while (workflow && q < end && *q == ' ') {
        q++;
    }
    bool env = workflow && end - q > 4 && memcmp(q, "env.", 4) == 0;
    q += env ? 4 : 0;
    *u = (struct use){.name = q, .plain = !workflow || env};
    while (q < end && q - u->name < MAX_USE && eco_vars_name_char(*q)) {
        q++;
    }
    u->n = (size_t)(q - u->name);
    if (!brace) {
        u->end = q;
        return u->n > 0;
    }
    const char *most = end - q > MAX_USE ? q + MAX_USE : end, *from = q;
    while (q < most && *q != '}') {
        q++;
    }
    if (q == most) {
        return false;
    }
    u->end = q + (workflow && q + 1 < end && q[1] == '}' ? 2 : 1);
    while (workflow && from < q && *from == ' ') {
        from++;
    }
    if (!workflow && q - from >= 1 && (*from == '-' || (q - from >= 2 && from[1] == '-'))) {
        u->word = from + (*from == '-' ? 1 : 2);
        u->word_len = (size_t)(q - u->word);
        u->plain = *from == '-' || *from == ':';
    } else {
        u->plain &= from == q;
    }
    return true;
}

/* Puts what the use stands for; of what is unknown only the name: "${X:+--flag}" says no flag. */
static void put_use(const struct eco_vars *v, const struct use *u, const char *p, uint32_t first,
                    uint32_t last, struct eco_buf *out)
{
    const struct eco_var *x = NULL;
    enum known k = u->n ? find(v, u->name, u->n, first, last, &x) : UNKNOWN;
    char found[8];
    if (k == KNOWN && v->told && eco_scan_nightly(x->value, x->value_len, found, sizeof(found))) {
        k = UNKNOWN;
    }
    bool blank =
        k == KNOWN && x->value_len == 0 && u->word && u->word[-1] == '-' && u->word[-2] == ':';
    if (u->plain && k == KNOWN && !blank) {
        eco_buf_put(out, x->value, x->value_len);
    } else if (u->plain && u->word && k != UNKNOWN) {
        eco_buf_put(out, u->word, u->word_len);
    } else if (p[1] != '{') {
        eco_buf_put(out, p, (size_t)(u->end - p));
    } else {
        eco_buf_puts(out, "${");
        eco_buf_put(out, u->name, u->n);
        eco_buf_putc(out, '}');
    }
}

static void expand(const struct eco_vars *v, const char *text, size_t len, uint32_t first,
                   uint32_t last, struct eco_buf *out)
{
    const char *end = text + len;
    char quote = 0;
    struct use u;
    for (const char *p = text; p < end;) {
        bool workflow = end - p > 2 && memcmp(p, "${{", 3) == 0; /* put in before any shell */
        if (*p == '\\' && quote != '\'' && p + 1 < end) {
            eco_buf_put(out, p, 2);
            p += 2;
        } else if (*p == '$' && p + 1 < end && p[1] == '$') {
            eco_buf_put(out, p, 2);
            p += 2;
        } else if (*p == '$' && (quote != '\'' || workflow) && read_use(p, end, &u)) {
            put_use(v, &u, p, first, last, out);
            p = u.end;
        } else {
            if (*p == '"' || *p == '\'') {
                quote = quote == *p ? 0 : quote ? quote : *p;
            }
            eco_buf_putc(out, *p++);
        }
    }
}

/* The value as a shell reads it: variables put in, quotes taken off; NULL: it cannot be told. */
static const char *value_of(struct eco_scan *s, const struct eco_vars *v, const struct eco_var *x,
                            size_t *len)
{
    struct eco_buf b = {.limit = ECO_VARS_MAX_VALUE};
    size_t n = 0;
    expand(v, x->value, x->value_len, x->at, x->at, &b);
    char *out = eco_buf_ok(&b) ? eco_arena_strdup(&s->scratch, eco_buf_str(&b), b.len) : NULL;
    char quote = 0;
    *len = 0;
    if (!out) {
        eco_buf_done(&b);
        return NULL;
    }
    for (size_t i = 0; i < b.len; i++) {
        char c = out[i];
        if ((c == '"' || c == '\'') && (!quote || quote == c)) {
            quote = quote ? 0 : c;
            continue;
        }
        bool runs = c == '`' || (c == '$' && i + 1 < b.len && out[i + 1] == '(');
        if ((runs && quote != '\'') || (i == 0 && c == '(' && !quote)) {
            eco_buf_done(&b);
            return NULL;
        }
        out[n++] = c;
    }
    eco_buf_done(&b);
    *len = n;
    return out;
}

void eco_vars_set(struct eco_scan *s, struct eco_vars *v, const struct eco_var *var)
{
    struct eco_var x = *var;
    uint32_t h = head_of(x.name, x.name_len), last = v->heads[h];
    if (last != ECO_VARS_NO && named(&v->v[last], x.name, x.name_len) && !v->v[last].value &&
        !x.value && v->v[last].block == 0 && x.block == 0) {
        return; /* unknown it is already */
    }
    if (v->n == ECO_VARS_MAX) {
        v->lost = true;
        return;
    }
    x.value = x.value ? value_of(s, v, var, &x.value_len) : NULL;
    x.next = last;
    v->heads[h] = v->n;
    v->v[v->n++] = x;
}

void eco_vars_drop(struct eco_vars *v, uint32_t count)
{
    while (count-- > 0 && v->n > 0) {
        const struct eco_var *x = &v->v[--v->n];
        v->heads[head_of(x->name, x->name_len)] = x->next;
    }
}

static void gather(struct eco_scan *s)
{
    s->vars = eco_arena_alloc(&s->scratch, sizeof(*s->vars));
    s->vars_read = true;
    if (!s->vars) {
        return;
    }
    eco_vars_init(s->vars);
    s->vars->told = s->vars_in != ECO_VARS_SHELL;
    if (s->vars_in == ECO_VARS_YAML) {
        eco_vars_read_yaml(s, s->vars);
    } else if (s->vars_in == ECO_VARS_DOCKER) {
        eco_vars_read_docker(s, s->vars);
    } else if (s->vars_in == ECO_VARS_SHELL) {
        eco_vars_read_shell(s, s->vars);
    }
}

static bool name_used(const struct eco_scan *s, const char *name, size_t n)
{
    const char *p = s->text, *end = s->text + s->len;
    while (p < end && (p = memchr(p, '$', (size_t)(end - p))) != NULL) {
        p++;
        p += p < end && *p == '{';
        if ((size_t)(end - p) > n && memcmp(p, name, n) == 0 && !eco_vars_name_char(p[n])) {
            return true;
        }
    }
    return false;
}

bool eco_vars_only_sets(struct eco_scan *s, const char *text, size_t len)
{
    const char *p = text, *end = text + len;
    bool any = false, test = len > 2 && (*p == '[' || memcmp(p, "tes", 3) == 0);
    for (const char *q = p; test && q + 3 < end; q++) { /* [ … ] && NAME=value */
        if ((*q == '&' || *q == '|') && q[1] == *q) {
            p = q + 2;
            break;
        }
    }
    while (p < end && s->searched < MAX_SEARCHED) {
        while (p < end && strchr(" \t\r;", *p)) {
            p++;
        }
        static const char *const words[] = {"export ", "local ", "readonly ", "declare "};
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            size_t k = strlen(words[i]);
            p += (size_t)(end - p) > k && memcmp(p, words[i], k) == 0 ? k : 0;
        }
        const char *name = p;
        while (p < end && eco_vars_name_char(*p)) {
            p++;
        }
        size_t n = (size_t)(p - name);
        p += p + 1 < end && *p == '+' && p[1] == '=';
        if (p == end) {
            return any && n == 0;
        }
        s->searched++;
        if (n == 0 || *p != '=' || !name_used(s, name, n)) {
            return false;
        }
        any = true;
        p = eco_vars_value_end(p + 1, end);
        if (p < end && *p == '(') {
            return false;
        }
    }
    return any && p >= end;
}

void eco_vars_expand(struct eco_scan *s, const char *text, size_t len, uint32_t first,
                     uint32_t last, struct eco_buf *out)
{
    if (!s->vars_read) {
        gather(s);
    }
    bool literal = !s->vars;
    for (uint32_t i = 0; !literal && i < s->vars->n_literal; i++) {
        literal = inside(s->vars, s->vars->literal[i], last);
    }
    if (literal) {
        eco_buf_put(out, text, len);
    } else {
        expand(s->vars, text, len, first, last, out);
    }
}
