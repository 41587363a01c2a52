/* Views of the look-ups, the reports and the measuring operations. */
#include "records.h"
#include "texts.h"
#include "view_parts.h"
#include "views.h"

#include <string.h>

static void one_row(struct eco_doc *d, const struct eco_res_data_row *r)
{
    eco_doc_heading(d, r->id);
    eco_doc_kv(d, "card", "%s (%s)", r->gpu, r->arch);
    eco_doc_kv(d, "model", "%s, %s billion", r->model, eco_doc_num(d, r->params_b.v, 4));
    eco_doc_kv(d, "run", "%s, batch %lld, %s", r->precision, (long long)r->batch,
               r->backend ? r->backend : "engine not stated");
    if (r->energy_j_per_1k.have) {
        eco_doc_kv(d, "energy", "%s J per 1000 tokens, %s, %s",
                   eco_doc_num(d, r->energy_j_per_1k.v, 6), r->boundary, r->energy_basis);
    }
    if (strcmp(r->energy_basis, "net") == 0 && r->energy_gross_j_per_1k.have) {
        eco_doc_kv(d, "gross", "%s J per 1000 tokens with idle put back: what is fitted",
                   eco_doc_num(d, r->energy_gross_j_per_1k.v, 6));
    }
    if (r->throughput_tok_s.have && r->power_w.have) {
        eco_doc_kv(d, "check", "%s W / %s tokens/s = %s J per 1000",
                   eco_doc_num(d, r->power_w.v, 5), eco_doc_num(d, r->throughput_tok_s.v, 5),
                   eco_doc_num(d, r->power_w.v / r->throughput_tok_s.v * 1000, 6));
    }
    if (r->delta_pct.have) {
        eco_doc_kv(d, "change", "%+.2f %% against %s", r->delta_pct.v, r->baseline_id);
    }
    if (r->delta_gross_pct.have && strcmp(r->energy_basis, "net") == 0) {
        eco_doc_kv(d, "change, gross", "%s %%", eco_doc_signed(d, r->delta_gross_pct.v, 4));
    }
    eco_doc_kv(d, "grade", "%s%s", r->grade, r->excluded ? ": shown, never fitted" : "");
    if (r->n_trials.have) {
        eco_doc_kv(d, "trials", "%.0f", r->n_trials.v);
    }
    if (r->reason) {
        eco_doc_kv(d, r->excluded ? "why excluded" : "remark", "%s", r->reason);
    }
    eco_doc_kv(d, "session", "%s", r->session ? r->session : "not stated");
    if (r->stack) {
        eco_doc_kv(d, "software", "%s", r->stack);
    }
    eco_doc_kv(d, "source", "%s%s%s (%s)", r->source ? r->source : "", r->doi ? ", doi:" : "",
               r->doi ? r->doi : "", r->licence ? r->licence : "");
}

static void findings(struct eco_doc *d, const struct eco_res_data *r)
{
    eco_doc_verdict(d, r->findings.n ? ECO_TONE_WARN : ECO_TONE_GOOD,
                    r->findings.n ? "%zu findings in %lld rows" : "%.0zuno findings in %lld rows",
                    r->findings.n, (long long)r->checked);
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct eco_res_finding *f = (const struct eco_res_finding *)r->findings.items + i;
        if (f->line > 0) {
            eco_doc_item(d, "line %lld, %s (%s): %s", (long long)f->line, f->check, f->severity,
                         f->message);
        } else {
            eco_doc_item(d, "%s (%s): %s", f->check, f->severity, f->message);
        }
    }
}

static void known_traps(struct eco_doc *d, const struct eco_list *traps)
{
    for (size_t i = 0; i < traps->n; i++) {
        const struct eco_res_alert *t = (const struct eco_res_alert *)traps->items + i;
        eco_doc_heading(d, t->name);
        eco_doc_kv(d, "id", "%s, %s", t->id, t->severity);
        eco_doc_kv(d, TX(d, k_why), "%s", t->why);
        eco_doc_kv(d, TX(d, k_fix), "%s", t->fix);
        if (t->fix_code && t->fix_code[0]) {
            eco_doc_kv(d, "", "%s", t->fix_code);
        }
        eco_doc_kv(d, TX(d, k_measured), "%s", t->measured);
        if (t->contradiction && t->contradiction[0]) {
            eco_doc_kv(d, TX(d, k_but), "%s", t->contradiction);
        }
    }
}

