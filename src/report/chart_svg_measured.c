/* The measured pairs alone: change in energy per token over model size, one line a card. */
#include "chart_scale.h"
#include "chart_sheet.h"
#include "chart_svg.h"
#include "chart_svg_axes.h"
#include "svg.h"

#include <math.h>

#define PLOT_HEIGHT 276.0
#define MAX_SERIES 24
#define LABEL_PITCH 16.0
#define NAME_PITCH 13.0 /* of the lines of one name */
#define NAME_LINES 4

struct frame {
    struct eco_buf *out;
    struct eco_chart_sheet sheet;
    const struct eco_chart_measured *c;
    struct eco_svg_axes a;
};

static double px(const struct frame *f, double params_b)
{
    return eco_svg_size_x(&f->a, params_b);
}

static double py(const struct frame *f, double pct)
{
    return eco_svg_pct_y(&f->a, pct);
}

static int range(struct frame *f, struct eco_err *err)
{
    size_t points = 0;
    f->a.x_lo = f->a.y_lo = INFINITY, f->a.x_hi = f->a.y_hi = -INFINITY;
    if (f->c->series_count > MAX_SERIES)
        return eco_err_set(err, ECO_E_TOO_LARGE, "series", "at most %d lines can be told apart",
                           MAX_SERIES);
    for (size_t s = 0; s < f->c->series_count; s++) {
        for (size_t i = 0; i < f->c->series[s].mark_count; i++, points++) {
            const struct eco_chart_mark *m = &f->c->series[s].marks[i];
            if (!(m->params_b > 0) || !isfinite(m->params_b) || !isfinite(m->delta_pct) ||
                (i && m->params_b < m[-1].params_b))
                return eco_err_set(err, ECO_E_INVALID, "series",
                                   "line %zu, point %zu: sizes must be positive and rising", s, i);
            f->a.x_lo = fmin(f->a.x_lo, m->params_b), f->a.x_hi = fmax(f->a.x_hi, m->params_b);
            f->a.y_lo = fmin(f->a.y_lo, m->delta_pct), f->a.y_hi = fmax(f->a.y_hi, m->delta_pct);
        }
    }
    if (points == 0)
        return eco_err_set(err, ECO_E_INVALID, "series", "there is nothing to draw");
    f->a.y_lo = fmin(f->a.y_lo, 0), f->a.y_hi = fmax(f->a.y_hi, 0);
    double pad = fmax(5, 0.06 * (f->a.y_hi - f->a.y_lo));
    double room = f->a.x_hi / f->a.x_lo < 2 ? 2 : 1.08;
    f->a.x_lo /= room, f->a.x_hi *= room;
    f->a.y_lo = fmax(-100, f->a.y_lo - pad), f->a.y_hi += pad;
    return 0;
}

/* What lies above zero and below; on a phone in the corners where few points are. */
static void put_sides(const struct frame *f)
{
    const char *costs = eco_chart_word(&f->sheet.look, "costs energy \xe2\x86\x91");
    const char *saves = eco_chart_word(&f->sheet.look, "saves energy \xe2\x86\x93");
    bool narrow = f->sheet.narrow;
    if (py(f, 0) - f->a.top > 24)
        eco_svg_text(f->out, narrow ? f->a.right : f->a.left + 6,
                     narrow ? f->a.top + 10 : py(f, 0) - 7, narrow ? ECO_SVG_END : ECO_SVG_START,
                     "eco-halo", costs);
    if (f->a.bottom - py(f, 0) > 24)
        eco_svg_text(f->out, f->a.left + 6, narrow ? f->a.bottom - 8 : py(f, 0) + 16, ECO_SVG_START,
                     "eco-halo", saves);
}

static void put_axes(const struct frame *f)
{
    eco_svg_pct_axis(&f->sheet, &f->a, 8, "eco-zero");
    eco_svg_size_axis(&f->sheet, &f->a);
    put_sides(f);
}

