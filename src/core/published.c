/* The published estimator: one class of anchors and its curve, asked for one size. */
#include "core/published.h"

#include "base/num.h"

#include <float.h>
#include <math.h>

#define Z95 1.96
#define EXACT_SIZE_B 1e-6    /* an anchor this near answers itself */
#define MIN_BASE_PCT 2.0     /* floor of the residual spread */
#define BORROWED_PCT 10.0    /* added spread of another architecture's curve */
#define MODELLED_BELOW 0.999 /* f under this counts as modelled */
#define CTX_FREE 2048.0      /* context up to which no factor applies */

struct class_view {
    const struct eco_published_curve *curve;
    size_t n, n_exact;
    double lo_b, hi_b;                /* measured sizes */
    double sum_pct, min_pct, max_pct; /* of the exact anchors */
    bool all_single;                  /* every exact anchor has n = 1 */
    int trials, trials_exact;
};

double eco_published_places(double v, int places)
{
    static const double scale[] = {1, 10, 100, 1000, 1e4};
    double s = scale[places];
    double a = fabs(v);
    double hi = a * s;

    /* hi + lo is the exact product, so the tie is decided on the decimal value of the double. */
    if (!(hi < 4503599627370496.0)) {
        return isfinite(v) ? eco_num_round(v, places) + 0.0 : v;
    }
    double lo = fma(a, s, -hi);
    double whole = floor(hi);
    if ((hi - whole) - 0.5 >= -lo) {
        whole += 1.0;
    }
    return v < 0 && whole > 0 ? -(whole / s) : whole / s;
}

enum eco_arch eco_published_arch_used(enum eco_arch arch)
{
    return arch == ECO_ARCH_HOPPER ? ECO_ARCH_AMPERE : arch;
}

double eco_published_cap_pct(enum eco_published_class precision)
{
    return precision == ECO_PUB_NF4 ? 75.0 : precision == ECO_PUB_INT8 ? 50.0 : 0.0;
}

double eco_published_curve_at(const struct eco_published_curve *c, double params_b)
{
    double x = params_b / c->nstar_b;

    /* S x/(1+x) tends to S; inf/inf must not become NaN. */
    return isinf(x) ? c->a_pct - c->s_pct : c->a_pct - c->s_pct * x / (1.0 + x);
}

bool eco_published_crossover(const struct eco_published_curve *c, double range_hi_b, double *out_b)
{
    if (!(c->a_pct > 0 && c->s_pct > c->a_pct)) {
        return false;
    }
    double at = c->nstar_b * c->a_pct / (c->s_pct - c->a_pct);
    if (!(at <= range_hi_b)) {
        return false;
    }
    *out_b = at;
    return true;
}

double eco_published_factor(double batch, double ctx)
{
    double b = batch < 1 ? 1 : batch;
    double c = ctx < CTX_FREE ? CTX_FREE : ctx;

    return 1.0 / (1.0 + (b - 1.0) / 8.0) * (1.0 / (1.0 + 0.12 * log2(c / CTX_FREE)));
}

static void view_anchor(struct class_view *v, const struct eco_published_anchor *a, double size_b)
{
    v->lo_b = v->n == 0 || a->params_b < v->lo_b ? a->params_b : v->lo_b;
    v->hi_b = v->n == 0 || a->params_b > v->hi_b ? a->params_b : v->hi_b;
    v->n++;
    v->trials += a->n;
    if (!(fabs(a->params_b - size_b) < EXACT_SIZE_B)) {
        return;
    }
    v->min_pct = v->n_exact == 0 || a->delta_pct < v->min_pct ? a->delta_pct : v->min_pct;
    v->max_pct = v->n_exact == 0 || a->delta_pct > v->max_pct ? a->delta_pct : v->max_pct;
    v->sum_pct += a->delta_pct;
    v->all_single = (v->n_exact == 0 || v->all_single) && a->n <= 1;
    v->trials_exact += a->n;
    v->n_exact++;
}

