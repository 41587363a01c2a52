/* The data of a chart, from an answer: the curve by size, the measured marks, the asked point. */
#ifndef ECO_OPS_CHART_DATA_H
#define ECO_OPS_CHART_DATA_H

#include "report/chart.h"
#include "steps.h"

/** Everything lives in the question's arena. */
int eco_chart_data_crossover(struct eco_question *q, const struct eco_answer *a,
                             struct eco_chart_crossover *out, struct eco_err *err);

/** How charts look in the language of a context: as wide as usual, its words. */
const struct eco_chart_look *eco_chart_data_look(const struct eco_ctx *ctx);

#endif
