/* The view of the audit: per file, the most useful line first; Markdown is the PR comment. */
#include "records.h"
#include "view_parts.h"
#include "views.h"

#include <string.h>

static enum eco_tone tone_of(const char *severity)
{
    return strcmp(severity, "critical") == 0  ? ECO_TONE_BAD
           : strcmp(severity, "warning") == 0 ? ECO_TONE_WARN
                                              : ECO_TONE_PLAIN;
}

static void one_finding(struct eco_doc *d, const struct eco_res_audit_finding *f)
{
    eco_doc_text(d, tone_of(f->severity), "%s:%lld:%lld: %s %s: %s%s", f->file, (long long)f->line,
                 (long long)f->column, f->severity, f->rule, f->message,
                 f->known ? " (known)" : "");
    eco_doc_item(d, "why: %s", f->why);
    if (f->effect) {
        eco_doc_item(d, "effect: %s", f->effect);
    }
    eco_doc_item(d, "fix: %s%s", f->fix, f->patch && f->safe ? " (--fix does it)" : "");
}

void eco_view_audit(struct eco_doc *d, const void *result)
{
    const struct eco_res_audit *r = result;
    if (r->document) {
        eco_doc_raw(d, r->document);
        return;
    }
    if (d->kind == ECO_DOC_MARKDOWN) {
        eco_doc_raw(d, r->markdown);
        return;
    }
    int64_t n = r->critical + r->warnings + r->infos;
    eco_doc_verdict(d,
                    r->critical ? ECO_TONE_BAD
                    : n         ? ECO_TONE_WARN
                                : ECO_TONE_GOOD,
                    "%s", r->verdict);
    for (size_t i = 0; i < r->findings.n; i++) {
        one_finding(d, (const struct eco_res_audit_finding *)r->findings.items + i);
    }
    if (r->fixed) {
        eco_doc_text(d, ECO_TONE_GOOD, "%lld fix%s written", (long long)r->fixed,
                     r->fixed == 1 ? "" : "es");
    }
    for (size_t i = 0; i < r->skipped.n && i < 20; i++) {
        const struct eco_res_audit_skip *s =
            (const struct eco_res_audit_skip *)r->skipped.items + i;
        eco_doc_text(d, ECO_TONE_QUIET, "not looked into: %s: %s", s->file, s->reason);
    }
    if (r->skipped.n > 20) {
        eco_doc_text(d, ECO_TONE_QUIET, "and %zu more", r->skipped.n - 20);
    }
    if (n && !r->gpu) {
        eco_doc_next(d, "ecocompute audit PATH --gpu rtx4090", "effects computed for your card");
    }
}
