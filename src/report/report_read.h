/* Opening a report, and values as people and pages write them. */
#ifndef ECO_REPORT_READ_H
#define ECO_REPORT_READ_H

#include "base/json.h"
#include "eco_err.h"

#include <stdbool.h>

/**
 * Parses text[0..len) into `doc` (the caller's, eco_json_done) when it is a JSON object within
 * ECO_REPORT_MAX_BYTES; else nothing stays open. ECO_E_TOO_LARGE, ECO_E_CONTENT.
 */
int eco_report_open(const char *text, size_t len, struct eco_json_doc *doc, struct eco_err *err);
/**
 * A finite number, or text that is one ("7", " 3 "; "0x10" when `hex`, as pages take it). Booleans,
 * lists and empty text are not numbers. `out` is untouched when false.
 */
bool eco_report_number(const struct eco_json *v, bool hex, double *out);
/* The block of a report that every output leads with; eco_run.h has the rule. */
struct eco_report_headline {
    bool counter;
    const struct eco_json *own, *other; /* that block, the other instrument's; NULL: none */
    const struct eco_json *stat;        /* spread over its trials; NULL */
};
struct eco_report_headline eco_report_headline_of(const struct eco_json *root);
/** A report measured by the counter, read as its samples tell it: `results`. */
struct eco_report_headline eco_report_sampled_of(const struct eco_json *root);
/** Whose change `results` is: the device that ran, or the one that the data set answers for. */
const struct eco_json *eco_report_gpu(const struct eco_json *root);
const struct eco_json *eco_report_arch(const struct eco_json *root);
/** A number of a block; NAN where it has none. */
double eco_report_value(const struct eco_json *block, const char *key);
/** The size in a model's name, 1e9 parameters: "Qwen2-7B", "1.5 b model"; "8x7B" by data set. */
bool eco_report_size_of_name(const struct eco_json *name, double *out_b);

#endif
