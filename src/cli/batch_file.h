/* --batch-file: thousands of questions for one start. */
#ifndef ECO_CLI_BATCH_FILE_H
#define ECO_CLI_BATCH_FILE_H

#include "ops/op.h"

/**
 * Reads JSON requests from `path` ("-": standard input), one a line, and prints one JSON result a
 * line in order; a bad request becomes {"error": {...}} in its place. `defaults` holds what the
 * command line said; a line's own members win.
 */
int cli_batch_run(const struct eco_op *op, struct eco_ctx *ctx, const void *defaults,
                  const char *path, enum eco_lang lang, struct eco_err *err);

#endif
