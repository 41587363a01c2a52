/*
 * Charts for the page, from JSON. Kinds and what they take:
 *   estimate {"args": {...}, "points": [mark...]}   the crossover chart of an estimate, overlaid
 *   optimize {"args": {...}}                        the energy-latency chart of a search
 *   measured {title, subtitle, source, series: [{label, highlight, loose, marks}]}
 *   bars     {title, subtitle, source, unit, bars: [{label, value, lo, hi, highlight, measured}]}
 *   power    {title, subtitle, source, trace, idle_w, windows: [{start_s, end_s, label, detail}]}
 *            trace: the text of a trace.csv; several sources are added up
 * mark: {params_b, delta_pct, n, label}. All take "width" (pixels) and "lang" ("zh"). Absent
 * numbers leave a part out; a member of the wrong kind is ECO_E_INVALID. Everything lives in
 * ctx->arena.
 */
#ifndef ECO_WASM_CHART_JSON_H
#define ECO_WASM_CHART_JSON_H

#include "ops/op.h"

int eco_chart_json(struct eco_ctx *ctx, const char *kind, const struct eco_json *json,
                   struct eco_buf *out, struct eco_err *err);

#endif
