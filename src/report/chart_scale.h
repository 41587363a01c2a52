/* Scales, ticks and labels that the SVG and the terminal charts share. Pure, no state. */
#ifndef ECO_REPORT_CHART_SCALE_H
#define ECO_REPORT_CHART_SCALE_H

#include "chart.h"
#include "eco_err.h"

#define ECO_CHART_MAX_TICKS 16
#define ECO_CHART_LABEL 40

/** Round values (1, 2, 5 times a power of ten) inside [lo, hi], about `want` of them. */
int eco_chart_ticks(double lo, double hi, int want, double out[ECO_CHART_MAX_TICKS]);
/** The same on a logarithmic axis: decades, 1-2-5 when few. lo > 0. */
int eco_chart_log_ticks(double lo, double hi, int want, double out[ECO_CHART_MAX_TICKS]);

struct eco_chart_range {
    double x_lo, x_hi, y_lo, y_hi;
    double seen_lo, seen_hi; /* sizes between which pairs were measured; NAN: none */
};
/**
 * What the crossover chart shows: all sizes; the median, the marks, the point with its interval and
 * the 80 % band, never below -100 %. ECO_E_INVALID for sizes that are not positive or rising.
 */
int eco_chart_crossover_range(const struct eco_chart_crossover *c, struct eco_chart_range *out,
                              struct eco_err *err);

/** "7B", "0.5B", "12 %", "+20 %" with U+2212 for minus unless `ascii`. `signs`: plus sign too. */
void eco_chart_label_size(double params_b, char out[ECO_CHART_LABEL]);
void eco_chart_label_pct(double pct, int places, bool signs, bool ascii, char out[ECO_CHART_LABEL]);
/** At most 4 significant digits, no exponent below 1e7: "4.32", "1850". */
void eco_chart_label_value(double v, char out[ECO_CHART_LABEL]);

#endif
