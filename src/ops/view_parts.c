#include "view_parts.h"

#include "texts.h"

#include <string.h>

void eco_view_opt_cell(struct eco_doc *d, struct eco_opt v, int significant)
{
    eco_doc_cell(d, "%s", v.have ? eco_doc_num(d, v.v, significant) : "");
}

void eco_view_signed_cell(struct eco_doc *d, struct eco_opt v, int significant)
{
    eco_doc_cell(d, "%s", v.have ? eco_doc_signed(d, v.v, significant) : "");
}

const char *eco_view_word(const struct eco_doc *d, const char *code)
{
    const char *word = eco_word(d->lang, code);
    return word ? word : "";
}

void eco_view_items(struct eco_doc *d, const char *heading, const struct eco_strs *items)
{
    if (items->n == 0) {
        return;
    }
    eco_doc_heading(d, heading);
    for (size_t i = 0; i < items->n; i++) {
        eco_doc_item(d, "%s", items->v[i]);
    }
}

/* ---- traps --------------------------------------------------------------------------------- */

static bool is_note(const struct eco_res_alert *a)
{
    return strcmp(a->severity, "info") == 0;
}

bool eco_view_is_trapped(const struct eco_list *alerts)
{
    const struct eco_res_alert *a = alerts ? alerts->items : NULL;
    for (size_t i = 0; alerts && i < alerts->n; i++) {
        if (!is_note(&a[i])) {
            return true;
        }
    }
    return false;
}

/* One id a line: they are long, and a line that is one word can be copied. */
static void data_rows(struct eco_doc *d, const char *ids)
{
    while (*ids) {
        size_t n = strcspn(ids, " ");
        eco_doc_item(d, "%.*s", (int)n, ids);
        ids += n + (ids[n] == ' ');
    }
}

/* The runs that a trap is told of, at its first place in the list. */
static void trap_runs(struct eco_doc *d, const struct eco_res_alert *a, size_t n)
{
    struct eco_buf b = ECO_BUF_INIT;
    size_t runs = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(a[i].id, a->id) == 0 && a[i].precision) {
            eco_buf_puts(&b, b.len ? TX(d, list_comma) : "");
            eco_buf_printf(&b, TX(d, run_of), a[i].precision, a[i].engine ? a[i].engine : "");
            runs++;
        }
    }
    if (runs) {
        eco_doc_kv(d, TX(d, k_runs), "%s", eco_buf_str(&b));
    }
    eco_buf_done(&b);
}

static void one_trap(struct eco_doc *d, const struct eco_res_alert *a, size_t n)
{
    const char *mark = d->ascii ? "!" : "▲";
    eco_doc_text(d, is_note(a) ? ECO_TONE_QUIET : ECO_TONE_WARN, TX(d, alert_plain), mark, a->name);
    trap_runs(d, a, n);
    eco_doc_kv(d, TX(d, k_why), "%s", a->why);
    if (is_note(a)) {
        eco_doc_kv(d, TX(d, k_fix), "%s", a->fix);
    }
    eco_doc_kv(d, TX(d, k_measured), "%s", a->measured);
    if (a->contradiction && a->contradiction[0]) {
        eco_doc_kv(d, TX(d, k_but), "%s", a->contradiction);
    }
    if (a->evidence && a->evidence[0]) {
        eco_doc_kv(d, TX(d, k_rows), "%s", TX(d, evidence_rows));
        data_rows(d, a->evidence);
    }
}

void eco_view_traps(struct eco_doc *d, const char *heading, const struct eco_list *alerts)
{
    if (alerts->n == 0) {
        return;
    }
    eco_doc_heading(d, heading);
    const struct eco_res_alert *a = alerts->items;
    for (size_t i = 0; i < alerts->n; i++) {
        size_t first = 0;
        while (strcmp(a[first].id, a[i].id) != 0) {
            first++;
        }
        if (first == i) {
            one_trap(d, &a[i], alerts->n - i);
        }
    }
}

void eco_view_left_out(struct eco_doc *d, const struct eco_list *left_out)
{
    const struct eco_res_left_out *v = left_out->items;
    if (left_out->n) {
        eco_doc_heading(d, TX(d, h_left_out));
    }
    for (size_t i = 0; i < left_out->n; i++) {
        eco_doc_item(d, TX(d, left_out_line), v[i].precision, v[i].engine, v[i].why);
    }
}

/* ---- the bill ------------------------------------------------------------------------------ */

