/* Bars, Pareto front and power trace as SVG; the crossover chart has a file of its own. */
#include "chart_svg.h"
#include "chart_scale.h"
#include "chart_sheet.h"
#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- bars ----------------------------------------------------------------------------------- */

#define LABEL_COLUMNS 28.0

struct bars {
    struct eco_chart_sheet sheet;
    const struct eco_chart_bars *c;
    double left, top, pitch, thick, scale;
};

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

/* "NF4: 4.3 kJ, measured": in the description, and as the bar's own title. */
static void say_bar(const struct bars *p, size_t i, struct eco_buf *out)
{
    const struct eco_chart_bar *b = &p->c->bars[i];
    const char *label = b->label ? b->label : "", *unit = p->c->unit ? p->c->unit : "";
    char value[ECO_CHART_LABEL], hi[ECO_CHART_LABEL];
    eco_chart_label_value(b->value, value);
    eco_buf_printf(out, "%s: %s %s", label, value, unit);
    if (!isnan(b->lo) && !isnan(b->hi)) {
        eco_chart_label_value(b->lo, value);
        eco_chart_label_value(b->hi, hi);
        eco_buf_printf(out, " (%s \xe2\x80\xa6 %s)", value, hi);
    }
    eco_buf_printf(out, ", %s",
                   eco_chart_word(&p->sheet.look, b->measured ? "measured" : "predicted"));
}

static void put_bar(const struct bars *p, size_t i)
{
    const struct eco_chart_bar *b = &p->c->bars[i];
    struct eco_buf *out = p->sheet.out, title = ECO_BUF_INIT;
    const char *name = b->label ? b->label : "", *tone = b->highlight ? "eco-a" : "";
    char value[ECO_CHART_LABEL], text[96];
    double y = p->top + (double)i * p->pitch, mid = y + p->thick / 2;
    double left = p->left, right = left + b->value * p->scale;
    if (p->sheet.narrow)
        eco_svg_text_cut(out, left, y - 6, ECO_SVG_START, tone, name,
                         (p->sheet.width - 2 * left) / 7.6);
    else
        eco_svg_text_cut(out, left - 10, mid + 4, ECO_SVG_END, tone, name, LABEL_COLUMNS);
    say_bar(p, i, &title);
    if (b->detail)
        eco_buf_printf(&title, " \xc2\xb7 %s", b->detail);
    eco_svg_rect(out, left, y, b->value * p->scale, p->thick, 2,
                 b->highlight ? "eco-bar-hi" : "eco-bar", eco_buf_str(&title));
    out->failed |= title.failed;
    eco_buf_done(&title);
    if (!b->measured) /* a prediction is cut open at its end, whatever its colour */
        eco_svg_rect(out, fmax(left, right - 8), y + 2, fmin(6, b->value * p->scale), p->thick - 4,
                     0, "eco-bg", NULL);
    if (!isnan(b->lo) && !isnan(b->hi)) {
        double x1 = left + fmax(0, b->lo) * p->scale, x2 = left + b->hi * p->scale;
        eco_svg_line(out, x1, mid, x2, mid, "eco-whisker");
        eco_svg_line(out, x1, mid - 5, x1, mid + 5, "eco-whisker");
        eco_svg_line(out, x2, mid - 5, x2, mid + 5, "eco-whisker");
        right = fmax(right, x2);
    }
    eco_chart_label_value(b->value, value);
    snprintf(text, sizeof(text), "%s %.40s", value, p->c->unit ? p->c->unit : "");
    eco_svg_text(out, right + 8, mid + 4, ECO_SVG_START, b->highlight ? "eco-a" : "", text);
}

/* Names stand left of the bars, on a phone above them. */
static void bars_layout(struct bars *p, double hi, double label_px)
{
    struct eco_chart_sheet *s = &p->sheet;
    double unit_px = eco_svg_text_width(p->c->unit ? p->c->unit : "", 12) + 70;
    p->left = s->narrow ? s->margin : s->margin + label_px + 14;
    p->thick = s->narrow ? 14 : 22;
    p->pitch = s->narrow ? 42 : 38;
    p->top = s->legend_y + (s->narrow ? 14 : 0);
    p->scale = (s->width - s->margin - unit_px - p->left) / hi;
}

