/* The view of diagnose: pattern, evidence, root cause, fixes in order, what to expect, checks. */
#include "records.h"
#include "texts.h"
#include "view_parts.h"
#include "views.h"

#include <string.h>

static void diagnosis(struct eco_doc *d, const struct eco_res_diagnose *r)
{
    eco_doc_heading(d, TX(d, h_diagnosis));
    eco_doc_kv(d, TX(d, k_pattern), "%s", eco_view_word(d, r->pattern));
    if (r->likelihood.have) {
        bool none = strcmp(r->pattern, "unknown") == 0;
        eco_doc_kv(d, TX(d, k_confidence), none ? TX(d, likelihood_none) : TX(d, likelihood),
                   eco_view_word(d, r->confidence), eco_doc_num(d, 100 * r->likelihood.v, 2));
    } else {
        eco_doc_kv(d, TX(d, k_confidence), "%s", eco_view_word(d, r->confidence));
    }
}

/* One quantity: seen against expected, or what is expected alone. */
static void against(struct eco_doc *d, const char *key, struct eco_opt seen, struct eco_opt expect,
                    struct eco_span range, struct eco_opt deviation)
{
    if (!expect.have) {
        return;
    }
    const char *median = eco_doc_num(d, expect.v, 3);
    const char *lo = eco_doc_num(d, range.lo, 3), *hi = eco_doc_num(d, range.hi, 3);
    if (seen.have && deviation.have) {
        eco_doc_kv(d, key, TX(d, seen_expected), eco_doc_num(d, seen.v, 4), median, lo, hi,
                   eco_doc_signed(d, deviation.v, 3));
    } else {
        eco_doc_kv(d, key, TX(d, expected_only), median, lo, hi);
    }
}

static void evidence(struct eco_doc *d, const struct eco_res_diagnose *r)
{
    eco_doc_heading(d, TX(d, h_evidence));
    against(d, TX(d, k_tokens), r->tokens_per_s, r->expect_tokens_per_s, r->expect_tokens_per_s_ci,
            r->speed_dev_pct);
    against(d, TX(d, k_joules), r->j_per_1k, r->expect_j_per_1k, r->expect_j_per_1k_ci,
            r->energy_dev_pct);
    if (r->expect_n.have) {
        eco_doc_kv(
            d, TX(d, k_expected), TX(d, expect_measured), eco_doc_num(d, r->expect_sessions.v, 4),
            r->expect_sessions.v > 1 ? TX(d, plural_s) : "", eco_doc_num(d, r->expect_n.v, 4));
    } else {
        eco_doc_kv(d, TX(d, k_expected), "%s", TX(d, expect_modelled));
    }
    if (r->power_w.have && r->expect_power_w.have && r->power_dev_pct.have) {
        eco_doc_kv(d, TX(d, k_power), TX(d, power_seen), eco_doc_num(d, r->power_w.v, 4),
                   eco_doc_num(d, r->expect_power_w.v, 3),
                   eco_doc_signed(d, r->power_dev_pct.v, 3));
    } else if (r->power_w.have) {
        eco_doc_kv(d, TX(d, k_power), TX(d, power_only), eco_doc_num(d, r->power_w.v, 4));
    }
    if (r->inconsistency_pct.have) {
        eco_doc_kv(d, TX(d, k_consistency), TX(d, inconsistent),
                   eco_doc_signed(d, r->inconsistency_pct.v, 2));
    }
    for (size_t i = 0; i < r->evidence.n; i++) {
        eco_view_evidence_row(d, i ? "" : TX(d, k_case),
                              (const struct eco_res_evidence *)r->evidence.items + i);
    }
}

static void cause(struct eco_doc *d, const struct eco_res_diagnose *r)
{
    eco_doc_heading(d, TX(d, h_cause));
    eco_doc_kv(d, TX(d, k_primary), "%s", r->root_cause);
    if (r->decide) {
        eco_doc_kv(d, TX(d, k_decide), "%s", r->decide);
    }
    for (size_t i = 0; i < r->secondary.n; i++) {
        eco_doc_kv(d, i ? "" : TX(d, k_secondary), "%s", r->secondary.v[i]);
    }
}

