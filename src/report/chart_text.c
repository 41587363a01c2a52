/*
 * Terminal charts. The crossover chart is a grid of cells, each with a braille pattern (2 x 4 dots)
 * or one sign over it; in ASCII a cell has one dot.
 */
#include "chart_text.h"
#include "chart_scale.h"
#include "report_text.h"

#include "base/arena.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LABEL_COLUMNS 8 /* left of the axis: "+100 %" and a blank */

enum ink { INK_NONE, INK_SOFT, INK_CURVE, INK_AXIS, INK_MARK, INK_YOU };

static const char *const ansi[] = {"", "\033[2m", "\033[34m", "\033[2m", "", "\033[1;36m"};

struct cell {
    unsigned char dots, ink;
    const char *sign; /* over the dots; NULL */
};

struct grid {
    struct cell *cells;
    int columns, rows;
    bool ascii, color;
    struct eco_chart_range r;
};

static int sub_x(const struct grid *g)
{
    return g->ascii ? 1 : 2;
}

static int sub_y(const struct grid *g)
{
    return g->ascii ? 1 : 4;
}

static int dot_x(const struct grid *g, double params_b)
{
    double t = log(params_b / g->r.x_lo) / log(g->r.x_hi / g->r.x_lo);
    return (int)lround(t * (g->columns * sub_x(g) - 1));
}

static int dot_y(const struct grid *g, double pct)
{
    double t = (pct - g->r.y_lo) / (g->r.y_hi - g->r.y_lo);
    t = fmin(fmax(t, -1), 2); /* off the chart is enough; int must not overflow */
    return (int)lround((1 - t) * (g->rows * sub_y(g) - 1));
}

static struct cell *cell_at(struct grid *g, int column, int row)
{
    if (column < 0 || row < 0 || column >= g->columns || row >= g->rows)
        return NULL;
    return &g->cells[row * g->columns + column];
}

static void put_dot(struct grid *g, int x, int y, enum ink ink)
{
    static const unsigned char bits[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};
    if (x < 0 || y < 0)
        return;
    struct cell *c = cell_at(g, x / sub_x(g), y / sub_y(g));
    if (!c)
        return;
    if (ink > c->ink || (g->ascii && ink == c->ink))
        c->ink = (unsigned char)ink;
    c->dots |= g->ascii ? 1 : bits[x % 2][y % 4];
}

static void put_sign(struct grid *g, double params_b, double pct, const char *sign, enum ink ink)
{
    struct cell *c = cell_at(g, dot_x(g, params_b) / sub_x(g), dot_y(g, pct) / sub_y(g));
    if (c && ink >= c->ink) {
        c->sign = sign;
        c->ink = (unsigned char)ink;
    }
}

/* A value of the curve at one dot column, interpolated in ln N. `which`: 0 median, 1 lo, 2 hi. */
static bool curve_at(const struct eco_chart_crossover *c, double params_b, int which, double *out)
{
    for (size_t i = 1; i < c->curve_count; i++) {
        const struct eco_chart_curve *a = &c->curve[i - 1], *b = &c->curve[i];
        if (params_b < a->params_b || params_b > b->params_b)
            continue;
        double t = log(params_b / a->params_b) / log(b->params_b / a->params_b);
        const double ya[] = {a->delta_pct.median, a->delta_pct.lo80, a->delta_pct.hi80};
        const double yb[] = {b->delta_pct.median, b->delta_pct.lo80, b->delta_pct.hi80};
        *out = ya[which] + t * (yb[which] - ya[which]);
        return isfinite(*out);
    }
    return false;
}

