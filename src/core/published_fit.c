/*
 * Least squares of the published curve. For a given N* it is linear in A and S, so the two solve
 * exactly inside their box; only ln N* is searched, so a local minimum cannot hide the global one.
 */
#include "core/published.h"

#include <math.h>

#define NSTAR_LO_B 0.1
#define NSTAR_HI_B 200.0
#define A_LO_PCT (-50.0)
#define A_MARGIN_PCT 50.0
#define GRID_STEPS 240
#define GOLDEN_STEPS 60

struct fit_problem {
    const struct eco_published_anchor *anchors;
    size_t n;
    double a_hi, s_hi;
};

struct fit_point {
    double a, s, sse;
};

static double clamp(double v, double lo, double hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static double share(double params_b, double nstar_b)
{
    double x = params_b / nstar_b;

    return x / (1.0 + x);
}

static double sum_squares(const struct fit_problem *p, double nstar_b, double a, double s)
{
    double sse = 0;

    for (size_t i = 0; i < p->n; i++) {
        double r = p->anchors[i].delta_pct - a + s * share(p->anchors[i].params_b, nstar_b);
        sse += r * r;
    }
    return sse;
}

static void keep_better(const struct fit_problem *p, double nstar_b, double a, double s,
                        struct fit_point *best)
{
    double sse = sum_squares(p, nstar_b, a, s);

    if (sse < best->sse) {
        *best = (struct fit_point){a, s, sse};
    }
}

/*
 * y ~ A - S u over the box. The problem is convex: its optimum is the free one when that lies
 * inside, else the best of the four edges, each a clamped line search.
 */
static struct fit_point solve_box(const struct fit_problem *p, double nstar_b)
{
    double n = (double)p->n, su = 0, suu = 0, sy = 0, suy = 0;
    struct fit_point best = {0, 0, INFINITY};

    for (size_t i = 0; i < p->n; i++) {
        double u = share(p->anchors[i].params_b, nstar_b), y = p->anchors[i].delta_pct;
        su += u;
        suu += u * u;
        sy += y;
        suy += u * y;
    }
    double det = n * suu - su * su;
    if (det > 1e-14 * n * suu) {
        double s = (su * sy - n * suy) / det;
        double a = (sy + s * su) / n;
        if (s >= 0 && s <= p->s_hi && a >= A_LO_PCT && a <= p->a_hi) {
            return (struct fit_point){a, s, sum_squares(p, nstar_b, a, s)};
        }
    }
    const double a_edge[] = {A_LO_PCT, p->a_hi}, s_edge[] = {0, p->s_hi};
    for (int i = 0; i < 2; i++) {
        double s = clamp((a_edge[i] * su - suy) / suu, 0, p->s_hi);
        keep_better(p, nstar_b, a_edge[i], s, &best);
        double a = clamp((sy + s_edge[i] * su) / n, A_LO_PCT, p->a_hi);
        keep_better(p, nstar_b, a, s_edge[i], &best);
    }
    return best;
}

/* Golden section over ln N* between two grid neighbours of a grid minimum. */
static double refine(const struct fit_problem *p, double lo, double hi)
{
    const double g = 0.61803398874989485;
    double x1 = hi - g * (hi - lo), x2 = lo + g * (hi - lo);
    double f1 = solve_box(p, exp(x1)).sse, f2 = solve_box(p, exp(x2)).sse;

    for (int i = 0; i < GOLDEN_STEPS; i++) {
        if (f1 <= f2) {
            hi = x2;
            x2 = x1;
            f2 = f1;
            x1 = hi - g * (hi - lo);
            f1 = solve_box(p, exp(x1)).sse;
        } else {
            lo = x1;
            x1 = x2;
            f1 = f2;
            x2 = lo + g * (hi - lo);
            f2 = solve_box(p, exp(x2)).sse;
        }
    }
    return f1 <= f2 ? x1 : x2;
}

static void consider(const struct fit_problem *p, double nstar_b, double *best_nstar,
                     struct fit_point *best)
{
    double n = clamp(nstar_b, NSTAR_LO_B, NSTAR_HI_B);
    struct fit_point f = solve_box(p, n);

    if (f.sse < best->sse) {
        *best = f;
        *best_nstar = n;
    }
}

static double search_nstar(const struct fit_problem *p, struct fit_point *best)
{
    double lo = log(NSTAR_LO_B), step = (log(NSTAR_HI_B) - lo) / GRID_STEPS;
    double sse[GRID_STEPS + 1], nstar = NSTAR_HI_B;

    for (int i = 0; i <= GRID_STEPS; i++) {
        sse[i] = solve_box(p, exp(lo + step * i)).sse;
    }
    consider(p, NSTAR_LO_B, &nstar, best);
    consider(p, NSTAR_HI_B, &nstar, best);
    for (int i = 1; i < GRID_STEPS; i++) {
        if (sse[i] <= sse[i - 1] && sse[i] <= sse[i + 1]) {
            double x = refine(p, lo + step * (i - 1), lo + step * (i + 1));
            consider(p, exp(x), &nstar, best);
        }
    }
    return nstar;
}

static double median_size(const struct eco_published_anchor *anchors, size_t n)
{
    double size[ECO_PUBLISHED_MAX_ANCHORS] = {0};

    for (size_t i = 0; i < n; i++) {
        size_t j = i;
        for (; j > 0 && size[j - 1] > anchors[i].params_b; j--) {
            size[j] = size[j - 1];
        }
        size[j] = anchors[i].params_b;
    }
    return n % 2 ? size[n / 2] : (size[n / 2 - 1] + size[n / 2]) / 2.0;
}

static int check_anchors(const struct eco_published_anchor *anchors, size_t n, struct eco_err *err)
{
    if (n == 0 || n > ECO_PUBLISHED_MAX_ANCHORS) {
        return eco_err_set(err, n ? ECO_E_TOO_LARGE : ECO_E_MISSING, "anchors",
                           "a class needs 1 to %d anchors", ECO_PUBLISHED_MAX_ANCHORS);
    }
    for (size_t i = 0; i < n; i++) {
        if (anchors[i].arch != anchors[0].arch || anchors[i].precision != anchors[0].precision ||
            eco_published_cap_pct(anchors[i].precision) == 0) {
            return eco_err_set(err, ECO_E_INVALID, "anchors",
                               "anchors of one architecture and of NF4 or INT8 fit together");
        }
        if (!(anchors[i].params_b > 0) || !isfinite(anchors[i].params_b) ||
            !isfinite(anchors[i].delta_pct)) {
            return eco_err_set(err, ECO_E_RANGE, "anchors",
                               "an anchor needs a positive size and a finite delta");
        }
    }
    return ECO_OK;
}

int eco_published_fit(const struct eco_published_anchor *anchors, size_t n,
                      struct eco_published_fit *out, struct eco_err *err)
{
    int rc = check_anchors(anchors, n, err);
    if (rc) {
        return rc;
    }

    struct eco_published_fit f = {.n = n, .n_min_b = INFINITY};
    double max_pct = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        max_pct = fmax(max_pct, anchors[i].delta_pct);
        f.n_min_b = fmin(f.n_min_b, anchors[i].params_b);
        f.n_max_b = fmax(f.n_max_b, anchors[i].params_b);
    }
    struct fit_problem p = {
        .anchors = anchors,
        .n = n,
        .a_hi = fmax(max_pct + A_MARGIN_PCT, A_LO_PCT),
        .s_hi = eco_published_cap_pct(anchors[0].precision) + fmax(0.0, max_pct),
    };
    struct fit_point best = {0, 0, INFINITY};
    double nstar = median_size(anchors, n);
    if (n < 3) {
        best = solve_box(&p, nstar);
    } else {
        double found = search_nstar(&p, &best);
        nstar = best.s > 0 ? found : nstar;
    }
    f.curve = (struct eco_published_curve){
        anchors[0].arch, anchors[0].precision, best.a, best.s, nstar, sqrt(best.sse / (double)n)};
    f.sse = best.sse;
    f.identifiable = n >= 3 && best.s > 0;
    *out = f;
    return ECO_OK;
}

