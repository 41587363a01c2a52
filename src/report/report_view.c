/* What a report says, in words: see report_view.h. */
#include "report_view.h"
#include "chart_scale.h"
#include "report.h"
#include "report_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct reader {
    struct eco_view *v;
    const struct eco_json *root;
    struct eco_report_headline headline;
};

static const char *text_at(const struct reader *r, const char *pointer)
{
    const struct eco_json *v = eco_json_at(r->root, pointer);
    return v && v->type == ECO_JSON_STRING && v->len ? v->str : NULL;
}

static double num_at(const struct reader *r, const char *pointer)
{
    const struct eco_json *v = eco_json_at(r->root, pointer);
    return v && v->type == ECO_JSON_NUMBER ? v->num : NAN;
}

/* Both ends of a two-number list. */
static bool range_of(const struct eco_json *v, double *lo, double *hi)
{
    if (!v || v->type != ECO_JSON_ARRAY || v->count != 2 || v->child->type != ECO_JSON_NUMBER ||
        v->child->next->type != ECO_JSON_NUMBER)
        return false;
    *lo = v->child->num;
    *hi = v->child->next->num;
    return true;
}

static bool range_at(const struct reader *r, const char *pointer, double *lo, double *hi)
{
    return range_of(eco_json_at(r->root, pointer), lo, hi);
}

/* Text of the block that leads. */
static const char *headline_text(const struct reader *r, const char *key)
{
    const struct eco_json *v = r->headline.own ? eco_json_get(r->headline.own, key) : NULL;
    return v && v->type == ECO_JSON_STRING && v->len ? v->str : NULL;
}

static const char *or_words(const char *s, const char *words)
{
    return s ? s : words;
}

static void row(struct reader *r, const char *label, const char *value)
{
    struct eco_view *v = r->v;
    if (value && v->row_count < ECO_VIEW_MAX_ROWS)
        v->rows[v->row_count++] = (struct eco_view_row){label, value};
}

static void how(struct reader *r, const char *line)
{
    if (line && r->v->how_count < ECO_VIEW_MAX_NOTES)
        r->v->how[r->v->how_count++] = line;
}

static void limit(struct reader *r, const char *line)
{
    if (line && r->v->limit_count < ECO_VIEW_MAX_NOTES)
        r->v->limits[r->v->limit_count++] = line;
}

/* A number with its unit, or NULL when the document has none. */
static const char *value_of(struct reader *r, double v, const char *unit)
{
    char text[ECO_CHART_LABEL];
    if (isnan(v))
        return NULL;
    eco_chart_label_value(v, text);
    return eco_arena_printf(&r->v->arena, "%s %s", text, unit);
}

static const char *value_at(struct reader *r, const char *pointer, const char *unit)
{
    return value_of(r, num_at(r, pointer), unit);
}

static const char *headline_value(struct reader *r, const char *key, const char *unit)
{
    return value_of(r, eco_report_value(r->headline.own, key), unit);
}

static void put_title(struct reader *r)
{
    const char *precision = text_at(r, "/workload/precision_exact");
    if (!precision)
        precision = or_words(text_at(r, "/workload/precision"), "unknown precision");
    r->v->title = eco_arena_printf(&r->v->arena, "%s on %s: %s", precision,
                                   or_words(text_at(r, "/system_under_test/gpu"), "unknown card"),
                                   or_words(text_at(r, "/workload/model_name"), "unknown model"));
}

static void put_verdict(struct reader *r)
{
    const char *word = headline_text(r, "verdict"), *said;
    const char *whose = text_at(r, "/prediction/gpu"); /* joules of another device */
    char pct[ECO_CHART_LABEL], lo_text[ECO_CHART_LABEL], hi_text[ECO_CHART_LABEL];
    double delta = eco_report_value(r->headline.own, "vs_fp16_energy_pct"), lo, hi;
    struct eco_arena *a = &r->v->arena;
    whose = whose ? eco_arena_printf(a, "; this is the data set's answer for %s", whose) : "";
    r->v->kind = !word                        ? '?'
                 : strcmp(word, "saves") == 0 ? 's'
                 : strcmp(word, "costs") == 0 ? 'c'
                                              : '?';
    if (isnan(delta)) {
        r->v->verdict = "no answer: the change in energy against the baseline is not known";
        return;
    }
    said = r->v->kind == 's'   ? "saves energy"
           : r->v->kind == 'c' ? "costs energy"
           : word              ? "cannot tell"
                               : "no interval, so no verdict";
    eco_chart_label_pct(delta, 1, true, false, pct);
    if (range_of(eco_json_get(r->headline.own, "vs_fp16_ci95_pct"), &lo, &hi)) {
        eco_chart_label_pct(lo, 1, true, false, lo_text);
        eco_chart_label_pct(hi, 1, true, false, hi_text);
        r->v->verdict = eco_arena_printf(
            a, "%s: %s energy per token against the 16-bit baseline (95 %% interval %s to %s)%s",
            said, pct, lo_text, hi_text, or_words(whose, ""));
        return;
    }
    r->v->verdict = eco_arena_printf(a, "%s: %s energy per token against the 16-bit baseline%s",
                                     said, pct, or_words(whose, ""));
}