void eco_view_data(struct eco_doc *d, const void *result)
{
    const struct eco_res_data *r = result;
    if (r->traps.n) {
        known_traps(d, &r->traps);
        return;
    }
    const struct eco_res_data_row *rows = r->rows.items;
    if (r->document) {
        eco_doc_raw(d, r->document);
        return;
    }
    if (r->checked > 0) {
        findings(d, r);
        return;
    }
    if (r->count <= 2 && r->note == NULL) {
        for (size_t i = 0; i < r->rows.n; i++) {
            one_row(d, &rows[i]);
        }
        return;
    }
    eco_doc_table(d, "id|~card|~precision|~>size B|~>batch|>J per 1k|>change %|~>n|grade");
    for (size_t i = 0; i < r->rows.n; i++) {
        eco_doc_cell(d, "%s", rows[i].id);
        eco_doc_cell(d, "%s", rows[i].gpu);
        eco_doc_cell(d, "%s", rows[i].precision);
        eco_view_opt_cell(d, rows[i].params_b, 4);
        eco_doc_cell(d, "%lld", (long long)rows[i].batch);
        eco_view_opt_cell(d, rows[i].energy_j_per_1k, 4);
        eco_view_opt_cell(d, rows[i].delta_pct, 4);
        eco_view_opt_cell(d, rows[i].n_trials, 4);
        eco_doc_cell(d, "%s", rows[i].grade);
    }
    eco_doc_table_end(d);
    eco_doc_text(d, ECO_TONE_QUIET, "%lld rows; %s", (long long)r->count, r->note ? r->note : "");
}

void eco_view_gpus(struct eco_doc *d, const void *result)
{
    const struct eco_res_gpus *r = result;
    if (r->arch) {
        eco_doc_kv(d, "class", "%s", r->arch);
        eco_doc_kv(d, "card", "%s", r->gpu ? r->gpu : "not in the table: its class answers");
    } else if (r->count == 0) {
        eco_doc_text(d, ECO_TONE_WARN, "no known card or class has this name");
        return;
    }
    eco_doc_table(d, "name|card|~class|>GB|>GB/s|~>TFLOPS|~>limit W|~>idle W|>pairs");
    for (size_t i = 0; i < r->gpus.n; i++) {
        const struct eco_res_gpu *g = (const struct eco_res_gpu *)r->gpus.items + i;
        eco_doc_cell(d, "%s", g->name);
        eco_doc_cell(d, "%s", g->gpu);
        eco_doc_cell(d, "%s", g->arch);
        eco_view_opt_cell(d, g->vram_gb, 4);
        eco_view_opt_cell(d, g->mem_bw_gbps, 4);
        eco_view_opt_cell(d, g->fp16_tflops, 4);
        eco_view_opt_cell(d, g->tdp_w, 4);
        eco_view_opt_cell(d, g->idle_w, 4);
        eco_doc_cell(d, "%lld", (long long)g->pairs);
    }
    eco_doc_table_end(d);
}

void eco_view_models(struct eco_doc *d, const void *result)
{
    const struct eco_res_models *r = result;
    eco_doc_table(d, "id|>size B|>parameters|>layers|>width|>kv heads|>context|>16 bit GB|>NF4 GB|"
                     ">KV kB/token|source");
    for (size_t i = 0; i < r->models.n; i++) {
        const struct eco_res_model_row *m = (const struct eco_res_model_row *)r->models.items + i;
        eco_doc_cell(d, "%s", m->id);
        eco_doc_cell(d, "%s", eco_doc_num(d, m->params_b, 4));
        eco_doc_cell(d, "%lld", (long long)m->params_total);
        eco_doc_cell(d, "%lld", (long long)m->layers);
        eco_doc_cell(d, "%lld", (long long)m->hidden);
        eco_doc_cell(d, "%lld", (long long)m->n_kv_heads);
        eco_doc_cell(d, "%lld", (long long)m->max_context);
        eco_doc_cell(d, "%.2f", m->weight_gb_fp16);
        eco_doc_cell(d, "%.2f", m->weight_gb_nf4);
        eco_doc_cell(d, "%.1f", m->kv_kb_per_token);
        eco_doc_cell(d, "%s", m->source ? m->source : "");
    }
    eco_doc_table_end(d);
}

