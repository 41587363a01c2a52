/*
 * The code audit: scan -> changed lines and baseline -> effects for card and size -> fixes ->
 * rows and documents. What is found is src/audit's; what it costs is the estimator's.
 */
#include "audit/audit.h"
#include "audit/changed.h"
#include "audit_good.h"
#include "base/num.h"
#include "dataset/dataset.h"
#include "runs.h"
#include "texts.h"

#include <math.h>
#include <string.h>

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

/* ---- the card -------------------------------------------------------------------------------- */

static int question(struct eco_ctx *ctx, const char *gpu, double params_b,
                    const struct eco_args_risk *risk, struct eco_question *q, struct eco_err *err)
{
    struct eco_args_target target = {.params_b = params_b, .gpu = gpu};
    struct eco_args_load load = {.batch = 1, .prompt_tokens = 512, .gen_tokens = 256};
    *q = (struct eco_question){.ctx = ctx};
    int rc = eco_step_target(ctx, &target, q, err);
    rc = rc ? rc : eco_step_load(&load, q, err);
    eco_step_circumstances(q, risk, NULL);
    return rc;
}

/* Below which size 4 bit costs energy on this card: the crossover, or none or all of them. */
static int card_crossover(struct eco_ctx *ctx, const char *gpu, double *crossover_b,
                          struct eco_err *err)
{
    struct eco_question q;
    struct eco_answer a;
    int rc = question(ctx, gpu, 7.0, NULL, &q, err);
    rc = rc ? rc : eco_step_answer(&q, ECO_PREC_NF4, &a, err);
    if (rc == 0) {
        *crossover_b = a.change.crossover.have ? a.change.crossover.median
                       : a.change.mu > 0       ? 1e6
                                               : 0.0;
    }
    return rc;
}

static int choose_card(struct eco_ctx *ctx, const struct eco_args_audit *args, struct eco_audit *a,
                       struct eco_err *err)
{
    const struct eco_gpu *gpu;
    if (!args->gpu) {
        return 0;
    }
    int rc = eco_dataset_find_gpu(args->gpu, strlen(args->gpu), &gpu, err);
    rc = rc ? rc : card_crossover(ctx, args->gpu, &a->crossover_b, err);
    if (rc == 0) {
        a->crossover_b = eco_num_round(a->crossover_b, 3);
        a->card = gpu->name;
        a->card_gb = gpu->vram_gb;
    }
    return rc;
}

/* ---- effects --------------------------------------------------------------------------------- */

/* Which question a rule puts to the estimator, and which trap of its table it is. */
struct effect {
    enum eco_audit_rule rule;
    enum eco_precision precision;
    const char *trap; /* NULL: the change of the precision itself */
    bool of_fix;      /* what the fix changes, else what the trap costs */
    const char *words;
};
static const struct effect effects[] = {
    {ECO_AUDIT_INT8_DEFAULT, ECO_PREC_INT8_MIXED, NULL, false, "against 16 bit"},
    {ECO_AUDIT_SMALL_4BIT, ECO_PREC_NF4, NULL, false, "against 16 bit"},
    {ECO_AUDIT_FP8_EAGER, ECO_PREC_FP8, "fp8-eager", false, "against 16 bit"},
    {ECO_AUDIT_BS1_LOOP, ECO_PREC_FP16, "batch1-production", true, "with batches of 8"},
    {ECO_AUDIT_VLLM_ONE_SEQ, ECO_PREC_FP16, "batch1-production", true, "with batches of 8"},
    {ECO_AUDIT_DOUBLE_QUANT, ECO_PREC_NF4_DQ, "double-quant", true, "with plain NF4"},
    {ECO_AUDIT_CPU_OFFLOAD, ECO_PREC_FP16, "offload", false, "against weights on the card"},
    {ECO_AUDIT_KV_CACHE_OFF, ECO_PREC_FP16, "kv-cache-off", false, "against the cache on"}};

static const struct effect *effect_of(enum eco_audit_rule rule)
{
    for (size_t i = 0; i < ECO_COUNT(effects); i++) {
        if (effects[i].rule == rule) {
            return &effects[i];
        }
    }
    return NULL;
}

