/*
 * What a chart shows: data for chart_svg and chart_text, one struct a chart. Everything is borrowed
 * from the caller for the length of the call. NAN leaves a part out; NULL text leaves it out.
 */
#ifndef ECO_REPORT_CHART_H
#define ECO_REPORT_CHART_H

#include "eco_types.h"

#define ECO_CHART_MAX_POINTS 4096 /* of one series; more is ECO_E_TOO_LARGE */
#define ECO_CHART_MIN_PX 280
#define ECO_CHART_MAX_PX 1600

/* How a chart is laid out and worded; NULL or all zero: 760 pixels, English. */
struct eco_chart_look {
    double width_px; /* ECO_CHART_MIN_PX to ECO_CHART_MAX_PX; 0: 760 */
    const char *(*word)(
        const char *english); /* a phrase in the reader's language; NULL: as it is */
};

/* The predicted curve at one size. */
struct eco_chart_curve {
    double params_b;
    struct eco_band delta_pct;
};

/* One measured pair. */
struct eco_chart_mark {
    double params_b, delta_pct;
    int n;             /* trials: filled marker from 2, hollow for 1 */
    const char *label; /* "RTX 4090 · Qwen2-7B · n=2"; tooltip */
};

/* Change of energy per token over model size. */
struct eco_chart_crossover {
    const char *title;    /* "NF4 on RTX 4090" */
    const char *subtitle; /* "change in energy per token against FP16, by model size" */
    const char *source;   /* one line below: basis, n, boundary, data */
    const struct eco_chart_curve *curve; /* rising in params_b */
    size_t curve_count;
    const struct eco_chart_mark *marks;
    size_t mark_count;
    double crossover_b;                                    /* NAN: none */
    double point_b, point_pct, point_lo_pct, point_hi_pct; /* the asked model; NAN: none */
    const char *point_label;                               /* "your model: 7 B" */
    const struct eco_chart_mark *yours;                    /* measured elsewhere, laid over */
    size_t yours_count;
    int point_n; /* trials behind the point, where it was measured: 1 is drawn hollow; 0: asked */
    const char *point_basis; /* how it is known: "interpolated"; NULL: not said */
};

/* Measured pairs of one card and precision, by rising size; neighbours are joined by a line. */
struct eco_chart_series {
    const char *label; /* "RTX 4090" */
    const struct eco_chart_mark *marks;
    size_t mark_count;
    bool highlight;
    bool loose; /* points only: of several sessions or models */
};

/* Nothing but measurements: change of energy per token over model size. */
struct eco_chart_measured {
    const char *title, *subtitle, *source;
    const struct eco_chart_series *series;
    size_t series_count;
};

/* One horizontal bar with its 95 % range. */
struct eco_chart_bar {
    const char *label;
    double value, lo, hi; /* lo, hi NAN: no range */
    bool highlight;
    bool measured;      /* false: drawn hatched, as a prediction */
    const char *detail; /* what a reader of the bar is told besides, or NULL: trials, session */
};

struct eco_chart_bars {
    const char *title, *subtitle, *source, *unit; /* "J per 1 000 tokens" */
    const struct eco_chart_bar *bars;
    size_t bar_count;
};

/* Candidates of the optimizer: energy against latency. */
struct eco_chart_candidate {
    double x, y;
    const char *label;
    bool front, feasible, best; /* best: the star */
    const char *detail;         /* what a reader of the point is told; NULL: the label */
};

struct eco_chart_pareto {
    const char *title, *subtitle, *source, *x_label, *y_label;
    const struct eco_chart_candidate *items;
    size_t count;
};

/* Power over time with shaded windows. */
struct eco_chart_window {
    double start_s, end_s;
    const char *label;  /* "NF4 #2" */
    const char *detail; /* what a reader of the window is told; NULL: the label */
};

struct eco_chart_power {
    const char *title, *subtitle, *source;
    const double *t_s, *power_w;
    size_t count;
    const struct eco_chart_window *windows;
    size_t window_count;
    double idle_w; /* NAN: no line */
};

#endif