static void draw_curve(struct grid *g, const struct eco_chart_crossover *c)
{
    int width = g->columns * sub_x(g), gap = g->ascii ? 2 : 3, last = -1;
    for (int x = 0; x < width; x++) {
        double b = g->r.x_lo * pow(g->r.x_hi / g->r.x_lo, (double)x / (width - 1)), v;
        for (int which = 1; which < 3; which++) {
            if (x % gap == 0 && curve_at(c, b, which, &v))
                put_dot(g, x, dot_y(g, v), INK_SOFT);
        }
        if (!curve_at(c, b, 0, &v)) {
            last = -1;
            continue;
        }
        /* Dashed where nothing was measured: as the legend says. */
        bool seen = b >= g->r.seen_lo && b <= g->r.seen_hi;
        int y = dot_y(g, v), dash = g->ascii ? 4 : 8;
        if (seen || x % dash < dash / 2) {
            int from = last < 0 ? y : last < y ? last + 1 : last > y ? last - 1 : y;
            for (int k = from; k != y; k += k < y ? 1 : -1)
                put_dot(g, x, k, INK_CURVE);
            put_dot(g, x, y, INK_CURVE);
            if (!g->ascii)
                put_dot(g, x, y + 1, INK_CURVE);
        }
        last = y;
    }
}

static void draw_lines(struct grid *g, const struct eco_chart_crossover *c)
{
    if (g->r.y_lo < 0 && g->r.y_hi > 0) {
        int row = dot_y(g, 0) / sub_y(g);
        for (int x = 0; x < g->columns; x++) {
            struct cell *cell = cell_at(g, x, row);
            if (cell && cell->ink < INK_CURVE) {
                cell->sign = g->ascii ? "-" : "\xe2\x94\x80";
                cell->ink = INK_AXIS;
            }
        }
    }
    if (!isnan(c->crossover_b) && c->crossover_b > g->r.x_lo && c->crossover_b < g->r.x_hi) {
        int column = dot_x(g, c->crossover_b) / sub_x(g);
        for (int y = 0; y < g->rows; y++) {
            struct cell *cell = cell_at(g, column, y);
            if (cell && cell->ink < INK_CURVE) {
                cell->sign = g->ascii ? ":" : "\xe2\x94\x8a";
                cell->ink = INK_AXIS;
            }
        }
    }
}

static void draw_marks(struct grid *g, const struct eco_chart_crossover *c)
{
    for (size_t i = 0; i < c->mark_count; i++) {
        bool many = c->marks[i].n >= 2;
        const char *sign = g->ascii ? (many ? "@" : "o") : (many ? "\xe2\x97\x8f" : "\xe2\x97\x8b");
        put_sign(g, c->marks[i].params_b, c->marks[i].delta_pct, sign, INK_MARK);
    }
    if (!isnan(c->point_b) && !isnan(c->point_pct))
        put_sign(g, c->point_b, c->point_pct, g->ascii ? "#" : "\xe2\x97\x86", INK_YOU);
}

static void put_cell(const struct grid *g, const struct cell *c, struct eco_buf *out)
{
    static const char ascii_signs[] = " .*-@#";
    if (g->color && c->ink && *ansi[c->ink])
        eco_buf_puts(out, ansi[c->ink]);
    if (c->sign)
        eco_buf_puts(out, c->sign);
    else if (!c->dots)
        eco_buf_putc(out, ' ');
    else if (g->ascii)
        eco_buf_putc(out, ascii_signs[c->ink]);
    else
        eco_buf_printf(out, "\xe2%c%c", 0xa0 + (c->dots >> 6), 0x80 + (c->dots & 0x3f));
    if (g->color && c->ink && *ansi[c->ink])
        eco_buf_puts(out, "\033[0m");
}

static void put_row(const struct grid *g, int row, const char *label, struct eco_buf *out)
{
    const struct cell *c = &g->cells[row * g->columns];
    int end = g->columns;
    size_t width = eco_str_width(label, strlen(label));
    while (end > 0 && !c[end - 1].sign && !c[end - 1].dots)
        end--;
    eco_text_blanks(out, width < LABEL_COLUMNS - 1 ? LABEL_COLUMNS - 1 - width : 0);
    eco_buf_puts(out, label);
    eco_buf_puts(out,
                 g->ascii ? (*label ? " +" : " |") : (*label ? " \xe2\x94\xa4" : " \xe2\x94\x82"));
    for (int x = 0; x < end; x++)
        put_cell(g, &c[x], out);
    eco_buf_putc(out, '\n');
}

