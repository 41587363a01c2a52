/* The folder of a measured run, computed again: see ops_replay_dir.c. */
#ifndef ECO_OPS_REPLAY_DIR_H
#define ECO_OPS_REPLAY_DIR_H

#include "steps.h"

/** Fills verdict, compared, differ and trials of `out`. ECO_E_NOT_FOUND, ECO_E_CONTENT. */
int eco_replay_dir(struct eco_ctx *ctx, const char *path, struct eco_res_replay *out,
                   struct eco_err *err);

#endif
