/* Help, the man page and the welcome screen, all from the operations table. */
#ifndef ECO_CLI_HELP_H
#define ECO_CLI_HELP_H

#include "ops/op.h"

void cli_help_all(struct eco_buf *out);
void cli_help_op(const struct eco_op *op, int width, struct eco_buf *out);
void cli_help_man(struct eco_buf *out);
/** Every operation with the JSON Schema of its parameters and of its result, as one document. */
void cli_help_schema(struct eco_buf *out);
/** `ecocompute` alone: what was found on this machine and the three most useful next commands. */
void cli_help_welcome(const struct eco_ctx *ctx, struct eco_buf *out);

#endif
