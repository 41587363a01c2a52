/* The crossover chart: change in energy per token over model size, with its bands. */
#include "chart_scale.h"
#include "chart_sheet.h"
#include "chart_svg.h"
#include "chart_svg_axes.h"
#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PLOT_HEIGHT 294.0
#define SIDES 110.0 /* room of the words beside the zero line */

struct frame {
    struct eco_buf *out;
    struct eco_chart_sheet sheet;
    const struct eco_chart_crossover *c;
    struct eco_chart_range r;
    double left, right, top, bottom;
};

static const char *word(const struct frame *f, const char *english)
{
    return eco_chart_word(&f->sheet.look, english);
}

static struct eco_svg_axes axes(const struct frame *f)
{
    return (struct eco_svg_axes){f->left,   f->right,  f->top,    f->bottom,
                                 f->r.x_lo, f->r.x_hi, f->r.y_lo, f->r.y_hi};
}

static double px(const struct frame *f, double params_b)
{
    const struct eco_svg_axes a = axes(f);
    return eco_svg_size_x(&a, params_b);
}

static double py(const struct frame *f, double pct)
{
    const struct eco_svg_axes a = axes(f);
    return eco_svg_pct_y(&a, pct);
}

static void point(struct frame *f, char op, double params_b, double pct)
{
    eco_buf_putc(f->out, op);
    eco_svg_num(f->out, px(f, params_b));
    eco_buf_putc(f->out, ' ');
    eco_svg_num(f->out, py(f, pct));
}

static void put_axes(struct frame *f)
{
    const struct eco_svg_axes a = axes(f);
    eco_svg_pct_axis(&f->sheet, &a, 10, NULL); /* zero comes after the bands: put_zero */
    eco_svg_size_axis(&f->sheet, &a);
}

static void put_zero(struct frame *f)
{
    if (f->r.y_lo > 0 || f->r.y_hi < 0)
        return;
    double y = py(f, 0);
    eco_svg_line(f->out, f->left, y, f->right, y, "eco-zero");
    /* at the left, where curves are far from zero, unless the asked model stands there */
    bool right = !isnan(f->c->point_b) && px(f, f->c->point_b) < f->left + SIDES;
    double x = right ? f->right - 4 : f->left + 6;
    enum eco_svg_anchor anchor = right ? ECO_SVG_END : ECO_SVG_START;
    if (y - f->top > 24)
        eco_svg_text(f->out, x, y - 7, anchor, "eco-halo", word(f, "costs energy \xe2\x86\x91"));
    if (f->bottom - y > 24)
        eco_svg_text(f->out, x, y + 16, anchor, "eco-halo", word(f, "saves energy \xe2\x86\x93"));
}

static double band_end(const struct eco_band *b, int level, bool high)
{
    const double ends[3][2] = {{b->lo95, b->hi95}, {b->lo80, b->hi80}, {b->lo50, b->hi50}};
    return ends[level][high];
}

/* One closed path a band, widest first; overlapping they grow darker towards the median. */
static void put_bands(struct frame *f)
{
    const struct eco_chart_crossover *c = f->c;
    for (int level = 0; level < 3; level++) {
        bool drawn = c->curve_count > 1;
        for (size_t i = 0; i < c->curve_count; i++)
            drawn = drawn && isfinite(band_end(&c->curve[i].delta_pct, level, false)) &&
                    isfinite(band_end(&c->curve[i].delta_pct, level, true));
        if (!drawn)
            continue;
        eco_buf_puts(f->out,
                     "<path class=\"eco-band\" clip-path=\"url(#eco-crossover-clip)\" d=\"");
        for (size_t i = 0; i < c->curve_count; i++)
            point(f, i ? 'L' : 'M', c->curve[i].params_b,
                  band_end(&c->curve[i].delta_pct, level, true));
        for (size_t i = c->curve_count; i-- > 0;)
            point(f, 'L', c->curve[i].params_b, band_end(&c->curve[i].delta_pct, level, false));
        eco_buf_puts(f->out, "Z\"/>\n");
    }
}

/* The median between two sizes, interpolated in the logarithm at the ends. */
static double median_at(const struct eco_chart_crossover *c, double params_b)
{
    size_t i = 1;
    while (i + 1 < c->curve_count && c->curve[i].params_b < params_b)
        i++;
    const struct eco_chart_curve *a = &c->curve[i - 1], *b = &c->curve[i];
    double t = log(params_b / a->params_b) / log(b->params_b / a->params_b);
    return a->delta_pct.median + t * (b->delta_pct.median - a->delta_pct.median);
}

