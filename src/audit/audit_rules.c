/* The table of rules, the list of findings and their fingerprints. */
#include "base/hash.h"
#include "scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const fixes[ECO_AUDIT_RULES_COUNT] = {
    [ECO_AUDIT_INT8_DEFAULT] = "load in 16 bit if it fits; else set llm_int8_threshold=0.0, which "
                               "removes the splitting (and still costs more than 16 bit)",
    [ECO_AUDIT_MIXED_BITS] = "keep one of the two flags",
    [ECO_AUDIT_FP8_EAGER] = "compile the model after quantizing: model.forward = "
                            "torch.compile(model.forward, mode=\"max-autotune\")",
    [ECO_AUDIT_SMALL_4BIT] = "load this model in 16 bit (torch_dtype=torch.float16) if it fits",
    [ECO_AUDIT_BS1_LOOP] = "tokenize lists of 8 or more with padding=True and generate per batch",
    [ECO_AUDIT_NIGHTLY_PIN] = "pin a released version from the ordinary index",
    [ECO_AUDIT_NO_DEVICE_MAP] = "add device_map=\"auto\"",
    [ECO_AUDIT_REDUNDANT_PARAM] = "take the setting out",
    [ECO_AUDIT_DOUBLE_QUANT] = "set bnb_4bit_use_double_quant=False",
    [ECO_AUDIT_CPU_OFFLOAD] = "choose a smaller model, a lower precision or a larger card, so that "
                              "all weights stay on it",
    [ECO_AUDIT_KV_CACHE_OFF] = "set use_cache=True for generation",
    [ECO_AUDIT_FP8_NO_COMPILE] = "use the inductor back end: torch.compile(model)",
    [ECO_AUDIT_UNPADDED_LOOP] = "add padding=True (and padding_side=\"left\" to the tokenizer)",
    [ECO_AUDIT_VLLM_EAGER] = "take enforce_eager out; lower gpu_memory_utilization if memory is "
                             "short",
    [ECO_AUDIT_VLLM_ONE_SEQ] = "take max_num_seqs=1 out, or set it to what you serve at once"};

static const struct eco_audit_rule_info rules[] = {
#define X(name, id, sev, title, why) {id, ECO_SEV_##sev, title, why},
    ECO_AUDIT_RULES(X)
#undef X
};

const struct eco_audit_rule_info *eco_audit_rule(enum eco_audit_rule rule)
{
    return rule < ECO_AUDIT_RULES_COUNT ? &rules[rule] : NULL;
}

const char *eco_audit_rule_fix(enum eco_audit_rule rule)
{
    return rule < ECO_AUDIT_RULES_COUNT ? fixes[rule] : "";
}

int eco_audit_rule_find(const char *id, size_t len)
{
    for (int i = 0; i < ECO_AUDIT_RULES_COUNT; i++) {
        if (strlen(rules[i].id) == len && eco_str_ncasecmp(rules[i].id, id, len) == 0) {
            return i;
        }
    }
    return -1;
}

void eco_audit_init(struct eco_audit *a)
{
    *a = (struct eco_audit){.crossover_b = ECO_AUDIT_CROSSOVER_B};
    eco_arena_init(&a->arena, 0);
}

void eco_audit_done(struct eco_audit *a)
{
    if (a) {
        free(a->findings);
        free(a->skipped);
        eco_arena_done(&a->arena);
        memset(a, 0, sizeof(*a));
    }
}

bool eco_audit_available(void)
{
    return eco_py_available();
}

#define MAX_COUNTED 4096u /* in a line of a megabyte a column is counted in bytes */

