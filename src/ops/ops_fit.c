/* Refit the published curves, print the default predictor's figures, judge both calibrations. */
#include "core/crossval.h"

#include "base/csv.h"
#include "base/num.h"
#include "dataset/dataset.h"
#include "dataset/predictor_default.h"
#include "runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

/* ---- judging the published calibration ------------------------------------------------------ */

struct judged {
    struct eco_published_loo rows[ECO_PUBLISHED_MAX_ANCHORS];
    size_t n;
    double truth[ECO_PUBLISHED_MAX_ANCHORS];
};

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Share of the truths inside a narrower central band of the published normal. */
static double share_inside(const struct judged *j, double z)
{
    size_t inside = 0;
    for (size_t i = 0; i < j->n; i++) {
        const struct eco_published_answer *a = &j->rows[i].answer;
        double sigma = (a->ci_pct[1] - a->delta_pct) / 1.96;
        inside += fabs(j->truth[i] - a->delta_pct) <= z * sigma;
    }
    return j->n ? (double)inside / (double)j->n : 0.0;
}

static void score_published(const char *name, const struct judged *j, struct eco_res_stats *s)
{
    double error[ECO_PUBLISHED_MAX_ANCHORS] = {0}, sum = 0, log_sum = 0, intervals = 0;
    size_t inside = 0, sign_ok = 0;
    int lo, hi;
    for (size_t i = 0; i < j->n; i++) {
        const struct eco_published_loo *r = &j->rows[i];
        error[i] = r->abs_err_pct;
        sum += r->abs_err_pct;
        log_sum += fabs(log1p(r->answer.delta_pct / 100) - log1p(j->truth[i] / 100));
        intervals += r->interval_score;
        inside += r->inside;
        sign_ok += !r->firm_wrong;
    }
    qsort(error, j->n, sizeof(*error), by_size);
    double n = (double)(j->n ? j->n : 1);
    eco_crossval_binomial_range((int)j->n, 0.95, &lo, &hi);
    *s = (struct eco_res_stats){
        .name = name,
        .n = (int64_t)j->n,
        .mae = eco_num_round(sum / n, 2),
        .median = j->n ? eco_num_round((error[(j->n - 1) / 2] + error[j->n / 2]) / 2, 2) : 0,
        .log_mae = eco_num_round(log_sum / n, 4),
        .coverage50 = eco_num_round(share_inside(j, 0.674490), 4),
        .coverage80 = eco_num_round(share_inside(j, 1.281552), 4),
        .coverage95 = eco_num_round((double)inside / n, 4),
        .inside95 = (int64_t)inside,
        .coverage_ok = (int)inside >= lo && (int)inside <= hi,
        .interval_score = eco_num_round(intervals / n, 1),
        .sign_ok = {eco_num_round((double)sign_ok / n, 4), true}};
}

/* Leave-one-out of one class, appended to `all`; the class itself is scored when `own` is there. */
static int judge_class(const struct eco_curve *class, enum eco_published_loo_kind kind,
                       struct judged *all, struct judged *own, struct eco_err *err)
{
    const struct eco_published_tables *t = eco_dataset_published();
    struct eco_published_anchor anchors[ECO_PUBLISHED_MAX_ANCHORS];
    struct eco_published_loo_summary sum;
    size_t n = 0;
    for (size_t i = 0; i < t->n_anchors; i++) {
        const struct eco_published_anchor *a = &t->anchors[i];
        if (a->arch == class->curve.arch && a->precision == class->curve.precision) {
            anchors[n++] = *a;
        }
    }
    own->n = 0;
    int rc = eco_published_loo(anchors, n, kind, own->rows, &own->n, &sum, err);
    for (size_t i = 0; rc == 0 && i < own->n; i++) {
        own->truth[i] = anchors[own->rows[i].index].delta_pct;
        all->rows[all->n] = own->rows[i];
        all->truth[all->n++] = own->truth[i];
    }
    return rc;
}