static void put_curve_part(struct frame *f, double lo_b, double hi_b, const char *class_names)
{
    const struct eco_chart_crossover *c = f->c;
    double first = c->curve[0].params_b, last = c->curve[c->curve_count - 1].params_b;
    lo_b = fmax(lo_b, first);
    hi_b = fmin(hi_b, last);
    if (!(hi_b > lo_b))
        return;
    eco_buf_printf(f->out, "<path class=\"%s\" clip-path=\"url(#eco-crossover-clip)\" d=\"",
                   class_names);
    point(f, 'M', lo_b, median_at(c, lo_b));
    for (size_t i = 0; i < c->curve_count; i++) {
        if (c->curve[i].params_b > lo_b && c->curve[i].params_b < hi_b)
            point(f, 'L', c->curve[i].params_b, c->curve[i].delta_pct.median);
    }
    point(f, 'L', hi_b, median_at(c, hi_b));
    eco_buf_puts(f->out, "\"/>\n");
}

/* Solid between measured sizes, dashed where nothing was measured. */
static void put_curve(struct frame *f)
{
    double lo = f->r.seen_lo, hi = f->r.seen_hi;
    if (f->c->curve_count < 2)
        return;
    if (isnan(lo)) {
        put_curve_part(f, 0, INFINITY, "eco-curve eco-dash");
        return;
    }
    put_curve_part(f, 0, lo, "eco-curve eco-dash");
    put_curve_part(f, lo, hi, "eco-curve");
    put_curve_part(f, hi, INFINITY, "eco-curve eco-dash");
}

static void circle(struct eco_buf *out, double x, double y, bool filled, const char *title)
{
    eco_buf_printf(out, "<circle class=\"%s\" cx=\"", filled ? "eco-mark" : "eco-hollow");
    eco_svg_num(out, x);
    eco_buf_puts(out, "\" cy=\"");
    eco_svg_num(out, y);
    eco_buf_printf(out, "\" r=\"%s\"", filled ? "4.5" : "4");
    if (!title) {
        eco_buf_puts(out, "/>\n");
        return;
    }
    eco_buf_puts(out, "><title>");
    eco_svg_escape(out, title);
    eco_buf_puts(out, "</title></circle>\n");
}

static void diamond(struct eco_buf *out, double x, double y, double r, const char *class_names)
{
    eco_buf_printf(out, "<path class=\"%s\" d=\"M", class_names);
    eco_svg_num(out, x);
    eco_buf_putc(out, ' ');
    eco_svg_num(out, y - r);
    eco_buf_puts(out, "l");
    eco_svg_num(out, r);
    eco_buf_putc(out, ' ');
    eco_svg_num(out, r);
    eco_buf_puts(out, "l");
    eco_svg_num(out, -r);
    eco_buf_putc(out, ' ');
    eco_svg_num(out, r);
    eco_buf_puts(out, "l");
    eco_svg_num(out, -r);
    eco_buf_putc(out, ' ');
    eco_svg_num(out, -r);
    eco_buf_puts(out, "Z\"/>\n");
}

static void put_marks(struct frame *f)
{
    char size[ECO_CHART_LABEL], pct[ECO_CHART_LABEL], title[256];
    for (size_t i = 0; i < f->c->mark_count; i++) {
        const struct eco_chart_mark *m = &f->c->marks[i];
        eco_chart_label_size(m->params_b, size);
        eco_chart_label_pct(m->delta_pct, 1, true, false, pct);
        snprintf(title, sizeof(title), "%s: %s%s%.180s", size, pct, m->label ? ", " : "",
                 m->label ? m->label : "");
        circle(f->out, px(f, m->params_b), py(f, m->delta_pct), m->n >= 2, title);
    }
}

static void put_crossover(struct frame *f)
{
    char label[ECO_CHART_LABEL], text[64];
    double b = f->c->crossover_b;
    if (isnan(b) || b <= f->r.x_lo || b >= f->r.x_hi || f->r.y_lo > 0 || f->r.y_hi < 0)
        return;
    double x = px(f, b);
    eco_svg_line(f->out, x, f->top, x, f->bottom, "eco-cross");
    eco_chart_label_size(b, label);
    snprintf(text, sizeof(text), "%.40s %.20s", word(f, "crossover"), label);
    bool left = x + eco_svg_text_width(text, 12) + 8 > f->right;
    eco_svg_text(f->out, left ? x - 6 : x + 6, f->bottom - 8, left ? ECO_SVG_END : ECO_SVG_START,
                 "eco-halo eco-b", text);
}

