/* Views of estimate and compare. */
#include "records.h"
#include "report/chart_text.h"
#include "texts.h"
#include "view_parts.h"
#include "views.h"

#include <stdio.h>
#include <string.h>

static void chart(struct eco_doc *d, const void *data)
{
    struct eco_buf b = ECO_BUF_INIT;
    const struct eco_chart_legend legend = {TX(d, legend_many), TX(d, legend_one),
                                            TX(d, legend_median), TX(d, legend_band),
                                            TX(d, legend_crossover)};
    struct eco_chart_text_style style = {.width = d->width > 76 ? 76 : d->width,
                                         .height = 16,
                                         .ascii = d->ascii,
                                         .legend = &legend,
                                         .color = d->color && d->kind == ECO_DOC_TEXT};
    if (data && eco_chart_text_crossover(data, &style, &b, NULL) == 0) {
        eco_doc_pre(d, eco_buf_str(&b));
    }
    eco_buf_done(&b);
}

static enum eco_tone tone_of(const char *recommendation)
{
    if (strcmp(recommendation, "quantize") == 0 || strcmp(recommendation, "baseline") == 0) {
        return ECO_TONE_GOOD;
    }
    return strcmp(recommendation, "do_not_quantize") == 0 ? ECO_TONE_BAD : ECO_TONE_WARN;
}

/* ---- estimate ------------------------------------------------------------------------------ */

static void sign_changes(struct eco_doc *d, const struct eco_res_estimate *r)
{
    if (r->crossover_b.have && r->crossover_ci.have) {
        eco_doc_kv(d, TX(d, k_cross), TX(d, cross_range), eco_doc_num(d, r->crossover_b.v, 3),
                   eco_doc_num(d, r->crossover_ci.lo, 2), eco_doc_num(d, r->crossover_ci.hi, 2));
    } else if (r->crossover_b.have) {
        eco_doc_kv(d, TX(d, k_cross), TX(d, cross_only), eco_doc_num(d, r->crossover_b.v, 3));
    }
    if (r->flip_batch.have && r->flip_batch_ci.have) {
        eco_doc_kv(d, TX(d, k_flip), TX(d, range), eco_doc_num(d, r->flip_batch.v, 4),
                   eco_doc_num(d, r->flip_batch_ci.lo, 4), eco_doc_num(d, r->flip_batch_ci.hi, 4));
    }
}

static void change_lines(struct eco_doc *d, const struct eco_res_estimate *r)
{
    const char *change = eco_doc_signed(d, r->delta_pct, 3);
    if (r->bands) {
        eco_doc_kv(d, TX(d, k_change), TX(d, bands), change, eco_doc_signed(d, r->bands->lo50, 3),
                   eco_doc_signed(d, r->bands->hi50, 3));
    } else if (strcmp(r->calibration, "published") == 0) {
        eco_doc_kv(d, TX(d, k_change), TX(d, percent_range), change, eco_doc_signed(d, r->ci.lo, 3),
                   eco_doc_signed(d, r->ci.hi, 3));
    }
    if (r->p_saves.have) {
        double p = 100 * r->p_saves.v;
        if (p > 99 || p < 1) {
            eco_doc_kv(d, TX(d, k_chance), p > 99 ? TX(d, over_99) : TX(d, under_1));
        } else {
            eco_doc_kv(d, TX(d, k_chance), TX(d, percent), eco_doc_num(d, p, 2));
        }
    }
    eco_doc_kv(d, TX(d, k_basis), r->modelled ? TX(d, basis_modelled) : TX(d, basis_line),
               eco_view_word(d, r->basis), eco_view_word(d, r->confidence));
    sign_changes(d, r);
}

static void absolute_lines(struct eco_doc *d, const struct eco_res_estimate *r)
{
    const char *weights = eco_doc_num(d, r->weight_gb, 3);
    const char *weights16 = eco_doc_num(d, r->weight_gb_fp16, 3);
    if (r->energy) {
        eco_doc_kv(d, TX(d, k_energy), TX(d, energy_line), eco_doc_num(d, r->energy->j_per_1k, 4),
                   eco_doc_num(d, r->energy->fp16_j_per_1k, 4), eco_view_word(d, r->energy->basis));
    }
    if (r->latency) {
        eco_doc_kv(d, TX(d, k_speed), TX(d, speed_line),
                   eco_doc_num(d, r->latency->tokens_per_s, 3),
                   eco_doc_num(d, r->latency->tpot_ms, 3), eco_doc_num(d, r->latency->ttft_ms, 3),
                   eco_view_word(d, r->latency->bound));
    }
    eco_view_here(d, &r->transparency);
    if (r->power_w.have) {
        eco_doc_kv(d, TX(d, k_power), TX(d, power_line), eco_doc_num(d, r->power_w.v, 3));
    }
    if (r->memory && r->memory->card_gb.have) {
        eco_doc_kv(d, TX(d, k_memory), r->memory->fits ? TX(d, memory_line) : TX(d, memory_over),
                   eco_doc_num(d, r->memory->total_gb, 3), eco_doc_num(d, r->memory->limit_gb.v, 3),
                   weights, weights16);
    } else {
        eco_doc_kv(d, TX(d, k_weights), TX(d, weights_line), weights, weights16);
    }
    if (r->cost) {
        eco_view_bill_line(d, r->cost);
    }
}