int eco_chart_svg_bars(const struct eco_chart_bars *c, const struct eco_chart_look *look,
                       struct eco_buf *out, struct eco_err *err)
{
    struct bars p = {.c = c};
    struct eco_chart_sheet *s = &p.sheet;
    struct eco_buf desc = ECO_BUF_INIT;
    double hi, label_px;
    bool predicted = false;
    int rc = bars_range(c, &hi, &label_px, err);
    rc = rc ? rc : eco_chart_sheet_init(s, out, look, c->title, c->subtitle, c->source, err);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < c->bar_count; i++) {
        say_bar(&p, i, &desc);
        eco_buf_puts(&desc, ". ");
        predicted = predicted || !c->bars[i].measured;
    }
    bars_layout(&p, hi, label_px);
    double foot = p.top + (double)c->bar_count * p.pitch;
    double height = foot + 44 + (predicted && s->narrow ? 18 : 0) + eco_chart_sheet_more(s);
    eco_chart_sheet_open(s, "bars", height, eco_buf_str(&desc));
    for (size_t i = 0; i < c->bar_count; i++)
        put_bar(&p, i);
    if (!s->narrow)
        eco_svg_line(out, p.left, p.top - 6, p.left, foot - 8, "eco-axis");
    if (predicted)
        eco_svg_text(out, s->width - s->margin, s->narrow ? foot : height - 14, ECO_SVG_END,
                     "eco-f", eco_chart_word(&s->look, "notched end: predicted, not measured"));
    eco_buf_done(&desc);
    return eco_chart_sheet_close(s, err);
}

/* ---- Pareto front --------------------------------------------------------------------------- */

/* A plot with two linear axes, shared by the Pareto and the power chart. */
struct plot {
    struct eco_buf *out;
    struct eco_chart_sheet sheet;
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
    n = eco_chart_ticks(p->x_lo, p->x_hi, p->sheet.narrow ? 4 : 8, ticks);
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
        eco_svg_text(p->out, p->sheet.margin, p->top - 12, ECO_SVG_START, "", y_label);
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

static void pareto_legend(struct eco_chart_sheet *s, bool best)
{
    double x = eco_chart_sheet_legend(s, 17, "on the front");
    put_dot(&s->legend, x + 6, s->legend_y - 4, 4.5, "eco-mark", NULL);
    x = eco_chart_sheet_legend(s, 17, "feasible");
    put_dot(&s->legend, x + 6, s->legend_y - 4, 4, "eco-dot", NULL);
    x = eco_chart_sheet_legend(s, 17, "over a budget");
    put_dot(&s->legend, x + 6, s->legend_y - 4, 4, "eco-off", NULL);
    if (best) {
        x = eco_chart_sheet_legend(s, 22, "recommended");
        put_star(&s->legend, x + 8, s->legend_y - 4, 8, NULL);
    }
}

static void pareto_items(const struct eco_chart_pareto *c, const struct plot *p)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct eco_chart_candidate *k = &c->items[i];
        if (!k->front && !k->best)
            put_dot(p->out, plot_x(p, k->x), plot_y(p, k->y), 4,
                    k->feasible ? "eco-dot" : "eco-off", k->detail ? k->detail : k->label);
    }
    put_front(c, p);
    for (size_t i = 0; i < c->count; i++) {
        const struct eco_chart_candidate *k = &c->items[i];
        if (k->front && !k->best)
            put_dot(p->out, plot_x(p, k->x), plot_y(p, k->y), 4.5, "eco-mark",
                    k->detail ? k->detail : k->label);
    }
}

/* How far above the star its name stands, so that it covers the fewest points. */
static double name_rise(const struct eco_chart_pareto *c, const struct plot *p, double x, double y,
                        double wide)
{
    static const double tries[] = {10, 26, -24, 42};
    size_t least = SIZE_MAX, best = 0;
    for (size_t t = 0; t < sizeof(tries) / sizeof(tries[0]); t++) {
        size_t covered = 0;
        for (size_t i = 0; i < c->count; i++)
            covered += fabs(plot_x(p, c->items[i].x) - x) < wide + 20 &&
                       fabs(plot_y(p, c->items[i].y) - (y - tries[t] - 4)) < 11;
        if (covered < least)
            least = covered, best = t;
    }
    return tries[best];
}