/* The asked model's diamond, with what a reader of it is told: range and basis. */
static void put_point(struct frame *f, double x, double y, const char *text)
{
    const struct eco_chart_crossover *c = f->c;
    char lo[ECO_CHART_LABEL], hi[ECO_CHART_LABEL];
    eco_buf_puts(f->out, "<g><title>");
    eco_svg_escape(f->out, text);
    if (!isnan(c->point_lo_pct) && !isnan(c->point_hi_pct)) {
        eco_chart_label_pct(c->point_lo_pct, 1, true, false, lo);
        eco_chart_label_pct(c->point_hi_pct, 1, true, false, hi);
        eco_buf_printf(f->out, " (95\xc2\xa0%%: %s \xe2\x80\xa6 %s)", lo, hi);
    }
    if (c->point_basis) {
        eco_buf_puts(f->out, ", ");
        eco_svg_escape(f->out, c->point_basis);
    }
    eco_buf_puts(f->out, "</title>");
    if (c->point_n == 1) { /* one trial: hollow, as with the circles */
        diamond(f->out, x, y, 8, "eco-bg");
        diamond(f->out, x, y, 8, "eco-range");
    } else {
        diamond(f->out, x, y, 8, "eco-you");
    }
    eco_buf_puts(f->out, "</g>\n");
}

static void put_you(struct frame *f)
{
    const struct eco_chart_crossover *c = f->c;
    char pct[ECO_CHART_LABEL], text[160];
    if (isnan(c->point_b) || isnan(c->point_pct))
        return;
    double x = px(f, c->point_b), y = py(f, c->point_pct);
    if (!isnan(c->point_lo_pct) && !isnan(c->point_hi_pct)) {
        double top = fmax(py(f, c->point_hi_pct), f->top),
               low = fmin(py(f, c->point_lo_pct), f->bottom);
        eco_svg_line(f->out, x, top, x, low, "eco-range");
        eco_svg_line(f->out, x - 5, top, x + 5, top, "eco-range");
        eco_svg_line(f->out, x - 5, low, x + 5, low, "eco-range");
    }
    eco_chart_label_pct(c->point_pct, 1, true, false, pct);
    const char *name = c->point_label ? c->point_label : word(f, "your model");
    const char *family = f->sheet.narrow ? strrchr(name, '/') : NULL;
    snprintf(text, sizeof(text), "%.100s: %s", name, pct);
    put_point(f, x, y, text);
    snprintf(text, sizeof(text), "%.100s: %s", family ? family + 1 : name, pct);
    double ty = y - 14;
    /* inside the plot, and not on the zero line */
    if (ty < f->top + 10 || fabs(ty - 4 - py(f, 0)) < 9)
        ty = y + 24;
    eco_chart_sheet_label(&f->sheet, x, ty, 12, f->left, f->right - 6, "eco-halo eco-a", text);
}

/* A diamond is the reader's own: the asked model is filled, an overlaid measurement is open. */
static void put_yours(struct frame *f)
{
    for (size_t i = 0; i < f->c->yours_count; i++) {
        const struct eco_chart_mark *m = &f->c->yours[i];
        double x = px(f, m->params_b), y = py(f, m->delta_pct);
        const char *label = m->label ? m->label : word(f, "yours");
        eco_buf_puts(f->out, "<g class=\"eco-yours\"><title>");
        eco_svg_escape(f->out, label);
        eco_buf_puts(f->out, "</title>");
        diamond(f->out, x, y, 8, "eco-bg");
        diamond(f->out, x, y, 8, "eco-range");
        eco_buf_puts(f->out, "</g>\n");
    }
}

static void put_curve_legend(struct frame *f)
{
    const struct eco_chart_crossover *c = f->c;
    struct eco_chart_sheet *s = &f->sheet;
    double x = eco_chart_sheet_legend(s, 37, "median; 50, 80, 95 % bands"), y = s->legend_y - 4;
    eco_svg_rect(&s->legend, x, y - 7, 30, 14, 0, "eco-band", NULL);
    eco_svg_rect(&s->legend, x, y - 4.5, 30, 9, 0, "eco-band", NULL);
    eco_svg_rect(&s->legend, x, y - 2.5, 30, 5, 0, "eco-band", NULL);
    eco_svg_line(&s->legend, x, y, x + 30, y, "eco-curve");
    if (isnan(f->r.seen_lo) || f->r.seen_lo > c->curve[0].params_b ||
        f->r.seen_hi < c->curve[c->curve_count - 1].params_b) {
        x = eco_chart_sheet_legend(s, 35, "no measurement");
        y = s->legend_y - 4;
        eco_svg_line(&s->legend, x, y, x + 28, y, "eco-curve eco-dash");
    }
}