void eco_view_report(struct eco_doc *d, const void *result)
{
    const struct eco_res_report *r = result;
    if (r->written) {
        eco_doc_text(d, ECO_TONE_PLAIN, "wrote %s", r->written);
    } else if (eco_view_report_answer(d, r)) {
        return;
    } else if (r->document && d->kind == ECO_DOC_HTML) {
        eco_doc_pre(d, r->document);
    } else if (r->document) {
        eco_doc_raw(d, r->document);
    } else if (r->points.n) {
        eco_doc_table(
            d, ">size B|>change %|precision|card|class|basis|>published curve %|inside its band");
        for (size_t i = 0; i < r->points.n; i++) {
            const struct eco_res_point *p = (const struct eco_res_point *)r->points.items + i;
            eco_doc_cell(d, "%s", eco_doc_num(d, p->N, 4));
            eco_doc_cell(d, "%+.2f", p->dE);
            eco_doc_cell(d, "%s", p->precision);
            eco_doc_cell(d, "%s", p->gpu);
            eco_doc_cell(d, "%s", p->arch);
            eco_doc_cell(d, "%s", p->basis);
            eco_view_opt_cell(d, p->curve_pct, 4);
            eco_doc_cell(d, "%s", p->curve_pct.have ? (p->inside ? "yes" : "no") : "no curve");
        }
        eco_doc_table_end(d);
    } else {
        eco_doc_verdict(d, ECO_TONE_GOOD, "valid");
    }
    for (size_t i = 0; i < r->advice.n; i++) {
        const struct eco_res_issue *a = (const struct eco_res_issue *)r->advice.items + i;
        eco_doc_item(d, "advice: %s %s", a->pointer, a->message);
    }
}

static void stats_row(struct eco_doc *d, const char *label, const struct eco_res_stats *s)
{
    eco_doc_cell(d, "%s", label);
    eco_doc_cell(d, "%lld", (long long)s->n);
    eco_doc_cell(d, "%.1f", s->mae);
    eco_doc_cell(d, "%.1f", s->median);
    eco_doc_cell(d, "%.3f", s->log_mae);
    eco_doc_cell(d, "%.0f %%", 100 * s->coverage50);
    eco_doc_cell(d, "%.0f %%", 100 * s->coverage80);
    eco_doc_cell(d, "%.1f %% (%lld)", 100 * s->coverage95, (long long)s->inside95);
    eco_doc_cell(d, "%s", s->coverage_ok ? "passes" : "FAILS");
    eco_doc_cell(d, "%.1f", s->interval_score);
}

static void stats_list(struct eco_doc *d, const struct eco_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct eco_res_stats *s = (const struct eco_res_stats *)list->items + i;
        stats_row(d, s->name, s);
    }
}

#define STATS_COLUMNS                                                                              \
    "|>n|>MAE|>median|>log MAE|>in 50 %|>in 80 %|>in 95 %|binomial test|>interval score"

static void view_sensitivity(struct eco_doc *d, const struct eco_list *list)
{
    eco_doc_heading(d, "How far card and class lean on their priors (standard deviations of y)");
    eco_doc_table(d, "group|>prior times|>prior sd|>fitted sd|>NF4, new card|>INT8-MIXED, new card|"
                     ">NF4, new class");
    for (size_t i = 0; i < list->n; i++) {
        const struct eco_res_sensitivity *s = (const struct eco_res_sensitivity *)list->items + i;
        eco_doc_cell(d, "%s", s->group);
        eco_doc_cell(d, "%s", eco_doc_num(d, s->factor, 2));
        eco_doc_cell(d, "%.3f", s->prior_sd);
        eco_doc_cell(d, "%.3f", s->fitted_sd);
        eco_doc_cell(d, "%.3f", s->nf4_new_card_sd);
        eco_doc_cell(d, "%.3f", s->int8_new_card_sd);
        eco_doc_cell(d, "%.3f", s->nf4_new_arch_sd);
    }
    eco_doc_table_end(d);
}

