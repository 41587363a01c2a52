/* Ticks and labels: see chart_scale.h. */
#include "chart_scale.h"

#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int eco_chart_ticks(double lo, double hi, int want, double out[ECO_CHART_MAX_TICKS])
{
    static const double steps[] = {1, 2, 5, 10};
    if (!(hi > lo) || want < 1)
        return 0;
    double raw = (hi - lo) / want, power = pow(10, floor(log10(raw))), step = 10 * power;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (steps[i] * power >= raw * 0.999) {
            step = steps[i] * power;
            break;
        }
    }
    double first = ceil(lo / step - 1e-9);
    int n = 0;
    while (n < ECO_CHART_MAX_TICKS && (first + n) * step <= hi + step * 1e-9) {
        double v = (first + n) * step;
        out[n++] = v == 0 ? 0 : v; /* no minus zero */
    }
    return n;
}

int eco_chart_log_ticks(double lo, double hi, int want, double out[ECO_CHART_MAX_TICKS])
{
    static const double fine[] = {1, 2, 5}, coarse[] = {1};
    if (!(lo > 0) || !(hi > lo))
        return 0;
    double decades = log10(hi / lo);
    bool few = decades * 3 <= want + 2;
    const double *steps = few ? fine : coarse;
    int count = few ? 3 : 1, n = 0;
    int last = (int)ceil(log10(hi));
    for (int e = (int)floor(log10(lo)); e <= last; e++) {
        for (int i = 0; i < count; i++) {
            double v = steps[i] * pow(10, e);
            if (v >= lo * 0.999 && v <= hi * 1.001 && n < ECO_CHART_MAX_TICKS)
                out[n++] = v;
        }
    }
    return n;
}

static void cover(double v, double *lo, double *hi)
{
    if (!isfinite(v))
        return;
    *lo = v < *lo ? v : *lo;
    *hi = v > *hi ? v : *hi;
}

static int check_sizes(const struct eco_chart_crossover *c, struct eco_err *err)
{
    if (c->curve_count > ECO_CHART_MAX_POINTS || c->mark_count > ECO_CHART_MAX_POINTS)
        return eco_err_set(err, ECO_E_TOO_LARGE, "curve", "more than %d points",
                           ECO_CHART_MAX_POINTS);
    for (size_t i = 0; i < c->curve_count; i++) {
        const struct eco_chart_curve *p = &c->curve[i];
        if (!(p->params_b > 0) || !isfinite(p->params_b) || !isfinite(p->delta_pct.median) ||
            (i && p->params_b <= c->curve[i - 1].params_b))
            return eco_err_set(err, ECO_E_INVALID, "curve",
                               "curve point %zu: sizes must be positive and rising, values finite",
                               i);
    }
    for (size_t i = 0; i < c->mark_count; i++) {
        if (!(c->marks[i].params_b > 0) || !isfinite(c->marks[i].params_b) ||
            !isfinite(c->marks[i].delta_pct))
            return eco_err_set(err, ECO_E_INVALID, "marks", "mark %zu is not a point", i);
    }
    for (size_t i = 0; i < c->yours_count; i++) {
        if (!(c->yours[i].params_b > 0) || !isfinite(c->yours[i].params_b) ||
            !isfinite(c->yours[i].delta_pct))
            return eco_err_set(err, ECO_E_INVALID, "yours", "overlay %zu is not a point", i);
    }
    if (c->point_b <= 0 || isinf(c->point_b))
        return eco_err_set(err, ECO_E_INVALID, "point", "the point's size must be positive");
    if (c->curve_count == 0 && c->mark_count == 0 && isnan(c->point_b))
        return eco_err_set(err, ECO_E_INVALID, "curve", "there is nothing to draw");
    return 0;
}

int eco_chart_crossover_range(const struct eco_chart_crossover *c, struct eco_chart_range *out,
                              struct eco_err *err)
{
    struct eco_chart_range r = {INFINITY, -INFINITY, 0, 0, INFINITY, -INFINITY};
    int rc = check_sizes(c, err);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < c->curve_count; i++) {
        const struct eco_band *b = &c->curve[i].delta_pct;
        cover(c->curve[i].params_b, &r.x_lo, &r.x_hi);
        cover(b->median, &r.y_lo, &r.y_hi);
        cover(b->lo80, &r.y_lo, &r.y_hi);
        cover(b->hi80, &r.y_lo, &r.y_hi);
    }
    for (size_t i = 0; i < c->mark_count; i++) {
        cover(c->marks[i].params_b, &r.x_lo, &r.x_hi);
        cover(c->marks[i].params_b, &r.seen_lo, &r.seen_hi);
        cover(c->marks[i].delta_pct, &r.y_lo, &r.y_hi);
    }
    for (size_t i = 0; i < c->yours_count; i++) {
        cover(c->yours[i].params_b, &r.x_lo, &r.x_hi);
        cover(c->yours[i].delta_pct, &r.y_lo, &r.y_hi);
    }
    if (!isnan(c->point_b)) {
        cover(c->point_b, &r.x_lo, &r.x_hi);
        cover(c->point_pct, &r.y_lo, &r.y_hi);
        cover(c->point_lo_pct, &r.y_lo, &r.y_hi);
        cover(c->point_hi_pct, &r.y_lo, &r.y_hi);
    }
    double room = 1.04 * pow(r.x_hi / r.x_lo, 0.02), pad;
    if (r.x_hi / r.x_lo < 2)
        room = 2;
    r.x_lo /= room;
    r.x_hi *= room;
    pad = fmax(5, 0.06 * (r.y_hi - r.y_lo));
    r.y_lo = fmax(-100, r.y_lo - pad);
    r.y_hi += pad;
    if (c->mark_count == 0)
        r.seen_lo = r.seen_hi = NAN;
    *out = r;
    return 0;
}

void eco_chart_label_size(double params_b, char out[ECO_CHART_LABEL])
{
    char text[ECO_NUM_MAX];
    int digits = params_b >= 100 ? 0 : params_b >= 10 ? 1 : params_b >= 0.1 ? 2 : 4;
    eco_num_format(eco_num_round(params_b, digits), text);
    snprintf(out, ECO_CHART_LABEL, "%sB", text);
}

void eco_chart_label_pct(double pct, int places, bool signs, bool ascii, char out[ECO_CHART_LABEL])
{
    double shown = eco_num_round(pct, places);
    const char *sign = shown < 0 ? (ascii ? "-" : "\xe2\x88\x92") : signs && shown > 0 ? "+" : "";
    snprintf(out, ECO_CHART_LABEL, "%s%.*f%s%%", sign, places, fabs(shown),
             ascii ? "" : "\xc2\xa0");
}

void eco_chart_label_value(double v, char out[ECO_CHART_LABEL])
{
    double size = fabs(v);
    if (size >= 1e7 || (size < 1e-3 && size > 0)) {
        snprintf(out, ECO_CHART_LABEL, "%.3g", v);
        return;
    }
    int places = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
    char text[ECO_NUM_MAX];
    eco_num_format(eco_num_round(v, places), text);
    snprintf(out, ECO_CHART_LABEL, "%s", text);
}