static void put_basis(struct reader *r)
{
    const char *basis = or_words(text_at(r, "/results/basis"), "unavailable");
    const char *reason = text_at(r, "/results/reason");
    struct eco_arena *a = &r->v->arena;
    if (!reason)
        reason = text_at(r, "/results/note");
    r->v->measured = strcmp(basis, "measured") == 0;
    const char *source = text_at(r, "/measurement_source");
    size_t len = source ? strlen(source) : 0, tail = strlen(", imported");
    if (r->v->measured && len > tail && strcmp(source + len - tail, ", imported") == 0)
        r->v->basis = eco_arena_printf(a, "measured by %.*s, by its own rules; read from its file",
                                       (int)(len - tail), source);
    else if (r->v->measured)
        r->v->basis = "measured in the run that this report is of";
    else if (strcmp(basis, "unavailable") == 0)
        r->v->basis = eco_arena_printf(a, "unavailable: %s", or_words(reason, "no reason given"));
    else
        r->v->basis = eco_arena_printf(a, "not measured, %s from the data set: %s", basis,
                                       or_words(reason, "no reason given"));
}

/* The other instrument over the same windows: its figure, and how far it is from the headline. */
static void put_cross_check(struct reader *r)
{
    char off[ECO_CHART_LABEL] = "", change[ECO_CHART_LABEL] = "";
    double other = eco_report_value(r->headline.other, "energy_per_token_mj");
    double pct = eco_report_value(r->headline.other, "vs_fp16_energy_pct");
    double off_pct = num_at(r, "/headline/cross_check_pct");
    struct eco_arena *a = &r->v->arena;
    const char *energy = value_of(r, other, "mJ");
    if (!r->v->measured || !energy)
        return;
    if (!isnan(off_pct))
        eco_chart_label_pct(off_pct, 1, true, false, off);
    if (!isnan(pct))
        eco_chart_label_pct(pct, 1, true, false, change);
    row(r, "cross-check",
        eco_arena_printf(a, "%s by %s%s%s%s%s", energy,
                         r->headline.counter ? "sampled power (protocol v1)"
                                             : "the hardware counter",
                         *off ? ", deviation " : "", off, *change ? "; change " : "", change));
}

static void put_energy_rows(struct reader *r)
{
    const char *words = "not known";
    const char *whose = text_at(r, "/prediction/gpu");
    const char *unit = r->headline.counter ? "mJ by the hardware counter"
                       : whose ? eco_arena_printf(&r->v->arena, "mJ on %s, by the data set", whose)
                               : "mJ";
    unit = or_words(unit, "mJ");
    row(r, "energy per token", or_words(headline_value(r, "energy_per_token_mj", unit), words));
    row(r, "16-bit baseline", or_words(headline_value(r, "fp16_energy_per_token_mj", unit), words));
    put_cross_check(r);
    row(r, "total energy",
        or_words(value_at(r, "/results/total_energy_joules",
                          r->headline.counter ? "J by sampled power" : "J"),
                 words));
    row(r, "tokens", or_words(value_at(r, "/results/tokens_generated", "generated"), words));
    row(r, "mean power", or_words(value_at(r, "/results/avg_power_watts", "W"), words));
    row(r, "throughput",
        or_words(value_at(r, "/results/throughput_tokens_per_s", "tokens/s"), words));
    row(r, "decoding alone", value_at(r, "/decode/energy_per_token_mj", "mJ per token"));
    row(r, "peak power", value_at(r, "/ecocompute/peak_power_watts", "W"));
}

/* From the data set; neither measured nor without an answer. */
static bool derived(const struct reader *r)
{
    const char *basis = text_at(r, "/results/basis");
    return !r->v->measured && basis && strcmp(basis, "unavailable") != 0;
}