static void put_grid(const struct grid *g, struct eco_buf *out)
{
    double ticks[ECO_CHART_MAX_TICKS];
    int n = eco_chart_ticks(g->r.y_lo, g->r.y_hi, g->rows / 3 > 2 ? g->rows / 3 : 2, ticks);
    for (int row = 0; row < g->rows; row++) {
        char label[ECO_CHART_LABEL] = "";
        for (int i = 0; i < n; i++) {
            if (dot_y(g, ticks[i]) / sub_y(g) == row)
                eco_chart_label_pct(ticks[i], 0, true, g->ascii, label);
        }
        put_row(g, row, label, out);
    }
}

static void put_x_axis(const struct grid *g, struct eco_buf *out)
{
    double ticks[ECO_CHART_MAX_TICKS];
    char labels[ECO_CHART_MAX_WIDTH + ECO_CHART_LABEL];
    int n = eco_chart_log_ticks(g->r.x_lo, g->r.x_hi, g->columns / 8, ticks), free_from = 0;
    memset(labels, ' ', sizeof(labels));
    eco_text_blanks(out, LABEL_COLUMNS);
    eco_buf_puts(out, g->ascii ? "+" : "\xe2\x94\x94");
    for (int x = 0, i = 0; x < g->columns; x++) {
        bool tick = i < n && dot_x(g, ticks[i]) / sub_x(g) == x;
        i += tick;
        eco_buf_puts(out, g->ascii ? (tick ? "+" : "-") : (tick ? "\xe2\x94\xac" : "\xe2\x94\x80"));
    }
    int end = 0;
    for (int i = 0; i < n; i++) {
        char label[ECO_CHART_LABEL];
        eco_chart_label_size(ticks[i], label);
        int len = (int)strlen(label), at = dot_x(g, ticks[i]) / sub_x(g) - len / 2;
        at = at < 0 ? 0 : at;
        if (at < free_from || at + len > g->columns)
            continue;
        memcpy(labels + at, label, (size_t)len);
        end = at + len;
        free_from = end + 1;
    }
    eco_buf_putc(out, '\n');
    eco_text_blanks(out, LABEL_COLUMNS + 1);
    eco_buf_put(out, labels, (size_t)end);
    eco_buf_putc(out, '\n');
}

static void put_entry(struct eco_buf *out, const struct grid *g, const char *ascii,
                      const char *sign, const char *words)
{
    eco_buf_printf(out, "%s %s   ", g->ascii ? ascii : sign, words);
}

static void put_legend(const struct grid *g, const struct eco_chart_crossover *c,
                       const struct eco_chart_legend *words, struct eco_buf *out, size_t width)
{
    static const struct eco_chart_legend english = {"measured, n >= 2", "measured, n = 1",
                                                    "median (broken: not measured)", "80 % band",
                                                    "crossover"};
    const struct eco_chart_legend *w = words ? words : &english;
    struct eco_buf text = ECO_BUF_INIT;
    char label[ECO_CHART_LABEL];
    bool many = false, single = false;
    for (size_t i = 0; i < c->mark_count; i++) {
        many = many || c->marks[i].n >= 2;
        single = single || c->marks[i].n < 2;
    }
    if (!isnan(c->point_b) && !isnan(c->point_pct)) {
        eco_chart_label_pct(c->point_pct, 1, true, g->ascii, label);
        eco_buf_printf(&text, "%s %s: %s   ", g->ascii ? "#" : "\xe2\x97\x86",
                       c->point_label ? c->point_label : "your model", label);
    }
    if (many)
        put_entry(&text, g, "@", "\xe2\x97\x8f", w->many);
    if (single)
        put_entry(&text, g, "o", "\xe2\x97\x8b", w->one);
    if (c->curve_count > 1) {
        put_entry(&text, g, "*", "\xe2\x94\x81", w->median);
        put_entry(&text, g, ".", "\xe2\x94\x88", w->band);
    }
    if (!isnan(c->crossover_b)) {
        eco_chart_label_size(c->crossover_b, label);
        eco_buf_printf(&text, "%s %s %s", g->ascii ? ":" : "\xe2\x94\x8a", w->crossover, label);
    }
    eco_text_wrap(out, eco_buf_str(&text), width, 0, g->ascii);
    eco_buf_done(&text);
}

