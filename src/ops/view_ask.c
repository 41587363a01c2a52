/* How `ask` reads: the equivalent command first, then what was not used, then the answer. */
#include "records.h"
#include "view_parts.h"
#include "views.h"

static void strings(struct eco_doc *d, const char *heading, const struct eco_strs *s)
{
    if (s->n == 0) {
        return;
    }
    eco_doc_heading(d, heading);
    for (size_t i = 0; i < s->n; i++) {
        eco_doc_item(d, "%s", s->v[i]);
    }
}

static void by_size(struct eco_doc *d, const struct eco_res_ask *ask)
{
    const struct eco_list *rows = &ask->by_size;
    const struct eco_res_ask_size *r = rows->items;
    eco_doc_verdict(d, ECO_TONE_PLAIN, "%s", ask->verdict);
    eco_doc_heading(d, "By size, since the question names none");
    eco_doc_table(d, ">size B|>energy per token|95 % range|>basis|advice");
    for (size_t i = 0; i < rows->n; i++) {
        eco_doc_cell(d, "%g", r[i].params_b);
        eco_doc_cell(d, "%+.1f %%", r[i].delta_pct);
        if (r[i].ci.have) {
            eco_doc_cell(d, "%+.1f to %+.1f %%", r[i].ci.lo, r[i].ci.hi);
        } else {
            eco_doc_cell(d, "%s", "-");
        }
        eco_doc_cell(d, "%s", r[i].basis);
        eco_doc_cell(d, "%s", r[i].recommendation);
    }
    eco_doc_table_end(d);
}

void eco_view_ask(struct eco_doc *d, const void *result)
{
    const struct eco_res_ask *r = result;
    if (r->command) {
        eco_doc_text(d, ECO_TONE_QUIET, "= %s", r->command);
    }
    strings(d, "Conversions", &r->conversions);
    strings(d, "Not used", &r->not_understood);
    if (r->by_size.n) {
        by_size(d, r);
    }
    if (r->problem) {
        eco_doc_text(d, ECO_TONE_WARN, "%s", r->problem);
    }
    if (r->answer.op) {
        r->answer.op->view(d, r->answer.result);
    }
}
