/*
 * Validation of energy.json: walks the document along the rows of report_rules.c with the meaning
 * JSON Schema draft 7 gives to type, required, enum, const and minimum, then adds advice: what a
 * schema lets pass and a careful reader should hear.
 */
#include "report.h"
#include "report_rules.h"

#include "base/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_MEMBERS 64 /* rows of one object; test_table_is_well_formed counts them */

struct walk {
    struct eco_report_check *out;
    const struct eco_report_rule *rules, *end;
    const char *precisions; /* the choices "*" stands for */
    char pointer[sizeof(((struct eco_report_finding *)0)->pointer)];
};

__attribute__((format(printf, 5, 6))) static void find(struct walk *w, bool advice,
                                                       const char *keyword, const char *missing,
                                                       const char *fmt, ...)
{
    struct eco_report_check *out = w->out;
    size_t at = advice ? out->advice_count++ : out->error_count++;
    if (at >= ECO_REPORT_MAX_FINDINGS)
        return;
    struct eco_report_finding *f = advice ? &out->advice[at] : &out->errors[at];
    *f = (struct eco_report_finding){.keyword = keyword};
    snprintf(f->pointer, sizeof(f->pointer), "%s", w->pointer);
    snprintf(f->missing, sizeof(f->missing), "%s", missing ? missing : "");
    va_list args;
    va_start(args, fmt);
    vsnprintf(f->message, sizeof(f->message), fmt, args);
    va_end(args);
}

/* Adds "/key" to the pointer with RFC 6901 escapes; returns the old length for pointer_cut. */
static size_t pointer_push(struct walk *w, const char *key, size_t key_len)
{
    size_t len = strlen(w->pointer), old = len, room = sizeof(w->pointer) - 4;
    if (len < room)
        w->pointer[len++] = '/';
    for (size_t i = 0; i < key_len && len < room; i++) {
        char c = (unsigned char)key[i] < 0x20 ? '?' : key[i]; /* pointers go to terminals */
        if (c == '~' || c == '/') {
            w->pointer[len++] = '~';
            c = c == '~' ? '0' : '1';
        }
        w->pointer[len++] = c;
    }
    w->pointer[len] = '\0';
    return old;
}

static void pointer_cut(struct walk *w, size_t old)
{
    w->pointer[old] = '\0';
}

/* An integer in the sense of draft 7: 32, 32.0 and 1e1 are. */
static bool is_integer(const struct eco_json *v)
{
    return v->type == ECO_JSON_NUMBER && floor(v->num) == v->num;
}

static bool type_matches(const struct eco_json *v, const char *types)
{
    switch (v->type) {
    case ECO_JSON_NULL:
        return strchr(types, '0') != NULL;
    case ECO_JSON_FALSE:
    case ECO_JSON_TRUE:
        return strchr(types, 'b') != NULL;
    case ECO_JSON_NUMBER:
        return strchr(types, 'n') != NULL || (strchr(types, 'i') != NULL && is_integer(v));
    case ECO_JSON_STRING:
        return strchr(types, 's') != NULL;
    case ECO_JSON_ARRAY:
        return strchr(types, 'a') != NULL;
    case ECO_JSON_OBJECT:
        return strchr(types, 'o') != NULL;
    }
    return false;
}

/* "number or null" */
static void type_words(const char *types, char out[64])
{
    static const struct {
        char c;
        const char *word;
    } words[] = {{'s', "text"},      {'n', "a number"}, {'i', "an integer"}, {'b', "true or false"},
                 {'o', "an object"}, {'a', "a list"},   {'0', "null"}};
    out[0] = '\0';
    for (const char *t = types; *t; t++) {
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            if (words[i].c != *t)
                continue;
            size_t len = strlen(out);
            snprintf(out + len, 64 - len, "%s%s", len ? " or " : "", words[i].word);
        }
    }
}

static bool in_choices(const struct eco_json *v, const char *choices)
{
    if (v->type != ECO_JSON_STRING)
        return false;
    for (const char *at = choices; at;) {
        size_t len = strcspn(at, "|");
        if (len == v->len && memcmp(at, v->str, len) == 0)
            return true;
        at = at[len] ? at + len + 1 : NULL;
    }
    return false;
}

