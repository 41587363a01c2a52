/* The views of report compare, verify and keygen, and of a replayed folder. */
#include "view_parts.h"
#include "views.h"

#include <string.h>

static void aspects(struct eco_doc *d, const struct eco_list *list, bool differ)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct eco_res_report_aspect *s =
            (const struct eco_res_report_aspect *)list->items + i;
        if (s->same == differ || (differ && strcmp(s->a, s->b) == 0)) {
            continue; /* the second: neither file states it */
        }
        if (s->same) {
            eco_doc_kv(d, s->name, "%s", s->a);
        } else {
            eco_doc_kv(d, s->name, "%s | %s", s->a, s->b);
        }
    }
}

static void difference_cell(struct eco_doc *d, const struct eco_res_report_row *r)
{
    const char *unit = r->difference_unit[0] == '%' ? " %" : " points";
    if (!r->difference.have) {
        eco_doc_cell(d, "not known");
    } else if (r->ci95.have) {
        eco_doc_cell(d, "%s%s (%s to %s)", eco_doc_signed(d, r->difference.v, 3), unit,
                     eco_doc_signed(d, r->ci95.lo, 3), eco_doc_signed(d, r->ci95.hi, 3));
    } else {
        eco_doc_cell(d, "%s%s", eco_doc_signed(d, r->difference.v, 3), unit);
    }
}

static void differences(struct eco_doc *d, const struct eco_list *list)
{
    eco_doc_table(d, "quantity|>first|>second|unit|>second against first (95 %)|verdict");
    for (size_t i = 0; i < list->n; i++) {
        const struct eco_res_report_row *r = (const struct eco_res_report_row *)list->items + i;
        if (!r->a.have && !r->b.have) {
            continue;
        }
        eco_doc_cell(d, "%s", r->quantity);
        eco_view_opt_cell(d, r->a, 4);
        eco_view_opt_cell(d, r->b, 4);
        eco_doc_cell(d, "%s", r->unit);
        difference_cell(d, r);
        eco_doc_cell(d, "%s", r->verdict);
    }
    eco_doc_table_end(d);
    for (size_t i = 0; i < list->n; i++) {
        const struct eco_res_report_row *r = (const struct eco_res_report_row *)list->items + i;
        if (r->reason && (r->a.have || r->b.have)) {
            eco_doc_item(d, "%s: %s", r->quantity, r->reason);
        }
    }
}

bool eco_view_report_answer(struct eco_doc *d, const void *result)
{
    const struct eco_res_report *r = result;
    if (!r->verdict) {
        return false;
    }
    eco_doc_verdict(d, r->valid ? ECO_TONE_PLAIN : ECO_TONE_BAD, "%s", r->verdict);
    if (r->differences.n) {
        eco_doc_heading(d, "Differences");
        differences(d, &r->differences);
    }
    if (r->sessions) {
        eco_doc_kv(d, "sessions",
                   "%lld of one set-up: mean change %s %%, they differ by %s %% (sd); another one: "
                   "%s to %s %%",
                   (long long)r->sessions, eco_doc_signed(d, r->session_mean_pct.v, 3),
                   eco_doc_num(d, r->between_sd_pct.v, 2), eco_doc_signed(d, r->session_ci.lo, 3),
                   eco_doc_signed(d, r->session_ci.hi, 3));
    }
    if (r->aspects.n) {
        eco_doc_heading(d, "What differs around them");
        aspects(d, &r->aspects, true);
        eco_doc_heading(d, "What is the same");
        aspects(d, &r->aspects, false);
    }
    if (r->public_key && !r->aspects.n) {
        eco_doc_kv(d, "public key", "%s", r->public_key);
    }
    return true;
}

void eco_view_replay_dir(struct eco_doc *d, const void *result)
{
    const struct eco_res_replay *r = result;
    eco_doc_verdict(d, r->differ ? ECO_TONE_BAD : ECO_TONE_GOOD, "%s", r->verdict);
    eco_doc_table(d, ">block|precision|>journal J|>trace J|>may differ by J|agrees");
    for (size_t i = 0; i < r->trials.n; i++) {
        const struct eco_res_replay_trial *t =
            (const struct eco_res_replay_trial *)r->trials.items + i;
        eco_doc_cell(d, "%lld", (long long)t->block);
        eco_doc_cell(d, "%s", t->precision);
        eco_view_opt_cell(d, t->journal_j, 6);
        eco_view_opt_cell(d, t->trace_j, 6);
        eco_view_opt_cell(d, t->allowed_j, 3);
        eco_doc_cell(d, "%s", t->reason ? t->reason : t->agrees ? "yes" : "NO");
    }
    eco_doc_table_end(d);
}