struct eco_published_curve eco_published_round_curve(const struct eco_published_curve *c)
{
    struct eco_published_curve r = *c;

    r.a_pct = eco_published_places(c->a_pct, 4);
    r.s_pct = eco_published_places(c->s_pct, 4);
    r.nstar_b = eco_published_places(c->nstar_b, 4);
    r.rms_pct = eco_published_places(c->rms_pct, 4);
    return r;
}

void eco_published_round_anchors(struct eco_published_anchor *anchors, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        anchors[i].delta_pct = eco_published_places(anchors[i].delta_pct, 2);
    }
}

static void score(const struct eco_published_anchor *a, struct eco_published_loo *row)
{
    const struct eco_published_answer *w = &row->answer;
    double miss = fmax(0.0, fmax(w->ci_pct[0] - a->delta_pct, a->delta_pct - w->ci_pct[1]));

    row->abs_err_pct = fabs(w->delta_pct - a->delta_pct);
    row->inside = miss == 0.0;
    row->width_pct = w->ci_pct[1] - w->ci_pct[0];
    row->interval_score = row->width_pct + 40.0 * miss;
    row->firm_wrong = (w->recommendation == ECO_REC_QUANTIZE && a->delta_pct > 0) ||
                      (w->recommendation == ECO_REC_DO_NOT_QUANTIZE && a->delta_pct < 0);
}

