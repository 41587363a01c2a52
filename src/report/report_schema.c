/* Our JSON Schema (draft 7), written from the rows of report_rules.c. */
#include "report.h"
#include "report_rules.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

static void put_types(struct eco_json_writer *w, const char *types)
{
    static const struct {
        char c;
        const char *name;
    } names[] = {{'s', "string"}, {'n', "number"}, {'i', "integer"}, {'b', "boolean"},
                 {'o', "object"}, {'a', "array"},  {'0', "null"}};
    bool several = types[1] != '\0';
    eco_jw_key(w, "type");
    if (several)
        eco_jw_array(w);
    for (const char *t = types; *t; t++) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            if (names[i].c == *t)
                eco_jw_str(w, names[i].name);
        }
    }
    if (several)
        eco_jw_array_end(w);
}

static void put_choices(struct eco_json_writer *w, const char *choices, bool null_too)
{
    eco_jw_key(w, "enum");
    eco_jw_array(w);
    for (const char *at = choices; at;) {
        size_t len = strcspn(at, "|");
        eco_jw_strn(w, at, len);
        at = at[len] ? at + len + 1 : NULL;
    }
    if (null_too)
        eco_jw_null(w);
    eco_jw_array_end(w);
}

static void put_rule(struct eco_json_writer *w, const struct eco_report_rule *rule,
                     const struct eco_report_rule *end, const char *precisions);

static void put_members(struct eco_json_writer *w, const struct eco_report_rule *rule,
                        const struct eco_report_rule *end, const char *precisions)
{
    const struct eco_report_rule *r;
    eco_jw_key(w, "properties");
    eco_jw_object(w);
    for (r = rule + 1; r < end && eco_report_rule_within(rule, r); r++) {
        const char *key = eco_report_rule_key(rule, r);
        if (!key || key[0] == '*')
            continue;
        eco_jw_key(w, key);
        put_rule(w, r, end, precisions);
    }
    eco_jw_object_end(w);
    eco_jw_key(w, "required");
    eco_jw_array(w);
    for (r = rule + 1; r < end && eco_report_rule_within(rule, r); r++) {
        const char *key = eco_report_rule_key(rule, r);
        if (key && r->required)
            eco_jw_str(w, key);
    }
    eco_jw_array_end(w);
    for (r = rule + 1; r < end && eco_report_rule_within(rule, r); r++) {
        const char *key = eco_report_rule_key(rule, r);
        if (!key || key[0] != '*')
            continue;
        eco_jw_key(w, "additionalProperties");
        put_rule(w, r, end, precisions);
    }
}

static void put_help(struct eco_json_writer *w, const struct eco_report_rule *rule)
{
    struct eco_buf text = ECO_BUF_INIT;
    eco_buf_puts(&text, rule->help);
    if (rule->unit)
        eco_buf_printf(&text, " Unit: %s.", rule->unit);
    eco_jw_kv_str(w, "description", eco_buf_str(&text));
    eco_buf_done(&text);
}

static void put_rule(struct eco_json_writer *w, const struct eco_report_rule *rule,
                     const struct eco_report_rule *end, const char *precisions)
{
    bool root = rule->path[0] == '\0';
    eco_jw_object(w);
    if (root) {
        eco_jw_kv_str(w, "$schema", "http://json-schema.org/draft-07/schema#");
        eco_jw_kv_str(w, "title", "ecocompute energy report, report_version 1");
    }
    put_help(w, rule);
    put_types(w, rule->types);
    if (rule->choices)
        put_choices(w, rule->choices[0] == '*' ? precisions : rule->choices,
                    strchr(rule->types, '0') != NULL);
    if (rule->constant) {
        eco_jw_key(w, "const");
        eco_jw_raw(w, rule->constant, strlen(rule->constant));
    }
    if (!isnan(rule->min))
        eco_jw_kv_num(w, "minimum", rule->min);
    if (strchr(rule->types, 'o'))
        put_members(w, rule, end, precisions);
    if (strchr(rule->types, 'a')) {
        eco_jw_key(w, "items");
        put_rule(w, rule + 1, end, precisions);
    }
    eco_jw_object_end(w);
}

void eco_report_schema_json(struct eco_buf *out)
{
    size_t count;
    const struct eco_report_rule *rules = eco_report_rules(true, &count);
    struct eco_buf precisions = ECO_BUF_INIT;
    struct eco_json_writer w;
    eco_report_precisions(&precisions);
    eco_jw_init(&w, out, 2);
    put_rule(&w, rules, rules + count, eco_buf_str(&precisions));
    eco_buf_putc(out, '\n');
    out->failed |= !eco_buf_ok(&precisions);
    eco_buf_done(&precisions);
}
