#include "view_parts.h"

#include <string.h>

void eco_view_opt_cell(struct eco_doc *d, struct eco_opt v, int significant)
{
    eco_doc_cell(d, "%s", v.have ? eco_doc_num(d, v.v, significant) : "");
}

static enum eco_tone tone_of(const char *severity)
{
    return strcmp(severity, "critical") == 0  ? ECO_TONE_BAD
           : strcmp(severity, "warning") == 0 ? ECO_TONE_WARN
                                              : ECO_TONE_QUIET;
}

void eco_view_alerts(struct eco_doc *d, const struct eco_list *alerts, enum eco_view_when when)
{
    for (size_t i = 0; i < alerts->n; i++) {
        const struct eco_res_alert *a = (const struct eco_res_alert *)alerts->items + i;
        const char *mark = d->ascii ? "!" : "▲";
        if ((strcmp(a->severity, "info") == 0) != (when == ECO_VIEW_AFTER)) {
            continue;
        }
        if (a->effect_pct.have && a->effect_ci.have) {
            eco_doc_verdict(d, tone_of(a->severity),
                            "%s %s: computed for this card and size %s %% (95 %% range %s to %s)",
                            mark, a->name, eco_doc_signed(d, a->effect_pct.v, 3),
                            eco_doc_signed(d, a->effect_ci.lo, 3),
                            eco_doc_signed(d, a->effect_ci.hi, 3));
        } else {
            eco_doc_verdict(d, tone_of(a->severity), "%s %s", mark, a->name);
        }
        eco_doc_kv(d, "why", "%s", a->why);
        if (a->fix_effect_pct.have) {
            eco_doc_kv(d, "fix", "%s (computed: %s %%)", a->fix,
                       eco_doc_signed(d, a->fix_effect_pct.v, 3));
        } else {
            eco_doc_kv(d, "fix", "%s", a->fix);
        }
        if (a->fix_code && a->fix_code[0]) {
            eco_doc_kv(d, "code", "%s", a->fix_code);
        }
        eco_doc_kv(d, "measured", "%s", a->measured);
        if (a->contradiction && a->contradiction[0]) {
            eco_doc_kv(d, "but", "%s", a->contradiction);
        }
    }
}

void eco_view_bill_line(struct eco_doc *d, const struct eco_res_bill *b)
{
    if (!b->month.usd.have) {
        eco_doc_kv(d, "a month", "%s kWh for %.0f requests (no tariff for %s: --price)",
                   eco_doc_num(d, b->month.kwh, 4), b->requests, b->region);
        return;
    }
    if (b->saving_usd.have) {
        eco_doc_kv(d, "a month", "$%s for %.0f requests, %s: %s$%s against 16 bit",
                   eco_doc_num(d, b->month.usd.v, 4), b->requests, b->region,
                   b->saving_usd.v < 0 ? "+" : "−",
                   eco_doc_num(d, b->saving_usd.v < 0 ? -b->saving_usd.v : b->saving_usd.v, 3));
    } else {
        eco_doc_kv(d, "a month", "$%s for %.0f requests, %s", eco_doc_num(d, b->month.usd.v, 4),
                   b->requests, b->region);
    }
}

void eco_view_bill(struct eco_doc *d, const struct eco_res_bill *b)
{
    eco_doc_heading(d, "Cost and carbon of a month");
    eco_doc_kv(d, "electricity", "%s kWh, %s J a request", eco_doc_num(d, b->month.kwh, 4),
               eco_doc_num(d, b->j_per_request, 3));
    if (b->month.usd.have) {
        eco_doc_kv(d, "cost", "$%s (95 %% range $%s to $%s) at $%s per kWh, %s",
                   eco_doc_num(d, b->month.usd.v, 4), eco_doc_num(d, b->month_usd_ci.lo, 3),
                   eco_doc_num(d, b->month_usd_ci.hi, 3), eco_doc_num(d, b->price_usd_per_kwh.v, 4),
                   b->region);
    }
    if (b->month.kgco2.have) {
        eco_doc_kv(d, "carbon", "%s kg CO2 at %s g per kWh (%s)",
                   eco_doc_num(d, b->month.kgco2.v, 4), eco_doc_num(d, b->carbon_gco2_per_kwh.v, 4),
                   b->carbon_source ? b->carbon_source : "");
    }
    if (b->month.rental_usd.have) {
        eco_doc_kv(d, "rental", "$%s for the time it takes: on rented cards time is the bill",
                   eco_doc_num(d, b->month.rental_usd.v, 4));
    }
    for (size_t i = 0; i < b->equivalents.n; i++) {
        eco_doc_item(d, "= %s", b->equivalents.v[i]);
    }
    for (size_t i = 0; i < b->assumptions.n; i++) {
        eco_doc_item(d, "assumes %s", b->assumptions.v[i]);
    }
}

void eco_view_notes(struct eco_doc *d, const struct eco_strs *notes)
{
    if (notes->n) {
        eco_doc_heading(d, "Know this");
    }
    for (size_t i = 0; i < notes->n; i++) {
        eco_doc_item(d, "%s", notes->v[i]);
    }
}

void eco_view_citation(struct eco_doc *d, const struct eco_res_provenance *p)
{
    if (!d->quiet && p->citation) {
        eco_doc_heading(d, "Data");
        eco_doc_text(d, ECO_TONE_QUIET, "%s; data set sha256 %.12s…, ecocompute %s", p->citation,
                     p->data_sha256 ? p->data_sha256 : "", p->version);
    }
}
