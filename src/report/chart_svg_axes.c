#include "chart_svg_axes.h"
#include "chart_scale.h"

#include <math.h>

double eco_svg_size_x(const struct eco_svg_axes *a, double params_b)
{
    return a->left + (a->right - a->left) * log(params_b / a->x_lo) / log(a->x_hi / a->x_lo);
}

double eco_svg_pct_y(const struct eco_svg_axes *a, double pct)
{
    return a->bottom - (a->bottom - a->top) * (pct - a->y_lo) / (a->y_hi - a->y_lo);
}

void eco_svg_pct_axis(const struct eco_chart_sheet *s, const struct eco_svg_axes *a, int want,
                      const char *zero)
{
    struct eco_buf *out = s->out;
    double ticks[ECO_CHART_MAX_TICKS];
    char label[ECO_CHART_LABEL];
    int n = eco_chart_ticks(a->y_lo, a->y_hi, want, ticks);
    for (int i = 0; i < n; i++) {
        double y = eco_svg_pct_y(a, ticks[i]);
        const char *line = ticks[i] == 0 ? zero : "eco-grid";
        if (line)
            eco_svg_line(out, a->left, y, a->right, y, line);
        eco_chart_label_pct(ticks[i], 0, true, false, label);
        eco_svg_text(out, a->left - 10, y + 4, ECO_SVG_END, "", label);
    }
}

void eco_svg_size_axis(const struct eco_chart_sheet *s, const struct eco_svg_axes *a)
{
    struct eco_buf *out = s->out;
    double ticks[ECO_CHART_MAX_TICKS];
    char label[ECO_CHART_LABEL];
    int n = eco_chart_log_ticks(a->x_lo, a->x_hi, s->narrow ? 5 : 8, ticks);
    for (int i = 0; i < n; i++) {
        double x = eco_svg_size_x(a, ticks[i]);
        eco_svg_line(out, x, a->bottom, x, a->bottom + 5, "eco-axis");
        eco_chart_label_size(ticks[i], label);
        eco_svg_text(out, x, a->bottom + 20, ECO_SVG_MIDDLE, "", label);
    }
    eco_svg_line(out, a->left, a->bottom, a->right, a->bottom, "eco-axis");
    eco_svg_text(out, (a->left + a->right) / 2, a->bottom + 38, ECO_SVG_MIDDLE, "",
                 eco_chart_word(&s->look, "model size, parameters (log scale)"));
}
