/* GitHub workflow annotations and the Markdown comment of a pull request. */
#include "audit.h"

#include <string.h>

/* Workflow commands escape these; properties escape ':' and ',' as well. */
#define SKIPPED_SHOWN 10 /* in a comment; annotations and SARIF have them all */

static void escaped(struct eco_buf *out, const char *s, bool property)
{
    for (; *s; s++) {
        bool hard = *s == '%' || *s == '\r' || *s == '\n' || (property && (*s == ':' || *s == ','));
        if (hard) {
            eco_buf_printf(out, "%%%02X", (unsigned)(unsigned char)*s);
        } else {
            eco_buf_putc(out, *s);
        }
    }
}

void eco_audit_github(const struct eco_audit *a, struct eco_buf *out)
{
    static const char *const commands[] = {"notice", "warning", "error"};
    for (size_t i = 0; i < a->n; i++) {
        const struct eco_audit_finding *f = &a->findings[i];
        if (f->in_baseline) {
            continue;
        }
        eco_buf_printf(out, "::%s file=", commands[f->severity]);
        escaped(out, f->file, true);
        eco_buf_printf(out, ",line=%u,endLine=%u,title=", f->line, f->end_line);
        escaped(out, eco_audit_rule(f->rule)->id, true);
        eco_buf_puts(out, "::");
        escaped(out, f->message, false);
        if (f->effect) {
            eco_buf_puts(out, "; ");
            escaped(out, f->effect, false);
        }
        eco_buf_puts(out, ". Fix: ");
        escaped(out, eco_audit_rule_fix(f->rule), false);
        eco_buf_putc(out, '\n');
    }
    for (size_t i = 0; i < a->n_skipped; i++) {
        eco_buf_puts(out, "::warning file=");
        escaped(out, a->skipped[i].file, true);
        eco_buf_puts(out, ",title=not read::");
        escaped(out, a->skipped[i].reason, false);
        eco_buf_putc(out, '\n');
    }
}

static void cell(struct eco_buf *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '|' || *s == '`' || *s == '<' || *s == '\\' || *s == '[' || *s == '*') {
            eco_buf_putc(out, '\\');
        }
        eco_buf_putc(out, *s == '\n' || *s == '\r' ? ' ' : *s);
    }
}

void eco_audit_markdown(const struct eco_audit *a, struct eco_buf *out)
{
    size_t count[3] = {0}, old = 0;
    for (size_t i = 0; i < a->n; i++) {
        old += a->findings[i].in_baseline;
        count[a->findings[i].severity] += !a->findings[i].in_baseline;
    }
    size_t n = count[0] + count[1] + count[2];
    eco_buf_puts(out, "### ecocompute audit\n\n");
    if (n == 0) {
        eco_buf_printf(out, "No energy trap found in %zu file%s.\n", a->files,
                       a->files == 1 ? "" : "s");
    } else {
        eco_buf_printf(out, "%zu critical, %zu warning%s, %zu info in %zu file%s.\n\n",
                       count[ECO_SEV_CRITICAL], count[ECO_SEV_WARNING],
                       count[ECO_SEV_WARNING] == 1 ? "" : "s", count[ECO_SEV_INFO], a->files,
                       a->files == 1 ? "" : "s");
        eco_buf_puts(out, "| | where | what | effect | fix |\n| --- | --- | --- | --- | --- |\n");
    }
    for (size_t i = 0; i < a->n; i++) {
        const struct eco_audit_finding *f = &a->findings[i];
        if (f->in_baseline) {
            continue;
        }
        eco_buf_printf(out, "| %s **%s** | ", eco_severity_name(f->severity),
                       eco_audit_rule(f->rule)->id);
        cell(out, f->file);
        eco_buf_printf(out, ":%u | ", f->line);
        cell(out, f->message);
        eco_buf_puts(out, " | ");
        cell(out, f->effect ? f->effect : "");
        eco_buf_puts(out, " | ");
        cell(out, eco_audit_rule_fix(f->rule));
        eco_buf_puts(out, " |\n");
    }
    if (old) {
        eco_buf_printf(out, "\n%zu known finding%s of the baseline not shown.\n", old,
                       old == 1 ? "" : "s");
    }
    if (a->n_skipped) {
        eco_buf_printf(out, "\n%zu file%s not read, so not judged:\n\n", a->n_skipped,
                       a->n_skipped == 1 ? "" : "s");
    }
    for (size_t i = 0; i < a->n_skipped && i < SKIPPED_SHOWN; i++) {
        eco_buf_puts(out, "- ");
        cell(out, a->skipped[i].file);
        eco_buf_puts(out, ": ");
        cell(out, a->skipped[i].reason);
        eco_buf_putc(out, '\n');
    }
}