static int leave_out(const struct eco_published_anchor *anchors, size_t n, size_t i,
                     enum eco_published_loo_kind kind, struct eco_published_loo *row,
                     struct eco_err *err)
{
    struct eco_published_anchor rest[ECO_PUBLISHED_MAX_ANCHORS] = {0};
    struct eco_published_fit fit;

    *row = (struct eco_published_loo){.index = i};
    for (size_t j = 0; j < n; j++) {
        bool out = kind == ECO_PUBLISHED_LOO_ANCHOR
                       ? j == i
                       : fabs(anchors[j].params_b - anchors[i].params_b) < 1e-6;
        if (!out) {
            rest[row->fitted++] = anchors[j];
        }
    }
    if (row->fitted == 0) {
        return ECO_OK;
    }
    int rc = eco_published_fit(rest, row->fitted, &fit, err);
    if (rc) {
        return rc;
    }
    row->curve_pred_pct = eco_published_curve_at(&fit.curve, anchors[i].params_b);
    row->refit = eco_published_round_curve(&fit.curve);
    eco_published_round_anchors(rest, row->fitted);
    struct eco_published_tables t = {rest, row->fitted, &row->refit, 1};
    struct eco_published_query q = {anchors[i].params_b, anchors[i].arch, anchors[i].precision, 1,
                                    2048};
    rc = eco_published_estimate(&t, &q, &row->answer, err);
    if (rc == ECO_OK) {
        score(&anchors[i], row);
    }
    return rc;
}

static void summarize(const struct eco_published_anchor *anchors,
                      const struct eco_published_loo *rows, size_t n,
                      struct eco_published_loo_summary *sum)
{
    double k = n ? 1.0 / (double)n : 0.0;

    *sum = (struct eco_published_loo_summary){.n = n};
    for (size_t i = 0; i < n; i++) {
        const struct eco_published_loo *r = &rows[i];
        sum->inside += r->inside;
        sum->firm_wrong += r->firm_wrong;
        sum->mae_curve_pct += k * fabs(r->curve_pred_pct - anchors[r->index].delta_pct);
        sum->mae_pct += k * r->abs_err_pct;
        sum->max_abs_err_pct = fmax(sum->max_abs_err_pct, r->abs_err_pct);
        sum->mean_width_pct += k * r->width_pct;
        sum->mean_interval_score += k * r->interval_score;
    }
}

int eco_published_loo(const struct eco_published_anchor *anchors, size_t n,
                      enum eco_published_loo_kind kind, struct eco_published_loo *rows,
                      size_t *n_rows, struct eco_published_loo_summary *sum, struct eco_err *err)
{
    size_t made = 0;
    int rc = check_anchors(anchors, n, err);

    for (size_t i = 0; rc == ECO_OK && i < n; i++) {
        rc = leave_out(anchors, n, i, kind, &rows[made], err);
        made += rc == ECO_OK && rows[made].fitted > 0;
    }
    if (rc) {
        return rc;
    }
    *n_rows = made;
    summarize(anchors, rows, made, sum);
    return ECO_OK;
}
