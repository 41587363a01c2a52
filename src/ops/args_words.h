/* Arguments back into the words of a command line, for a program that is started with them. */
#ifndef ECO_OPS_ARGS_WORDS_H
#define ECO_OPS_ARGS_WORDS_H

#include "args.h"

/**
 * `first[0..n)`, then each parameter that was given as "--name=value", then NULL; all in the arena.
 * NULL with `err` without memory.
 */
char **eco_args_words(const struct eco_op *op, const void *args, struct eco_arena *arena,
                      const char *const *first, size_t n, struct eco_err *err);

#endif