/* The constants in use are false, whole numbers and plain text. */
static bool is_constant(const struct eco_json *v, const char *constant)
{
    if (strcmp(constant, "false") == 0)
        return v->type == ECO_JSON_FALSE;
    if (constant[0] == '"')
        return v->type == ECO_JSON_STRING && v->len + 2 == strlen(constant) &&
               memcmp(v->str, constant + 1, v->len) == 0;
    return v->type == ECO_JSON_NUMBER && v->num == (double)(constant[0] - '0') && !constant[1];
}

static void check_value(struct walk *w, const struct eco_report_rule *rule,
                        const struct eco_json *v)
{
    if (!type_matches(v, rule->types)) {
        char words[64];
        type_words(rule->types, words);
        find(w, false, "type", NULL, "must be %s, is %s", words, eco_json_type_name(v->type));
    }
    const char *choices = rule->choices;
    if (choices && choices[0] == '*')
        choices = w->precisions;
    bool null_is_fine = v->type == ECO_JSON_NULL && strchr(rule->types, '0') != NULL;
    if (choices && !null_is_fine && !in_choices(v, choices))
        find(w, false, "enum", NULL, "must be one of %s", choices);
    if (rule->constant && !is_constant(v, rule->constant))
        find(w, false, "const", NULL, "must be %s", rule->constant);
    if (!isnan(rule->min) && v->type == ECO_JSON_NUMBER && v->num < rule->min)
        find(w, false, "minimum", NULL, "must be at least %g", rule->min);
}

static void walk_value(struct walk *w, const struct eco_report_rule *rule,
                       const struct eco_json *v);

/* The rows of an object's members, found once an object. */
struct members {
    const struct eco_report_rule *rule[MAX_MEMBERS];
    const char *key[MAX_MEMBERS];
    size_t key_len[MAX_MEMBERS], count;
    const struct eco_report_rule *any; /* of "*" */
};

static void find_members(const struct walk *w, const struct eco_report_rule *rule,
                         struct members *out)
{
    out->count = 0;
    out->any = NULL;
    for (const struct eco_report_rule *r = rule + 1; r < w->end && eco_report_rule_within(rule, r);
         r++) {
        const char *key = eco_report_rule_key(rule, r);
        if (!key)
            continue;
        if (key[0] == '*') {
            out->any = r;
        } else if (out->count < MAX_MEMBERS) {
            out->rule[out->count] = r;
            out->key[out->count] = key;
            out->key_len[out->count++] = strlen(key);
        }
    }
}

/* The members of an object that no row names: those of "*", or a remark under our schema. */
static void walk_others(struct walk *w, const struct members *members, const struct eco_json *v)
{
    for (const struct eco_json *m = v->child; m; m = m->next) {
        bool known = false;
        for (size_t i = 0; !known && i < members->count; i++)
            known = members->key_len[i] == m->key_len &&
                    memcmp(members->key[i], m->key, m->key_len) == 0;
        if (known || (!members->any && !w->out->ours))
            continue;
        size_t old = pointer_push(w, m->key, m->key_len);
        if (members->any)
            walk_value(w, members->any, m);
        else
            find(w, true, "advice", NULL, "is a field this version does not know");
        pointer_cut(w, old);
    }
}

static void walk_object(struct walk *w, const struct eco_report_rule *rule,
                        const struct eco_json *v)
{
    struct members members;
    find_members(w, rule, &members);
    for (size_t i = 0; i < members.count; i++) {
        const char *key = members.key[i];
        const struct eco_json *member = eco_json_get(v, key);
        if (!member) {
            if (members.rule[i]->required)
                find(w, false, "required", key, "has no '%s'", key);
            continue;
        }
        size_t old = pointer_push(w, key, members.key_len[i]);
        walk_value(w, members.rule[i], member);
        pointer_cut(w, old);
    }
    walk_others(w, &members, v);
}

static void walk_array(struct walk *w, const struct eco_report_rule *rule, const struct eco_json *v)
{
    const struct eco_report_rule *item = rule + 1;
    if (item >= w->end || !eco_report_rule_key(rule, item))
        return;
    size_t index = 0;
    for (const struct eco_json *m = v->child; m; m = m->next, index++) {
        char text[24];
        int len = snprintf(text, sizeof(text), "%zu", index);
        size_t old = pointer_push(w, text, (size_t)len);
        walk_value(w, item, m);
        pointer_cut(w, old);
    }
}