/* From 1, in characters: SARIF's unicodeCodePoints. A byte order mark is none. */
static uint32_t column_of(const struct eco_py_tree *t, const struct eco_py_node *n)
{
    const char *line = t->text + n->start - n->col;
    uint32_t skip = n->col >= 3 && n->row == 0 && memcmp(line, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    uint32_t column = 1;
    if (n->col > MAX_COUNTED) {
        return n->col + 1;
    }
    for (uint32_t i = skip; i < n->col; i++) {
        column += ((unsigned char)line[i] & 0xC0) != 0x80;
    }
    return column;
}

struct eco_spot eco_scan_spot(const struct eco_scan *s, uint32_t node)
{
    const struct eco_py_node *n = &s->tree.nodes[node];
    struct eco_spot spot = {
        .line = n->row + 1, .end_line = n->end_row + 1, .column = column_of(&s->tree, n)};
    if (s->line_map && n->row < s->rows) {
        uint32_t end = n->end_row < s->rows ? n->end_row : s->rows - 1;
        spot.line = s->line_map[n->row];
        spot.end_line = s->line_map[end] < spot.line ? spot.line : s->line_map[end];
        spot.column = 1;
    }
    return spot;
}

/* The text of a line (from 1), without blanks around it. */
static void line_text(const char *text, size_t len, uint32_t line, const char **from, size_t *n)
{
    const char *p = text, *end = text + len;
    for (uint32_t i = 1; i < line && p < end; i++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        p = nl ? nl + 1 : end;
    }
    const char *stop = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    stop = stop ? stop : end;
    while (p < stop && (*p == ' ' || *p == '\t')) {
        p++;
    }
    while (stop > p && (stop[-1] == ' ' || stop[-1] == '\r' || stop[-1] == '\t')) {
        stop--;
    }
    *from = p;
    *n = (size_t)(stop - p);
}

#define MAX_HASHED ((size_t)4096)

/* Stable when lines above are added: the rule, the file's name and the text of the line. */
static void fingerprint(const struct eco_scan *s, struct eco_audit_finding *f)
{
    struct eco_sha256 h;
    uint8_t digest[32];
    const char *text;
    size_t n;
    const char *id = rules[f->rule].id;
    line_text(s->text, s->len, f->line, &text, &n);
    eco_sha256_init(&h);
    eco_sha256_update(&h, id, strlen(id) + 1);
    eco_sha256_update(&h, f->file, strlen(f->file) + 1);
    eco_sha256_update(&h, text, n < MAX_HASHED ? n : MAX_HASHED);
    if (n > MAX_HASHED) { /* a line of a megabyte: its place tells the findings apart */
        eco_sha256_update(&h, &f->column, sizeof(f->column));
    }
    eco_sha256_final(&h, digest);
    for (int i = 0; i < 8; i++) {
        snprintf(f->print + 2 * i, 3, "%02x", digest[i]);
    }
}

static bool known(const struct eco_scan *s, enum eco_audit_rule rule, const struct eco_spot *spot)
{
    for (size_t i = s->base; i < s->a->n; i++) {
        const struct eco_audit_finding *f = &s->a->findings[i];
        if (f->rule == rule && f->line == spot->line && f->column == spot->column) {
            return true;
        }
    }
    return false;
}

static struct eco_audit_finding *push(struct eco_audit *a)
{
    if (a->n == a->cap) {
        size_t cap = a->cap ? a->cap * 2 : 32;
        struct eco_audit_finding *f = realloc(a->findings, cap * sizeof(*f));
        if (!f) {
            a->failed = true;
            return NULL;
        }
        a->findings = f;
        a->cap = cap;
    }
    return &a->findings[a->n++];
}

void eco_scan_add(struct eco_scan *s, enum eco_audit_rule rule, const struct eco_spot *spot,
                  const char *fmt, ...)
{
    char message[400];
    va_list ap;
    if (s->a->n - s->base >= ECO_AUDIT_MAX_FINDINGS || known(s, rule, spot)) {
        return;
    }
    va_start(ap, fmt);
    vsnprintf(message, sizeof(message), fmt, ap);
    va_end(ap);
    struct eco_audit_finding *f = push(s->a);
    if (!f) {
        return;
    }
    *f = (struct eco_audit_finding){.rule = rule,
                                    .severity = rules[rule].severity,
                                    .file = s->path,
                                    .line = spot->line,
                                    .end_line = spot->end_line,
                                    .column = spot->column,
                                    .params_b = spot->params_b,
                                    .edit = spot->edit,
                                    .safe = spot->safe};
    f->message = eco_arena_strdup(&s->a->arena, message, strlen(message));
    if (spot->model) {
        f->model = eco_arena_strdup(&s->a->arena, spot->model, strlen(spot->model));
    }
    if (spot->edit.text) {
        f->edit.text = eco_arena_strdup(&s->a->arena, spot->edit.text, strlen(spot->edit.text));
    }
    s->a->failed |= !f->message;
    fingerprint(s, f);
}