static void view_check(struct eco_doc *d, const struct eco_res_fit *r)
{
    eco_doc_heading(d, "Published anchors, published calibration");
    eco_doc_table(d, STATS_COLUMNS);
    stats_row(d, "one anchor left out", &r->published->anchors.leave_one_out);
    stats_row(d, "one size left out", &r->published->anchors.leave_one_size_out);
    stats_list(d, &r->published->anchors.by_class);
    eco_doc_table_end(d);
    eco_doc_heading(d, "Published anchors, our calibration");
    eco_doc_table(d, STATS_COLUMNS);
    stats_row(d, "one anchor left out", &r->ecocompute->anchors.leave_one_out);
    stats_row(d, "one size left out", &r->ecocompute->anchors.leave_one_size_out);
    stats_list(d, &r->ecocompute->anchors.by_class);
    eco_doc_table_end(d);
    eco_doc_heading(d, "All batch-1 pairs of grades A to C, our calibration");
    eco_doc_table(d, STATS_COLUMNS);
    stats_row(d, "one pair left out", &r->ecocompute->all.leave_one_out);
    stats_row(d, "one size left out", &r->ecocompute->all.leave_one_size_out);
    stats_row(d, "one session left out", &r->ecocompute->all.leave_one_session_out);
    eco_doc_table_end(d);
    eco_doc_heading(d, "The same by precision, one session left out");
    eco_doc_table(d, STATS_COLUMNS);
    stats_list(d, &r->ecocompute->all.by_precision);
    eco_doc_table_end(d);
    eco_doc_heading(d, "The same by precision, one size left out");
    eco_doc_table(d, STATS_COLUMNS);
    stats_list(d, &r->ecocompute->all.size_out_by_precision);
    eco_doc_table_end(d);
    eco_doc_heading(d, "External pairs, one source left out, our calibration");
    eco_doc_table(d, STATS_COLUMNS);
    stats_row(d, "one source left out", &r->ecocompute->external_pairs);
    stats_row(d, "one publisher left out", &r->ecocompute->external_publishers);
    eco_doc_table_end(d);
    eco_doc_heading(d, "All pairs, every pair of one card left out, our calibration");
    eco_doc_table(d, STATS_COLUMNS);
    stats_row(d, "one card left out", &r->ecocompute->cards);
    eco_doc_table_end(d);
    view_sensitivity(d, &r->ecocompute->prior_sensitivity);
}

void eco_view_fit(struct eco_doc *d, const void *result)
{
    const struct eco_res_fit *r = result;
    if (r->published && r->ecocompute) {
        view_check(d, r);
        eco_doc_text(d, ECO_TONE_QUIET, "%s", r->note);
        return;
    }
    eco_doc_heading(d, "Published curves, refitted");
    eco_doc_table(d, "class|precision|>n|>A %|>S %|>N* B|>residual|>crossover B");
    for (size_t i = 0; i < r->curves.n; i++) {
        const struct eco_res_curve *c = (const struct eco_res_curve *)r->curves.items + i;
        eco_doc_cell(d, "%s", c->arch);
        eco_doc_cell(d, "%s", c->precision);
        eco_doc_cell(d, "%lld", (long long)c->n);
        eco_doc_cell(d, "%.4f", c->A);
        eco_doc_cell(d, "%.4f", c->S);
        eco_doc_cell(d, c->identifiable ? "%.4f" : "%.4f (arbitrary)", c->Nstar);
        eco_doc_cell(d, "%.4f", c->resid_std);
        eco_view_opt_cell(d, c->crossover_b, 4);
    }
    eco_doc_table_end(d);
    eco_doc_heading(d, "Default predictor");
    for (size_t i = 0; i < r->hyperparameters.n; i++) {
        const struct eco_res_hyper *h = (const struct eco_res_hyper *)r->hyperparameters.items + i;
        eco_doc_kv(d, h->name, "%s", eco_doc_num(d, h->value, 5));
    }
    eco_doc_text(d, ECO_TONE_QUIET, "%s", r->note);
}

void eco_view_version(struct eco_doc *d, const void *result)
{
    const struct eco_res_version *r = result;
    eco_doc_raw(d, r->name);
    eco_doc_raw(d, " ");
    eco_doc_raw(d, r->version);
    eco_doc_raw(d, "\n");
    eco_doc_kv(d, "data sha256", "%s", r->data_sha256);
    eco_doc_kv(d, "measured rows", "%lld (%s)", (long long)r->rows, r->grades);
    eco_doc_kv(d, "external pairs", "%lld", (long long)r->pairs);
    for (size_t i = 0; i < r->files.n; i++) {
        const struct eco_res_digest *f = (const struct eco_res_digest *)r->files.items + i;
        eco_doc_kv(d, f->path, "%s, %lld rows", f->sha256, (long long)f->rows);
    }
}