static void walk_value(struct walk *w, const struct eco_report_rule *rule, const struct eco_json *v)
{
    check_value(w, rule, v);
    if (v->type == ECO_JSON_OBJECT && strchr(rule->types, 'o'))
        walk_object(w, rule, v);
    else if (v->type == ECO_JSON_ARRAY && strchr(rule->types, 'a'))
        walk_array(w, rule, v);
}

/* ---- advice ------------------------------------------------------------------------------- */

static double number_at(const struct eco_json *root, const char *pointer)
{
    const struct eco_json *v = eco_json_at(root, pointer);
    return v && v->type == ECO_JSON_NUMBER ? v->num : NAN;
}

__attribute__((format(printf, 3, 4))) static void advise(struct walk *w, const char *pointer,
                                                         const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    snprintf(w->pointer, sizeof(w->pointer), "%s", pointer);
    find(w, true, "advice", NULL, "%s", text);
    w->pointer[0] = '\0';
}

/* "2026-07-16T01:50:50.487816Z" or with an offset; the form RFC 3339 gives. */
static bool is_timestamp(const char *s)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd";
    for (size_t i = 0; form[i]; i++) {
        bool digit = s[i] >= '0' && s[i] <= '9';
        if (form[i] == 'd' ? !digit : s[i] != form[i])
            return false;
    }
    s += sizeof(form) - 1;
    if (*s == '.')
        s += 1 + strspn(s + 1, "0123456789");
    return strcmp(s, "Z") == 0 || ((*s == '+' || *s == '-') && strlen(s) == 6);
}