void eco_view_bill_line(struct eco_doc *d, const struct eco_res_bill *b)
{
    const char *requests = eco_doc_num(d, b->requests, 15);
    const char *region = eco_view_word(d, b->region), *key = TX(d, k_month);
    if (!b->month.usd.have) {
        eco_doc_kv(d, key, TX(d, month_kwh), eco_doc_num(d, b->month.kwh, 4), requests, region);
        return;
    }
    const char *usd = eco_doc_num(d, b->month.usd.v, 4);
    double less = b->saving_usd.have ? b->saving_usd.v : 0.0;
    if (less > 0) {
        eco_doc_kv(d, key, TX(d, month_less), usd, requests, region, eco_doc_num(d, less, 3));
    } else if (less < 0) {
        eco_doc_kv(d, key, TX(d, month_more), usd, requests, region, eco_doc_num(d, -less, 3));
    } else {
        eco_doc_kv(d, key, TX(d, month_usd), usd, requests, region);
    }
}

static void bill_usd(struct eco_doc *d, const struct eco_res_bill *b)
{
    const char *usd = eco_doc_num(d, b->month.usd.v, 4);
    const char *price = eco_doc_num(d, b->price_usd_per_kwh.v, 4);
    const char *region = eco_view_word(d, b->region);
    if (b->month_usd_ci.have && b->month_usd_ci.hi > b->month_usd_ci.lo) {
        eco_doc_kv(d, TX(d, k_cost), TX(d, bill_usd), usd, eco_doc_num(d, b->month_usd_ci.lo, 3),
                   eco_doc_num(d, b->month_usd_ci.hi, 3), price, region);
    } else {
        eco_doc_kv(d, TX(d, k_cost), TX(d, bill_usd_only), usd, price, region);
    }
}

void eco_view_bill(struct eco_doc *d, const struct eco_res_bill *b)
{
    eco_doc_heading(d, TX(d, h_bill));
    eco_doc_kv(d, TX(d, k_electricity), TX(d, bill_kwh), eco_doc_num(d, b->month.kwh, 4),
               eco_doc_num(d, b->j_per_request, 3));
    if (b->month.usd.have && b->price_usd_per_kwh.have) {
        bill_usd(d, b);
    }
    if (b->month.kgco2.have) {
        eco_doc_kv(d, TX(d, k_carbon), TX(d, bill_carbon), eco_doc_num(d, b->month.kgco2.v, 4),
                   eco_doc_num(d, b->carbon_gco2_per_kwh.v, 4),
                   b->carbon_source ? b->carbon_source : "");
    }
    if (b->month.rental_usd.have) {
        eco_doc_kv(d, TX(d, k_rental), TX(d, bill_rental),
                   eco_doc_num(d, b->month.rental_usd.v, 4));
    }
    for (size_t i = 0; i < b->equivalents.n; i++) {
        eco_doc_item(d, TX(d, equals), b->equivalents.v[i]);
    }
    for (size_t i = 0; i < b->assumptions.n; i++) {
        eco_doc_item(d, TX(d, assumes), b->assumptions.v[i]);
    }
}

/* ---- how it is known ----------------------------------------------------------------------- */

static void add(struct eco_doc *d, struct eco_buf *b, const char *text)
{
    if (b->len) {
        eco_buf_puts(b, TX(d, list_comma));
    }
    eco_buf_puts(b, text);
}

void eco_view_evidence_row(struct eco_doc *d, const char *key, const struct eco_res_evidence *e)
{
    struct eco_buf figures = ECO_BUF_INIT;
    struct eco_buf one = ECO_BUF_INIT;
    const struct {
        struct eco_opt v;
        const char *text;
    } parts[] = {
        {e->tokens_per_s, e->tokens_per_s.have ? eco_doc_num(d, e->tokens_per_s.v, 3) : ""},
        {e->power_w, e->power_w.have ? eco_doc_num(d, e->power_w.v, 3) : ""},
        {e->j_per_1k, e->j_per_1k.have ? eco_doc_num(d, e->j_per_1k.v, 4) : ""},
        {e->delta_pct, e->delta_pct.have ? eco_doc_signed(d, e->delta_pct.v, 3) : ""},
        {e->n, e->n.have ? eco_doc_num(d, e->n.v, 4) : ""}};
    for (size_t i = 0; i < ECO_COUNT(parts); i++) {
        if (!parts[i].v.have) {
            continue;
        }
        eco_buf_clear(&one);
        eco_buf_printf(&one,
                       i == 0   ? TX(d, row_speed)
                       : i == 1 ? TX(d, row_power)
                       : i == 2 ? TX(d, row_energy)
                       : i == 3 ? TX(d, row_change)
                                : TX(d, row_n),
                       parts[i].text);
        add(d, &figures, eco_buf_str(&one));
    }
    eco_doc_kv(d, key, TX(d, row_line), e->gpu, e->model, e->precision, (long long)e->batch,
               eco_buf_str(&figures));
    eco_buf_done(&figures);
    eco_buf_done(&one);
}