static int check_style(const struct eco_chart_text_style *s, int *width, int *height,
                       struct eco_err *err)
{
    *width = s->width ? s->width : 72;
    *height = s->height ? s->height : 18;
    if (*width < ECO_CHART_MIN_WIDTH || *width > ECO_CHART_MAX_WIDTH)
        return eco_err_set(err, ECO_E_RANGE, "width", "a chart is %d to %d columns wide, not %d",
                           ECO_CHART_MIN_WIDTH, ECO_CHART_MAX_WIDTH, *width);
    if (*height < ECO_CHART_MIN_HEIGHT || *height > ECO_CHART_MAX_HEIGHT)
        return eco_err_set(err, ECO_E_RANGE, "height", "a chart is %d to %d rows high, not %d",
                           ECO_CHART_MIN_HEIGHT, ECO_CHART_MAX_HEIGHT, *height);
    return 0;
}

static void put_heading(struct eco_buf *out, const char *title, const char *subtitle, int width,
                        const struct eco_chart_text_style *style)
{
    if (title) {
        eco_buf_puts(out, style->color ? "\033[1m" : "");
        eco_text_cut(out, title, (size_t)width, style->ascii);
        eco_buf_puts(out, style->color ? "\033[0m\n" : "\n");
    }
    if (subtitle)
        eco_text_wrap(out, subtitle, (size_t)width, 0, style->ascii);
}

