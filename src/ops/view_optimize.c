/* The view of optimize: the configuration, what it does, what it costs, why, and what not to do. */
#include "records.h"
#include "texts.h"
#include "view_parts.h"
#include "views.h"

#include <stdio.h>
#include <string.h>

#define FRONT_SHOWN 8
#define MAX_BARS 8

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
        eco_doc_cell(d, "%s", TX(d, not_known));
    }
    eco_doc_cell(d, "%s",
                 c->delta_pct_vs_fp16 == 0 ? "0" : eco_doc_signed(d, c->delta_pct_vs_fp16, 3));
    eco_doc_cell(d, "%s", eco_doc_num(d, c->latency_ms_per_token, 3));
    eco_doc_cell(d, "%s", eco_doc_num(d, c->throughput_tok_s, 4));
    eco_doc_cell(d, "%s", eco_doc_num(d, c->vram_gb, 3));
    eco_view_opt_cell(d, c->month_usd, 3);
    eco_doc_cell(d, "%s",
                 c->quality_loss_pct.have ? eco_doc_signed(d, c->quality_loss_pct.v, 3) : "?");
}

static void recommended(struct eco_doc *d, const struct eco_res_optimize *r)
{
    const struct eco_res_config *c = r->recommended;
    const struct eco_res_input *in = &r->input;
    eco_doc_heading(d, TX(d, h_recommended));
    if (in->model) {
        eco_doc_kv(d, TX(d, k_model), TX(d, o_model), in->model, eco_doc_num(d, in->params_b, 4));
    }
    if (c->gpu && r->memory && r->memory->card_gb.have) {
        eco_doc_kv(d, TX(d, k_card), TX(d, o_card), c->gpu, in->arch,
                   eco_doc_num(d, r->memory->card_gb.v, 3));
    }
    eco_doc_kv(d, TX(d, k_precision), c->engine ? TX(d, o_precision) : "%s", c->precision,
               c->engine ? c->engine : "");
    eco_doc_kv(d, TX(d, k_batch), "%lld", (long long)c->batch);
    eco_doc_kv(d, TX(d, k_request), TX(d, o_tokens), (long long)in->prompt_tokens,
               (long long)in->gen_tokens);
}

static void performance(struct eco_doc *d, const struct eco_res_optimize *r)
{
    const struct eco_res_latency *l = r->latency;
    if (!l) {
        return;
    }
    eco_doc_heading(d, TX(d, h_performance));
    eco_doc_kv(d, TX(d, k_speed), TX(d, o_throughput), eco_doc_num(d, l->tokens_per_s, 3),
               eco_doc_num(d, l->tokens_per_s_ci.lo, 3), eco_doc_num(d, l->tokens_per_s_ci.hi, 3));
    eco_doc_kv(d, TX(d, k_latency), TX(d, o_latency), eco_doc_num(d, l->tpot_ms, 3),
               eco_doc_num(d, l->request_s, 3), eco_doc_num(d, l->ttft_ms, 3));
    eco_view_here(d, &r->transparency);
    if (r->gpu_util_pct.have) {
        eco_doc_kv(d, TX(d, k_util), TX(d, o_util), eco_doc_num(d, r->gpu_util_pct.v, 3));
    }
}

static void power(struct eco_doc *d, const struct eco_res_optimize *r)
{
    const char *lo = eco_doc_num(d, r->power_range_w.lo, 3);
    const char *hi = eco_doc_num(d, r->power_range_w.hi, 3);
    if (r->power_w.have && r->power_range_w.have) {
        eco_doc_kv(d, TX(d, k_power), TX(d, o_power_range), eco_doc_num(d, r->power_w.v, 3), lo,
                   hi);
    } else if (r->power_w.have) {
        eco_doc_kv(d, TX(d, k_power), TX(d, power_line), eco_doc_num(d, r->power_w.v, 3));
    } else if (r->power_range_w.have) {
        eco_doc_kv(d, TX(d, k_power), TX(d, o_power_measured), lo, hi);
    }
}

static void efficiency(struct eco_doc *d, const struct eco_res_optimize *r)
{
    const struct eco_res_energy *e = r->energy;
    if (!e) {
        return;
    }
    const char *per_j = eco_doc_num(d, e->tokens_per_j, 3);
    eco_doc_heading(d, TX(d, h_efficiency));
    eco_doc_kv(d, TX(d, k_energy), TX(d, o_energy), eco_doc_num(d, e->j_per_1k, 4),
               eco_doc_num(d, e->ci.lo, 3), eco_doc_num(d, e->ci.hi, 3),
               eco_view_word(d, e->basis));
    if (r->cost) {
        eco_doc_kv(d, "", TX(d, o_efficiency), per_j, eco_doc_num(d, r->cost->j_per_request, 3));
    } else {
        eco_doc_kv(d, "", TX(d, o_efficiency_only), per_j);
    }
    power(d, r);
}

