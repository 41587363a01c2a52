/* SARIF 2.1.0, for code scanning. */
#include "audit.h"
#include "base/json.h"

#include <string.h>

static const char *level(enum eco_severity s)
{
    return s == ECO_SEV_CRITICAL ? "error" : s == ECO_SEV_WARNING ? "warning" : "note";
}

static void text_object(struct eco_json_writer *w, const char *key, const char *text)
{
    eco_jw_key(w, key);
    eco_jw_object(w);
    eco_jw_kv_str(w, "text", text);
    eco_jw_object_end(w);
}

static void write_rules(struct eco_json_writer *w)
{
    eco_jw_key(w, "rules");
    eco_jw_array(w);
    for (int r = 0; r < ECO_AUDIT_RULES_COUNT; r++) {
        const struct eco_audit_rule_info *info = eco_audit_rule((enum eco_audit_rule)r);
        eco_jw_object(w);
        eco_jw_kv_str(w, "id", info->id);
        text_object(w, "shortDescription", info->title);
        text_object(w, "fullDescription", info->why);
        text_object(w, "help", eco_audit_rule_fix((enum eco_audit_rule)r));
        eco_jw_key(w, "defaultConfiguration");
        eco_jw_object(w);
        eco_jw_kv_str(w, "level", level(info->severity));
        eco_jw_object_end(w);
        eco_jw_object_end(w);
    }
    eco_jw_array_end(w);
}

/* A path as a relative URI: everything outside the unreserved set is escaped. */
static void write_uri(struct eco_json_writer *w, const char *path)
{
    struct eco_buf b = ECO_BUF_INIT;
    while (strncmp(path, "./", 2) == 0) {
        path += 2;
    }
    if (path[0] == '/') {
        eco_buf_puts(&b, "file://");
    }
    for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || strchr("-._~/", *p);
        if (plain) {
            eco_buf_putc(&b, (char)*p);
        } else {
            eco_buf_printf(&b, "%%%02X", *p);
        }
    }
    eco_jw_kv_str(w, "uri", eco_buf_str(&b));
    eco_buf_done(&b);
}

static void write_location(struct eco_json_writer *w, const struct eco_audit_finding *f)
{
    eco_jw_key(w, "locations");
    eco_jw_array(w);
    eco_jw_object(w);
    eco_jw_key(w, "physicalLocation");
    eco_jw_object(w);
    eco_jw_key(w, "artifactLocation");
    eco_jw_object(w);
    write_uri(w, f->file);
    eco_jw_object_end(w);
    eco_jw_key(w, "region");
    eco_jw_object(w);
    eco_jw_kv_i64(w, "startLine", f->line);
    eco_jw_kv_i64(w, "startColumn", f->column);
    eco_jw_kv_i64(w, "endLine", f->end_line);
    eco_jw_object_end(w);
    eco_jw_object_end(w);
    eco_jw_object_end(w);
    eco_jw_array_end(w);
}

static void write_result(struct eco_json_writer *w, const struct eco_audit_finding *f)
{
    struct eco_buf text = ECO_BUF_INIT;
    const struct eco_audit_rule_info *info = eco_audit_rule(f->rule);
    eco_buf_printf(&text, "%s: %s.%s%s%s Fix: %s.", f->message, info->why, f->effect ? " " : "",
                   f->effect ? f->effect : "", f->effect ? "." : "", eco_audit_rule_fix(f->rule));
    eco_jw_object(w);
    eco_jw_kv_str(w, "ruleId", info->id);
    eco_jw_kv_i64(w, "ruleIndex", (int64_t)f->rule);
    eco_jw_kv_str(w, "level", level(f->severity));
    text_object(w, "message", eco_buf_str(&text));
    write_location(w, f);
    eco_jw_key(w, "partialFingerprints");
    eco_jw_object(w);
    eco_jw_kv_str(w, "ecocompute/v1", f->print);
    eco_jw_object_end(w);
    if (f->in_baseline) {
        eco_jw_kv_str(w, "baselineState", "unchanged");
    }
    eco_jw_object_end(w);
    eco_buf_done(&text);
}

/* Files that were not read, as the notifications of the run. */
static void write_unread(struct eco_json_writer *w, const struct eco_audit *a)
{
    eco_jw_key(w, "invocations");
    eco_jw_array(w);
    eco_jw_object(w);
    eco_jw_key(w, "executionSuccessful");
    eco_jw_bool(w, true);
    eco_jw_key(w, "toolExecutionNotifications");
    eco_jw_array(w);
    for (size_t i = 0; i < a->n_skipped; i++) {
        struct eco_buf text = ECO_BUF_INIT;
        eco_buf_printf(&text, "%s: not read: %s", a->skipped[i].file, a->skipped[i].reason);
        eco_jw_object(w);
        eco_jw_kv_str(w, "level", "warning");
        eco_jw_key(w, "message");
        eco_jw_object(w);
        eco_jw_kv_str(w, "text", eco_buf_str(&text));
        eco_jw_object_end(w);
        eco_jw_object_end(w);
        eco_buf_done(&text);
    }
    eco_jw_array_end(w);
    eco_jw_object_end(w);
    eco_jw_array_end(w);
}

void eco_audit_sarif(const struct eco_audit *a, struct eco_buf *out)
{
    struct eco_json_writer w;
    eco_jw_init(&w, out, 2);
    eco_jw_object(&w);
    eco_jw_kv_str(&w, "$schema",
                  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/"
                  "sarif-schema-2.1.0.json");
    eco_jw_kv_str(&w, "version", "2.1.0");
    eco_jw_key(&w, "runs");
    eco_jw_array(&w);
    eco_jw_object(&w);
    eco_jw_key(&w, "tool");
    eco_jw_object(&w);
    eco_jw_key(&w, "driver");
    eco_jw_object(&w);
    eco_jw_kv_str(&w, "name", "ecocompute");
    eco_jw_kv_str(&w, "version", ECO_VERSION);
    write_rules(&w);
    eco_jw_object_end(&w);
    eco_jw_object_end(&w);
    if (a->n_skipped) {
        write_unread(&w, a);
    }
    eco_jw_kv_str(&w, "columnKind", "unicodeCodePoints");
    eco_jw_key(&w, "results");
    eco_jw_array(&w);
    for (size_t i = 0; i < a->n; i++) {
        write_result(&w, &a->findings[i]);
    }
    eco_jw_array_end(&w);
    eco_jw_object_end(&w);
    eco_jw_array_end(&w);
    eco_jw_object_end(&w);
    eco_buf_putc(out, '\n');
}