static bool trap_effect(struct eco_question *q, const struct eco_answer *a, const struct effect *e,
                        struct eco_opt *pct, struct eco_span *ci)
{
    struct eco_list alerts = {0};
    bool trap;
    if (eco_step_alerts(q, a, &alerts, &trap, NULL)) {
        return false;
    }
    for (size_t i = 0; i < alerts.n; i++) {
        const struct eco_res_alert *row = (const struct eco_res_alert *)alerts.items + i;
        if (strcmp(row->id, e->trap) == 0) {
            *pct = e->of_fix ? row->fix_effect_pct : row->effect_pct;
            *ci = e->of_fix ? (struct eco_span){0} : row->effect_ci;
            return pct->have;
        }
    }
    return false;
}

/* What it costs a month at the default load: a part of the bill, or on top of it. */
static void price_effect(struct eco_question *q, const struct eco_answer *a, const struct effect *e,
                         struct eco_res_audit_finding *row)
{
    struct eco_res_bill bill;
    double effect = row->effect_pct.v / 100.0;
    bool on_top = e->rule == ECO_AUDIT_CPU_OFFLOAD || e->rule == ECO_AUDIT_KV_CACHE_OFF;
    if (!a->have_energy || effect <= -1.0 || eco_step_bill(q, a, NULL, &bill, NULL)) {
        return;
    }
    double share = e->of_fix ? -effect : on_top ? effect : effect / (1.0 + effect);
    if (bill.month.usd.have && share > 0) {
        row->month_usd = eco_some(eco_step_round(bill.month.usd.v * share, 3));
        row->month_kwh = eco_some(eco_step_round(bill.month.kwh * share, 3));
    }
}

/* Quietly nothing where the estimator has no answer: an effect is never made up. */
static void compute_effect(struct eco_ctx *ctx, const struct eco_args_audit *args,
                           const struct eco_audit_finding *f, struct eco_res_audit_finding *row)
{
    const struct effect *e = effect_of(f->rule);
    double params_b = f->params_b > 0 ? f->params_b : args->params_b;
    struct eco_args_risk risk = {.production = true,
                                 .eager = f->rule == ECO_AUDIT_FP8_EAGER,
                                 .no_kv_cache = f->rule == ECO_AUDIT_KV_CACHE_OFF};
    struct eco_question q;
    struct eco_answer a;
    if (!e || !args->gpu || !(params_b > 0) ||
        question(ctx, args->gpu, params_b, &risk, &q, NULL) ||
        eco_step_answer(&q, e->precision, &a, NULL)) {
        return;
    }
    if (e->trap) {
        if (!trap_effect(&q, &a, e, &row->effect_pct, &row->effect_ci)) {
            return;
        }
    } else {
        struct eco_band b;
        eco_step_pct_band(a.change.mu, a.change.sd, &b);
        row->effect_pct = eco_some(eco_step_round(b.median, 3));
        row->effect_ci = eco_span_of(eco_step_round(b.lo95, 3), eco_step_round(b.hi95, 3));
    }
    double v = row->effect_pct.v;
    const char *range = row->effect_ci.have ? eco_step_fmt(ctx, TX(ctx, effect_range),
                                                           row->effect_ci.lo, row->effect_ci.hi)
                                            : "";
    row->effect = eco_step_fmt(ctx, TX(ctx, effect_line), v, eco_word(ctx->lang, e->words),
                               params_b, q.gpu ? q.gpu->name : args->gpu, range);
    price_effect(&q, &a, e, row);
}

/* ---- scan ------------------------------------------------------------------------------------ */

static bool in_list(const struct eco_strs *list, const char *id)
{
    for (size_t i = 0; i < list->n; i++) {
        if (eco_str_casecmp(list->v[i], id) == 0) {
            return true;
        }
    }
    return false;
}

/* The rule that begins as `id` does, or is a slip away; NULL: none. */
static const char *near_rule(const char *id)
{
    size_t n = strlen(id);
    const char *best = NULL;
    int nearest = 4;
    for (int r = 0; r < ECO_AUDIT_RULES_COUNT && n >= 3; r++) {
        const char *known = eco_audit_rule((enum eco_audit_rule)r)->id;
        int d = eco_str_ncasecmp(known, id, n) == 0
                    ? 0
                    : eco_str_distance(id, n, known, strlen(known), 4);
        if (d < nearest) {
            nearest = d;
            best = known;
        }
    }
    return best;
}

