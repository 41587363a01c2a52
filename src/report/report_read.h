/* How share and overlay read a value: numbers and sizes as people and pages write them. */
#ifndef ECO_REPORT_READ_H
#define ECO_REPORT_READ_H

#include "base/json.h"

#include <stdbool.h>

/**
 * A finite number, or text that is one ("7", " 3 "; "0x10" when `hex`, as pages take it). Booleans,
 * lists and empty text are not numbers. `out` is untouched when false.
 */
bool eco_report_number(const struct eco_json *v, bool hex, double *out);
/** The size in a model's name, 1e9 parameters: "Qwen2-7B", "1.5 b model"; "8x7B" by data set. */
bool eco_report_size_of_name(const struct eco_json *name, double *out_b);

#endif
