/*
 * The same charts for a terminal: braille dots or block characters, plain ASCII when asked, colour
 * by ANSI codes when asked. No line is wider than `width` columns. Appends to `out`.
 * Errors: ECO_E_INVALID for data that cannot be drawn, ECO_E_RANGE for a width or height that
 * is too small or too large.
 */
#ifndef ECO_REPORT_CHART_TEXT_H
#define ECO_REPORT_CHART_TEXT_H

#include "base/buf.h"
#include "chart.h"
#include "eco_err.h"

#define ECO_CHART_MIN_WIDTH 40
#define ECO_CHART_MAX_WIDTH 400
#define ECO_CHART_MIN_HEIGHT 8
#define ECO_CHART_MAX_HEIGHT 100

/** The legend's words, for other languages than English. */
struct eco_chart_legend {
    const char *many, *one; /* "measured, n >= 2", "measured, n = 1" */
    const char *median, *band, *crossover;
};

struct eco_chart_text_style {
    int width, height; /* columns and rows of the whole chart; 0: 72 and 18 */
    bool ascii, color;
    const struct eco_chart_legend *legend; /* NULL: English */
};

int eco_chart_text_crossover(const struct eco_chart_crossover *c,
                             const struct eco_chart_text_style *style, struct eco_buf *out,
                             struct eco_err *err);
int eco_chart_text_bars(const struct eco_chart_bars *c, const struct eco_chart_text_style *style,
                        struct eco_buf *out, struct eco_err *err);

#endif
