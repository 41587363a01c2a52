/* Bars, Pareto front and power trace as SVG; the crossover chart has a file of its own. */
#include "chart_svg.h"
#include "chart_scale.h"
#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 760.0

static int finish(struct eco_buf *out, struct eco_err *err)
{
    return eco_buf_ok(out) ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

/* ---- bars ----------------------------------------------------------------------------------- */

#define BAR_PITCH 38.0
#define BAR_TOP 78.0
#define LABEL_COLUMNS 28.0

static int bars_range(const struct eco_chart_bars *c, double *hi, double *label_px,
                      struct eco_err *err)
{
    *hi = 0;
    *label_px = 60;
    if (c->bar_count == 0 || c->bar_count > 64)
        return eco_err_set(err, ECO_E_INVALID, "bars", "a bar chart has 1 to 64 bars, not %zu",
                           c->bar_count);
    for (size_t i = 0; i < c->bar_count; i++) {
        const struct eco_chart_bar *b = &c->bars[i];
        if (!(b->value >= 0) || !isfinite(b->value) || isinf(b->hi) || isinf(b->lo))
            return eco_err_set(err, ECO_E_INVALID, "bars", "bar %zu is not a length", i);
        *hi = fmax(*hi, fmax(b->value, isnan(b->hi) ? 0 : b->hi));
        *label_px = fmax(*label_px, fmin(LABEL_COLUMNS * 7.6,
                                         eco_svg_text_width(b->label ? b->label : "", 13.5)));
    }
    if (*hi <= 0)
        *hi = 1;
    return 0;
}

static void put_bar(struct eco_buf *out, const struct eco_chart_bars *c, size_t i, double left,
                    double scale)
{
    const struct eco_chart_bar *b = &c->bars[i];
    char value[ECO_CHART_LABEL], text[96];
    double y = BAR_TOP + (double)i * BAR_PITCH, mid = y + 11, end = left + b->value * scale;
    const char *bar = b->highlight ? "eco-bar-hi" : "eco-bar";
    eco_svg_text_cut(out, left - 10, mid + 4, ECO_SVG_END, b->highlight ? "eco-a" : "eco-b",
                     b->label ? b->label : "", LABEL_COLUMNS);
    eco_svg_rect(out, left, y, b->value * scale, 22, 2, bar, NULL);
    if (!b->measured) /* a prediction is cut open at its end, whatever its colour */
        eco_svg_rect(out, fmax(left, end - 8), y + 2, fmin(6, b->value * scale), 18, 0, "eco-bg",
                     "predicted");
    double right = end;
    if (!isnan(b->lo) && !isnan(b->hi)) {
        double x1 = left + fmax(0, b->lo) * scale, x2 = left + b->hi * scale;
        eco_svg_line(out, x1, mid, x2, mid, "eco-whisker");
        eco_svg_line(out, x1, mid - 5, x1, mid + 5, "eco-whisker");
        eco_svg_line(out, x2, mid - 5, x2, mid + 5, "eco-whisker");
        right = fmax(end, x2);
    }
    eco_chart_label_value(b->value, value);
    snprintf(text, sizeof(text), "%s %.40s", value, c->unit ? c->unit : "");
    eco_svg_text(out, right + 8, mid + 4, ECO_SVG_START, b->highlight ? "eco-a" : "", text);
}

int eco_chart_svg_bars(const struct eco_chart_bars *c, struct eco_buf *out, struct eco_err *err)
{
    double hi, label_px;
    struct eco_buf desc = ECO_BUF_INIT;
    int rc = bars_range(c, &hi, &label_px, err);
    if (rc != 0)
        return rc;
    double left = 24 + label_px + 14, height = BAR_TOP + (double)c->bar_count * BAR_PITCH + 44;
    double unit_px = eco_svg_text_width(c->unit ? c->unit : "", 12) + 70;
    double scale = (WIDTH - 24 - unit_px - left) / hi;
    bool predicted = false;
    for (size_t i = 0; i < c->bar_count; i++) {
        char value[ECO_CHART_LABEL];
        eco_chart_label_value(c->bars[i].value, value);
        eco_buf_printf(&desc, "%s: %s %s%s. ", c->bars[i].label ? c->bars[i].label : "", value,
                       c->unit ? c->unit : "", c->bars[i].measured ? "" : ", predicted");
        predicted = predicted || !c->bars[i].measured;
    }
    eco_svg_open(out, "bars", WIDTH, height, c->title, c->subtitle, eco_buf_str(&desc));
    for (size_t i = 0; i < c->bar_count; i++)
        put_bar(out, c, i, left, scale);
    eco_svg_line(out, left, BAR_TOP - 6, left, height - 52, "eco-axis");
    if (predicted)
        eco_svg_text(out, WIDTH - 24, height - 14, ECO_SVG_END, "eco-f",
                     "notched end: predicted, not measured");
    eco_svg_close(out, height, c->source);
    eco_buf_done(&desc);
    return finish(out, err);
}

/* ---- Pareto front --------------------------------------------------------------------------- */

/* A plot with two linear axes, shared by the Pareto and the power chart. */
struct plot {
    struct eco_buf *out;
    double left, right, top, bottom, x_lo, x_hi, y_lo, y_hi;
};

static double plot_x(const struct plot *p, double x)
{
    return p->left + (p->right - p->left) * (x - p->x_lo) / (p->x_hi - p->x_lo);
}

static double plot_y(const struct plot *p, double y)
{
    return p->bottom - (p->bottom - p->top) * (y - p->y_lo) / (p->y_hi - p->y_lo);
}

static void widen(double *lo, double *hi, double share)
{
    double room = *hi > *lo ? (*hi - *lo) * share : fmax(1, fabs(*hi)) * 0.5;
    *lo -= room;
    *hi += room;
}

static void put_axes(const struct plot *p, const char *x_label, const char *y_label)
{
    double ticks[ECO_CHART_MAX_TICKS];
    char label[ECO_CHART_LABEL];
    int n = eco_chart_ticks(p->y_lo, p->y_hi, 6, ticks);
    for (int i = 0; i < n; i++) {
        double y = plot_y(p, ticks[i]);
        eco_svg_line(p->out, p->left, y, p->right, y, "eco-grid");
        eco_chart_label_value(ticks[i], label);
        eco_svg_text(p->out, p->left - 10, y + 4, ECO_SVG_END, "", label);
    }
    n = eco_chart_ticks(p->x_lo, p->x_hi, 8, ticks);
    for (int i = 0; i < n; i++) {
        double x = plot_x(p, ticks[i]);
        eco_svg_line(p->out, x, p->bottom, x, p->bottom + 5, "eco-axis");
        eco_chart_label_value(ticks[i], label);
        eco_svg_text(p->out, x, p->bottom + 20, ECO_SVG_MIDDLE, "", label);
    }
    eco_svg_line(p->out, p->left, p->bottom, p->right, p->bottom, "eco-axis");
    if (x_label)
        eco_svg_text(p->out, (p->left + p->right) / 2, p->bottom + 38, ECO_SVG_MIDDLE, "", x_label);
    if (y_label)
        eco_svg_text(p->out, 24, p->top - 12, ECO_SVG_START, "", y_label);
}

static void put_dot(struct eco_buf *out, double x, double y, double r, const char *class_names,
                    const char *title)
{
    eco_buf_printf(out, "<circle class=\"%s\" cx=\"", class_names);
    eco_svg_num(out, x);
    eco_buf_puts(out, "\" cy=\"");
    eco_svg_num(out, y);
    eco_buf_puts(out, "\" r=\"");
    eco_svg_num(out, r);
    eco_buf_puts(out, "\"><title>");
    eco_svg_escape(out, title ? title : "");
    eco_buf_puts(out, "</title></circle>\n");
}

/* Five points, the first upwards. */
static void put_star(struct eco_buf *out, double x, double y, double r, const char *title)
{
    static const double unit[10][2] = {
        {0, -1},  {0.2351, -0.3236}, {0.9511, -0.3090}, {0.3804, 0.1236},   {0.5878, 0.8090},
        {0, 0.4}, {-0.5878, 0.8090}, {-0.3804, 0.1236}, {-0.9511, -0.3090}, {-0.2351, -0.3236}};
    eco_buf_puts(out, "<path class=\"eco-you\" d=\"");
    for (int i = 0; i < 10; i++) {
        eco_buf_putc(out, i ? 'L' : 'M');
        eco_svg_num(out, x + r * unit[i][0]);
        eco_buf_putc(out, ' ');
        eco_svg_num(out, y + r * unit[i][1]);
    }
    eco_buf_puts(out, "Z\"><title>");
    eco_svg_escape(out, title ? title : "");
    eco_buf_puts(out, "</title></path>\n");
}

static int pareto_range(const struct eco_chart_pareto *c, struct plot *p, struct eco_err *err)
{
    if (c->count == 0 || c->count > ECO_CHART_MAX_POINTS)
        return eco_err_set(err, ECO_E_INVALID, "items", "1 to %d candidates can be drawn, not %zu",
                           ECO_CHART_MAX_POINTS, c->count);
    p->x_lo = p->y_lo = INFINITY;
    p->x_hi = p->y_hi = -INFINITY;
    for (size_t i = 0; i < c->count; i++) {
        const struct eco_chart_candidate *k = &c->items[i];
        if (!isfinite(k->x) || !isfinite(k->y))
            return eco_err_set(err, ECO_E_INVALID, "items", "candidate %zu is not a point", i);
        p->x_lo = fmin(p->x_lo, k->x);
        p->x_hi = fmax(p->x_hi, k->x);
        p->y_lo = fmin(p->y_lo, k->y);
        p->y_hi = fmax(p->y_hi, k->y);
    }
    double x_min = p->x_lo, y_min = p->y_lo;
    widen(&p->x_lo, &p->x_hi, 0.06);
    widen(&p->y_lo, &p->y_hi, 0.08);
    p->x_lo = x_min >= 0 ? fmax(0, p->x_lo) : p->x_lo;
    p->y_lo = y_min >= 0 ? fmax(0, p->y_lo) : p->y_lo;
    return 0;
}

/* The front as a staircase through its members, by rising x; quadratic, fronts are short. */
static void put_front(const struct eco_chart_pareto *c, const struct plot *p)
{
    double at = -INFINITY, last_y = 0;
    bool any = false;
    for (size_t k = 0; k < c->count; k++) {
        const struct eco_chart_candidate *next = NULL;
        for (size_t i = 0; i < c->count; i++) {
            const struct eco_chart_candidate *m = &c->items[i];
            if (m->front && m->x > at && (!next || m->x < next->x))
                next = m;
        }
        if (!next)
            break;
        if (!any)
            eco_buf_puts(p->out, "<path class=\"eco-curve\" d=\"M");
        else
            eco_buf_putc(p->out, 'L');
        eco_svg_num(p->out, plot_x(p, next->x));
        eco_buf_putc(p->out, ' ');
        eco_svg_num(p->out, plot_y(p, any ? last_y : next->y));
        if (any) {
            eco_buf_putc(p->out, 'L');
            eco_svg_num(p->out, plot_x(p, next->x));
            eco_buf_putc(p->out, ' ');
            eco_svg_num(p->out, plot_y(p, next->y));
        }
        any = true;
        at = next->x;
        last_y = next->y;
    }
    if (any)
        eco_buf_puts(p->out, "\"/>\n");
}

int eco_chart_svg_pareto(const struct eco_chart_pareto *c, struct eco_buf *out, struct eco_err *err)
{
    struct plot p = {.out = out, .left = 76, .right = WIDTH - 28, .top = 118, .bottom = 400};
    const struct eco_chart_candidate *best = NULL;
    char desc[256];
    size_t front = 0;
    int rc = pareto_range(c, &p, err);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < c->count; i++) {
        front += c->items[i].front;
        best = c->items[i].best ? &c->items[i] : best;
    }
    snprintf(desc, sizeof(desc), "%zu configurations, %zu on the front.%s%.120s", c->count, front,
             best ? " Recommended: " : "", best && best->label ? best->label : "");
    eco_svg_open(out, "pareto", WIDTH, 478, c->title, c->subtitle, desc);
    put_dot(out, 30, 74, 4.5, "eco-mark", NULL);
    eco_svg_text(out, 41, 78, ECO_SVG_START, "", "on the front");
    put_dot(out, 140, 74, 4, "eco-dot", NULL);
    eco_svg_text(out, 151, 78, ECO_SVG_START, "", "feasible");
    put_dot(out, 226, 74, 4, "eco-off", NULL);
    eco_svg_text(out, 237, 78, ECO_SVG_START, "", "over a budget");
    if (best) {
        put_star(out, 344, 74, 8, NULL);
        eco_svg_text(out, 358, 78, ECO_SVG_START, "", "recommended");
    }
    put_axes(&p, c->x_label, c->y_label);
    for (size_t i = 0; i < c->count; i++) {
        const struct eco_chart_candidate *k = &c->items[i];
        if (!k->front && !k->best)
            put_dot(out, plot_x(&p, k->x), plot_y(&p, k->y), 4, k->feasible ? "eco-dot" : "eco-off",
                    k->label);
    }
    put_front(c, &p);
    for (size_t i = 0; i < c->count; i++) {
        if (c->items[i].front && !c->items[i].best)
            put_dot(out, plot_x(&p, c->items[i].x), plot_y(&p, c->items[i].y), 4.5, "eco-mark",
                    c->items[i].label);
    }
    if (best) {
        double x = plot_x(&p, best->x), y = plot_y(&p, best->y);
        const char *label = best->label ? best->label : "recommended";
        bool left = x + 16 + eco_svg_text_width(label, 12) > p.right;
        put_star(out, x, y, 12, label);
        eco_svg_text(out, left ? x - 16 : x + 16, y - 10, left ? ECO_SVG_END : ECO_SVG_START,
                     "eco-halo eco-a", label);
    }
    eco_svg_close(out, 478, c->source);
    return finish(out, err);
}