static int view_class(const struct eco_published_tables *t, enum eco_arch arch,
                      enum eco_published_class precision, double size_b, struct class_view *v,
                      struct eco_err *err)
{
    enum eco_arch used = eco_published_arch_used(arch);

    *v = (struct class_view){0};
    for (size_t i = 0; i < t->n_curves; i++) {
        if (t->curves[i].arch == used && t->curves[i].precision == precision) {
            v->curve = &t->curves[i];
            break;
        }
    }
    for (size_t i = 0; v->curve && i < t->n_anchors; i++) {
        if (t->anchors[i].arch == used && t->anchors[i].precision == precision) {
            view_anchor(v, &t->anchors[i], size_b);
        }
    }
    if (v->n == 0) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "precision",
                           "no published curve for '%s' on '%s'", eco_published_name(precision),
                           eco_arch_name(arch));
    }
    return ECO_OK;
}

static int check_value(const char *name, double v, double lo, double hi, bool whole,
                       struct eco_err *err)
{
    if (!(v >= lo && v <= hi) || (whole && v != floor(v))) {
        return eco_err_set(err, ECO_E_RANGE, name, "'%s' must be %s in %g..%g", name,
                           whole ? "a whole number" : "a number", lo, hi);
    }
    return ECO_OK;
}

int eco_published_check(double params_b, double batch, double ctx, struct eco_err *err)
{
    const double value[] = {params_b, batch, ctx};
    size_t i = 0;

#define X(field, lo, hi, dflt, whole)                                                              \
    if (check_value(#field, value[i++], lo, hi, whole, err)) {                                     \
        return ECO_E_RANGE;                                                                        \
    }
    ECO_PUBLISHED_PARAMS(X)
#undef X
    return ECO_OK;
}

static double distance(const struct class_view *v, double size_b)
{
    if (size_b < v->lo_b) {
        return log(v->lo_b / size_b);
    }
    return size_b > v->hi_b ? log(size_b / v->hi_b) : 0.0;
}

/* Half the 95 % band's width over 1.96; `value` is the delta before the factor. */
static double sigma_pct(const struct class_view *v, const struct eco_published_answer *a,
                        double value, double d)
{
    double base = fmax(v->curve->rms_pct, MIN_BASE_PCT);

    if (a->basis == ECO_BASIS_MEASURED && !a->modelled) {
        return fmax(base / 2.0, (v->max_pct - v->min_pct) / 2.0);
    }
    double far = 1.2 * (base + 4.0) * d;
    double other = a->borrowed ? BORROWED_PCT : 0.0;
    double model = fabs(value) * (1.0 - a->factor) / 2.0;
    return sqrt(base * base + far * far + other * other + model * model);
}

static enum eco_confidence confidence(const struct class_view *v,
                                      const struct eco_published_answer *a, double width, double d)
{
    enum eco_confidence c;

    if (a->borrowed) {
        c = ECO_CONF_LOW;
    } else if (a->basis == ECO_BASIS_MEASURED && !a->modelled) {
        bool weak = v->max_pct - v->min_pct > 10.0 || v->all_single;
        c = weak ? ECO_CONF_MEDIUM : ECO_CONF_HIGH;
    } else if (a->basis == ECO_BASIS_INTERPOLATED) {
        c = width < 12.0 ? ECO_CONF_HIGH : width < 22.0 ? ECO_CONF_MEDIUM : ECO_CONF_LOW;
    } else {
        c = d < 0.5 && width < 25.0 ? ECO_CONF_MEDIUM : ECO_CONF_LOW;
    }
    if (a->modelled && c == ECO_CONF_HIGH) {
        c = ECO_CONF_MEDIUM;
    }
    if (a->modelled && c == ECO_CONF_MEDIUM && a->factor < 0.5) {
        c = ECO_CONF_LOW;
    }
    return c;
}

static void set_verdict(struct eco_published_answer *a, double lo, double hi)
{
    if (hi < 0) {
        a->recommendation = ECO_REC_QUANTIZE;
        a->verdict = "quantizing lowers the energy per token";
    } else if (lo > 0) {
        a->recommendation = ECO_REC_DO_NOT_QUANTIZE;
        a->verdict = "quantizing raises the energy per token";
    } else {
        a->recommendation = ECO_REC_DEPENDS;
        a->verdict = "the band holds zero: the sign cannot be told, measure it";
    }
}

static void describe_class(const struct class_view *v, const struct eco_published_query *q,
                           enum eco_published_class precision, struct eco_published_answer *a)
{
    double bytes = precision == ECO_PUB_NF4 ? 0.5 : 1.0;
    double cross;

    a->arch_used = eco_published_arch_used(q->arch);
    a->borrowed = a->arch_used != q->arch;
    a->have_crossover = eco_published_crossover(v->curve, v->hi_b, &cross);
    a->crossover_b = a->have_crossover ? eco_published_places(cross, 3) : 0.0;
    a->weight_gb = eco_published_places(q->params_b * bytes, 2);
    a->weight_gb_fp16 = eco_published_places(q->params_b * 2.0, 2);
    a->range_lo_b = v->lo_b;
    a->range_hi_b = v->hi_b;
    a->n_anchors = v->n;
    /* A borrowed curve has no anchors of the asked architecture, even at their very size. */
    a->n_exact = a->borrowed ? 0 : v->n_exact;
    a->n_trials = a->n_exact ? v->trials_exact : v->trials;
}

int eco_published_estimate(const struct eco_published_tables *t,
                           const struct eco_published_query *q, struct eco_published_answer *out,
                           struct eco_err *err)
{
    enum eco_published_class precision = q->precision ? q->precision : ECO_PUB_NF4;
    struct eco_published_answer a = {0};
    struct class_view v;

    int rc = eco_published_check(q->params_b, q->batch, q->ctx, err);
    if (rc) {
        return rc;
    }
    if (q->arch == ECO_ARCH_UNKNOWN) {
        return eco_err_set(err, ECO_E_UNKNOWN_NAME, "arch", "unknown architecture");
    }
    rc = view_class(t, q->arch, precision, q->params_b, &v, err);
    if (rc) {
        return rc;
    }
    describe_class(&v, q, precision, &a);

    double cap = eco_published_cap_pct(precision);
    double d = distance(&v, q->params_b);
    double value = a.n_exact ? v.sum_pct / (double)a.n_exact
                             : fmax(eco_published_curve_at(v.curve, q->params_b), -cap);
    double f = eco_published_factor(q->batch, q->ctx);
    a.modelled = f < MODELLED_BELOW;
    a.factor = a.modelled ? f : 1.0;
    a.basis = a.n_exact             ? ECO_BASIS_MEASURED
              : a.borrowed || d > 0 ? ECO_BASIS_ESTIMATED
                                    : ECO_BASIS_INTERPOLATED;

    double delta = value < 0 ? value * a.factor : value;
    double half = Z95 * sigma_pct(&v, &a, value, d);
    double lo = fmax(delta - half, -cap), hi = delta + half;
    a.delta_pct = eco_published_places(delta, 1);
    a.ci_pct[0] = eco_published_places(lo, 1);
    a.ci_pct[1] = eco_published_places(hi, 1);
    a.confidence = confidence(&v, &a, hi - lo, d);
    set_verdict(&a, lo, hi);
    *out = a;
    return ECO_OK;
}

int eco_published_class_info(const struct eco_published_tables *t, enum eco_arch arch,
                             enum eco_published_class precision,
                             struct eco_published_class_info *out, struct eco_err *err)
{
    struct class_view v;
    double cross = 0;
    int rc = view_class(t, arch, precision, 0, &v, err);

    if (rc) {
        return rc;
    }
    *out = (struct eco_published_class_info){
        .arch_used = eco_published_arch_used(arch),
        .range_lo_b = v.lo_b,
        .range_hi_b = v.hi_b,
        .n_anchors = v.n,
        .have_crossover = eco_published_crossover(v.curve, v.hi_b, &cross),
    };
    out->crossover_b = out->have_crossover ? eco_published_places(cross, 3) : 0.0;
    return ECO_OK;
}