/* Beside modelled figures: what was measured of the very same configuration. */
void eco_view_measured(struct eco_doc *d, struct eco_opt tokens_per_s, struct eco_opt j_per_1k,
                       struct eco_buf *b)
{
    if (tokens_per_s.have) {
        eco_buf_printf(b, TX(d, row_speed), eco_doc_num(d, tokens_per_s.v, 3));
    }
    if (j_per_1k.have) {
        eco_buf_puts(b, b->len ? TX(d, list_comma) : "");
        eco_buf_printf(b, TX(d, row_energy), eco_doc_num(d, j_per_1k.v, 4));
    }
}

void eco_view_known(struct eco_doc *d, const struct eco_res_known *k, struct eco_buf *out)
{
    struct eco_buf b = ECO_BUF_INIT;
    if (k->measured_n.have && k->measured_sessions.have) {
        eco_view_measured(d, k->measured_tokens_per_s, k->measured_j_per_1k, &b);
        eco_buf_printf(out, TX(d, config_measured), eco_buf_str(&b),
                       eco_doc_num(d, k->measured_n.v, 4),
                       eco_doc_num(d, k->measured_sessions.v, 4),
                       k->measured_sessions.v > 1 ? TX(d, plural_s) : "");
        for (size_t i = 0; i < k->measured_in.n; i++) {
            eco_buf_printf(out, "%s%s", i ? TX(d, list_comma) : "", k->measured_in.v[i]);
        }
        eco_buf_puts(out, TX(d, close_bracket));
    }
    eco_buf_done(&b);
}

void eco_view_here(struct eco_doc *d, const struct eco_res_transparency *t)
{
    struct eco_buf b = ECO_BUF_INIT;
    if (!t->measured_here || !t->measured_n.have || !t->measured_sessions.have) {
        return;
    }
    eco_view_measured(d, t->measured_tokens_per_s, t->measured_j_per_1k, &b);
    if (b.len) {
        eco_doc_kv(d, TX(d, k_here), TX(d, here_line), eco_buf_str(&b),
                   eco_doc_num(d, t->measured_n.v, 4), eco_doc_num(d, t->measured_sessions.v, 4),
                   t->measured_sessions.v > 1 ? TX(d, plural_s) : "");
    }
    eco_buf_done(&b);
}

void eco_view_transparency(struct eco_doc *d, const struct eco_res_transparency *t)
{
    const struct eco_res_evidence *e = t->closest.items;
    if (!t->basis) {
        return;
    }
    eco_doc_heading(d, TX(d, h_known));
    for (size_t i = 0; i < t->closest.n; i++) {
        eco_view_evidence_row(d, i ? "" : TX(d, k_closest), &e[i]);
    }
    if (t->closest.n && e->stack && e->stack[0]) {
        eco_doc_kv(d, TX(d, k_software), "%s", e->stack);
    }
    for (size_t i = 0; i < t->limits.n; i++) {
        eco_doc_kv(d, i ? "" : TX(d, k_limit), "%s", t->limits.v[i]);
    }
}

void eco_view_notes(struct eco_doc *d, const struct eco_strs *notes)
{
    eco_view_items(d, TX(d, h_notes), notes);
}

void eco_view_citation(struct eco_doc *d, const struct eco_res_provenance *p)
{
    if (d->quiet || !p->citation) {
        return;
    }
    eco_doc_heading(d, TX(d, h_data));
    eco_doc_text(d, ECO_TONE_QUIET, TX(d, no_data_hash), p->citation,
                 p->data_sha256 ? p->data_sha256 : "", p->version);
    if (d->persona == ECO_PERSONA_LOBSTER) {
        eco_doc_text(d, ECO_TONE_QUIET, "%s", TX(d, lobster_sign));
    }
}