/* ---- power over time ------------------------------------------------------------------------ */

static int power_range(const struct eco_chart_power *c, struct plot *p, struct eco_err *err)
{
    if (c->count < 2)
        return eco_err_set(err, ECO_E_INVALID, "power", "a power chart needs two samples");
    p->y_lo = 0;
    p->y_hi = 1;
    for (size_t i = 0; i < c->count; i++) {
        if (!isfinite(c->t_s[i]) || !isfinite(c->power_w[i]) || (i && c->t_s[i] < c->t_s[i - 1]))
            return eco_err_set(err, ECO_E_INVALID, "power", "sample %zu: times must rise", i);
        p->y_hi = fmax(p->y_hi, c->power_w[i]);
    }
    p->x_lo = c->t_s[0];
    p->x_hi = c->t_s[c->count - 1];
    if (!(p->x_hi > p->x_lo))
        return eco_err_set(err, ECO_E_INVALID, "power", "the samples span no time");
    p->y_hi *= 1.08;
    return 0;
}

/*
 * Lowest and highest sample of every pixel column, so that a long trace stays small and no peak is
 * lost.
 */
static void put_trace(const struct eco_chart_power *c, const struct plot *p)
{
    double width = p->right - p->left;
    size_t i = 0;
    eco_buf_puts(p->out, "<path class=\"eco-curve\" style=\"stroke-width:1.3\" d=\"");
    for (int column = 0; i < c->count; column++) {
        size_t first = i, lo = i, hi = i;
        for (; i < c->count && (i == first || plot_x(p, c->t_s[i]) - p->left <
                                                  (double)(column + 1) * fmin(1, width));
             i++) {
            lo = c->power_w[i] < c->power_w[lo] ? i : lo;
            hi = c->power_w[i] > c->power_w[hi] ? i : hi;
        }
        size_t order[2] = {lo < hi ? lo : hi, lo < hi ? hi : lo};
        for (int k = 0; k < (lo == hi ? 1 : 2); k++) {
            eco_buf_putc(p->out, first == 0 && k == 0 ? 'M' : 'L');
            eco_svg_num(p->out, plot_x(p, c->t_s[order[k]]));
            eco_buf_putc(p->out, ' ');
            eco_svg_num(p->out, plot_y(p, c->power_w[order[k]]));
        }
        if (i < c->count)
            column = (int)(plot_x(p, c->t_s[i]) - p->left) - 1;
    }
    eco_buf_puts(p->out, "\"/>\n");
}