/* A line between two repeated pairs is full; one that leans on a single trial is faded. */
static void put_lines(const struct frame *f, const struct eco_chart_series *s)
{
    for (size_t i = 1; i < s->mark_count && !s->loose; i++) {
        const struct eco_chart_mark *a = &s->marks[i - 1], *b = &s->marks[i];
        eco_buf_puts(f->out, a->n >= 2 && b->n >= 2 ? "<g>" : "<g opacity=\".45\">");
        eco_svg_line(f->out, px(f, a->params_b), py(f, a->delta_pct), px(f, b->params_b),
                     py(f, b->delta_pct), s->highlight ? "eco-curve" : "eco-whisker");
        eco_buf_puts(f->out, "</g>\n");
    }
}

static void circle(struct eco_buf *out, double x, double y, const char *class_names,
                   const char *title)
{
    eco_buf_printf(out, "<circle class=\"%s\" cx=\"", class_names);
    eco_svg_num(out, x);
    eco_buf_puts(out, "\" cy=\"");
    eco_svg_num(out, y);
    eco_buf_puts(out, "\" r=\"4.5\">");
    if (title) {
        eco_buf_puts(out, "<title>");
        eco_svg_escape(out, title);
        eco_buf_puts(out, "</title>");
    }
    eco_buf_puts(out, "</circle>\n");
}

static void put_marks(const struct frame *f, const struct eco_chart_series *s)
{
    for (size_t i = 0; i < s->mark_count; i++) {
        const struct eco_chart_mark *m = &s->marks[i];
        double x = px(f, m->params_b), y = py(f, m->delta_pct);
        if (s->highlight && m->n < 2)
            circle(f->out, x, y, "eco-bg", NULL);
        circle(f->out, x, y,
               s->highlight ? (m->n >= 2 ? "eco-you" : "eco-range")
                            : (m->n >= 2 ? "eco-mark" : "eco-hollow"),
               m->label);
    }
}

struct name {
    const struct eco_chart_series *of;
    struct eco_buf lines[NAME_LINES];
    int n;
};

static double end_pct(const struct eco_chart_series *s)
{
    return s->marks[s->mark_count - 1].delta_pct;
}

/* The cards that have a name, from the top down. */
static size_t order_names(const struct eco_chart_measured *c, struct name *names)
{
    size_t n = 0;
    for (size_t s = 0; s < c->series_count; s++) {
        const struct eco_chart_series *moving = &c->series[s];
        if (moving->mark_count == 0 || !moving->label)
            continue;
        size_t k = n++;
        for (; k > 0 && end_pct(names[k - 1].of) < end_pct(moving); k--)
            names[k].of = names[k - 1].of;
        names[k].of = moving;
    }
    return n;
}

/* Wraps the names into at most `most` lines each and returns the height of all. */
static double wrap_names(const struct frame *f, struct name *names, size_t n, int most)
{
    double height = 0;
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < names[i].n; k++)
            eco_buf_clear(&names[i].lines[k]);
        names[i].n =
            eco_chart_wrap(names[i].of->label, f->sheet.narrow ? 12 : 21, most, names[i].lines);
        height += LABEL_PITCH + NAME_PITCH * (names[i].n - 1);
    }
    return height;
}

/* Names at the right ends, whole where there is room, pushed apart where they would overlap. */
static void put_names(const struct frame *f)
{
    struct name names[MAX_SERIES] = {0};
    size_t n = order_names(f->c, names);
    double at = f->a.top, below = wrap_names(f, names, n, NAME_LINES);
    if (below > PLOT_HEIGHT)
        below = wrap_names(f, names, n, 1);
    for (size_t i = 0; i < n; i++) {
        const struct eco_chart_series *s = names[i].of;
        const double x = px(f, s->marks[s->mark_count - 1].params_b), y = py(f, end_pct(s));
        at = fmin(fmax(y, at), f->a.bottom + LABEL_PITCH - below);
        eco_svg_line(f->out, x + 6, y, f->a.right + 8, at, "eco-grid");
        for (int k = 0; k < names[i].n; k++) {
            eco_svg_text_cut(f->out, f->a.right + 12, at + 4 + NAME_PITCH * k, ECO_SVG_START,
                             s->highlight ? "eco-a" : "", eco_buf_str(&names[i].lines[k]),
                             f->sheet.narrow ? 12 : 21);
        }
        double height = LABEL_PITCH + NAME_PITCH * (names[i].n - 1);
        at += height;
        below -= height;
        for (int k = 0; k < NAME_LINES; k++) {
            f->out->failed |= names[i].lines[k].failed;
            eco_buf_done(&names[i].lines[k]);
        }
    }
}