static const char *class_name(struct eco_ctx *ctx, enum eco_arch arch, enum eco_published_class p)
{
    return eco_step_fmt(ctx, "%s/%s", eco_arch_name(arch), eco_published_name(p));
}

static int check_published(struct eco_ctx *ctx, struct eco_res_check_published *out,
                           struct eco_err *err)
{
    size_t classes = eco_dataset_published()->n_curves;
    struct judged *j = eco_arena_array(ctx->arena, 3, sizeof(*j));
    struct eco_res_stats *rows = eco_arena_array(ctx->arena, classes + 1, sizeof(*rows));
    if (!j || !rows) {
        return no_memory(err);
    }
    for (size_t i = 0; i < classes; i++) {
        struct eco_curve c;
        eco_dataset_curve(i, &c);
        int rc = judge_class(&c, ECO_PUBLISHED_LOO_ANCHOR, &j[0], &j[2], err);
        score_published(class_name(ctx, c.curve.arch, c.curve.precision), &j[2], &rows[i]);
        rc = rc ? rc : judge_class(&c, ECO_PUBLISHED_LOO_SIZE, &j[1], &j[2], err);
        if (rc) {
            return rc;
        }
    }
    score_published("leave_one_out", &j[0], &out->anchors.leave_one_out);
    score_published("leave_one_size_out", &j[1], &out->anchors.leave_one_size_out);
    out->anchors.by_class = (struct eco_list){rows, classes};
    return 0;
}

/* ---- judging the default calibration -------------------------------------------------------- */

static void fill_stats(const char *name, const struct eco_crossval_score *c,
                       struct eco_res_stats *s)
{
    *s = (struct eco_res_stats){.name = name,
                                .n = c->n,
                                .mae = eco_num_round(c->mae, 2),
                                .median = eco_num_round(c->median, 2),
                                .log_mae = eco_num_round(c->log_mae, 4),
                                .coverage50 = eco_num_round(c->coverage50, 4),
                                .coverage80 = eco_num_round(c->coverage80, 4),
                                .coverage95 = eco_num_round(c->coverage95, 4),
                                .inside95 = c->inside95,
                                .coverage_ok = c->passes,
                                .interval_score = eco_num_round(c->interval_score, 1),
                                .sign_ok = {eco_num_round(c->sign_ok, 4), true},
                                .clustered95 = {eco_num_round(c->clustered95, 4), true}};
}

struct fold {
    struct eco_crossval_row *rows;
    int n;
};

static void score(const struct fold *f, const char *name, const struct eco_crossval_filter *filter,
                  struct eco_res_stats *out)
{
    struct eco_crossval_score s;
    eco_crossval_score(eco_predictor_default.points, f->rows, f->n, filter, &s);
    fill_stats(name, &s, out);
}

static int run_fold(struct eco_ctx *ctx, enum eco_crossval_split split, void *memory, size_t bytes,
                    struct fold *f, struct eco_err *err)
{
    int n = eco_predictor_default.n_points;
    f->rows = eco_arena_array(ctx->arena, (size_t)n, sizeof(*f->rows));
    return f->rows ? eco_crossval_run(eco_predictor_default.points, n, split, memory, bytes,
                                      f->rows, &f->n, NULL, NULL, err)
                   : no_memory(err);
}

/* Classes in the order of the published curves. */
static struct eco_list anchors_by_class(struct eco_ctx *ctx, const struct fold *f)
{
    size_t n = eco_dataset_published()->n_curves;
    struct eco_res_stats *rows = eco_arena_array(ctx->arena, n + 1, sizeof(*rows));
    for (size_t i = 0; rows && i < n; i++) {
        struct eco_curve c;
        eco_dataset_curve(i, &c);
        struct eco_crossval_filter filter = {
            .anchors = true,
            .arch = c.curve.arch,
            .precision = c.curve.precision == ECO_PUB_NF4 ? ECO_PREC_NF4 : ECO_PREC_INT8_MIXED};
        score(f, class_name(ctx, c.curve.arch, c.curve.precision), &filter, &rows[i]);
    }
    return (struct eco_list){rows, rows ? n : 0};
}

