/* How the results of doctor, replay and track read for people. */
#include "records.h"
#include "views.h"

#include <string.h>

/* "100" or nothing. */
static void cell_num(struct eco_doc *d, struct eco_opt v, int significant)
{
    eco_doc_cell(d, "%s", v.have ? eco_doc_num(d, v.v, significant) : "");
}

/* When the counter starts again; a source without a counter has nothing to say. */
static void cell_wrap(struct eco_doc *d, const struct eco_res_probe *s)
{
    if (s->wrap_s.have || !s->resolution_j.have) {
        cell_num(d, s->wrap_s, 3);
    } else if (s->wrap_j.have) {
        eco_doc_cell(d, "at %s J", eco_doc_num(d, s->wrap_j.v, 3));
    } else {
        eco_doc_cell(d, "never");
    }
}

static bool readable(const struct eco_res_probe *s)
{
    return strcmp(s->status, "available") == 0;
}

static void sensors(struct eco_doc *d, const struct eco_list *list)
{
    const struct eco_res_probe *rows = list->items;
    eco_doc_heading(d, "Sensors");
    eco_doc_table(d,
                  "device|read|>cost ms|>counter ms|>refresh ms|>averaging ms|>shortest s|>count "
                  "J|>wraps s");
    for (size_t i = 0; i < list->n; i++) {
        if (readable(&rows[i])) {
            eco_doc_cell(d, "%s", rows[i].device ? rows[i].device : rows[i].name);
            eco_doc_cell(d, "%s", rows[i].field ? rows[i].field : "");
            cell_num(d, rows[i].read_cost_ms, 2);
            cell_num(d, rows[i].counter_cost_ms, 2);
            cell_num(d, rows[i].refresh_ms.have ? rows[i].refresh_ms : rows[i].refresh_expected_ms,
                     3);
            cell_num(d, rows[i].averaging_ms, 3);
            cell_num(d, rows[i].min_window_s, 3);
            cell_num(d, rows[i].resolution_j, 2);
            cell_wrap(d, &rows[i]);
        }
    }
    eco_doc_table_end(d);
    for (size_t i = 0; i < list->n; i++) {
        if (rows[i].note) {
            eco_doc_item(d, "%s: %s", rows[i].device ? rows[i].device : rows[i].name, rows[i].note);
        }
    }
}

void eco_view_doctor(struct eco_doc *d, const void *result)
{
    const struct eco_res_doctor *r = result;
    const struct eco_res_probe *rows = r->sources.items;
    bool none = strncmp(r->verdict, "no ", 3) == 0;
    eco_doc_verdict(d, none ? ECO_TONE_WARN : ECO_TONE_GOOD, "%s", r->verdict);
    eco_doc_kv(d, "card", "%s", r->gpu ? r->gpu : r->gpu_reason);
    eco_doc_table(d, "source|state|boundary|device|reason");
    for (size_t i = 0; i < r->sources.n; i++) {
        eco_doc_cell(d, "%s", rows[i].name);
        eco_doc_cell(d, "%s", rows[i].status);
        eco_doc_cell(d, "%s", rows[i].boundary);
        eco_doc_cell(d, "%s", rows[i].device ? rows[i].device : "");
        eco_doc_cell(d, "%s", rows[i].reason ? rows[i].reason : "");
    }
    eco_doc_table_end(d);
    if (!none) {
        sensors(d, &r->sources);
    }
    eco_doc_heading(d, "Next");
    for (size_t i = 0; i < r->sources.n; i++) {
        if (rows[i].command) {
            eco_doc_next(d, rows[i].command, "grants access");
            break;
        }
    }
    if (none) {
        eco_doc_next(d, "ecocompute estimate Qwen2.5-7B rtx4090 NF4",
                     "the data set answers meanwhile");
    } else {
        eco_doc_next(d, "ecocompute track -- COMMAND", "what a command uses");
    }
}

void eco_view_replay(struct eco_doc *d, const void *result)
{
    const struct eco_res_replay *r = result;
    if (r->verdict) {
        eco_view_replay_dir(d, r);
        return;
    }
    eco_doc_verdict(d, ECO_TONE_PLAIN, "%s J ± %s J, mean %s W", eco_doc_num(d, r->energy_j, 6),
                    eco_doc_num(d, r->uncertainty_j, 2), eco_doc_num(d, r->mean_w, 5));
    eco_doc_kv(d, "window", "%s s, %lld readings, %lld equal to the one before",
               eco_doc_num(d, r->window_s, 6), (long long)r->samples, (long long)r->duplicates);
    if (r->gaps) {
        eco_doc_kv(d, "gaps", "%lld, %s s left out", (long long)r->gaps,
                   eco_doc_num(d, r->gap_s, 3));
    }
    eco_doc_kv(d, "sensor", "fresh every %s s, largest step as if averaged over %s s, shifted %s s",
               r->refresh_s.have ? eco_doc_num(d, r->refresh_s.v, 3) : "?",
               r->averaging_s.have ? eco_doc_num(d, r->averaging_s.v, 3) : "?",
               eco_doc_num(d, r->shift_s, 2));
    if (r->profile) {
        eco_doc_kv(d, "profile", "%s: true = (reading - %s) / %s", r->profile,
                   eco_doc_num(d, r->offset_w.v, 4), eco_doc_num(d, r->gain.v, 4));
    } else {
        eco_doc_kv(d, "profile", "none: about 5 %% of a sensor's gain is not known");
    }
    if (r->alias_j > 0) {
        eco_doc_text(d, ECO_TONE_WARN,
                     "This sensor sees only a part of the time: one start cannot exclude 31 %%.");
    }
}

void eco_view_track(struct eco_doc *d, const void *result)
{
    const struct eco_res_track *r = result;
    const struct eco_res_track_row *rows = r->sources.items;
    eco_doc_verdict(d, r->exit_status ? ECO_TONE_WARN : ECO_TONE_PLAIN, "%s", r->verdict);
    eco_doc_kv(d, "command", "%s", r->command);
    if (r->exit_status) {
        eco_doc_kv(d, "exit status", "%lld", (long long)r->exit_status);
    }
    if (r->tokens.have) {
        eco_doc_kv(d, "tokens", "%s, as the command printed", eco_doc_num(d, r->tokens.v, 9));
    }
    if (r->sources.n == 0) {
        eco_doc_next(d, "ecocompute doctor", "why nothing can be measured here");
        return;
    }
    eco_doc_table(d, "source|device|boundary|>J|>± J|>mean W|>peak W|>J/token|reason");
    for (size_t i = 0; i < r->sources.n; i++) {
        eco_doc_cell(d, "%s", rows[i].name);
        eco_doc_cell(d, "%s", rows[i].device);
        eco_doc_cell(d, "%s", rows[i].boundary);
        cell_num(d, rows[i].energy_j, 5);
        cell_num(d, rows[i].uncertainty_j, 2);
        cell_num(d, rows[i].mean_w, 4);
        cell_num(d, rows[i].peak_w, 4);
        cell_num(d, rows[i].j_per_token, 4);
        eco_doc_cell(d, "%s", rows[i].reason ? rows[i].reason : "");
    }
    eco_doc_table_end(d);
}