static void anchors_table(struct eco_doc *d, const struct eco_list *anchors)
{
    if (anchors->n == 0) {
        return;
    }
    eco_doc_heading(d, TX(d, h_anchors));
    eco_doc_table(d, TX(d, t_anchors));
    for (size_t i = 0; i < anchors->n; i++) {
        const struct eco_res_anchor *a = (const struct eco_res_anchor *)anchors->items + i;
        if (a->weight.have) {
            eco_doc_cell(d, TX(d, percent), eco_doc_num(d, 100 * a->weight.v, 2));
        } else {
            eco_doc_cell(d, "%s", TX(d, anchor_word));
        }
        eco_doc_cell(d, "%s", a->gpu);
        eco_doc_cell(d, "%s", a->model ? a->model : "");
        eco_doc_cell(d, "%s", a->precision);
        eco_doc_cell(d, "%s", eco_doc_num(d, a->params_b, 3));
        eco_view_opt_cell(d, a->batch, 3);
        eco_doc_cell(d, "%s", eco_doc_signed(d, a->delta_pct, 3));
        eco_view_opt_cell(d, a->n, 4);
    }
    eco_doc_table_end(d);
}

static void next_steps(struct eco_doc *d, const struct eco_res_estimate *r)
{
    char command[320];
    const struct eco_res_input *in = &r->input;
    if (d->quiet) {
        return;
    }
    char size[64];
    snprintf(size, sizeof(size), "--params-b %g", in->params_b);
    const char *model = in->model ? in->model : size;
    char card[96];
    snprintf(card, sizeof(card), in->gpu ? "--gpu \"%s\"" : "--arch %s",
             in->gpu ? in->gpu : in->arch);
    eco_doc_heading(d, TX(d, h_next));
    snprintf(command, sizeof(command), "ecocompute compare %s %s", model, card);
    eco_doc_next(d, command, TX(d, next_compare));
    if (in->gpu) {
        snprintf(command, sizeof(command), "ecocompute optimize %s %s", model, card);
        eco_doc_next(d, command, TX(d, next_optimize));
    }
    snprintf(command, sizeof(command), "ecocompute measure %s %s --precision %s", model, card,
             in->precision);
    eco_doc_next(d, command, TX(d, next_measure));
}

void eco_view_estimate(struct eco_doc *d, const void *result)
{
    const struct eco_res_estimate *r = result;
    struct eco_view_opening o = {.mood = r->mood,
                                 .alerts = &r->alerts,
                                 .bill = r->cost,
                                 .input = &r->input,
                                 .verdict = r->verdict,
                                 .reason = r->reason,
                                 .tone = tone_of(r->recommendation),
                                 .does_not_fit =
                                     r->memory && r->memory->card_gb.have && !r->memory->fits};
    eco_view_open(d, &o);
    chart(d, r->chart);
    eco_doc_heading(d, TX(d, h_figures));
    change_lines(d, r);
    absolute_lines(d, r);
    eco_view_traps(d, TX(d, h_traps), &r->alerts);
    anchors_table(d, &r->anchors);
    eco_view_transparency(d, &r->transparency);
    eco_view_notes(d, &r->notes);
    next_steps(d, r);
    eco_view_citation(d, &r->data);
}

/* ---- compare ------------------------------------------------------------------------------- */

static void compare_table(struct eco_doc *d, const struct eco_res_compare *r)
{
    eco_doc_table(d, TX(d, t_compare));
    for (size_t i = 0; i < r->rows.n; i++) {
        const struct eco_res_compare_row *c = (const struct eco_res_compare_row *)r->rows.items + i;
        bool zero = !c->p_saves.have;
        eco_doc_cell(d, "%lld", (long long)c->rank);
        eco_doc_cell(d, "%s", c->precision);
        eco_doc_cell(d, "%s", c->engine);
        eco_doc_cell(d, "%s",
                     zero ? eco_view_word(d, "baseline") : eco_doc_signed(d, c->delta_pct, 3));
        if (zero) {
            eco_doc_cell(d, "%s", TX(d, by_definition));
        } else {
            eco_doc_cell(d, TX(d, to), eco_doc_signed(d, c->delta_ci.lo, 2),
                         eco_doc_signed(d, c->delta_ci.hi, 2));
        }
        eco_view_opt_cell(d, c->energy_j_per_1k, 4);
        eco_view_opt_cell(d, c->tokens_per_s, 3);
        eco_doc_cell(d, c->fits ? "%s" : "%s !", eco_doc_num(d, c->vram_gb.v, 3));
        eco_view_opt_cell(d, c->tpot_ms, 3);
        eco_view_opt_cell(d, c->power_w, 3);
        eco_view_opt_cell(d, c->tokens_per_j, 3);
        eco_view_opt_cell(d, c->month_usd, 3);
        eco_doc_cell(d, "%s",
                     c->quality_loss_pct.have ? eco_doc_signed(d, c->quality_loss_pct.v, 3) : "?");
        eco_doc_cell(d, "%s", eco_view_word(d, c->basis));
        eco_doc_cell(d, "%lld", (long long)c->rows);
        eco_doc_cell(d, "%s", eco_view_word(d, c->mood));
    }
    eco_doc_table_end(d);
}

