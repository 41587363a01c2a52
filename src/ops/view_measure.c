/* How a measurement is shown: the verdict, a bar for each precision, the table, then the rest. */
#include "view_parts.h"
#include "views.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAR_CELLS 24

/* The value as a bar of eighths of a cell; the longest is the full width. */
static const char *bar(const struct eco_doc *d, double v, double most, char out[4 * BAR_CELLS + 1])
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int parts = most > 0 ? (int)lround(8 * BAR_CELLS * v / most) : 0;
    const char *last = d->ascii ? (parts % 8 > 3 ? "#" : "") : eighths[parts % 8];
    size_t n = 0;
    for (int i = 0; i <= parts / 8; i++) {
        const char *cell = i == parts / 8 ? last : d->ascii ? "#" : "█";
        size_t len = strlen(cell);
        memcpy(out + n, cell, len);
        n += len;
    }
    out[n] = '\0';
    return out;
}

static bool metered(const struct eco_list *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        if (strcmp(((const struct eco_res_measured *)rows->items + i)->basis, "measured") == 0) {
            return true;
        }
    }
    return false;
}

static void condition_cells(struct eco_doc *d, const struct eco_res_measured *r, bool sweep)
{
    eco_doc_cell(d, "%s", r->precision);
    if (sweep) {
        eco_doc_cell(d, "%lld", (long long)r->batch);
        eco_view_opt_cell(d, r->power_limit_w, 4);
    }
}

/* Several batches or limits: a column says which. */
static bool is_sweep(const struct eco_list *rows)
{
    const struct eco_res_measured *r = rows->items;
    for (size_t i = 1; i < rows->n; i++) {
        if (r[i].batch != r[0].batch || r[i].power_limit_w.v != r[0].power_limit_w.v) {
            return true;
        }
    }
    return false;
}

static void energies(struct eco_doc *d, const struct eco_list *rows)
{
    const struct eco_res_measured *all = rows->items;
    char cells[4 * BAR_CELLS + 1];
    double most = 0;
    bool sweep = is_sweep(rows);
    for (size_t i = 0; i < rows->n; i++) {
        most = fmax(most, all[i].headline_mj_per_token.v);
    }
    eco_doc_heading(d, "Energy per token");
    eco_doc_table(d, sweep ? "precision|>batch|~>limit W|>mJ|~|>change %|>95 % range|verdict|>n"
                           : "precision|>mJ|~|>change %|>95 % range|verdict|>n");
    for (size_t i = 0; i < rows->n; i++) {
        const struct eco_res_measured *r = &all[i];
        condition_cells(d, r, sweep);
        eco_view_opt_cell(d, r->headline_mj_per_token, 4);
        eco_doc_cell(d, "%s", bar(d, r->headline_mj_per_token.v, most, cells));
        eco_doc_cell(d, "%s", r->delta_pct.have ? eco_doc_signed(d, r->delta_pct.v, 3) : "");
        if (r->ci.have) {
            eco_doc_cell(d, "%s to %s", eco_doc_signed(d, r->ci.lo, 3),
                         eco_doc_signed(d, r->ci.hi, 3));
        } else {
            eco_doc_cell(d, "%s", r->delta_pct.have ? "none" : "");
        }
        eco_doc_cell(d, "%s", r->verdict ? r->verdict : "baseline");
        eco_doc_cell(d, "%lld", (long long)r->trials);
    }
    eco_doc_table_end(d);
}

static void details(struct eco_doc *d, const struct eco_list *rows)
{
    const struct eco_res_measured *all = rows->items;
    bool sweep = is_sweep(rows), energy = metered(rows), text = false;
    for (size_t i = 0; i < rows->n; i++) {
        text |= all[i].perplexity.have;
    }
    eco_doc_heading(d, energy ? "Three energies, speed" : "Speed");
    eco_doc_table(d, !energy ? "precision|>tokens/s|>first token ms|>next ms|>p99 ms|>n"
                     : sweep ? "precision|>batch|~>limit W|>sampled mJ|>counter mJ|>decode mJ|>W|"
                               ">tokens/s|~>first token ms|~>next ms|~level"
                             : "precision|>sampled mJ|>counter mJ|>decode mJ|>W|>tokens/s|"
                               "~>first token ms|~>next ms|~level");
    for (size_t i = 0; i < rows->n; i++) {
        const struct eco_res_measured *r = &all[i];
        condition_cells(d, r, sweep && energy);
        if (energy) {
            eco_view_opt_cell(d, r->mj_per_token, 4);
            eco_view_opt_cell(d, r->counter_mj_per_token, 4);
            eco_view_opt_cell(d, r->decode_mj_per_token, 4);
            eco_view_opt_cell(d, r->power_w, 4);
        }
        eco_view_opt_cell(d, r->tokens_per_s, 4);
        eco_view_opt_cell(d, r->ttft_ms, 3);
        eco_view_opt_cell(d, r->tpot_ms, 3);
        if (energy) {
            eco_doc_cell(d, "%s", r->level);
        } else {
            eco_view_opt_cell(d, r->tpot_p99_ms, 3);
            eco_doc_cell(d, "%lld", (long long)r->trials);
        }
    }
    eco_doc_table_end(d);
    for (size_t i = 0; text && i < rows->n; i++) {
        if (all[i].perplexity.have) {
            eco_doc_kv(d, i ? "" : "perplexity", "%s %s", all[i].precision,
                       eco_doc_num(d, all[i].perplexity.v, 5));
        }
    }
}