int eco_chart_text_crossover(const struct eco_chart_crossover *c,
                             const struct eco_chart_text_style *style, struct eco_buf *out,
                             struct eco_err *err)
{
    int width, height;
    struct grid g = {.ascii = style->ascii, .color = style->color};
    int rc = check_style(style, &width, &height, err);
    if (rc == 0)
        rc = eco_chart_crossover_range(c, &g.r, err);
    if (rc != 0)
        return rc;
    g.columns = width - LABEL_COLUMNS - 1;
    g.rows = height - 2;
    struct eco_arena arena;
    eco_arena_init(&arena, 0);
    g.cells = eco_arena_array(&arena, (size_t)g.columns * (size_t)g.rows, sizeof(struct cell));
    if (!g.cells) {
        eco_arena_done(&arena);
        return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    }
    draw_curve(&g, c);
    draw_lines(&g, c);
    draw_marks(&g, c);
    put_heading(out, c->title, c->subtitle, width, style);
    put_grid(&g, out);
    put_x_axis(&g, out);
    put_legend(&g, c, style->legend, out, (size_t)width);
    if (c->source)
        eco_text_wrap(out, c->source, (size_t)width, 0, g.ascii);
    eco_arena_done(&arena);
    return eco_buf_ok(out) ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

/* ---- bars ----------------------------------------------------------------------------------- */

#define BAR_TEXT 192

static void bar_text(const struct eco_chart_bars *c, size_t i, bool ascii, char out[BAR_TEXT])
{
    const struct eco_chart_bar *b = &c->bars[i];
    char value[ECO_CHART_LABEL], lo[ECO_CHART_LABEL], hi[ECO_CHART_LABEL];
    eco_chart_label_value(b->value, value);
    if (isnan(b->lo) || isnan(b->hi)) {
        snprintf(out, BAR_TEXT, "%s %.30s", value, c->unit ? c->unit : "");
        return;
    }
    eco_chart_label_value(b->lo, lo);
    eco_chart_label_value(b->hi, hi);
    snprintf(out, BAR_TEXT, "%s %.30s (%s%s%s)", value, c->unit ? c->unit : "", lo,
             ascii ? "-" : "\xe2\x80\x93", hi);
}

/* Measured: solid, with eighths of a block; predicted: a lighter fill, whole blocks. */
static void put_bar(struct eco_buf *out, double share, size_t room, bool measured,
                    const struct eco_chart_text_style *style, bool highlight)
{
    static const char *const parts[] = {"",
                                        "\xe2\x96\x8f",
                                        "\xe2\x96\x8e",
                                        "\xe2\x96\x8d",
                                        "\xe2\x96\x8c",
                                        "\xe2\x96\x8b",
                                        "\xe2\x96\x8a",
                                        "\xe2\x96\x89"};
    double length = share * (double)room;
    size_t eighths = (size_t)lround(length * 8), full = eighths / 8, part = eighths % 8;
    if (style->ascii || !measured) {
        full = (size_t)lround(length);
        part = 0;
    }
    if (share > 0 && full == 0 && part == 0)
        full = 1;
    eco_buf_puts(out, style->color ? (highlight ? ansi[INK_YOU] : ansi[INK_CURVE]) : "");
    for (size_t i = 0; i < full; i++)
        eco_buf_puts(out, style->ascii ? (measured ? "#" : "=")
                                       : (measured ? "\xe2\x96\x88" : "\xe2\x96\x92"));
    eco_buf_puts(out, parts[part]);
    eco_buf_puts(out, style->color ? "\033[0m" : "");
}

static int measure_bars(const struct eco_chart_bars *c, bool ascii, double *top, size_t *labels,
                        size_t *values, struct eco_err *err)
{
    *top = 0;
    *labels = *values = 0;
    if (c->bar_count == 0 || c->bar_count > 64)
        return eco_err_set(err, ECO_E_INVALID, "bars", "a bar chart has 1 to 64 bars, not %zu",
                           c->bar_count);
    for (size_t i = 0; i < c->bar_count; i++) {
        char text[BAR_TEXT];
        const char *label = c->bars[i].label ? c->bars[i].label : "";
        if (!(c->bars[i].value >= 0) || !isfinite(c->bars[i].value))
            return eco_err_set(err, ECO_E_INVALID, "bars", "bar %zu is not a length", i);
        *top = fmax(*top, c->bars[i].value);
        bar_text(c, i, ascii, text);
        size_t w = eco_str_width(label, strlen(label)), v = eco_str_width(text, strlen(text));
        *labels = w > *labels ? w : *labels;
        *values = v > *values ? v : *values;
    }
    return 0;
}

int eco_chart_text_bars(const struct eco_chart_bars *c, const struct eco_chart_text_style *style,
                        struct eco_buf *out, struct eco_err *err)
{
    int width, height;
    double top;
    size_t labels, values;
    int rc = check_style(style, &width, &height, err);
    if (rc == 0)
        rc = measure_bars(c, style->ascii, &top, &labels, &values, err);
    if (rc != 0)
        return rc;
    size_t all = (size_t)width, third = all / 3;
    labels = labels > third ? third : labels;
    values = values > all / 2 ? all / 2 : values;
    size_t room = all - labels - values - 2;
    bool predicted = false;
    put_heading(out, c->title, c->subtitle, width, style);
    for (size_t i = 0; i < c->bar_count; i++) {
        char text[BAR_TEXT];
        const struct eco_chart_bar *b = &c->bars[i];
        bar_text(c, i, style->ascii, text);
        eco_text_pad(out, b->label ? b->label : "", labels, style->ascii);
        eco_buf_putc(out, ' ');
        put_bar(out, top > 0 ? b->value / top : 0, room, b->measured, style, b->highlight);
        eco_buf_putc(out, ' ');
        eco_text_cut(out, text, values, style->ascii);
        eco_buf_putc(out, '\n');
        predicted = predicted || !b->measured;
    }
    if (predicted)
        eco_text_wrap(out,
                      style->ascii ? "= predicted, # measured"
                                   : "\xe2\x96\x92 predicted, \xe2\x96\x88 measured",
                      all, 0, style->ascii);
    if (c->source)
        eco_text_wrap(out, c->source, all, 0, style->ascii);
    return eco_buf_ok(out) ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}