/* Beside what is modelled: what was measured of the very same row. */
static void compare_known(struct eco_doc *d, const struct eco_res_compare *r)
{
    size_t baselines = 0;
    for (size_t i = 0; i < r->rows.n; i++) {
        const struct eco_res_compare_row *c = (const struct eco_res_compare_row *)r->rows.items + i;
        struct eco_buf b = ECO_BUF_INIT;
        baselines += !c->p_saves.have;
        eco_view_known(d, c->known, &b);
        if (b.len) {
            eco_doc_item(d, TX(d, compare_known), c->precision, c->engine,
                         eco_view_word(d, c->known->energy_basis),
                         eco_view_word(d, c->known->speed_basis), eco_buf_str(&b));
        }
        eco_buf_done(&b);
    }
    if (baselines > 1) {
        eco_doc_item(d, "%s", TX(d, compare_16));
    }
}

static void efficiency_bars(struct eco_doc *d, const struct eco_res_compare *r)
{
    struct eco_view_bar bars[48];
    char names[48][48];
    size_t n = r->rows.n < 48 ? r->rows.n : 48;
    for (size_t i = 0; i < n; i++) {
        const struct eco_res_compare_row *c = (const struct eco_res_compare_row *)r->rows.items + i;
        snprintf(names[i], sizeof(names[i]), "%s %s", c->precision, c->engine);
        bars[i] = (struct eco_view_bar){names[i], c->mood, {c->efficiency_pct, true}, c->month_usd};
    }
    eco_view_bars(d, bars, n);
}

static void gains(struct eco_doc *d, const struct eco_res_compare *r)
{
    if (r->versus.n == 0) {
        return;
    }
    eco_doc_heading(d, TX(d, h_rivals));
    eco_doc_table(d, TX(d, t_rivals));
    for (size_t i = 0; i < r->versus.n; i++) {
        const struct eco_res_rival *v = (const struct eco_res_rival *)r->versus.items + i;
        eco_doc_cell(d, "%s", v->precision);
        eco_doc_cell(d, "%s", v->engine);
        eco_view_signed_cell(d, v->energy_pct, 3);
        eco_view_signed_cell(d, v->speed_pct, 3);
        eco_view_opt_cell(d, v->saving_usd, 3);
    }
    eco_doc_table_end(d);
}

void eco_view_compare(struct eco_doc *d, const void *result)
{
    const struct eco_res_compare *r = result;
    bool lobster = d->persona == ECO_PERSONA_LOBSTER;
    struct eco_view_opening o = {
        .mood = r->mood, /* in the plain voice the table comes first, traps of its rows after it */
        .alerts = lobster ? &r->alerts : NULL,
        .bill = r->cost,
        .input = &r->input,
        .name_runs = true,
        .mood_says = r->rows.n == 0 && r->alerts.n ? TX(d, nothing_fits_here) : NULL,
        .verdict = r->verdict,
        .tone = r->recommended ? ECO_TONE_PLAIN : ECO_TONE_BAD,
        .no_bill = r->recommended ? NULL : TX(d, lobster_nothing_runs)};
    eco_view_open(d, &o);
    eco_view_items(d, TX(d, h_instead), &r->instead);
    if (r->rows.n) {
        eco_doc_heading(d, TX(d, h_ranked));
        compare_table(d, r);
        compare_known(d, r);
        efficiency_bars(d, r);
    }
    eco_view_left_out(d, &r->left_out);
    if (r->recommended) {
        eco_doc_heading(d, TX(d, h_recommendation));
        eco_doc_text(d, ECO_TONE_GOOD, TX(d, use_this), r->recommended, r->recommended_engine);
        for (size_t i = 0; i < r->why.n; i++) {
            eco_doc_item(d, "%s", r->why.v[i]);
        }
    }
    gains(d, r);
    if (!lobster && eco_view_is_trapped(&r->alerts)) {
        eco_doc_heading(d, TX(d, h_paradox));
        eco_view_front_alerts(d, &r->alerts);
    }
    eco_view_traps(d, TX(d, h_traps), &r->alerts);
    eco_view_items(d, TX(d, h_advice), &r->advice);
    if (r->cost) {
        eco_view_bill(d, r->cost);
    }
    eco_view_transparency(d, &r->transparency);
    eco_view_notes(d, &r->notes);
    eco_view_citation(d, &r->data);
}