static int check_rules(const struct eco_strs *list, const char *arg, struct eco_err *err)
{
    for (size_t i = 0; i < list->n; i++) {
        if (eco_audit_rule_find(list->v[i], strlen(list->v[i])) < 0) {
            const char *near = near_rule(list->v[i]);
            return near ? eco_err_set(err, ECO_E_UNKNOWN_NAME, arg,
                                      "unknown rule '%.40s': did you mean '%s'?", list->v[i], near)
                        : eco_err_set(err, ECO_E_UNKNOWN_NAME, arg,
                                      "unknown rule '%.40s': see docs/audit.md for the list",
                                      list->v[i]);
        }
    }
    return 0;
}

static void keep_rules(struct eco_audit *a, const struct eco_args_audit *args)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->n; i++) {
        const char *id = eco_audit_rule(a->findings[i].rule)->id;
        bool keep =
            (args->rules.n == 0 || in_list(&args->rules, id)) && !in_list(&args->ignore, id);
        if (keep) {
            a->findings[kept++] = a->findings[i];
        }
    }
    a->n = kept;
}

static int read_baseline(struct eco_ctx *ctx, const struct eco_args_audit *args,
                         struct eco_audit *a, struct eco_err *err)
{
    struct eco_str text;
    if (!args->baseline) {
        return 0;
    }
    int rc = ctx->read_file ? ctx->read_file(ctx, args->baseline, &text, err)
                            : eco_err_set(err, ECO_E_UNSUPPORTED, "baseline", "no files here");
    return rc ? rc : eco_audit_baseline_read(a, text.s, text.len, err);
}

/* A path with nothing in it is most often a wrong path. A change, a baseline and a document are of
 * what happens to be there: nothing is an answer to them, and so it is where nothing can fail. */
static bool nothing_read(const struct eco_args_audit *args, const struct eco_audit *a)
{
    bool may = args->text || args->diff || args->baseline || args->emit ||
               eco_str_ieq(args->fail_on, strlen(args->fail_on), "never");
    return !may && a->files == 0 && a->n_skipped == 0;
}

static int scan(struct eco_ctx *ctx, const struct eco_args_audit *args, struct eco_audit *a,
                struct eco_err *err)
{
    int rc = check_rules(&args->rules, "rules", err);
    rc = rc ? rc : check_rules(&args->ignore, "ignore", err);
    rc = rc ? rc : choose_card(ctx, args, a, err);
    if (rc) {
        return rc;
    }
    a->threads = (int)args->threads;
    if (args->text) {
        rc = eco_audit_text(a, args->name, args->text, strlen(args->text), err);
        eco_audit_sort(a);
    } else {
        rc = eco_audit_paths(a, args->paths.v, args->paths.n, err);
    }
    if (rc == 0 && nothing_read(args, a)) {
        return eco_err_set(err, ECO_E_NOT_FOUND, "paths",
                           "nothing to audit in '%.120s': what is read is Python, notebooks, "
                           "requirement files, TOML, Dockerfiles, YAML, shell and Makefiles",
                           args->paths.v[0]);
    }
    if (rc == 0) {
        keep_rules(a, args);
    }
    if (rc == 0 && args->diff) {
        struct eco_buf diff = ECO_BUF_INIT;
        rc = eco_audit_git_diff(args->diff, &diff, err);
        if (rc == 0) {
            eco_audit_keep_changed(a, eco_buf_str(&diff), diff.len);
        }
        eco_buf_done(&diff);
    }
    return rc ? rc : read_baseline(ctx, args, a, err);
}

/* ---- fixes ----------------------------------------------------------------------------------- */

/* Patches of one file's findings, and the fixed file when asked for. */
static int fix_file(struct eco_ctx *ctx, const struct eco_args_audit *args, struct eco_audit *a,
                    size_t from, size_t to, struct eco_res_audit_finding *rows, int64_t *fixed,
                    struct eco_err *err)
{
    const struct eco_audit_finding *f = a->findings;
    struct eco_str text = {args->text, args->text ? strlen(args->text) : 0};
    bool edits = false;
    for (size_t i = from; i < to; i++) {
        edits |= f[i].edit.text != NULL;
    }
    if (!edits || (!args->text && (!ctx->read_file || strcmp(f[from].file, "-") == 0))) {
        return 0;
    }
    int rc = args->text ? 0 : ctx->read_file(ctx, f[from].file, &text, err);
    for (size_t i = from; rc == 0 && i < to; i++) {
        const char *patch = eco_audit_patch(a, &f[i], text.s, text.len);
        rows[i].patch = patch ? eco_arena_strdup(ctx->arena, patch, strlen(patch)) : NULL;
        rows[i].safe = f[i].safe && patch;
    }
    if (rc || !args->fix || args->text || !ctx->write_file) {
        return rc;
    }
    struct eco_buf now = ECO_BUF_INIT;
    size_t n = eco_audit_apply(f + from, to - from, args->unsafe, text.s, text.len, &now);
    rc = eco_buf_ok(&now) ? 0 : no_memory(err);
    rc = rc || n == 0 ? rc : ctx->write_file(f[from].file, now.data, now.len, true, err);
    *fixed += rc ? 0 : (int64_t)n;
    eco_buf_done(&now);
    return rc;
}

