/* Headings, legend and source of every chart: see chart_sheet.h. */
#include "chart_sheet.h"

#include "base/buf.h"

#include <math.h>
#include <string.h>

#define WIDTH 760.0
#define NARROW 560.0
#define TITLE_PITCH 21.0
#define TEXT_PITCH 17.0
#define SOURCE_PITCH 14.0
#define LEGEND_PITCH 19.0

const char *eco_chart_word(const struct eco_chart_look *look, const char *english)
{
    return look && look->word && english ? look->word(english) : english;
}

static size_t step(const char *at)
{
    unsigned char c = (unsigned char)at[0];
    size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4, have = strnlen(at, n);
    return have < n ? 1 : n;
}

/* Bytes of the first line: up to a blank, or anywhere beside a sign that is two columns wide. */
static size_t line_length(const char *text, double columns)
{
    size_t good = 0, at = 0;
    while (text[at]) {
        size_t n = step(text + at);
        bool wide = n >= 3 && eco_str_width(text + at, n) == 2;
        if ((text[at] == ' ' || wide) && at > 0)
            good = at;
        if ((double)eco_str_width(text, at + n) > columns)
            return good ? good : at ? at : n;
        at += n;
    }
    return at;
}

int eco_chart_wrap(const char *text, double columns, int most, struct eco_buf *lines)
{
    int n = 0;
    while (text && *text && n < most) {
        size_t len = line_length(text, columns);
        if (n + 1 == most && text[len]) { /* no room for the rest: cut */
            eco_buf_puts(&lines[n], text);
            return n + 1;
        }
        eco_buf_put(&lines[n++], text, len);
        text += len;
        text += strspn(text, " ");
    }
    return n;
}

int eco_chart_sheet_init(struct eco_chart_sheet *s, struct eco_buf *out,
                         const struct eco_chart_look *look, const char *title, const char *subtitle,
                         const char *source, struct eco_err *err)
{
    double width = look && look->width_px != 0 ? look->width_px : WIDTH;
    if (!(width >= ECO_CHART_MIN_PX && width <= ECO_CHART_MAX_PX))
        return eco_err_set(err, ECO_E_RANGE, "width", "a chart is %d to %d pixels wide",
                           ECO_CHART_MIN_PX, ECO_CHART_MAX_PX);
    *s = (struct eco_chart_sheet){.out = out, .width = width, .narrow = width < NARROW};
    s->look = look ? *look : (struct eco_chart_look){0};
    s->name = title;
    s->margin = s->narrow ? 12 : 24;
    double room = width - 2 * s->margin;
    s->n_title = eco_chart_wrap(title, room / 10, 2, s->title);
    s->n_subtitle = eco_chart_wrap(subtitle, room / 7.4, s->narrow ? 3 : 1, s->subtitle);
    s->n_source =
        eco_chart_wrap(source, room / 6.59, s->narrow ? ECO_CHART_SHEET_LINES : 2, s->source);
    s->legend_y =
        78 + TITLE_PITCH * fmax(0, s->n_title - 1) + TEXT_PITCH * fmax(0, s->n_subtitle - 1);
    s->legend_x = s->margin;
    return 0;
}

double eco_chart_sheet_legend(struct eco_chart_sheet *s, double icon_px, const char *english)
{
    const char *text = eco_chart_word(&s->look, english);
    double wide = icon_px + eco_svg_text_width(text, 12);
    if (s->legend_x > s->margin && s->legend_x + wide > s->width - s->margin) {
        s->legend_x = s->margin;
        s->legend_y += LEGEND_PITCH;
    }
    double x = s->legend_x;
    eco_svg_text(&s->legend, x + icon_px, s->legend_y, ECO_SVG_START, "", text);
    s->legend_x += wide + 18;
    return x;
}

double eco_chart_sheet_more(const struct eco_chart_sheet *s)
{
    return SOURCE_PITCH * fmax(0, s->n_source - 2);
}

void eco_chart_sheet_open(struct eco_chart_sheet *s, const char *kind, double height,
                          const char *desc)
{
    double room = s->width - 2 * s->margin, below = 52 + TITLE_PITCH * fmax(0, s->n_title - 1);
    s->height = height;
    eco_svg_open(s->out, kind, s->width, height,
                 s->name ? s->name : eco_chart_word(&s->look, "chart"), desc);
    for (int i = 0; i < s->n_title; i++)
        eco_svg_text_cut(s->out, s->margin, 32 + TITLE_PITCH * i, ECO_SVG_START, "eco-h",
                         eco_buf_str(&s->title[i]), room / 10);
    for (int i = 0; i < s->n_subtitle; i++)
        eco_svg_text_cut(s->out, s->margin, below + TEXT_PITCH * i, ECO_SVG_START, "eco-s",
                         eco_buf_str(&s->subtitle[i]), room / 7.4);
    eco_buf_puts(s->out, eco_buf_str(&s->legend));
}

int eco_chart_sheet_close(struct eco_chart_sheet *s, struct eco_err *err)
{
    for (int i = 0; i < s->n_source; i++) {
        double up = s->n_source == 1 ? 14 : 12 + SOURCE_PITCH * (s->n_source - 1 - i);
        eco_svg_text_cut(s->out, s->margin, s->height - up, ECO_SVG_START, "eco-f",
                         eco_buf_str(&s->source[i]), (s->width - 2 * s->margin) / 6.59);
    }
    eco_buf_puts(s->out, "</svg>\n");
    for (int i = 0; i < ECO_CHART_SHEET_LINES; i++) {
        s->out->failed |= s->title[i].failed | s->subtitle[i].failed | s->source[i].failed;
        eco_buf_done(&s->title[i]);
        eco_buf_done(&s->subtitle[i]);
        eco_buf_done(&s->source[i]);
    }
    s->out->failed |= s->legend.failed;
    eco_buf_done(&s->legend);
    return eco_buf_ok(s->out) ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

void eco_chart_sheet_label(const struct eco_chart_sheet *s, double x, double y, double gap,
                           double left, double right, const char *class_names, const char *text)
{
    double wide = eco_svg_text_width(text, 12);
    if (x + gap + wide <= right)
        eco_svg_text(s->out, x + gap, y, ECO_SVG_START, class_names, text);
    else if (x - gap - wide >= left)
        eco_svg_text(s->out, x - gap, y, ECO_SVG_END, class_names, text);
    else /* neither side has room: it ends where the plot does */
        eco_svg_text_cut(s->out, right, y, ECO_SVG_END, class_names, text, (right - left) / 7.2);
}