static void put_quality_rows(struct reader *r)
{
    char n_text[ECO_CHART_LABEL];
    double n = eco_report_value(r->headline.stat, "n");
    struct eco_arena *a = &r->v->arena;
    if (n >= 1) {
        const char *sd = value_of(r, eco_report_value(r->headline.stat, "sd_mj"), "mJ");
        eco_chart_label_value(n, n_text);
        row(r, "n", eco_arena_printf(a, "%s %s", n_text, n == 1 ? "trial" : "trials"));
        row(r, "spread",
            sd           ? eco_arena_printf(a, "standard deviation %s", sd)
            : n == 1     ? "one trial has no spread"
            : derived(r) ? "the interval of the prediction"
                         : "not stated");
    } else {
        row(r, "n", r->v->measured ? "not stated" : "none, nothing was measured here");
        row(r, "spread", derived(r) ? "the interval of the prediction" : "not stated");
    }
    const char *boundary = text_at(r, "/system_under_test/boundary");
    if (boundary && strcmp(boundary, "none") == 0 && derived(r))
        boundary = "none, nothing was measured here; the data set is GPU board power";
    row(r, "boundary", or_words(boundary, "not stated"));
    row(r, "source", or_words(text_at(r, "/measurement_source"), "not stated"));
    row(r, "level", text_at(r, "/results/level"));
    row(r, "perplexity", value_at(r, "/quality/value", ""));
}

/* What would be seen on another day or card; one session cannot know it by itself. */
static void put_sessions_row(struct reader *r)
{
    char lo_text[ECO_CHART_LABEL], hi_text[ECO_CHART_LABEL];
    const char *basis = text_at(r, "/sessions/basis"), *reason = text_at(r, "/sessions/reason");
    double lo, hi;
    struct eco_arena *a = &r->v->arena;
    if (!r->v->measured)
        return;
    if (!range_at(r, "/sessions/vs_fp16_ci95_pct", &lo, &hi)) {
        row(r, "another session", reason);
        return;
    }
    eco_chart_label_pct(lo, 1, true, false, lo_text);
    eco_chart_label_pct(hi, 1, true, false, hi_text);
    row(r, "another session",
        eco_arena_printf(a, "%s to %s; spread between sessions: %s", lo_text, hi_text,
                         basis && strcmp(basis, "measured") == 0
                             ? "measured"
                             : "the data set's for this precision"));
}

static void put_prediction_row(struct reader *r)
{
    char median[ECO_CHART_LABEL], lo_text[ECO_CHART_LABEL], hi_text[ECO_CHART_LABEL];
    double v = num_at(r, "/prediction/vs_fp16_energy_pct"), lo, hi;
    struct eco_arena *a = &r->v->arena;
    if (isnan(v))
        return;
    eco_chart_label_pct(v, 1, true, false, median);
    if (!range_at(r, "/prediction/ci95_pct", &lo, &hi)) {
        row(r, "predicted change", eco_arena_printf(a, "%s", median));
        return;
    }
    eco_chart_label_pct(lo, 1, true, false, lo_text);
    eco_chart_label_pct(hi, 1, true, false, hi_text);
    row(r, "predicted change",
        eco_arena_printf(a, "%s (95 %% band %s to %s), basis %s in the data set, confidence %s",
                         median, lo_text, hi_text, or_words(text_at(r, "/prediction/basis"), "?"),
                         or_words(text_at(r, "/prediction/confidence"), "?")));
    double crossover = num_at(r, "/prediction/crossover_b");
    if (!isnan(crossover)) {
        const char *side = text_at(r, "/prediction/crossover_saves"); /* older reports: none */
        eco_chart_label_size(crossover, median);
        row(r, "crossover",
            side ? eco_arena_printf(a, "saves %s %s parameters", side, median)
                 : eco_arena_printf(a, "the sign changes at %s parameters", median));
    }
}