static struct eco_list by_precision(struct eco_ctx *ctx, const struct fold *f)
{
    struct eco_res_stats *rows = eco_arena_array(ctx->arena, ECO_PREC_COUNT, sizeof(*rows));
    size_t n = 0;
    for (int p = 1; rows && p < ECO_PREC_COUNT; p++) {
        struct eco_crossval_filter filter = {.precision = (enum eco_precision)p};
        score(f, eco_precision_name((enum eco_precision)p), &filter, &rows[n]);
        n += rows[n].n > 0;
    }
    return (struct eco_list){rows, n};
}

/* Only two classes have two cards: how far do card and class lean on their priors? */
static int prior_sensitivity(struct eco_ctx *ctx, void *memory, size_t bytes, struct eco_list *out,
                             struct eco_err *err)
{
    static const enum eco_predict_group groups[] = {ECO_PG_CARD_OTHER, ECO_PG_ARCH};
    static const double factors[] = {0.5, 1.0, 2.0};
    struct eco_res_sensitivity *rows =
        eco_arena_array(ctx->arena, ECO_COUNT(groups) * ECO_COUNT(factors), sizeof(*rows));
    size_t n = 0;
    if (!rows) {
        return no_memory(err);
    }
    for (size_t g = 0; g < ECO_COUNT(groups); g++) {
        for (size_t k = 0; k < ECO_COUNT(factors); k++) {
            struct eco_crossval_sensitivity s;
            int rc =
                eco_crossval_prior(eco_predictor_default.points, eco_predictor_default.n_points,
                                   groups[g], factors[k], memory, bytes, &s, err);
            if (rc) {
                return rc;
            }
            rows[n++] = (struct eco_res_sensitivity){
                eco_predict_group_name((int)groups[g]), factors[k],
                eco_num_round(s.prior_sd, 3),           eco_num_round(s.fitted_sd, 3),
                eco_num_round(s.nf4_new_card_sd, 3),    eco_num_round(s.int8_new_card_sd, 3),
                eco_num_round(s.nf4_new_arch_sd, 3)};
        }
    }
    *out = (struct eco_list){rows, n};
    return 0;
}

static int check_ecocompute(struct eco_ctx *ctx, struct eco_res_check_ecocompute *out,
                            struct eco_err *err)
{
    static const struct eco_crossval_filter anchors = {.anchors = true}, all = {0};
    size_t bytes = eco_crossval_bytes(eco_predictor_default.n_points);
    void *memory = eco_arena_alloc(ctx->arena, bytes);
    struct fold f[ECO_CROSSVAL_SPLITS] = {0};
    int rc = memory ? 0 : no_memory(err);
    for (int s = 0; rc == 0 && s < ECO_CROSSVAL_SPLITS; s++) {
        rc = run_fold(ctx, (enum eco_crossval_split)s, memory, bytes, &f[s], err);
    }
    if (rc) {
        return rc;
    }
    score(&f[ECO_CROSSVAL_ONE], "leave_one_out", &anchors, &out->anchors.leave_one_out);
    score(&f[ECO_CROSSVAL_SIZE], "leave_one_size_out", &anchors, &out->anchors.leave_one_size_out);
    out->anchors.by_class = anchors_by_class(ctx, &f[ECO_CROSSVAL_ONE]);
    score(&f[ECO_CROSSVAL_ONE], "leave_one_out", &all, &out->all.leave_one_out);
    score(&f[ECO_CROSSVAL_SIZE], "leave_one_size_out", &all, &out->all.leave_one_size_out);
    score(&f[ECO_CROSSVAL_SESSION], "leave_one_session_out", &all, &out->all.leave_one_session_out);
    out->all.by_precision = by_precision(ctx, &f[ECO_CROSSVAL_SESSION]);
    out->all.size_out_by_precision = by_precision(ctx, &f[ECO_CROSSVAL_SIZE]);
    score(&f[ECO_CROSSVAL_SOURCE], "one_source_out", &all, &out->external_pairs);
    score(&f[ECO_CROSSVAL_PUBLISHER], "one_publisher_out", &all, &out->external_publishers);
    score(&f[ECO_CROSSVAL_CARD], "one_card_out", &all, &out->cards);
    return prior_sensitivity(ctx, memory, bytes, &out->prior_sensitivity, err);
}