static int fix_all(struct eco_ctx *ctx, const struct eco_args_audit *args, struct eco_audit *a,
                   struct eco_res_audit_finding *rows, int64_t *fixed, struct eco_err *err)
{
    int rc = 0;
    for (size_t from = 0, to; rc == 0 && from < a->n; from = to) {
        for (to = from + 1;
             to < a->n && strcmp(a->findings[to].file, a->findings[from].file) == 0;) {
            to++;
        }
        rc = fix_file(ctx, args, a, from, to, rows, fixed, err);
    }
    return rc;
}

/* ---- the result ------------------------------------------------------------------------------ */

static const char *own(struct eco_ctx *ctx, const char *s)
{
    return s ? eco_arena_strdup(ctx->arena, s, strlen(s)) : NULL;
}

static void fill_row(struct eco_ctx *ctx, const struct eco_audit_finding *f,
                     struct eco_res_audit_finding *row)
{
    *row = (struct eco_res_audit_finding){.rule = eco_audit_rule(f->rule)->id,
                                          .line = f->line,
                                          .end_line = f->end_line,
                                          .column = f->column,
                                          .severity = eco_severity_name(f->severity),
                                          .file = own(ctx, f->file),
                                          .message = eco_message_tell(ctx, f->message),
                                          .why = eco_word(ctx->lang, eco_audit_rule(f->rule)->why),
                                          .fix = eco_word(ctx->lang, eco_audit_rule_fix(f->rule)),
                                          .model = own(ctx, f->model),
                                          .known = f->in_baseline,
                                          .fingerprint = own(ctx, f->print)};
    row->params_b = f->params_b > 0 ? eco_some(f->params_b) : (struct eco_opt){0};
}

static void count(const struct eco_audit *a, struct eco_res_audit *out)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct eco_audit_finding *f = &a->findings[i];
        out->known += f->in_baseline;
        out->critical += !f->in_baseline && f->severity == ECO_SEV_CRITICAL;
        out->warnings += !f->in_baseline && f->severity == ECO_SEV_WARNING;
        out->infos += !f->in_baseline && f->severity == ECO_SEV_INFO;
    }
    out->files = (int64_t)a->files;
    out->parsed = (int64_t)a->parsed;
    out->suppressed = (int64_t)a->suppressed;
}

static bool fails(const struct eco_res_audit *out, const char *fail_on)
{
    size_t n = strlen(fail_on);
    int64_t hits = out->critical;
    hits += eco_str_ieq(fail_on, n, "critical") ? 0 : out->warnings;
    hits += eco_str_ieq(fail_on, n, "info") ? out->infos : 0;
    return hits > 0 && !eco_str_ieq(fail_on, n, "never");
}

static int write_document(struct eco_ctx *ctx, const struct eco_args_audit *args,
                          const struct eco_audit *a, struct eco_res_audit *out, struct eco_err *err)
{
    struct eco_buf b = ECO_BUF_INIT, md = ECO_BUF_INIT;
    size_t n = args->emit ? strlen(args->emit) : 0;
    eco_audit_markdown(a, &md);
    if (n && eco_str_ieq(args->emit, n, "sarif")) {
        eco_audit_sarif(a, &b);
    } else if (n && eco_str_ieq(args->emit, n, "github")) {
        eco_audit_github(a, &b);
    } else if (n && eco_str_ieq(args->emit, n, "baseline")) {
        eco_audit_baseline_write(a, &b);
    } else if (n) {
        const struct eco_res_audit_finding *rows = out->findings.items;
        for (size_t i = 0; i < out->findings.n; i++) {
            eco_buf_puts(&b, rows[i].patch ? rows[i].patch : "");
        }
    }
    bool ok = eco_buf_ok(&b) && eco_buf_ok(&md);
    out->document = ok && n ? eco_arena_strdup(ctx->arena, eco_buf_str(&b), b.len) : NULL;
    out->markdown = ok ? eco_arena_strdup(ctx->arena, eco_buf_str(&md), md.len) : NULL;
    eco_buf_done(&b);
    eco_buf_done(&md);
    return ok ? 0 : no_memory(err);
}

