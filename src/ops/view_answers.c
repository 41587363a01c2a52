/* Views of the predicting operations. */
#include "base/num.h"
#include "records.h"
#include "report/chart_text.h"
#include "view_parts.h"
#include "views.h"

#include <stdio.h>
#include <string.h>

static const char *sign(double v)
{
    return v < 0 ? "−" : "+";
}

static void chart(struct eco_doc *d, const void *data)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_chart_text_style style = {.width = d->width > 76 ? 76 : d->width,
                                         .height = 16,
                                         .ascii = d->ascii,
                                         .color = d->color && d->kind == ECO_DOC_TEXT};
    if (data && eco_chart_text_crossover(data, &style, &b, NULL) == 0) {
        eco_doc_pre(d, eco_buf_str(&b));
    }
    eco_buf_done(&b);
}

static enum eco_tone tone_of(const char *recommendation)
{
    if (strcmp(recommendation, "quantize") == 0) {
        return ECO_TONE_GOOD;
    }
    return strcmp(recommendation, "do_not_quantize") == 0 ? ECO_TONE_BAD : ECO_TONE_WARN;
}

static void change_lines(struct eco_doc *d, const struct eco_res_estimate *r)
{
    if (r->bands) {
        eco_doc_kv(d, "change",
                   "%s%.1f %% per token; half of all sessions between %s%.1f and %s%.1f %%",
                   sign(r->delta_pct), r->delta_pct < 0 ? -r->delta_pct : r->delta_pct,
                   sign(r->bands->lo50), r->bands->lo50 < 0 ? -r->bands->lo50 : r->bands->lo50,
                   sign(r->bands->hi50), r->bands->hi50 < 0 ? -r->bands->hi50 : r->bands->hi50);
    }
    if (r->p_saves.have) {
        double p = 100 * r->p_saves.v;
        eco_doc_kv(d, "chance that it saves",
                   p > 99  ? "over 99 %%"
                   : p < 1 ? "under 1 %%"
                           : "%.0f %%",
                   p);
    }
    eco_doc_kv(d, "basis", "%s, %s confidence%s", r->basis, r->confidence,
               r->modelled ? " (the batch, context or shape model carries part of it)" : "");
    if (r->crossover_b.have && r->crossover_ci.have) {
        eco_doc_kv(d, "sign changes at", "%s billion parameters (95 %% range %s to %s)",
                   eco_doc_num(d, r->crossover_b.v, 3), eco_doc_num(d, r->crossover_ci.lo, 2),
                   eco_doc_num(d, r->crossover_ci.hi, 2));
    } else if (r->crossover_b.have) {
        eco_doc_kv(d, "sign changes at", "%s billion parameters",
                   eco_doc_num(d, r->crossover_b.v, 3));
    }
    if (r->flip_batch.have && r->flip_batch_ci.have) {
        eco_doc_kv(d, "and at batch", "%s (95 %% range %s to %s)",
                   eco_doc_num(d, r->flip_batch.v, 4), eco_doc_num(d, r->flip_batch_ci.lo, 4),
                   eco_doc_num(d, r->flip_batch_ci.hi, 4));
    }
}

