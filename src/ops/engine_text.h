/* Inside ops: text in and out of the engine operation. */
#ifndef ECO_OPS_ENGINE_TEXT_H
#define ECO_OPS_ENGINE_TEXT_H

#include "engine/engine.h"
#include "engine/tok.h"
#include "op.h"
#include "params.h"
#include "records.h"

/** What the engine is given: ids, and the tokenizer they came from. */
struct eco_engine_input {
    struct eco_tokenizer *tok; /* NULL: ids only */
    struct eco_ids ids;        /* of one sequence; empty: a seeded prompt */
    int gen;                   /* tokens to make */
};

/** From --ids, --prompt or --corpus. */
int eco_engine_input(struct eco_ctx *ctx, const struct eco_args_engine *a,
                     struct eco_engine_input *in, struct eco_err *err);
void eco_engine_input_done(struct eco_engine_input *in);

/** Text from a prompt [batch][n]: stops at the end token, streams when one arm is asked for. */
int eco_engine_write(struct eco_ctx *ctx, const struct eco_args_engine *a, struct eco_decoder *e,
                     const struct eco_engine_input *in, const int *prompt,
                     struct eco_res_engine_arm *out, struct eco_err *err);

#endif