int eco_chart_svg_pareto(const struct eco_chart_pareto *c, const struct eco_chart_look *look,
                         struct eco_buf *out, struct eco_err *err)
{
    struct plot p = {.out = out};
    struct eco_chart_sheet *s = &p.sheet;
    const struct eco_chart_candidate *best = NULL;
    char desc[400];
    size_t front = 0;
    int rc = pareto_range(c, &p, err);
    rc = rc ? rc : eco_chart_sheet_init(s, out, look, c->title, c->subtitle, c->source, err);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < c->count; i++) {
        front += c->items[i].front;
        best = c->items[i].best ? &c->items[i] : best;
    }
    const char *star = eco_chart_word(&s->look, "recommended");
    const char *name = best && best->label ? best->label : best ? star : "";
    snprintf(desc, sizeof(desc), "%.60s: %zu; %.60s: %zu. %.60s%s%.120s",
             eco_chart_word(&s->look, "configurations"), c->count,
             eco_chart_word(&s->look, "on the front"), front, best ? star : "", best ? ": " : "",
             name);
    pareto_legend(s, best);
    p.left = s->narrow ? 58 : 76, p.right = s->width - (s->narrow ? 14 : 28);
    p.top = s->legend_y + 40, p.bottom = p.top + 282;
    eco_chart_sheet_open(s, "pareto", p.bottom + 78 + eco_chart_sheet_more(s), desc);
    put_axes(&p, c->x_label, c->y_label);
    pareto_items(c, &p);
    if (best) {
        double x = plot_x(&p, best->x), y = plot_y(&p, best->y);
        put_star(out, x, y, 12, best->detail ? best->detail : name);
        double rise = name_rise(c, &p, x, y, eco_svg_text_width(name, 12));
        eco_chart_sheet_label(s, x, y - rise, 16, p.left, p.right, "eco-halo eco-a", name);
    }
    return eco_chart_sheet_close(s, err);
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

static void put_windows(const struct eco_chart_power *c, const struct plot *p)
{
    for (size_t i = 0; i < c->window_count; i++) {
        double x1 = fmax(p->left, plot_x(p, c->windows[i].start_s));
        double x2 = fmin(p->right, plot_x(p, c->windows[i].end_s));
        if (!(x2 > x1))
            continue;
        eco_svg_rect(p->out, x1, p->top, x2 - x1, p->bottom - p->top, 0, "eco-shade",
                     c->windows[i].detail ? c->windows[i].detail : c->windows[i].label);
        if (c->windows[i].label && eco_svg_text_width(c->windows[i].label, 12) < x2 - x1)
            eco_svg_text(p->out, (x1 + x2) / 2, p->top - 8, ECO_SVG_MIDDLE, "eco-a",
                         c->windows[i].label);
    }
}

int eco_chart_svg_power(const struct eco_chart_power *c, const struct eco_chart_look *look,
                        struct eco_buf *out, struct eco_err *err)
{
    struct plot p = {.out = out};
    struct eco_chart_sheet *s = &p.sheet;
    char desc[256], label[ECO_CHART_LABEL];
    int rc = power_range(c, &p, err);
    rc = rc ? rc : eco_chart_sheet_init(s, out, look, c->title, c->subtitle, c->source, err);
    if (rc != 0)
        return rc;
    eco_chart_label_value(p.y_hi / 1.08, label);
    snprintf(desc, sizeof(desc), "%.40s: %zu, %.1f s, %.40s %s W. %.40s: %zu.",
             eco_chart_word(&s->look, "samples"), c->count, p.x_hi - p.x_lo,
             eco_chart_word(&s->look, "peak"), label, eco_chart_word(&s->look, "measured windows"),
             c->window_count);
    p.left = s->narrow ? 50 : 64, p.right = s->width - (s->narrow ? 14 : 24);
    p.top = s->legend_y + 26, p.bottom = p.top + 216;
    eco_chart_sheet_open(s, "power", p.bottom + 78 + eco_chart_sheet_more(s), desc);
    put_windows(c, &p);
    put_axes(&p, eco_chart_word(&s->look, "time, s"), NULL);
    eco_svg_text(out, s->margin, p.top - 8, ECO_SVG_START, "", "W");
    if (!isnan(c->idle_w)) {
        double y = plot_y(&p, c->idle_w);
        eco_svg_line(out, p.left, y, p.right, y, "eco-cross");
        eco_svg_text(out, p.right - 4, y - 5, ECO_SVG_END, "eco-halo",
                     eco_chart_word(&s->look, "idle"));
    }
    put_trace(c, &p);
    return eco_chart_sheet_close(s, err);
}