/* ---- refitting ------------------------------------------------------------------------------ */

static int refit_class(const struct eco_published_anchor *anchors, size_t n,
                       struct eco_res_curve *out, struct eco_err *err)
{
    struct eco_published_fit fit;
    int rc = eco_published_fit(anchors, n, &fit, err);
    if (rc == 0) {
        struct eco_published_curve c = eco_published_round_curve(&fit.curve);
        double crossover;
        *out = (struct eco_res_curve){.arch = eco_arch_name(anchors[0].arch),
                                      .precision = eco_published_name(anchors[0].precision),
                                      .n = (int64_t)n,
                                      .A = c.a_pct,
                                      .S = c.s_pct,
                                      .Nstar = c.nstar_b,
                                      .resid_std = c.rms_pct,
                                      .identifiable = fit.identifiable};
        if (eco_published_crossover(&c, fit.n_max_b, &crossover)) {
            out->crossover_b = (struct eco_opt){eco_num_round(crossover, 3), true};
        }
    }
    return rc;
}

#define MAX_USER_ANCHORS 4096
#define CLASSES ((size_t)ECO_ARCH_COUNT * 4)

static int refit_all(struct eco_ctx *ctx, const struct eco_published_anchor *a, size_t n,
                     struct eco_res_fit *out, struct eco_err *err)
{
    struct eco_published_anchor class[ECO_PUBLISHED_MAX_ANCHORS];
    struct eco_res_curve *rows = eco_arena_array(ctx->arena, CLASSES, sizeof(*rows));
    size_t n_rows = 0;
    for (int arch = 1; rows && arch < ECO_ARCH_COUNT; arch++) {
        for (int p = ECO_PUB_NF4; p <= ECO_PUB_INT8; p++) {
            size_t k = 0;
            for (size_t i = 0; i < n; i++) {
                bool mine = (int)a[i].arch == arch && (int)a[i].precision == p;
                if (mine && k == ECO_PUBLISHED_MAX_ANCHORS) {
                    return eco_err_set(err, ECO_E_TOO_LARGE, "data", "over %d anchors of one class",
                                       ECO_PUBLISHED_MAX_ANCHORS);
                }
                if (mine) {
                    class[k++] = a[i];
                }
            }
            int rc = k ? refit_class(class, k, &rows[n_rows], err) : 0;
            if (rc) {
                return rc;
            }
            n_rows += k > 0;
        }
    }
    out->curves = (struct eco_list){rows, n_rows};
    return rows ? 0 : no_memory(err);
}

static int read_anchor(const struct eco_csv *c, const int *column, struct eco_published_anchor *out,
                       struct eco_err *err)
{
    struct eco_csv_cell arch = c->cell[column[0]], precision = c->cell[column[1]];
    enum eco_precision p = eco_precision_parse(precision.s, precision.len);
    *out = (struct eco_published_anchor){.arch = eco_arch_parse(arch.s, arch.len),
                                         .precision = eco_precision_published(p),
                                         .gpu = "",
                                         .n = 1};
    if (out->arch == ECO_ARCH_UNKNOWN ||
        (out->precision != ECO_PUB_NF4 && out->precision != ECO_PUB_INT8)) {
        return eco_err_set_at(err, ECO_E_CONTENT, c->name, c->line, 1,
                              "'%.40s', '%.40s': an architecture and NF4 or INT8 are needed",
                              arch.s, precision.s);
    }
    int size = eco_csv_num(c, column[2], &out->params_b, err);
    int delta = size > 0 ? eco_csv_num(c, column[3], &out->delta_pct, err) : size;
    if (size > 0 && delta > 0 && out->params_b > 0) {
        return 0;
    }
    return size < 0 || delta < 0 ? (size < 0 ? size : delta)
                                 : eco_err_set_at(err, ECO_E_CONTENT, c->name, c->line, 1,
                                                  "a size above 0 and a change are needed");
}