/* What was not read must not pass for clean. */
static const char *with_unread(struct eco_ctx *ctx, const struct eco_res_audit *out,
                               const char *said)
{
    size_t n = out->skipped.n;
    if (n == 0) {
        return said;
    }
    return eco_step_fmt(ctx, TX(ctx, audit_unread), said, n, n == 1 ? "" : TX(ctx, plural_s));
}

static const char *verdict(struct eco_ctx *ctx, const struct eco_res_audit *out)
{
    int64_t n = out->critical + out->warnings + out->infos;
    const char *known =
        out->known ? eco_step_fmt(ctx, TX(ctx, audit_known), (long long)out->known) : "";
    const char *files = out->files == 1 ? "" : TX(ctx, plural_s);
    if (n == 0) {
        return eco_step_fmt(ctx, TX(ctx, audit_none), (long long)out->files, files, known);
    }
    return eco_step_fmt(ctx, TX(ctx, audit_verdict), (long long)n, n == 1 ? "" : TX(ctx, plural_s),
                        (long long)out->files, files, (long long)out->critical,
                        (long long)out->warnings, (long long)out->infos, known);
}

static double alert_weight(const struct eco_res_alert *a)
{
    double base = strcmp(a->severity, "critical") == 0 ? 2e9 : 1e9;
    return base + (a->effect_pct.have ? fmin(fmax(a->effect_pct.v, 0.0), 1e8) : 0.0);
}

static void alert_of(struct eco_ctx *ctx, const struct eco_res_audit_finding *f,
                     struct eco_res_alert *a)
{
    int rule = eco_audit_rule_find(f->rule, strlen(f->rule));
    const char *title = rule >= 0 ? eco_audit_rule((enum eco_audit_rule)rule)->title : f->rule;
    *a = (struct eco_res_alert){.id = f->rule,
                                .name =
                                    eco_step_fmt(ctx, TX(ctx, found_at), eco_word(ctx->lang, title),
                                                 f->file, (long long)f->line),
                                .severity = f->severity,
                                .why = f->why,
                                .fix = f->fix};
    bool costs = f->effect_pct.have && f->effect_pct.v > 0;
    if (costs) {
        a->effect_pct = f->effect_pct;
        a->effect_ci = f->effect_ci;
        a->month_usd = f->month_usd;
    } else { /* what the fix changes */
        a->fix_effect_pct = f->effect_pct;
        a->fix_saving_usd = f->month_usd;
    }
}

/* One alert for each rule that found more than a note, where it costs most; the worst first. */
static int add_alerts(struct eco_ctx *ctx, struct eco_res_audit *out, struct eco_err *err)
{
    const struct eco_res_audit_finding *f = out->findings.items;
    struct eco_res_alert *v = eco_arena_array(ctx->arena, out->findings.n + 1, sizeof(*v));
    size_t n = 0;
    if (!v) {
        return no_memory(err);
    }
    for (size_t i = 0; i < out->findings.n; i++) {
        struct eco_res_alert one;
        if (f[i].known || strcmp(f[i].severity, "info") == 0) {
            continue;
        }
        alert_of(ctx, &f[i], &one);
        size_t same = 0;
        while (same < n && strcmp(v[same].id, one.id) != 0) {
            same++;
        }
        if (same == n || alert_weight(&one) > alert_weight(&v[same])) {
            v[same] = one;
            n += same == n;
        }
    }
    for (size_t i = 1; i < n; i++) {
        struct eco_res_alert moving = v[i];
        size_t k = i;
        for (; k > 0 && alert_weight(&v[k - 1]) < alert_weight(&moving); k--) {
            v[k] = v[k - 1];
        }
        v[k] = moving;
    }
    out->alerts = (struct eco_list){v, n};
    return 0;
}

