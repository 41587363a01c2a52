/* How `ask` reads: the equivalent command first, then what was not used, then the answer. */
#include "records.h"
#include "texts.h"
#include "view_parts.h"
#include "views.h"

#include <string.h>

#define CARDS_SHOWN 8
#define CARD_COLUMNS 23

static void understood(struct eco_doc *d, const void *data)
{
    const struct eco_res_ask *r = data;
    if (d->persona == ECO_PERSONA_LOBSTER && r->command) {
        eco_doc_text(d, ECO_TONE_PLAIN, "%s", TX(d, lobster_read));
    }
    if (r->command) {
        eco_doc_text(d, ECO_TONE_QUIET, TX(d, ask_command), r->command);
    }
    if (r->counted) {
        eco_doc_text(d, ECO_TONE_QUIET, "%s", r->counted);
    }
    eco_view_items(d, TX(d, h_conversions), &r->conversions);
    eco_view_items(d, TX(d, h_not_used), &r->not_understood);
}

/* The lowest and the highest bill of the sizes, since no one size was asked about. */
static const char *dollars(struct eco_doc *d, const struct eco_list *rows)
{
    const struct eco_res_ask_size *r = rows->items;
    if (!r[0].month_usd.have || !r[rows->n - 1].month_usd.have) {
        return NULL;
    }
    struct eco_buf b = ECO_BUF_INIT;
    eco_buf_printf(&b, TX(d, lobster_sizes), eco_doc_num(d, r[0].month_usd.v, 4),
                   eco_doc_num(d, r[rows->n - 1].month_usd.v, 4));
    const char *text = eco_arena_strdup(d->arena, eco_buf_str(&b), b.len);
    eco_buf_done(&b);
    return text;
}

static const char *advice(struct eco_doc *d, const char *code)
{
    return strcmp(code, "do_not_quantize") == 0 ? TX(d, advise_16)
           : strcmp(code, "quantize") == 0      ? TX(d, advise_quantize)
           : strcmp(code, "baseline") == 0      ? TX(d, advise_baseline)
                                                : TX(d, advise_depends);
}

/* The data's own evidence: what was measured of this precision, and from which size it saves. */
static void cards(struct eco_doc *d, const struct eco_list *list)
{
    if (list->n == 0) {
        return;
    }
    eco_doc_heading(d, TX(d, h_cards));
    eco_doc_table(d, TX(d, t_cards));
    for (size_t i = 0; i < list->n && i < CARDS_SHOWN; i++) {
        const struct eco_res_ask_card *c = (const struct eco_res_ask_card *)list->items + i;
        bool wide = eco_str_width(c->gpu, strlen(c->gpu)) > CARD_COLUMNS;
        eco_doc_cell(d, wide ? "%.*s." : "%.*s", CARD_COLUMNS, c->gpu);
        eco_doc_cell(d, "%lld", (long long)c->pairs);
        eco_doc_cell(d, TX(d, at_b), eco_doc_num(d, c->small_b, 3),
                     eco_doc_signed(d, c->small_pct, 3));
        eco_doc_cell(d, TX(d, at_b), eco_doc_num(d, c->large_b, 3),
                     eco_doc_signed(d, c->large_pct, 3));
        eco_view_opt_cell(d, c->crossover_b, 2);
        if (c->crossover_ci.have) {
            eco_doc_cell(d, TX(d, to), eco_doc_num(d, c->crossover_ci.lo, 2),
                         eco_doc_num(d, c->crossover_ci.hi, 2));
        } else {
            eco_doc_cell(d, "%s", "-");
        }
    }
    eco_doc_table_end(d);
}

static void by_size(struct eco_doc *d, const struct eco_res_ask *ask)
{
    const struct eco_list *rows = &ask->by_size;
    const struct eco_res_ask_size *r = rows->items;
    const struct eco_res_alert *alert = ask->alerts.items;
    const struct eco_res_input input = {
        .params_b = ask->alerts_b.v,
        .gpu = ask->by_size_on,
        .precision = ask->alerts.n ? alert->precision : NULL,
        .batch = ask->params.batch.have ? (int64_t)ask->params.batch.v : 1,
        .assumed = ask->assumed};
    const struct eco_res_bill load = {.requests = ask->by_size_requests.v,
                                      .region = ask->by_size_region};
    struct eco_view_opening o = {.mood = ask->mood,
                                 .alerts = &ask->alerts,
                                 .bill = &load,
                                 .input = &input,
                                 .alerts_at = eco_doc_num(d, input.params_b, 4),
                                 .verdict = ask->verdict,
                                 .no_bill = dollars(d, rows),
                                 .tone = ECO_TONE_PLAIN};
    eco_view_open(d, &o);
    cards(d, &ask->cards);
    eco_doc_heading(d, TX(d, h_sizes));
    eco_doc_table(d, TX(d, t_sizes));
    for (size_t i = 0; i < rows->n; i++) {
        eco_doc_cell(d, "%s", eco_doc_num(d, r[i].params_b, 4));
        eco_doc_cell(d, TX(d, percent), eco_doc_signed(d, r[i].delta_pct, 3));
        if (r[i].ci.have) {
            eco_doc_cell(d, TX(d, to), eco_doc_signed(d, r[i].ci.lo, 3),
                         eco_doc_signed(d, r[i].ci.hi, 3));
        } else {
            eco_doc_cell(d, "%s", "-");
        }
        eco_view_opt_cell(d, r[i].month_usd, 3);
        eco_view_signed_cell(d, r[i].saving_usd, 3);
        eco_doc_cell(d, "%s", eco_view_word(d, r[i].basis));
        eco_doc_cell(d, "%s", advice(d, r[i].recommendation));
    }
    eco_doc_table_end(d);
    if (ask->problem) {
        eco_doc_text(d, ECO_TONE_QUIET, TX(d, ask_closer), ask->problem);
    }
    eco_view_traps(d, TX(d, h_traps), &ask->alerts);
    if (ask->data) {
        eco_view_citation(d, ask->data);
    }
}

void eco_view_ask(struct eco_doc *d, const void *result)
{
    const struct eco_res_ask *r = result;
    bool answered = r->by_size.n || r->answer.op;
    if (d->persona == ECO_PERSONA_LOBSTER && answered) {
        d->preface = understood; /* the mood and the traps come before anything else */
        d->preface_data = r;
    } else {
        if (d->persona == ECO_PERSONA_LOBSTER && r->problem) {
            eco_doc_verdict(d, ECO_TONE_QUIET, "%s", TX(d, mood_gray));
        }
        understood(d, r);
    }
    if (r->problem && !answered) {
        eco_doc_text(d, ECO_TONE_WARN, "%s", r->problem);
    }
    if (r->by_size.n) {
        by_size(d, r);
    }
    if (r->answer.op) {
        r->answer.op->view(d, r->answer.result);
    }
    d->preface = NULL;
}
