/* The view of the audit: critical, warnings, notes, what is good, what to change first. Plain
 * English Markdown is the comment of a pull request, as src/audit writes it. */
#include "audit/audit.h"
#include "records.h"
#include "texts.h"
#include "view_parts.h"
#include "views.h"

#include <string.h>

#define SKIPPED_SHOWN 20

static enum eco_tone tone_of(const char *severity)
{
    return strcmp(severity, "critical") == 0  ? ECO_TONE_BAD
           : strcmp(severity, "warning") == 0 ? ECO_TONE_WARN
                                              : ECO_TONE_PLAIN;
}

/* In Chinese the rule's name goes before the message, which may be code alone. */
static void headline(struct eco_doc *d, const struct eco_res_audit_finding *f)
{
    int rule = eco_audit_rule_find(f->rule, strlen(f->rule));
    const char *title = rule >= 0 ? eco_audit_rule((enum eco_audit_rule)rule)->title : f->rule;
    const char *known = f->known ? TX(d, known_mark) : "";
    if (d->lang == ECO_LANG_ZH) {
        eco_doc_text(d, tone_of(f->severity), TX(d, finding_titled), f->file, (long long)f->line,
                     (long long)f->column, eco_view_word(d, f->severity), f->rule,
                     eco_view_word(d, title), f->message, known);
    } else {
        eco_doc_text(d, tone_of(f->severity), TX(d, finding_line), f->file, (long long)f->line,
                     (long long)f->column, f->severity, f->rule, f->message, known);
    }
}

static void one_finding(struct eco_doc *d, const struct eco_res_audit_finding *f)
{
    headline(d, f);
    eco_doc_item(d, TX(d, finding_why), f->why);
    if (f->effect && f->month_usd.have) {
        eco_doc_item(d, TX(d, finding_effect_usd), f->effect, eco_doc_num(d, f->month_usd.v, 3));
    } else if (f->effect) {
        eco_doc_item(d, TX(d, finding_effect), f->effect);
    }
}

static void findings_of(struct eco_doc *d, const struct eco_res_audit *r, const char *severity,
                        const char *heading)
{
    bool first = true;
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct eco_res_audit_finding *f =
            (const struct eco_res_audit_finding *)r->findings.items + i;
        if (strcmp(f->severity, severity) != 0) {
            continue;
        }
        if (first) {
            eco_doc_heading(d, heading);
        }
        first = false;
        one_finding(d, f);
    }
}

static void good(struct eco_doc *d, const struct eco_res_audit *r)
{
    if (r->good.n == 0) {
        return;
    }
    eco_doc_heading(d, TX(d, h_good));
    for (size_t i = 0; i < r->good.n; i++) {
        const struct eco_res_practice *p = (const struct eco_res_practice *)r->good.items + i;
        eco_doc_item(d, TX(d, practice_line), p->file, (long long)p->line, p->text);
    }
}

/* Most severe first; the order of files and lines among equals. */
static void changes(struct eco_doc *d, const struct eco_res_audit *r)
{
    static const char *const order[] = {"critical", "warning", "info"};
    if (r->findings.n == 0) {
        return;
    }
    eco_doc_heading(d, TX(d, h_changes));
    for (size_t k = 0; k < ECO_COUNT(order); k++) {
        for (size_t i = 0; i < r->findings.n; i++) {
            const struct eco_res_audit_finding *f =
                (const struct eco_res_audit_finding *)r->findings.items + i;
            if (strcmp(f->severity, order[k]) == 0) {
                eco_doc_item(d, f->patch && f->safe ? TX(d, change_safe) : TX(d, change_line),
                             f->file, (long long)f->line, f->fix);
            }
        }
    }
}

static void skipped(struct eco_doc *d, const struct eco_res_audit *r)
{
    for (size_t i = 0; i < r->skipped.n && i < SKIPPED_SHOWN; i++) {
        const struct eco_res_audit_skip *s =
            (const struct eco_res_audit_skip *)r->skipped.items + i;
        eco_doc_text(d, ECO_TONE_QUIET, TX(d, skipped_file), s->file, s->reason);
    }
    if (r->skipped.n > SKIPPED_SHOWN) {
        eco_doc_text(d, ECO_TONE_QUIET, TX(d, skipped_more), r->skipped.n - SKIPPED_SHOWN);
    }
}

static const char *dollars(struct eco_doc *d, const struct eco_res_audit *r)
{
    if (!r->worst_month_usd.have || r->equivalents.n == 0) {
        return r->findings.n ? TX(d, lobster_no_price) : TX(d, lobster_nothing_to_price);
    }
    struct eco_buf b = ECO_BUF_INIT;
    eco_buf_printf(&b, TX(d, lobster_worst), eco_doc_num(d, r->worst_month_usd.v, 3),
                   r->equivalents.v[0]);
    const char *text = eco_arena_strdup(d->arena, eco_buf_str(&b), b.len);
    eco_buf_done(&b);
    return text;
}

static bool is_pr_comment(const struct eco_doc *d)
{
    return d->kind == ECO_DOC_MARKDOWN && d->lang == ECO_LANG_EN && d->persona == ECO_PERSONA_PLAIN;
}

void eco_view_audit(struct eco_doc *d, const void *result)
{
    const struct eco_res_audit *r = result;
    if (r->document || is_pr_comment(d)) {
        eco_doc_raw(d, r->document ? r->document : r->markdown);
        if (!r->document) {
            good(d, r);
        }
        return;
    }
    int64_t n = r->critical + r->warnings + r->infos;
    bool lobster = d->persona == ECO_PERSONA_LOBSTER;
    struct eco_view_opening o = {.mood = r->mood, /* plainly, the findings themselves come next */
                                 .alerts = lobster ? &r->alerts : NULL,
                                 .verdict = r->verdict,
                                 .no_bill = dollars(d, r),
                                 .tone = r->critical ? ECO_TONE_BAD
                                         : n         ? ECO_TONE_WARN
                                                     : ECO_TONE_GOOD};
    eco_view_open(d, &o);
    findings_of(d, r, "critical", TX(d, h_critical));
    findings_of(d, r, "warning", TX(d, h_warnings));
    findings_of(d, r, "info", TX(d, h_infos));
    good(d, r);
    changes(d, r);
    if (r->fixed) {
        eco_doc_text(d, ECO_TONE_GOOD, r->fixed == 1 ? TX(d, fix_written) : TX(d, fixes_written),
                     (long long)r->fixed);
    }
    skipped(d, r);
    if (n && !r->gpu) {
        eco_doc_next(d, "ecocompute audit PATH --gpu rtx4090", TX(d, next_audit_card));
    }
    eco_view_citation(d, &r->data);
}