static void patterns(struct eco_doc *d, const struct eco_res_diagnose *r)
{
    eco_doc_heading(d, TX(d, h_patterns));
    eco_doc_table(d, TX(d, t_patterns));
    for (size_t i = 0; i < r->patterns.n; i++) {
        const struct eco_res_pattern *p = (const struct eco_res_pattern *)r->patterns.items + i;
        if (p->probability < 0.01) {
            continue;
        }
        eco_doc_cell(d, TX(d, percent), eco_doc_num(d, 100 * p->probability, 2));
        eco_doc_cell(d, "%s", eco_view_word(d, p->cause));
        eco_view_opt_cell(d, p->expect_tokens_per_s, 3);
        eco_view_opt_cell(d, p->expect_j_per_1k, 4);
        eco_doc_cell(d, "%s", p->text);
    }
    eco_doc_table_end(d);
}

static void fixes(struct eco_doc *d, const struct eco_res_diagnose *r)
{
    if (r->fixes.n) {
        eco_doc_heading(d, TX(d, h_fixes));
    }
    for (size_t i = 0; i < r->fixes.n; i++) {
        const struct eco_res_fix *f = (const struct eco_res_fix *)r->fixes.items + i;
        bool code = f->code && f->code[0];
        if (f->energy_pct.have && f->speed_pct.have) {
            eco_doc_item(d, TX(d, fix_both), f->text, code ? ": " : "", code ? f->code : "",
                         eco_doc_signed(d, f->energy_pct.v, 3),
                         eco_doc_signed(d, f->speed_pct.v, 3));
        } else {
            eco_doc_item(d, TX(d, fix_none), f->text, code ? ": " : "", code ? f->code : "");
        }
    }
}

static void now_then(struct eco_doc *d, const char *key, struct eco_opt now, struct eco_opt then,
                     struct eco_opt pct)
{
    if (now.have && then.have && pct.have) {
        eco_doc_kv(d, key, TX(d, now_then), eco_doc_num(d, now.v, 3), eco_doc_num(d, then.v, 3),
                   eco_doc_signed(d, pct.v, 3));
    }
}

static void improvement(struct eco_doc *d, const struct eco_res_improvement *m)
{
    if (!m) {
        return;
    }
    eco_doc_heading(d, TX(d, h_improvement));
    now_then(d, TX(d, k_tokens), m->tokens_per_s_now, m->tokens_per_s_then, m->speed_pct);
    now_then(d, TX(d, k_joules), m->j_per_1k_now, m->j_per_1k_then, m->energy_pct);
    if (m->saving_usd.have && m->saving_year_usd.have && m->saving_usd.v > 0) {
        eco_doc_kv(d, TX(d, k_cost), TX(d, improve_usd), eco_doc_num(d, m->saving_usd.v, 3),
                   eco_doc_num(d, m->saving_year_usd.v, 3));
    }
    eco_doc_kv(d, TX(d, k_confidence), TX(d, improve_basis), eco_view_word(d, m->confidence),
               (long long)m->cases);
}

void eco_view_diagnose(struct eco_doc *d, const void *result)
{
    const struct eco_res_diagnose *r = result;
    bool fine = strcmp(r->pattern, "as-expected") == 0;
    struct eco_view_opening o = {
        .mood = r->mood,
        .alerts = &r->alerts,
        .bill = r->cost,
        .input = &r->input,
        .verdict = r->verdict,
        .no_bill = strcmp(r->pattern, "impossible") == 0 ? TX(d, lobster_impossible) : NULL,
        .tone = fine ? ECO_TONE_GOOD : ECO_TONE_WARN};
    eco_view_open(d, &o);
    diagnosis(d, r);
    evidence(d, r);
    cause(d, r);
    patterns(d, r);
    fixes(d, r);
    improvement(d, r->improvement);
    eco_view_items(d, TX(d, h_verify), &r->verify);
    if (r->cost) {
        eco_view_bill(d, r->cost);
    }
    eco_view_traps(d, TX(d, h_traps), &r->alerts);
    eco_view_transparency(d, &r->transparency);
    eco_view_notes(d, &r->notes);
    eco_view_citation(d, &r->data);
}
