/* SVG pieces: see svg.h. Styles are classes, not variables: more readers understand them. */
#include "svg.h"
#include "report_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * One accent (blue, told apart from grey and from the ink by every kind of colour vision); what
 * colour says, shape or position says too. Print gets the light colours on white.
 */
static const char style[] =
    "<style>\n"
    ".eco-bg{fill:#fff}\n"
    ".eco-t{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,"
    "sans-serif;font-size:12px;fill:#4d5966}\n"
    ".eco-h{font-size:17px;font-weight:600;fill:#17202b}\n"
    ".eco-s{font-size:13px}\n"
    ".eco-b{font-weight:600;fill:#17202b}\n"
    ".eco-a{font-weight:600;fill:#0b5cad}\n"
    ".eco-f{font-size:11px;fill:#66727f}\n"
    ".eco-halo{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}\n"
    ".eco-grid{stroke:#e6eaee;stroke-width:1;fill:none}\n"
    ".eco-axis{stroke:#aab4be;stroke-width:1;fill:none}\n"
    ".eco-zero{stroke:#17202b;stroke-width:1.2;fill:none}\n"
    ".eco-cross{stroke:#17202b;stroke-width:1;stroke-dasharray:2 3;fill:none}\n"
    ".eco-band{fill:#0b5cad;fill-opacity:.12;stroke:none}\n"
    ".eco-curve{stroke:#0b5cad;stroke-width:2.2;fill:none;stroke-linejoin:round;"
    "stroke-linecap:round}\n"
    ".eco-dash{stroke-dasharray:6 5}\n"
    ".eco-mark{fill:#17202b;stroke:#fff;stroke-width:1}\n"
    ".eco-hollow{fill:#fff;stroke:#17202b;stroke-width:1.5}\n"
    ".eco-you{fill:#0b5cad;stroke:#fff;stroke-width:1.5}\n"
    ".eco-range{stroke:#0b5cad;stroke-width:2;fill:none;stroke-linecap:round}\n"
    ".eco-bar{fill:#c3ccd5}\n"
    ".eco-bar-hi{fill:#0b5cad}\n"
    ".eco-open{fill:#fff;stroke:#8995a1;stroke-width:1.2;stroke-dasharray:3 2}\n"
    ".eco-whisker{stroke:#17202b;stroke-width:1.2;fill:none}\n"
    ".eco-dot{fill:#aab4be}\n"
    ".eco-off{fill:none;stroke:#c3ccd5;stroke-width:1.2}\n"
    ".eco-shade{fill:#0b5cad;fill-opacity:.10;stroke:none}\n"
    "@media screen and (prefers-color-scheme:dark){\n"
    ".eco-bg{fill:#12171d}\n"
    ".eco-t{fill:#aeb9c4}.eco-h,.eco-b{fill:#eef2f6}.eco-a{fill:#79b8ff}.eco-f{fill:#8c98a4}\n"
    ".eco-halo{stroke:#12171d}\n"
    ".eco-grid{stroke:#252d36}.eco-axis{stroke:#55616d}.eco-zero,.eco-cross{stroke:#eef2f6}\n"
    ".eco-band,.eco-shade{fill:#79b8ff;fill-opacity:.15}.eco-curve,.eco-range{stroke:#79b8ff}\n"
    ".eco-mark{fill:#eef2f6;stroke:#12171d}.eco-hollow{fill:#12171d;stroke:#eef2f6}\n"
    ".eco-you{fill:#79b8ff;stroke:#12171d}\n"
    ".eco-bar{fill:#46525e}.eco-bar-hi{fill:#79b8ff}.eco-open{fill:#12171d;stroke:#8c98a4}\n"
    ".eco-whisker{stroke:#eef2f6}.eco-dot{fill:#55616d}.eco-off{stroke:#46525e}\n"
    "}\n"
    "</style>\n";

void eco_svg_escape(struct eco_buf *out, const char *text)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)text[i];
        size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
        if (c == '&')
            eco_buf_puts(out, "&amp;");
        else if (c == '<')
            eco_buf_puts(out, "&lt;");
        else if (c == '>')
            eco_buf_puts(out, "&gt;");
        else if (c == '"')
            eco_buf_puts(out, "&quot;");
        else if (c < 0x20 || c == 0x7f)
            eco_buf_putc(out, ' ');
        else if (i + n > len || !eco_str_is_utf8(text + i, n)) {
            eco_buf_puts(out, "\xef\xbf\xbd");
            n = 1;
        } else
            eco_buf_put(out, text + i, n);
        i += n;
    }
}

