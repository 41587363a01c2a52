/*
 * From text or JSON to an argument struct, strictly: unknown names, wrong kinds, out-of-range and
 * repeated values are errors that name the parameter, its range and the nearest valid name.
 * Missing and null mean the default. Memory: strings and lists live in the arena.
 */
#ifndef ECO_OPS_ARGS_H
#define ECO_OPS_ARGS_H

#include "base/num.h"
#include "op.h"

/** Fills `args` (op->args_size bytes) with the defaults; `have` is 0. */
int eco_args_init(const struct eco_op *op, void *args, struct eco_arena *arena,
                  struct eco_err *err);
/** The parameter called name[0..len), by name or alias ('-' counts as '_'), or NULL. */
const struct eco_param *eco_args_find(const struct eco_op *op, const char *name, size_t len);
/** Sets one parameter from text (command line, query string). */
int eco_args_set(const struct eco_op *op, void *args, struct eco_arena *arena,
                 const struct eco_param *p, const char *text, size_t len, struct eco_err *err);
/** Adds a word to the parameter that takes all bare words, as a list or as one text with spaces;
    false when there is none. */
bool eco_args_append(const struct eco_op *op, void *args, struct eco_arena *arena, const char *word,
                     struct eco_err *err, int *rc);
/** Sets all members of a JSON object. Native parameters are refused unless `native`. */
int eco_args_set_json(const struct eco_op *op, void *args, struct eco_arena *arena,
                      const struct eco_json *object, bool native, struct eco_err *err);
/** Required parameters are there and relations hold. Call once after the last set. */
int eco_args_finish(const struct eco_op *op, void *args, struct eco_err *err);
/** The known word nearest to one that is not: start, offer each known one, read `best`. */
struct eco_nearest {
    const char *word;
    size_t len;
    int distance;
    const char *best; /* NULL: none is near enough to be meant */
};
struct eco_nearest eco_nearest_start(const char *word, size_t len);
void eco_nearest_offer(struct eco_nearest *n, const char *known);
/** How many letters may be wrong in a word of this length for a suggestion to be one. */
int eco_args_near(size_t len);
/** The error for an unknown parameter name, with the nearest known one or the first few. */
int eco_args_unknown(const struct eco_op *op, const char *name, size_t len, struct eco_err *err);
/** True when the parameter at this member offset was given. */
bool eco_args_have(const struct eco_op *op, const void *args, size_t offset);
/**
 * The parameter a bare word is meant for: the first open positional one, unless the word is plainly
 * a precision or a card and that place is still open. NULL: no place left.
 */
const struct eco_param *eco_args_place(const struct eco_op *op, const void *args, const char *word);
/** A bound of a range as people read it. */
void eco_args_bound(double v, char out[ECO_NUM_MAX]);
/** Calls `each` for every choice of a parameter (static or "@..." lists). */
void eco_args_each_choice(const struct eco_param *p, void (*each)(void *to, const char *choice),
                          void *to);

/** Whether `op` takes this parameter beyond its range with --calibration published. */
bool eco_args_wide(const struct eco_op *op, const struct eco_param *p);

#endif