static void put_legend(struct frame *f)
{
    const struct eco_chart_crossover *c = f->c;
    struct eco_chart_sheet *s = &f->sheet;
    bool many = false, single = false;
    for (size_t i = 0; i < c->mark_count; i++) {
        many = many || c->marks[i].n >= 2;
        single = single || c->marks[i].n < 2;
    }
    if (c->curve_count > 1)
        put_curve_legend(f);
    if (many) {
        double x = eco_chart_sheet_legend(s, 15, "measured, n \xe2\x89\xa5 2");
        circle(&s->legend, x + 5, s->legend_y - 4, true, NULL);
    }
    if (single) {
        double x = eco_chart_sheet_legend(s, 15, "measured, n = 1");
        circle(&s->legend, x + 5, s->legend_y - 4, false, NULL);
    }
    if (c->yours_count) {
        double x = eco_chart_sheet_legend(s, 16, "yours");
        diamond(&s->legend, x + 6, s->legend_y - 4, 5, "eco-range");
    }
}

static void describe(const struct frame *f, struct eco_buf *text)
{
    const struct eco_chart_crossover *c = f->c;
    char a[ECO_CHART_LABEL], b[ECO_CHART_LABEL], d[ECO_CHART_LABEL];
    eco_buf_printf(text, "%s. ",
                   word(f, "change in energy per token against 16 bit, by model size"));
    for (size_t k = 0; c->curve_count && k < 3; k++) {
        const struct eco_chart_curve *p = &c->curve[k * (c->curve_count - 1) / 2];
        eco_chart_label_size(p->params_b, a);
        eco_chart_label_pct(p->delta_pct.median, 1, true, false, b);
        eco_buf_printf(text, "%s: %s. ", a, b);
    }
    if (!isnan(c->crossover_b)) {
        eco_chart_label_size(c->crossover_b, a);
        eco_buf_printf(text, "%s %s. ", word(f, "crossover"), a);
    }
    if (!isnan(c->point_b) && !isnan(c->point_pct)) {
        eco_chart_label_size(c->point_b, a);
        eco_chart_label_pct(c->point_pct, 1, true, false, b);
        eco_buf_printf(text, "%s, %s: %s", word(f, "your model"), a, b);
        if (!isnan(c->point_lo_pct) && !isnan(c->point_hi_pct)) {
            eco_chart_label_pct(c->point_lo_pct, 1, true, false, b);
            eco_chart_label_pct(c->point_hi_pct, 1, true, false, d);
            eco_buf_printf(text, " (95\xc2\xa0%%: %s \xe2\x80\xa6 %s)", b, d);
        }
        eco_buf_puts(text, ". ");
    }
    eco_buf_printf(text, "%s: %zu.", word(f, "measured pairs"), c->mark_count);
}

int eco_chart_svg_crossover(const struct eco_chart_crossover *c, const struct eco_chart_look *look,
                            struct eco_buf *out, struct eco_err *err)
{
    struct frame frame = {.out = out, .c = c}, *f = &frame;
    struct eco_buf desc = ECO_BUF_INIT;
    int rc = eco_chart_crossover_range(c, &f->r, err);
    rc =
        rc ? rc : eco_chart_sheet_init(&f->sheet, out, look, c->title, c->subtitle, c->source, err);
    if (rc != 0)
        return rc;
    put_legend(f);
    f->left = f->sheet.narrow ? 58 : 70;
    f->right = f->sheet.width - (f->sheet.narrow ? 14 : 26);
    f->top = f->sheet.legend_y + 22;
    f->bottom = f->top + PLOT_HEIGHT;
    describe(f, &desc);
    eco_chart_sheet_open(&f->sheet, "crossover", f->bottom + 90 + eco_chart_sheet_more(&f->sheet),
                         eco_buf_str(&desc));
    eco_buf_printf(out,
                   "<clipPath id=\"eco-crossover-clip\"><rect x=\"%g\" y=\"%g\" width=\"%g\" "
                   "height=\"%g\"/></clipPath>\n",
                   f->left, f->top, f->right - f->left, f->bottom - f->top);
    put_axes(f);
    put_bands(f);
    put_zero(f);
    put_crossover(f);
    put_curve(f);
    put_marks(f);
    put_you(f);
    put_yours(f);
    eco_buf_done(&desc);
    return eco_chart_sheet_close(&f->sheet, err);
}
