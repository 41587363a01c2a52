/* The view of cost: today's month against the optimized one, what changes, the bill in full. */
#include "records.h"
#include "texts.h"
#include "view_parts.h"
#include "views.h"

#include <stdio.h>

#define MAX_BARS 4

static void options(struct eco_doc *d, const struct eco_res_cost *r)
{
    eco_doc_heading(d, TX(d, h_month));
    eco_doc_table(d, TX(d, t_cost));
    for (size_t i = 0; i < r->options.n; i++) {
        const struct eco_res_cost_option *o =
            (const struct eco_res_cost_option *)r->options.items + i;
        eco_doc_cell(d, "%s", eco_view_word(d, o->label));
        eco_doc_cell(d, "%s", o->precision);
        eco_doc_cell(d, "%lld", (long long)o->batch);
        eco_doc_cell(d, "%s", eco_doc_num(d, o->j_per_1k, 4));
        eco_doc_cell(d, "%s", eco_doc_num(d, o->month_kwh, 4));
        eco_view_opt_cell(d, o->month_usd, 4);
        eco_view_opt_cell(d, o->month_kgco2, 4);
        eco_view_opt_cell(d, o->year_usd, 4);
        eco_view_opt_cell(d, o->rental_usd, 4);
        eco_doc_cell(d, "%s", eco_view_word(d, o->mood));
    }
    eco_doc_table_end(d);
    if (!r->saving_kwh.have || r->saving_kwh.v <= 0) {
        return;
    }
    const char *kwh = eco_doc_num(d, r->saving_kwh.v, 4), *pct = eco_doc_num(d, r->saving_pct.v, 3);
    if (r->saving_usd.have && r->saving_year_usd.have) {
        eco_doc_kv(d, TX(d, k_saving), TX(d, saving_usd), eco_doc_num(d, r->saving_usd.v, 4),
                   eco_doc_num(d, r->saving_year_usd.v, 4), kwh, pct);
    } else {
        eco_doc_kv(d, TX(d, k_saving), TX(d, saving_line), kwh, pct);
    }
    for (size_t i = 0; i < r->saving_equivalents.n && i < 1; i++) {
        eco_doc_kv(d, "", TX(d, equals), r->saving_equivalents.v[i]);
    }
}

static void bars(struct eco_doc *d, const struct eco_res_cost *r)
{
    struct eco_view_bar bar[MAX_BARS];
    char names[MAX_BARS][96];
    size_t n = r->options.n < MAX_BARS ? r->options.n : MAX_BARS;
    for (size_t i = 0; i < n; i++) {
        const struct eco_res_cost_option *o =
            (const struct eco_res_cost_option *)r->options.items + i;
        snprintf(names[i], sizeof(names[i]), "%s ×%lld", o->precision, (long long)o->batch);
        bar[i] = (struct eco_view_bar){names[i], o->mood, {o->efficiency_pct, true}, o->month_usd};
    }
    eco_view_bars(d, bar, n);
}

void eco_view_cost(struct eco_doc *d, const void *result)
{
    const struct eco_res_cost *r = result;
    struct eco_view_opening o = {.mood = r->mood,
                                 .alerts = &r->alerts,
                                 .bill = &r->bill,
                                 .input = &r->input,
                                 .verdict = r->verdict,
                                 .tone = ECO_TONE_PLAIN};
    eco_view_open(d, &o);
    eco_view_items(d, TX(d, h_conversions), &r->conversions);
    options(d, r);
    bars(d, r);
    eco_view_items(d, TX(d, h_breakdown), &r->changes);
    eco_view_bill(d, &r->bill);
    eco_view_traps(d, TX(d, h_traps), &r->alerts);
    eco_view_transparency(d, &r->transparency);
    eco_view_notes(d, &r->notes);
    eco_view_citation(d, &r->data);
}
