/* The axes of the charts over model size: sizes on a logarithmic scale, changes in per cent. */
#ifndef ECO_REPORT_CHART_SVG_AXES_H
#define ECO_REPORT_CHART_SVG_AXES_H

#include "chart_sheet.h"

/* Pixels of the plot, and what its edges stand for. */
struct eco_svg_axes {
    double left, right, top, bottom;
    double x_lo, x_hi, y_lo, y_hi; /* 1e9 parameters; per cent */
};

double eco_svg_size_x(const struct eco_svg_axes *a, double params_b);
double eco_svg_pct_y(const struct eco_svg_axes *a, double pct);
/** Grid and labels of the changes, about `want` of them; the zero line is `zero`, NULL: none. */
void eco_svg_pct_axis(const struct eco_chart_sheet *s, const struct eco_svg_axes *a, int want,
                      const char *zero);
void eco_svg_size_axis(const struct eco_chart_sheet *s, const struct eco_svg_axes *a);

#endif
