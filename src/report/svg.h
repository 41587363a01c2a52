/*
 * Pieces every SVG chart is made of: the frame with its styles, text, shapes. Coordinates are in
 * pixels of the view box, written with one decimal, so the same data gives the same bytes.
 */
#ifndef ECO_REPORT_SVG_H
#define ECO_REPORT_SVG_H

#include "base/buf.h"

enum eco_svg_anchor { ECO_SVG_START, ECO_SVG_MIDDLE, ECO_SVG_END };

/** Opens the document: styles, title, desc, background. `kind` makes ids unique. */
void eco_svg_open(struct eco_buf *out, const char *kind, double width, double height,
                  const char *title, const char *desc);
void eco_svg_text(struct eco_buf *out, double x, double y, enum eco_svg_anchor anchor,
                  const char *class_names, const char *text);
/** As eco_svg_text, cut to `columns` columns with an ellipsis. */
void eco_svg_text_cut(struct eco_buf *out, double x, double y, enum eco_svg_anchor anchor,
                      const char *class_names, const char *text, double columns);
void eco_svg_line(struct eco_buf *out, double x1, double y1, double x2, double y2,
                  const char *class_names);
void eco_svg_rect(struct eco_buf *out, double x, double y, double w, double h, double radius,
                  const char *class_names, const char *title);
/** Text with XML escapes; control characters become blanks, bad UTF-8 U+FFFD. */
void eco_svg_escape(struct eco_buf *out, const char *text);
/** "12.3"; never "-0.0". */
void eco_svg_num(struct eco_buf *out, double v);
/** Width of a text in the chart's font, pixels: an estimate, on the wide side. */
double eco_svg_text_width(const char *text, double font_px);

#endif