static void put_legend(struct frame *f)
{
    struct eco_chart_sheet *s = &f->sheet;
    double x = eco_chart_sheet_legend(s, 15, "measured, n \xe2\x89\xa5 2");
    circle(&s->legend, x + 5, s->legend_y - 4, "eco-mark", NULL);
    x = eco_chart_sheet_legend(s, 15, "measured once");
    circle(&s->legend, x + 5, s->legend_y - 4, "eco-hollow", NULL);
    x = eco_chart_sheet_legend(s, 33,
                               s->narrow ? "one card; faded: a single trial"
                                         : "joins measured sizes of one card; faded where a trial "
                                           "stands alone");
    eco_svg_line(&s->legend, x, s->legend_y - 4, x + 26, s->legend_y - 4, "eco-whisker");
}

static void describe(const struct eco_chart_measured *c, const struct eco_chart_look *look,
                     struct eco_buf *text)
{
    char size[ECO_CHART_LABEL], pct[ECO_CHART_LABEL];
    eco_buf_printf(
        text, "%s. ",
        eco_chart_word(look, "change in energy per token against 16 bit, by model size"));
    for (size_t s = 0; s < c->series_count; s++) {
        const char *label = c->series[s].label;
        eco_buf_printf(text, "%s: ", label ? label : eco_chart_word(look, "further rows"));
        for (size_t i = 0; i < c->series[s].mark_count; i++) {
            eco_chart_label_size(c->series[s].marks[i].params_b, size);
            eco_chart_label_pct(c->series[s].marks[i].delta_pct, 1, true, false, pct);
            eco_buf_printf(text, "%s%s %s", i ? ", " : "", size, pct);
        }
        eco_buf_puts(text, ". ");
    }
}

int eco_chart_svg_measured(const struct eco_chart_measured *c, const struct eco_chart_look *look,
                           struct eco_buf *out, struct eco_err *err)
{
    struct frame frame = {.out = out, .c = c}, *f = &frame;
    struct eco_buf desc = ECO_BUF_INIT;
    int rc = range(f, err);
    rc =
        rc ? rc : eco_chart_sheet_init(&f->sheet, out, look, c->title, c->subtitle, c->source, err);
    if (rc != 0)
        return rc;
    put_legend(f);
    f->a.left = f->sheet.narrow ? 58 : 70;
    f->a.right = f->sheet.width - (f->sheet.narrow ? 104 : 170); /* names at the lines' ends */
    f->a.top = f->sheet.legend_y + 22;
    f->a.bottom = f->a.top + PLOT_HEIGHT;
    describe(c, look, &desc);
    eco_chart_sheet_open(&f->sheet, "measured", f->a.bottom + 84 + eco_chart_sheet_more(&f->sheet),
                         eco_buf_str(&desc));
    put_axes(f);
    for (int pass = 0; pass < 2; pass++) { /* the highlighted line lies on top */
        for (size_t s = 0; s < c->series_count; s++) {
            if (c->series[s].highlight == (pass == 1)) {
                put_lines(f, &c->series[s]);
                put_marks(f, &c->series[s]);
            }
        }
    }
    put_names(f);
    eco_buf_done(&desc);
    return eco_chart_sheet_close(&f->sheet, err);
}