/* Range of this session and, apart, of another one. */
static void ranges(struct eco_doc *d, const struct eco_list *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct eco_res_measured *r = (const struct eco_res_measured *)rows->items + i;
        if (r->ci.have && r->session_ci.have) {
            eco_doc_kv(d, "another session", "%s: %s to %s %% (this one: %s to %s)", r->precision,
                       eco_doc_signed(d, r->session_ci.lo, 3),
                       eco_doc_signed(d, r->session_ci.hi, 3), eco_doc_signed(d, r->ci.lo, 3),
                       eco_doc_signed(d, r->ci.hi, 3));
        }
    }
}

/* How far the other instrument is from the headline, in every precision. */
static void cross_check(struct eco_doc *d, const struct eco_list *rows)
{
    const struct eco_res_measured *r = rows->items;
    for (size_t i = 0; i < rows->n; i++) {
        if (r[i].cross_check_pct.have) {
            eco_doc_kv(d, i ? "" : "cross-check", "%s: %s %% by %s", r[i].precision,
                       eco_doc_signed(d, r[i].cross_check_pct.v, 2),
                       r[i].headline_mj_per_token.v == r[i].counter_mj_per_token.v
                           ? "sampled power against the counter"
                           : "the counter against sampled power");
        }
    }
}

static void idle(struct eco_doc *d, const struct eco_res_measure *r)
{
    if (r->idle_w.have || r->idle_loaded_w.have) {
        eco_doc_kv(d, "at rest", "%s W without the model, %s W with it; sampling draws %s W",
                   r->idle_w.have ? eco_doc_num(d, r->idle_w.v, 3) : "?",
                   r->idle_loaded_w.have ? eco_doc_num(d, r->idle_loaded_w.v, 3) : "?",
                   r->observer_w.have ? eco_doc_signed(d, r->observer_w.v, 2) : "?");
    }
}

static void sources(struct eco_doc *d, const struct eco_list *list, bool all)
{
    eco_doc_heading(d, "Power sources");
    eco_doc_table(d, "source|state|boundary|device|~reason");
    for (size_t i = 0; i < list->n; i++) {
        const struct eco_res_source *s = (const struct eco_res_source *)list->items + i;
        if (!all && strcmp(s->status, "unavailable") == 0) {
            continue;
        }
        eco_doc_cell(d, "%s", s->name);
        eco_doc_cell(d, "%s", s->status);
        eco_doc_cell(d, "%s", s->boundary);
        eco_doc_cell(d, "%s", s->device ? s->device : "");
        eco_doc_cell(d, "%s", s->reason ? s->reason : "");
    }
    eco_doc_table_end(d);
}

static enum eco_tone tone_of(const struct eco_res_measure *r)
{
    const struct eco_res_measured *rows = r->measured.items;
    const char *word = r->measured.n > 1 ? rows[1].verdict : NULL;
    return !word || strcmp(r->basis, "measured") != 0 ? ECO_TONE_WARN
           : strcmp(word, "saves") == 0               ? ECO_TONE_GOOD
           : strcmp(word, "costs") == 0               ? ECO_TONE_BAD
                                                      : ECO_TONE_WARN;
}

void eco_view_measure(struct eco_doc *d, const void *result)
{
    const struct eco_res_measure *r = result;
    bool energy = metered(&r->measured);
    eco_doc_verdict(d, tone_of(r), "%s", r->verdict);
    eco_doc_kv(d, "basis", "%s", r->basis);
    eco_doc_kv(d, "source", "%s", r->measurement_source);
    if (r->boundary) {
        eco_doc_kv(d, "boundary",
                   "%s: joules of this part of the machine, idle included, per "
                   "generated token",
                   r->boundary);
    }
    idle(d, r);
    cross_check(d, &r->measured);
    ranges(d, &r->measured);
    if (energy) {
        energies(d, &r->measured);
    }
    if (r->measured.n) {
        details(d, &r->measured);
    }
    sources(d, &r->sources, !energy);
    eco_doc_heading(d, "Written");
    for (size_t i = 0; i < r->files.n; i++) {
        eco_doc_item(d, "%s", r->files.v[i]);
    }
    eco_view_notes(d, &r->notes);
    eco_view_citation(d, &r->estimate.data);
}
