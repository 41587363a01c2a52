/* Inside of import: the readers of the formats, and what they share. Row numbers start at 1. */
#ifndef ECO_REPORT_IMPORT_PARTS_H
#define ECO_REPORT_IMPORT_PARTS_H

#include "base/json.h"
#include "import.h"

/** A new run with everything "not known", or NULL: out of memory, or over the limit (err). */
struct eco_import_run *eco_import_add(struct eco_import *im, struct eco_arena *arena,
                                      struct eco_err *err);
void eco_import_note(struct eco_import_run *run, const char *text); /* NULL text: nothing */

/** Text without control characters, at most 200 bytes; NULL for what is no text or empty. */
const char *eco_import_text(struct eco_arena *arena, const struct eco_json *v);
/**
 * A number within [lo, hi]; NAN where the member is absent or null. ECO_E_CONTENT names the member
 * and the row for anything else.
 */
int eco_import_num(const struct eco_json *object, const char *key, double lo, double hi, size_t row,
                   double *out, struct eco_err *err);
/** The same for whole numbers; -1 where absent. */
int eco_import_int(const struct eco_json *object, const char *key, int64_t hi, size_t row,
                   int64_t *out, struct eco_err *err);

int eco_import_llama_bench(const struct eco_json *root, struct eco_arena *arena,
                           struct eco_import *out, struct eco_err *err);
int eco_import_ml_energy(const struct eco_json *root, struct eco_arena *arena,
                         struct eco_import *out, struct eco_err *err);
int eco_import_codecarbon(const char *text, size_t len, struct eco_arena *arena,
                          struct eco_import *out, struct eco_err *err);

#endif
