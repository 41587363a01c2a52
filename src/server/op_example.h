/*
 * The examples of an operation's row, as a request: the words of a command line become parameters.
 * Threads: nothing shared; strings live in the arena.
 */
#ifndef ECO_SERVER_OP_EXAMPLE_H
#define ECO_SERVER_OP_EXAMPLE_H

#include "ops/op.h"

#define ECO_EXAMPLE_MAX 24

struct eco_example {
    size_t n;
    const struct eco_param *param[ECO_EXAMPLE_MAX];
    const char *text[ECO_EXAMPLE_MAX];
    void *args;   /* the parameters set */
    void *result; /* of the run */
};

/** The first example that needs no files, run; false when there is none. */
bool eco_example_of(const struct eco_op *op, struct eco_ctx *ctx, struct eco_example *out);
/** Its parameters as one JSON object. */
void eco_example_json(const struct eco_example *x, struct eco_json_writer *w);

#endif
