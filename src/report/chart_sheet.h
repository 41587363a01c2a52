/*
 * The sheet a chart is drawn on: headings, legend and source, laid out for the asked width, so that
 * the same code draws a 360 pixel and a 1600 pixel chart with text of one size. The caller owns the
 * sheet and ends it with eco_chart_sheet_close. Order: init, legend items, open, shapes, close.
 */
#ifndef ECO_REPORT_CHART_SHEET_H
#define ECO_REPORT_CHART_SHEET_H

#include "chart.h"
#include "eco_err.h"
#include "svg.h"

#define ECO_CHART_SHEET_LINES 6

struct eco_chart_sheet {
    struct eco_buf *out;
    struct eco_chart_look look;
    const char *name; /* the whole title */
    double width, margin;
    bool narrow;     /* a phone: names above bars, fewer ticks */
    double legend_y; /* baseline of the legend's present row */
    double legend_x;
    struct eco_buf legend; /* what the legend draws, written when the sheet opens */
    struct eco_buf title[ECO_CHART_SHEET_LINES], subtitle[ECO_CHART_SHEET_LINES],
        source[ECO_CHART_SHEET_LINES];
    int n_title, n_subtitle, n_source;
    double height;
};

/** Wraps the headings and the source. `look` may be NULL; ECO_E_RANGE for a width out of bounds. */
int eco_chart_sheet_init(struct eco_chart_sheet *s, struct eco_buf *out,
                         const struct eco_chart_look *look, const char *title, const char *subtitle,
                         const char *source, struct eco_err *err);
/** Lines of at most `columns` columns, into the caller's; the last of `most` has all the rest. */
int eco_chart_wrap(const char *text, double columns, int most, struct eco_buf *lines);
/** A phrase in the chart's language. */
const char *eco_chart_word(const struct eco_chart_look *look, const char *english);
/**
 * Places "icon text" behind the item before, in a new row where it does not fit. Returns the icon's
 * left edge; the icon goes into s->legend, around the height s->legend_y - 4.
 */
double eco_chart_sheet_legend(struct eco_chart_sheet *s, double icon_px, const char *english);
/** Writes the head of the document, the headings and the legend. */
void eco_chart_sheet_open(struct eco_chart_sheet *s, const char *kind, double height,
                          const char *desc);
/** Height of the source lines beyond the two every chart has room for. */
double eco_chart_sheet_more(const struct eco_chart_sheet *s);
/** The source, the end of the document, and the memory. */
int eco_chart_sheet_close(struct eco_chart_sheet *s, struct eco_err *err);
/** A label beside a point: on the side with room in the plot, pulled inside where neither has. */
void eco_chart_sheet_label(const struct eco_chart_sheet *s, double x, double y, double gap,
                           double left, double right, const char *class_names, const char *text);

#endif