/* The mood of the code: by its worst finding, gray when nothing was looked at. */
static void feel(struct eco_ctx *ctx, struct eco_res_audit *out)
{
    const struct eco_res_audit_finding *f = out->findings.items;
    struct eco_question nobody = {.ctx = ctx};
    double worst = 0, usd = 0, kwh = 0;
    for (size_t i = 0; i < out->findings.n; i++) {
        worst = f[i].known ? worst : fmax(worst, f[i].effect_pct.v);
        if (!f[i].known && f[i].month_usd.have && f[i].month_usd.v > usd) {
            usd = f[i].month_usd.v;
            kwh = f[i].month_kwh.v;
        }
    }
    worst = out->critical ? worst : fmin(fmax(worst, out->warnings ? 11.0 : 0.0), 29.0);
    bool looked = out->files > (int64_t)out->skipped.n;
    out->mood = eco_step_mood(&nobody, looked ? ECO_BASIS_COMPUTED : ECO_BASIS_UNAVAILABLE,
                              out->critical > 0, eco_some(worst), true);
    if (usd > 0) {
        out->worst_month_usd = eco_some(usd);
        out->equivalents = eco_step_equivalents(ctx, kwh, (double)NAN);
    }
    eco_step_provenance(&nobody, (int)eco_step_data_points(), (int)eco_step_data_sessions(),
                        &out->data);
}

/* Documents for programs (SARIF, annotations) are English throughout. */
static const char *english_effect(struct eco_ctx *ctx, const struct eco_args_audit *args,
                                  const struct eco_audit_finding *f,
                                  const struct eco_res_audit_finding *row)
{
    struct eco_ctx there = *ctx;
    struct eco_res_audit_finding again = {0};
    if (ctx->lang == ECO_LANG_EN || !args->emit) {
        return row->effect;
    }
    there.lang = ECO_LANG_EN;
    compute_effect(&there, args, f, &again);
    return again.effect;
}

static int fill(struct eco_ctx *ctx, const struct eco_args_audit *args, struct eco_audit *a,
                struct eco_res_audit *out, struct eco_err *err)
{
    struct eco_res_audit_finding *rows = eco_arena_array(ctx->arena, a->n + 1, sizeof(*rows));
    struct eco_res_audit_skip *skips =
        eco_arena_array(ctx->arena, a->n_skipped + 1, sizeof(*skips));
    if (!rows || !skips) {
        return no_memory(err);
    }
    for (size_t i = 0; i < a->n; i++) {
        fill_row(ctx, &a->findings[i], &rows[i]);
        compute_effect(ctx, args, &a->findings[i], &rows[i]);
        a->findings[i].effect = english_effect(ctx, args, &a->findings[i], &rows[i]);
    }
    for (size_t i = 0; i < a->n_skipped; i++) {
        skips[i].file = own(ctx, a->skipped[i].file);
        skips[i].reason = eco_message_tell(ctx, a->skipped[i].reason);
    }
    out->findings = (struct eco_list){rows, a->n};
    out->skipped = (struct eco_list){skips, a->n_skipped};
    out->gpu = own(ctx, a->card);
    out->crossover_b = eco_some(a->crossover_b);
    count(a, out);
    out->failed = fails(out, args->fail_on);
    int rc = fix_all(ctx, args, a, rows, &out->fixed, err);
    rc = rc ? rc : write_document(ctx, args, a, out, err);
    out->verdict = with_unread(ctx, out, verdict(ctx, out));
    out->good = eco_audit_good(ctx, args, &out->findings);
    feel(ctx, out);
    return rc ? rc : add_alerts(ctx, out, err);
}

int eco_run_audit(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_audit *in = args;
    struct eco_audit a;
    eco_voice_set(ctx, &in->voice);
    if (!eco_audit_available()) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "",
                           "audit is not built in: run scripts/setup.sh test, then build again");
    }
    if (!in->text && in->paths.n == 0) {
        return ctx->read_file
                   ? eco_err_set(err, ECO_E_MISSING, "paths",
                                 "say what to audit: files, folders, or '-' for standard input")
                   : eco_err_set(err, ECO_E_MISSING, "text",
                                 "'text' is missing: the code to audit");
    }
    eco_audit_init(&a);
    int rc = scan(ctx, in, &a, err);
    rc = rc ? rc : fill(ctx, in, &a, result, err);
    eco_audit_done(&a);
    return rc;
}

bool eco_audit_says_no(const void *result)
{
    return ((const struct eco_res_audit *)result)->failed;
}