int eco_chart_svg_power(const struct eco_chart_power *c, struct eco_buf *out, struct eco_err *err)
{
    struct plot p = {.out = out, .left = 64, .right = WIDTH - 24, .top = 104, .bottom = 320};
    char desc[160], label[ECO_CHART_LABEL];
    int rc = power_range(c, &p, err);
    if (rc != 0)
        return rc;
    eco_chart_label_value(p.y_hi / 1.08, label);
    snprintf(desc, sizeof(desc), "%zu samples over %.1f s, peak %s W, %zu measured windows.",
             c->count, p.x_hi - p.x_lo, label, c->window_count);
    eco_svg_open(out, "power", WIDTH, 398, c->title, c->subtitle, desc);
    for (size_t i = 0; i < c->window_count; i++) {
        double x1 = fmax(p.left, plot_x(&p, c->windows[i].start_s));
        double x2 = fmin(p.right, plot_x(&p, c->windows[i].end_s));
        if (!(x2 > x1))
            continue;
        eco_svg_rect(out, x1, p.top, x2 - x1, p.bottom - p.top, 0, "eco-shade",
                     c->windows[i].label);
        if (c->windows[i].label && eco_svg_text_width(c->windows[i].label, 12) < x2 - x1)
            eco_svg_text(out, (x1 + x2) / 2, p.top - 8, ECO_SVG_MIDDLE, "eco-a",
                         c->windows[i].label);
    }
    put_axes(&p, "time, s", NULL);
    eco_svg_text(out, 24, p.top - 8, ECO_SVG_START, "", "W");
    if (!isnan(c->idle_w)) {
        eco_svg_line(out, p.left, plot_y(&p, c->idle_w), p.right, plot_y(&p, c->idle_w),
                     "eco-cross");
        eco_svg_text(out, p.right - 4, plot_y(&p, c->idle_w) - 5, ECO_SVG_END, "eco-halo", "idle");
    }
    put_trace(c, &p);
    eco_svg_close(out, 398, c->source);
    return finish(out, err);
}