static void put_how(struct reader *r)
{
    struct eco_arena *a = &r->v->arena;
    const char *method = text_at(r, "/measurement/method"), *name = text_at(r, "/protocol/name");
    how(r, method);
    if (name) {
        const struct eco_json *d = eco_json_at(r->root, "/protocol/differences");
        how(r, eco_arena_printf(a, "protocol %s", name));
        for (d = d && d->type == ECO_JSON_ARRAY ? d->child : NULL; d; d = d->next) {
            if (d->type == ECO_JSON_STRING)
                how(r, eco_arena_printf(a, "differs from protocol v1: %s", d->str));
        }
    }
    const char *engine = text_at(r, "/workload/engine");
    const char *backend = text_at(r, "/workload/backend");
    if (engine && backend)
        how(r, eco_arena_printf(a, "engine %s, backend %s", engine, backend));
    const char *interval = headline_text(r, "vs_fp16_method");
    how(r, interval ? eco_arena_printf(a, "interval: %s", interval) : NULL);
    const char *rows = value_at(r, "/prediction/rows", "measured rows");
    const char *sessions = value_at(r, "/prediction/sessions", "sessions");
    if (rows)
        how(r, eco_arena_printf(a, "prediction from %s%s%s, calibration %s", rows,
                                sessions ? " of " : "", or_words(sessions, ""),
                                or_words(text_at(r, "/prediction/calibration"), "not stated")));
    const struct eco_json *s = eco_json_get(r->root, "energy_sources");
    for (s = s && s->type == ECO_JSON_ARRAY ? s->child : NULL; s; s = s->next) {
        const struct eco_json *n = eco_json_get(s, "name"), *st = eco_json_get(s, "status");
        const struct eco_json *why = eco_json_get(s, "reason");
        if (!n || n->type != ECO_JSON_STRING || !st || st->type != ECO_JSON_STRING)
            continue;
        bool reason = why && why->type == ECO_JSON_STRING;
        how(r, eco_arena_printf(a, "power source %s: %s%s%s", n->str, st->str, reason ? ", " : "",
                                reason ? why->str : ""));
    }
}

static void put_limits(struct reader *r)
{
    const struct eco_json *w = eco_json_get(r->root, "warnings");
    const struct eco_json *partial = eco_json_get(r->root, "partial");
    if (partial && partial->type == ECO_JSON_TRUE)
        limit(r, "the run was interrupted: only its finished trials are in here");
    if (derived(r))
        limit(r, "a derived answer is for a new session on a card of this kind, not for this very "
                 "machine; measure to know");
    for (w = w && w->type == ECO_JSON_ARRAY ? w->child : NULL; w; w = w->next) {
        if (w->type == ECO_JSON_STRING)
            limit(r, eco_arena_strdup(&r->v->arena, w->str, w->len));
    }
    const char *notice = text_at(r, "/notice");
    limit(r, or_words(notice, "Not a certified benchmark result."));
}

static void put_citation(struct reader *r)
{
    struct eco_arena *a = &r->v->arena;
    const char *doi = text_at(r, "/provenance/dataset_doi"), *sha = text_at(r, "/data_sha256");
    const char *tool = text_at(r, "/provenance/tool"), *at = text_at(r, "/timestamp_utc");
    r->v->citation = eco_arena_printf(a, "%s%s%s%s%s%s%s", or_words(tool, "tool not stated"),
                                      at ? ", " : "", or_words(at, ""), doi ? "; data: doi " : "",
                                      or_words(doi, ""), sha ? ", sha256 " : "", or_words(sha, ""));
}

/* A piece that could not be allocated is NULL; it must not reach a printer. */
static bool complete(const struct eco_view *v)
{
    bool ok = v->title && v->verdict && v->basis && v->citation;
    for (size_t i = 0; i < v->row_count; i++)
        ok = ok && v->rows[i].value;
    return ok;
}

int eco_report_view(const char *text, size_t len, struct eco_view *out, struct eco_err *err)
{
    struct eco_json_doc doc;
    int rc = eco_report_open(text, len, &doc, err);
    if (rc != 0)
        return rc;
    const struct eco_json *results = eco_json_get(doc.root, "results");
    if (!results || results->type != ECO_JSON_OBJECT) {
        eco_json_done(&doc);
        return eco_err_set(err, ECO_E_CONTENT, "results",
                           "the document has no 'results': it is no energy.json");
    }
    *out = (struct eco_view){0};
    struct reader r = {out, doc.root, eco_report_headline_of(doc.root)};
    eco_arena_init(&out->arena, 0);
    put_title(&r);
    put_verdict(&r);
    put_basis(&r);
    put_energy_rows(&r);
    put_quality_rows(&r);
    put_sessions_row(&r);
    put_prediction_row(&r);
    put_how(&r);
    put_limits(&r);
    put_citation(&r);
    /* Rows and notes may point into the document: move them before it goes. */
    for (size_t i = 0; i < out->row_count; i++)
        out->rows[i].value =
            eco_arena_strdup(&out->arena, out->rows[i].value, strlen(out->rows[i].value));
    for (size_t i = 0; i < out->how_count; i++)
        out->how[i] = eco_arena_strdup(&out->arena, out->how[i], strlen(out->how[i]));
    for (size_t i = 0; i < out->limit_count; i++)
        out->limits[i] = eco_arena_strdup(&out->arena, out->limits[i], strlen(out->limits[i]));
    eco_json_done(&doc);
    if (complete(out))
        return 0;
    eco_report_view_done(out);
    return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

void eco_report_view_done(struct eco_view *v)
{
    if (v)
        eco_arena_done(&v->arena);
}