static void absolute_lines(struct eco_doc *d, const struct eco_res_estimate *r)
{
    if (r->energy) {
        eco_doc_kv(d, "energy", "%s J per 1000 tokens (16 bit: %s; %s, GPU board)",
                   eco_doc_num(d, r->energy->j_per_1k, 4),
                   eco_doc_num(d, r->energy->fp16_j_per_1k, 4), r->energy->basis);
    }
    if (r->latency) {
        eco_doc_kv(
            d, "speed", "%s tokens/s, %s ms per token, first after %s ms (modelled, %s bound)",
            eco_doc_num(d, r->latency->tokens_per_s, 3), eco_doc_num(d, r->latency->tpot_ms, 3),
            eco_doc_num(d, r->latency->ttft_ms, 3), r->latency->bound);
    }
    if (r->memory && r->memory->card_gb.have) {
        eco_doc_kv(d, "memory", "%.1f of %s GB (weights %.1f, 16 bit %.1f)%s", r->memory->total_gb,
                   eco_doc_num(d, r->memory->card_gb.v, 4), r->weight_gb, r->weight_gb_fp16,
                   r->memory->fits ? "" : ": does not fit");
    } else {
        eco_doc_kv(d, "weights", "%.2f GB (16 bit %.2f GB)", r->weight_gb, r->weight_gb_fp16);
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
    eco_doc_heading(d, "Measured pairs it leans on");
    eco_doc_table(d, ">weight|card|model|~precision|~>size B|~>batch|>change %|>n");
    for (size_t i = 0; i < anchors->n; i++) {
        const struct eco_res_anchor *a = (const struct eco_res_anchor *)anchors->items + i;
        if (a->weight.have) {
            eco_doc_cell(d, "%.0f %%", 100 * a->weight.v);
        } else {
            eco_doc_cell(d, "anchor");
        }
        eco_doc_cell(d, "%s", a->gpu);
        eco_doc_cell(d, "%s", a->model ? a->model : "");
        eco_doc_cell(d, "%s", a->precision);
        eco_doc_cell(d, "%s", eco_doc_num(d, a->params_b, 3));
        eco_doc_cell(d, "%s", eco_doc_num(d, a->batch.have ? a->batch.v : 1.0, 3));
        eco_doc_cell(d, "%s%.1f", sign(a->delta_pct),
                     a->delta_pct < 0 ? -a->delta_pct : a->delta_pct);
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
    eco_doc_heading(d, "Next");
    snprintf(command, sizeof(command), "ecocompute compare %s %s", model, card);
    eco_doc_next(d, command, "all precisions side by side");
    if (in->gpu) {
        snprintf(command, sizeof(command), "ecocompute optimize %s %s", model, card);
        eco_doc_next(d, command, "what to deploy, with batch and budgets");
    }
    snprintf(command, sizeof(command), "ecocompute measure %s %s --precision %s", model, card,
             in->precision);
    eco_doc_next(d, command, "check it on your own card");
}

void eco_view_estimate(struct eco_doc *d, const void *result)
{
    const struct eco_res_estimate *r = result;
    eco_doc_verdict(d, tone_of(r->recommendation), "%s", r->verdict);
    if (r->reason) {
        eco_doc_text(d, ECO_TONE_PLAIN, "Why: %s.", r->reason);
    }
    eco_view_alerts(d, &r->alerts, ECO_VIEW_BEFORE);
    chart(d, r->chart);
    eco_doc_heading(d, "Figures");
    if (strcmp(r->calibration, "published") == 0) {
        eco_doc_kv(d, "change", "%s%.1f %% (95 %% range %.1f to %.1f)", sign(r->delta_pct),
                   r->delta_pct < 0 ? -r->delta_pct : r->delta_pct, r->ci.lo, r->ci.hi);
    }
    change_lines(d, r);
    absolute_lines(d, r);
    anchors_table(d, &r->anchors);
    eco_view_alerts(d, &r->alerts, ECO_VIEW_AFTER);
    eco_view_notes(d, &r->notes);
    next_steps(d, r);
    eco_view_citation(d, &r->data);
}

static void config_row(struct eco_doc *d, const char *label, const struct eco_res_config *c)
{
    eco_doc_cell(d, "%s", label);
    eco_doc_cell(d, "%s", c->gpu ? c->gpu : "");
    eco_doc_cell(d, "%s", c->precision);
    eco_doc_cell(d, "%lld", (long long)c->batch);
    eco_doc_cell(d, "%lld", (long long)c->context);
    if (c->energy_j_per_1k_tokens.have) {
        eco_doc_cell(d, "%s", eco_doc_num(d, c->energy_j_per_1k_tokens.v, 4));
    } else {
        eco_doc_cell(d, "not known");
    }
    eco_doc_cell(d, "%s%.1f", c->delta_pct_vs_fp16 == 0 ? "" : sign(c->delta_pct_vs_fp16),
                 c->delta_pct_vs_fp16 < 0 ? -c->delta_pct_vs_fp16 : c->delta_pct_vs_fp16);
    eco_doc_cell(d, "%s", eco_doc_num(d, c->latency_ms_per_token, 3));
    eco_doc_cell(d, "%s", eco_doc_num(d, c->throughput_tok_s, 4));
    eco_doc_cell(d, "%.1f", c->vram_gb);
    eco_view_opt_cell(d, c->month_usd, 3);
    eco_doc_cell(d, c->quality_loss_pct.have ? "%+.1f" : "?", c->quality_loss_pct.v);
}

#define CONFIG_COLUMNS                                                                             \
    "|~card|precision|>batch|~>context|>J per 1k|>change %|>ms/token|~>tokens/s|>GB|"              \
    "~>$ a month|~>ppl %"

void eco_view_optimize(struct eco_doc *d, const void *result)
{
    const struct eco_res_optimize *r = result;
    eco_doc_verdict(d, r->recommended ? ECO_TONE_GOOD : ECO_TONE_BAD, "%s", r->verdict);
    eco_doc_text(d, ECO_TONE_PLAIN, "%lld of %lld candidates keep all budgets; objective %s.",
                 (long long)r->feasible_count, (long long)r->candidates, r->objective);
    eco_view_alerts(d, &r->alerts, ECO_VIEW_BEFORE);
    eco_doc_heading(d, r->recommended ? "Recommended and alternatives" : "Nearest configuration");
    eco_doc_table(d, CONFIG_COLUMNS);
    if (r->recommended) {
        config_row(d, d->ascii ? "*" : "★", r->recommended);
    } else if (r->closest_infeasible) {
        config_row(d, "nearest", r->closest_infeasible);
    }
    for (size_t i = 0; i < r->alternatives.n; i++) {
        char label[24];
        snprintf(label, sizeof(label), "%zu", i + 1);
        config_row(d, label, (const struct eco_res_config *)r->alternatives.items + i);
    }
    eco_doc_table_end(d);
    for (size_t i = 0; i < r->misses.n; i++) {
        const struct eco_res_miss *m = (const struct eco_res_miss *)r->misses.items + i;
        eco_doc_item(d, "%s: asked %s, nearest %s (%s %% off)", m->budget,
                     eco_doc_num(d, m->limit, 4), eco_doc_num(d, m->best, 4),
                     eco_doc_num(d, m->excess_pct, 3));
    }
    if (r->pareto_energy_latency.n > 1) {
        eco_doc_heading(d, "Energy-latency front: nothing is both lower and faster");
        eco_doc_table(d, CONFIG_COLUMNS);
        size_t shown = r->pareto_energy_latency.n > 8 ? 8 : r->pareto_energy_latency.n;
        for (size_t i = 0; i < shown; i++) {
            config_row(d, "", (const struct eco_res_config *)r->pareto_energy_latency.items + i);
        }
        eco_doc_table_end(d);
    }
    if (r->cost) {
        eco_view_bill(d, r->cost);
    }
    eco_view_alerts(d, &r->alerts, ECO_VIEW_AFTER);
    eco_view_notes(d, &r->notes);
    eco_view_citation(d, &r->data);
}

static void compare_table(struct eco_doc *d, const struct eco_res_compare *r)
{
    eco_doc_table(d, ">rank|precision|engine|>change %|>95 % range|>J per 1k|>tokens/s|~>ms/token|"
                     ">GB|~>W|~>$ a month|~>ppl %|~basis|~>n here|~mood");
    for (size_t i = 0; i < r->rows.n; i++) {
        const struct eco_res_compare_row *c = (const struct eco_res_compare_row *)r->rows.items + i;
        bool zero = !c->p_saves.have;
        eco_doc_cell(d, "%lld", (long long)c->rank);
        eco_doc_cell(d, "%s", c->precision);
        eco_doc_cell(d, "%s", c->engine);
        eco_doc_cell(d, zero ? "baseline" : "%s%.1f", sign(c->delta_pct),
                     c->delta_pct < 0 ? -c->delta_pct : c->delta_pct);
        eco_doc_cell(d, zero ? "by definition" : "%.0f to %.0f", c->delta_ci.lo, c->delta_ci.hi);
        eco_view_opt_cell(d, c->energy_j_per_1k, 4);
        eco_view_opt_cell(d, c->tokens_per_s, 3);
        eco_view_opt_cell(d, c->tpot_ms, 3);
        eco_doc_cell(d, "%.1f%s", c->vram_gb.v, c->fits ? "" : " !");
        eco_view_opt_cell(d, c->power_w, 3);
        eco_view_opt_cell(d, c->month_usd, 3);
        eco_doc_cell(d, c->quality_loss_pct.have ? "%+.1f" : "?", c->quality_loss_pct.v);
        eco_doc_cell(d, "%s", c->basis);
        eco_doc_cell(d, "%lld", (long long)c->rows);
        eco_doc_cell(d, "%s", c->mood);
    }
    eco_doc_table_end(d);
}

static void efficiency_bars(struct eco_doc *d, const struct eco_res_compare *r)
{
    struct eco_buf b = ECO_BUF_INIT;
    eco_buf_puts(&b, "Energy efficiency relative to the best (tokens per joule)\n");
    for (size_t i = 0; i < r->rows.n; i++) {
        const struct eco_res_compare_row *c = (const struct eco_res_compare_row *)r->rows.items + i;
        int full = (int)(c->efficiency_pct / 100.0 * 40.0 + 0.5);
        eco_buf_printf(&b, "%-12s %-13s", c->precision, c->engine);
        for (int k = 0; k < 40; k++) {
            eco_buf_puts(&b, k < full ? (d->ascii ? "#" : "█") : (d->ascii ? "." : "░"));
        }
        eco_buf_printf(&b, " %3.0f %%  [%s]\n", c->efficiency_pct, c->mood);
    }
    eco_doc_pre(d, eco_buf_str(&b));
    eco_buf_done(&b);
}

void eco_view_compare(struct eco_doc *d, const void *result)
{
    const struct eco_res_compare *r = result;
    eco_doc_verdict(d, ECO_TONE_PLAIN, "%s", r->verdict);
    eco_doc_heading(d, "Ranked by energy per token");
    compare_table(d, r);
    efficiency_bars(d, r);
    eco_view_alerts(d, &r->alerts, ECO_VIEW_BEFORE);
    eco_view_alerts(d, &r->alerts, ECO_VIEW_AFTER);
    eco_view_notes(d, &r->notes);
    eco_view_citation(d, &r->data);
}

static void diagnose_figures(struct eco_doc *d, const struct eco_res_diagnose *r)
{
    eco_doc_heading(d, "What you see against what is expected");
    if (r->tokens_per_s.have && r->expect_tokens_per_s.have) {
        eco_doc_kv(d, "tokens/s", "%s; expected %s (95 %% range %s to %s): %s%.0f %%",
                   eco_doc_num(d, r->tokens_per_s.v, 3),
                   eco_doc_num(d, r->expect_tokens_per_s.v, 3),
                   eco_doc_num(d, r->expect_tokens_per_s_ci.lo, 3),
                   eco_doc_num(d, r->expect_tokens_per_s_ci.hi, 3), sign(r->speed_dev_pct.v),
                   r->speed_dev_pct.v < 0 ? -r->speed_dev_pct.v : r->speed_dev_pct.v);
    }
    if (r->j_per_1k.have && r->expect_j_per_1k.have) {
        eco_doc_kv(d, "J per 1k tokens", "%s; expected %s (95 %% range %s to %s): %s%.0f %%",
                   eco_doc_num(d, r->j_per_1k.v, 4), eco_doc_num(d, r->expect_j_per_1k.v, 4),
                   eco_doc_num(d, r->expect_j_per_1k_ci.lo, 4),
                   eco_doc_num(d, r->expect_j_per_1k_ci.hi, 4), sign(r->energy_dev_pct.v),
                   r->energy_dev_pct.v < 0 ? -r->energy_dev_pct.v : r->energy_dev_pct.v);
    }
    if (r->power_w.have) {
        eco_doc_kv(d, "board power", "%s W", eco_doc_num(d, r->power_w.v, 4));
    }
    if (r->inconsistency_pct.have) {
        eco_doc_kv(d, "consistency",
                   "power over throughput and the energy you gave differ by %s %%",
                   eco_doc_num(d, r->inconsistency_pct.v, 2));
    }
}

void eco_view_diagnose(struct eco_doc *d, const void *result)
{
    const struct eco_res_diagnose *r = result;
    bool fine = strcmp(r->pattern, "as-expected") == 0;
    eco_doc_verdict(d, fine ? ECO_TONE_GOOD : ECO_TONE_WARN, "%s", r->verdict);
    diagnose_figures(d, r);
    eco_doc_heading(d, "Patterns, most probable first");
    eco_doc_table(d, ">probability|pattern|>tokens/s|>J per 1k|cause");
    for (size_t i = 0; i < r->patterns.n; i++) {
        const struct eco_res_pattern *p = (const struct eco_res_pattern *)r->patterns.items + i;
        if (p->probability < 0.01) {
            continue;
        }
        eco_doc_cell(d, "%.0f %%", 100 * p->probability);
        eco_doc_cell(d, "%s", p->cause);
        eco_view_opt_cell(d, p->expect_tokens_per_s, 3);
        eco_view_opt_cell(d, p->expect_j_per_1k, 4);
        eco_doc_cell(d, "%s", p->text);
    }
    eco_doc_table_end(d);
    if (r->fixes.n) {
        eco_doc_heading(d, "Fixes, in order");
    }
    for (size_t i = 0; i < r->fixes.n; i++) {
        const struct eco_res_fix *f = (const struct eco_res_fix *)r->fixes.items + i;
        char effect[64] = "";
        if (f->energy_pct.have) {
            snprintf(effect, sizeof(effect), " (computed: %s%.3g %% energy)", sign(f->energy_pct.v),
                     f->energy_pct.v < 0 ? -f->energy_pct.v : f->energy_pct.v);
        }
        eco_doc_item(d, "%s%s%s%s", f->text, f->code && f->code[0] ? ": " : "",
                     f->code ? f->code : "", effect);
    }
    if (r->verify.n) {
        eco_doc_heading(d, "Check that it helped");
    }
    for (size_t i = 0; i < r->verify.n; i++) {
        eco_doc_item(d, "%s", r->verify.v[i]);
    }
    eco_view_alerts(d, &r->alerts, ECO_VIEW_BEFORE);
    eco_view_alerts(d, &r->alerts, ECO_VIEW_AFTER);
    eco_view_notes(d, &r->notes);
    eco_view_citation(d, &r->data);
}

void eco_view_cost(struct eco_doc *d, const void *result)
{
    const struct eco_res_cost *r = result;
    eco_doc_verdict(d, ECO_TONE_PLAIN, "%s", r->verdict);
    eco_view_alerts(d, &r->alerts, ECO_VIEW_BEFORE);
    eco_doc_heading(d, "A month");
    eco_doc_table(d, "|precision|>batch|>J per 1k|>kWh|>$|>kg CO2|~>$ a year|~>rental $");
    for (size_t i = 0; i < r->options.n; i++) {
        const struct eco_res_cost_option *o =
            (const struct eco_res_cost_option *)r->options.items + i;
        eco_doc_cell(d, "%s", o->label);
        eco_doc_cell(d, "%s", o->precision);
        eco_doc_cell(d, "%lld", (long long)o->batch);
        eco_doc_cell(d, "%s", eco_doc_num(d, o->j_per_1k, 4));
        eco_doc_cell(d, "%s", eco_doc_num(d, o->month_kwh, 4));
        eco_view_opt_cell(d, o->month_usd, 4);
        eco_view_opt_cell(d, o->month_kgco2, 4);
        eco_view_opt_cell(d, o->year_usd, 4);
        eco_view_opt_cell(d, o->rental_usd, 4);
    }
    eco_doc_table_end(d);
    for (size_t i = 0; i < r->changes.n; i++) {
        eco_doc_item(d, "%s", r->changes.v[i]);
    }
    eco_view_bill(d, &r->bill);
    eco_view_alerts(d, &r->alerts, ECO_VIEW_AFTER);
    eco_view_notes(d, &r->notes);
    eco_view_citation(d, &r->data);
}