/* A user's anchors: arch, precision, params_b, delta_pct in any order. */
static int read_anchors(struct eco_ctx *ctx, const char *path, struct eco_published_anchor *out,
                        size_t *n, struct eco_err *err)
{
    static const char *const names[] = {"arch", "precision", "params_b", "delta_pct"};
    struct eco_str text;
    struct eco_csv csv;
    int column[4];
    int rc = ctx->read_file ? ctx->read_file(ctx, path, &text, err)
                            : eco_err_set(err, ECO_E_UNSUPPORTED, "data", "no files here");
    rc = rc ? rc : eco_csv_open(&csv, path, text.s, text.len, err);
    if (rc) {
        return rc;
    }
    for (size_t i = 0; rc == 0 && i < ECO_COUNT(names); i++) {
        column[i] = eco_csv_column(&csv, names[i]);
        if (column[i] < 0) {
            rc = eco_err_set_at(err, ECO_E_CONTENT, path, 1, 1, "%s: no column '%s'", path,
                                names[i]);
        }
    }
    *n = 0;
    while (rc == 0 && (rc = eco_csv_next(&csv, err)) > 0) {
        rc = *n < MAX_USER_ANCHORS
                 ? read_anchor(&csv, column, &out[*n], err)
                 : eco_err_set(err, ECO_E_TOO_LARGE, "data", "over %d rows", MAX_USER_ANCHORS);
        *n += rc == 0;
    }
    eco_csv_done(&csv);
    return rc;
}

static int hyperparameters(struct eco_ctx *ctx, struct eco_res_fit *out, struct eco_err *err)
{
    struct eco_res_hyper *rows = eco_arena_array(ctx->arena, ECO_PG_COUNT, sizeof(*rows));
    if (!rows) {
        return no_memory(err);
    }
    for (int g = 0; g < ECO_PG_COUNT; g++) {
        rows[g] = (struct eco_res_hyper){
            eco_predict_group_name(g), eco_step_round(exp(eco_predictor_default.theta[g] / 2), 4)};
    }
    out->hyperparameters = (struct eco_list){rows, ECO_PG_COUNT};
    return 0;
}

int eco_run_fit(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_fit *a = args;
    struct eco_res_fit *out = result;
    if (a->check) {
        struct eco_res_check_published *p = eco_arena_alloc(ctx->arena, sizeof(*p));
        struct eco_res_check_ecocompute *e = eco_arena_alloc(ctx->arena, sizeof(*e));
        int rc = p && e ? check_published(ctx, p, err) : no_memory(err);
        rc = rc ? rc : check_ecocompute(ctx, e, err);
        out->published = p;
        out->ecocompute = e;
        out->note =
            "hyper-parameters refitted in every fold; answers for a new session except in the "
            "splits by anchor and by size";
        return rc;
    }
    const struct eco_published_tables *t = eco_dataset_published();
    const struct eco_published_anchor *anchors = t->anchors;
    size_t n = t->n_anchors;
    out->note = "standard deviations in ln(1 + delta/100) unless the name says otherwise";
    if (a->data) {
        struct eco_published_anchor *own =
            eco_arena_array(ctx->arena, MAX_USER_ANCHORS, sizeof(*own));
        int rc = own ? read_anchors(ctx, a->data, own, &n, err) : no_memory(err);
        return rc ? rc : refit_all(ctx, own, n, out, err);
    }
    int rc = refit_all(ctx, anchors, n, out, err);
    return rc ? rc : hyperparameters(ctx, out, err);
}
