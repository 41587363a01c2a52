/* Shell completions for bash, zsh and fish, from the operations table. */
#ifndef ECO_CLI_COMPLETE_H
#define ECO_CLI_COMPLETE_H

#include "base/buf.h"

/** Exit status: 0, or 2 for a shell that is not known (said on stderr). */
int cli_complete(const char *shell, struct eco_buf *out);

#endif
