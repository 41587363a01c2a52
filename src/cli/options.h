/* Options every command takes (--json, --format …) and those of the operation's own table. */
#ifndef ECO_CLI_OPTIONS_H
#define ECO_CLI_OPTIONS_H

#include "ops/op.h"

enum cli_format { CLI_TABLE, CLI_JSON, CLI_CSV, CLI_MARKDOWN, CLI_HTML };

struct cli_options {
    enum cli_format format;
    bool color, ascii, quiet, help;
    int width;
    const char *batch_file; /* NULL: one request */
};

/** The common options as a table, for help, man page and completions. */
struct cli_common {
    const char *name;  /* "--format" */
    const char *value; /* "table|json|csv|markdown|html", or NULL: a switch */
    const char *help;
};
extern const struct cli_common cli_common_options[];
extern const size_t cli_common_count;
/** False for --batch-file where there is none, and where the operation has its own option. */
bool cli_common_applies(const struct cli_common *c, const struct eco_op *op);

/** Reads argv[0..argc) after the verb. `args` was initialised by eco_args_init. */
int cli_options_read(const struct eco_op *op, int argc, char **argv, void *args,
                     struct eco_arena *arena, struct cli_options *out, struct eco_err *err);

#endif