static void advise_signs(struct walk *w, const struct eco_json *root)
{
    static const struct {
        const char *pointer, *words;
        bool zero_too;
    } rows[] = {
        {"/results/energy_per_token_mj", "an energy below zero", false},
        {"/results/fp16_energy_per_token_mj", "an energy below zero", false},
        {"/results/total_energy_joules", "an energy below zero", false},
        {"/results/tokens_generated", "a count below zero", false},
        {"/results/avg_power_watts", "a power below zero", false},
        {"/results/throughput_tokens_per_s", "a rate below zero", false},
        {"/measurement/iterations", "no iteration was made", true},
        {"/workload/context_length", "a context below zero", false},
        {"/workload/params_b", "a size of zero or below", true},
        {"/quality/value", "a perplexity below zero", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double v = number_at(root, rows[i].pointer);
        if (v < 0 || (rows[i].zero_too && v == 0))
            advise(w, rows[i].pointer, "%g: %s", v, rows[i].words);
    }
    const struct eco_json *basis = eco_json_at(root, "/results/basis");
    double rate = number_at(root, "/measurement/sample_rate_hz");
    bool measured = basis && basis->type == ECO_JSON_STRING && strcmp(basis->str, "measured") == 0;
    if (rate < 0 || (rate == 0 && measured))
        advise(w, "/measurement/sample_rate_hz", "%g: no power sample was taken", rate);
    double delta = number_at(root, "/results/vs_fp16_energy_pct");
    if (delta < -100)
        advise(w, "/results/vs_fp16_energy_pct", "%g: energy cannot fall by more than 100 %%",
               delta);
}

/* Numbers that must agree with each other: a change with its energies, a total with its tokens. */
static void advise_sums(struct walk *w, const struct eco_json *root)
{
    double e = number_at(root, "/results/energy_per_token_mj");
    double base = number_at(root, "/results/fp16_energy_per_token_mj");
    double delta = number_at(root, "/results/vs_fp16_energy_pct");
    double own = 100 * (e - base) / base;
    if (base > 0 && fabs(own - delta) > 1 + 0.02 * fabs(delta))
        advise(w, "/results/vs_fp16_energy_pct", "%g, but the two energies say %.1f", delta, own);
    double total = number_at(root, "/results/total_energy_joules");
    double tokens = number_at(root, "/results/tokens_generated");
    double per = total / tokens * 1000;
    if (tokens > 0 && fabs(per - e) > 0.02 * fabs(e))
        advise(w, "/results/energy_per_token_mj", "%g, but total over tokens is %.6g", e, per);
    double power = number_at(root, "/results/avg_power_watts");
    double rate = number_at(root, "/results/throughput_tokens_per_s");
    per = power / rate * 1000;
    if (rate > 0 && fabs(per - e) > 0.05 * fabs(e))
        advise(w, "/results/avg_power_watts", "power over throughput is %.6g mJ, not %g", per, e);
}

static void advise_all(struct walk *w, const struct eco_json *root)
{
    if (root->type != ECO_JSON_OBJECT)
        return;
    const struct eco_json *v = eco_json_get(root, "timestamp_utc");
    if (v && v->type == ECO_JSON_STRING && !is_timestamp(v->str))
        advise(w, "/timestamp_utc", "is not a time in the form 2026-01-01T00:00:00Z");
    v = eco_json_get(root, "schema_version");
    if (v && v->type == ECO_JSON_STRING && strncmp(v->str, "ecocompute-energy/1.", 20) != 0)
        advise(w, "/schema_version", "is not ecocompute-energy/1.x");
    advise_signs(w, root);
    advise_sums(w, root);
}

static int fail(const struct eco_report_check *out, struct eco_err *err)
{
    const struct eco_report_finding *f = &out->errors[0];
    const char *where = f->pointer[0] ? f->pointer : "/";
    if (out->error_count == 1)
        return eco_err_set(err, ECO_E_CONTENT, f->pointer, "%s: %s", where, f->message);
    return eco_err_set(err, ECO_E_CONTENT, f->pointer, "%s: %s (and %zu more)", where, f->message,
                       out->error_count - 1);
}

int eco_report_validate(const char *text, size_t len, struct eco_report_check *out,
                        struct eco_err *err)
{
    *out = (struct eco_report_check){0};
    if (len > ECO_REPORT_MAX_BYTES)
        return eco_err_set(err, ECO_E_TOO_LARGE, NULL,
                           "a report of %zu bytes is over the limit of %u", len,
                           ECO_REPORT_MAX_BYTES);
    struct eco_json_doc doc;
    struct eco_err parse = {0};
    int rc = eco_json_parse(&doc, text, len, &parse);
    struct walk w = {.out = out};
    if (rc != 0) {
        find(&w, false, "json", NULL, "line %ld, column %ld: %.200s", parse.line, parse.column,
             parse.message);
        if (err)
            *err = parse;
        return rc;
    }
    struct eco_buf precisions = ECO_BUF_INIT;
    eco_report_precisions(&precisions);
    out->json = true;
    out->ours = eco_json_get(doc.root, "report_version") != NULL;
    size_t count;
    w.rules = eco_report_rules(out->ours, &count);
    w.end = w.rules + count;
    w.precisions = eco_buf_str(&precisions);
    walk_value(&w, w.rules, doc.root);
    advise_all(&w, doc.root);
    out->valid = out->error_count == 0;
    rc = eco_buf_ok(&precisions) ? 0 : ECO_E_NO_MEMORY;
    eco_buf_done(&precisions);
    eco_json_done(&doc);
    if (rc != 0)
        return eco_err_set(err, rc, NULL, "out of memory");
    return out->valid ? 0 : fail(out, err);
}

static void findings_json(struct eco_json_writer *w, const char *key,
                          const struct eco_report_finding *list, size_t count)
{
    eco_jw_key(w, key);
    eco_jw_array(w);
    for (size_t i = 0; i < count && i < ECO_REPORT_MAX_FINDINGS; i++) {
        eco_jw_object(w);
        eco_jw_kv_str(w, "pointer", list[i].pointer);
        eco_jw_kv_str(w, "keyword", list[i].keyword);
        if (list[i].missing[0])
            eco_jw_kv_str(w, "missing", list[i].missing);
        eco_jw_kv_str(w, "message", list[i].message);
        eco_jw_object_end(w);
    }
    eco_jw_array_end(w);
}

void eco_report_check_json(const struct eco_report_check *check, struct eco_buf *out)
{
    struct eco_json_writer w;
    eco_jw_init(&w, out, 2);
    eco_jw_object(&w);
    eco_jw_kv_bool(&w, "valid", check->valid);
    eco_jw_kv_bool(&w, "json", check->json);
    eco_jw_kv_str(&w, "schema", check->ours ? "ecocompute report_version 1" : "published 1.1");
    eco_jw_kv_i64(&w, "error_count", (int64_t)check->error_count);
    findings_json(&w, "errors", check->errors, check->error_count);
    findings_json(&w, "advice", check->advice, check->advice_count);
    eco_jw_object_end(&w);
    eco_buf_putc(out, '\n');
}