void eco_svg_num(struct eco_buf *out, double v)
{
    char text[64];
    if (!isfinite(v) || fabs(v) > 1e6)
        v = v > 0 ? 1e6 : v < 0 ? -1e6 : 0;
    snprintf(text, sizeof(text), "%.1f", v);
    size_t len = strlen(text);
    if (len > 2 && strcmp(text + len - 2, ".0") == 0)
        text[len - 2] = '\0';
    eco_buf_puts(out, strcmp(text, "-0") == 0 ? "0" : text);
}

static void attribute(struct eco_buf *out, const char *name, double v)
{
    eco_buf_printf(out, " %s=\"", name);
    eco_svg_num(out, v);
    eco_buf_putc(out, '"');
}

void eco_svg_open(struct eco_buf *out, const char *kind, double width, double height,
                  const char *title, const char *desc)
{
    eco_buf_puts(out, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    attribute(out, "width", width);
    attribute(out, "height", height);
    eco_buf_puts(out, " viewBox=\"0 0 ");
    eco_svg_num(out, width);
    eco_buf_putc(out, ' ');
    eco_svg_num(out, height);
    eco_buf_printf(out, "\" role=\"img\" aria-labelledby=\"eco-%s-title eco-%s-desc\">\n", kind,
                   kind);
    eco_buf_printf(out, "<title id=\"eco-%s-title\">", kind);
    eco_svg_escape(out, title ? title : "chart");
    eco_buf_printf(out, "</title>\n<desc id=\"eco-%s-desc\">", kind);
    eco_svg_escape(out, desc ? desc : "");
    eco_buf_puts(out, "</desc>\n");
    eco_buf_puts(out, style);
    eco_svg_rect(out, 0, 0, width, height, 0, "eco-bg", NULL);
}

void eco_svg_text_cut(struct eco_buf *out, double x, double y, enum eco_svg_anchor anchor,
                      const char *class_names, const char *text, double columns)
{
    struct eco_buf cut = ECO_BUF_INIT;
    eco_text_cut(&cut, text, (size_t)columns, false);
    eco_svg_text(out, x, y, anchor, class_names, eco_buf_str(&cut));
    out->failed |= cut.failed;
    eco_buf_done(&cut);
}

void eco_svg_text(struct eco_buf *out, double x, double y, enum eco_svg_anchor anchor,
                  const char *class_names, const char *text)
{
    eco_buf_printf(out, "<text class=\"eco-t %s\"", class_names);
    attribute(out, "x", x);
    attribute(out, "y", y);
    if (anchor != ECO_SVG_START)
        eco_buf_printf(out, " text-anchor=\"%s\"", anchor == ECO_SVG_END ? "end" : "middle");
    eco_buf_putc(out, '>');
    eco_svg_escape(out, text);
    eco_buf_puts(out, "</text>\n");
}

void eco_svg_line(struct eco_buf *out, double x1, double y1, double x2, double y2,
                  const char *class_names)
{
    eco_buf_printf(out, "<line class=\"%s\"", class_names);
    attribute(out, "x1", x1);
    attribute(out, "y1", y1);
    attribute(out, "x2", x2);
    attribute(out, "y2", y2);
    eco_buf_puts(out, "/>\n");
}

void eco_svg_rect(struct eco_buf *out, double x, double y, double w, double h, double radius,
                  const char *class_names, const char *title)
{
    eco_buf_printf(out, "<rect class=\"%s\"", class_names);
    attribute(out, "x", x);
    attribute(out, "y", y);
    attribute(out, "width", w > 0 ? w : 0);
    attribute(out, "height", h > 0 ? h : 0);
    if (radius > 0)
        attribute(out, "rx", radius);
    if (!title) {
        eco_buf_puts(out, "/>\n");
        return;
    }
    eco_buf_puts(out, "><title>");
    eco_svg_escape(out, title);
    eco_buf_puts(out, "</title></rect>\n");
}

double eco_svg_text_width(const char *text, double font_px)
{
    return 0.6 * font_px * (double)eco_str_width(text, strlen(text));
}
