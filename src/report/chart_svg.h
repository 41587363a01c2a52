/*
 * Charts as SVG: accessible (title, desc, role), text as text, light and dark by
 * prefers-color-scheme, readable in print, colour-blind-safe, no external font, the same bytes for
 * the same data. `look` (may be NULL) says how wide and in which language. Appends to `out`.
 * Errors: ECO_E_INVALID for data that cannot be drawn, ECO_E_RANGE for a width that cannot be.
 */
#ifndef ECO_REPORT_CHART_SVG_H
#define ECO_REPORT_CHART_SVG_H

#include "base/buf.h"
#include "chart.h"
#include "eco_err.h"

int eco_chart_svg_crossover(const struct eco_chart_crossover *c, const struct eco_chart_look *look,
                            struct eco_buf *out, struct eco_err *err);
int eco_chart_svg_measured(const struct eco_chart_measured *c, const struct eco_chart_look *look,
                           struct eco_buf *out, struct eco_err *err);
int eco_chart_svg_bars(const struct eco_chart_bars *c, const struct eco_chart_look *look,
                       struct eco_buf *out, struct eco_err *err);
int eco_chart_svg_pareto(const struct eco_chart_pareto *c, const struct eco_chart_look *look,
                         struct eco_buf *out, struct eco_err *err);
int eco_chart_svg_power(const struct eco_chart_power *c, const struct eco_chart_look *look,
                        struct eco_buf *out, struct eco_err *err);

#endif