/* How the figures of a row are known, and what was measured of that configuration. */
static void known(struct eco_doc *d, const char *label, const struct eco_res_config *c)
{
    const struct eco_res_known *k = c->known;
    struct eco_buf n = ECO_BUF_INIT;
    if (!k) {
        return; /* published */
    }
    eco_view_known(d, k, &n);
    eco_doc_item(d, TX(d, config_known), label, c->precision, (long long)c->batch,
                 eco_view_word(d, k->energy_basis), eco_view_word(d, k->speed_basis),
                 eco_buf_str(&n));
    eco_buf_done(&n);
}

/* The recommended one, or the nearest where none keeps the budgets, then the alternatives. */
static void each_shown(struct eco_doc *d, const struct eco_res_optimize *r,
                       void (*show)(struct eco_doc *, const char *, const struct eco_res_config *))
{
    if (r->recommended) {
        show(d, d->ascii ? "*" : "★", r->recommended);
    } else if (r->closest_infeasible) {
        show(d, TX(d, nearest), r->closest_infeasible);
    }
    for (size_t i = 0; i < r->alternatives.n; i++) {
        char label[24];
        snprintf(label, sizeof(label), "%zu", i + 1);
        show(d, label, (const struct eco_res_config *)r->alternatives.items + i);
    }
}

static void table(struct eco_doc *d, const struct eco_res_optimize *r)
{
    eco_doc_heading(d, r->recommended ? TX(d, h_alternatives) : TX(d, h_nearest));
    eco_doc_table(d, TX(d, t_config));
    each_shown(d, r, config_row);
    eco_doc_table_end(d);
    for (size_t i = 0; i < r->misses.n; i++) {
        const struct eco_res_miss *m = (const struct eco_res_miss *)r->misses.items + i;
        eco_doc_item(d, TX(d, miss_line), eco_word(d->lang, m->budget), eco_doc_num(d, m->limit, 4),
                     eco_doc_num(d, m->best, 4), eco_doc_num(d, m->excess_pct, 3));
    }
    each_shown(d, r, known);
}

static void bars(struct eco_doc *d, const struct eco_res_optimize *r)
{
    struct eco_view_bar bar[MAX_BARS];
    char names[MAX_BARS][96];
    size_t n = 0;
    for (size_t i = 0; i <= r->alternatives.n && n < MAX_BARS; i++) {
        const struct eco_res_config *c =
            i == 0 ? r->recommended : (const struct eco_res_config *)r->alternatives.items + i - 1;
        if (!c || !c->efficiency_pct.have) {
            continue;
        }
        snprintf(names[n], sizeof(names[n]), "%s ×%lld", c->precision, (long long)c->batch);
        bar[n] = (struct eco_view_bar){names[n], c->mood, c->efficiency_pct, c->month_usd};
        n++;
    }
    if (n > 1) {
        eco_view_bars(d, bar, n);
    }
}

static void front(struct eco_doc *d, const struct eco_res_optimize *r)
{
    size_t n = r->pareto_energy_latency.n;
    if (n < 2) {
        return;
    }
    eco_doc_heading(d, TX(d, h_front));
    eco_doc_table(d, TX(d, t_config));
    for (size_t i = 0; i < n && i < FRONT_SHOWN; i++) {
        config_row(d, "", (const struct eco_res_config *)r->pareto_energy_latency.items + i);
    }
    eco_doc_table_end(d);
}

void eco_view_optimize(struct eco_doc *d, const void *result)
{
    const struct eco_res_optimize *r = result;
    struct eco_view_opening o = {.mood = r->mood,
                                 .alerts = &r->alerts,
                                 .bill = r->cost,
                                 .input = &r->input,
                                 .precision = r->recommended ? r->recommended->precision : NULL,
                                 .verdict = r->verdict,
                                 .no_bill = r->recommended ? NULL : TX(d, lobster_nothing_runs),
                                 .tone = r->recommended ? ECO_TONE_GOOD : ECO_TONE_BAD};
    eco_view_open(d, &o);
    eco_doc_text(d, ECO_TONE_PLAIN, TX(d, o_found), (long long)r->feasible_count,
                 (long long)r->candidates, eco_view_word(d, r->objective));
    if (r->recommended) {
        recommended(d, r);
        performance(d, r);
        efficiency(d, r);
    }
    eco_view_items(d, TX(d, h_why), &r->why);
    table(d, r);
    bars(d, r);
    eco_view_left_out(d, &r->left_out);
    front(d, r);
    if (r->cost) {
        eco_view_bill(d, r->cost);
    }
    eco_view_items(d, TX(d, h_insights), &r->insights);
    if (r->pitfalls.n) {
        eco_doc_heading(d, TX(d, h_pitfalls));
        eco_view_front_alerts(d, &r->pitfalls);
    }
    eco_view_traps(d, TX(d, h_traps), &r->alerts);
    eco_view_transparency(d, &r->transparency);
    eco_view_notes(d, &r->notes);
    eco_view_citation(d, &r->data);
}
