/*
 * From a parsed question to a command of another operation: look-ups over the data set, the
 * parameters as text, the command line. Everything lives in the request's arena.
 */
#ifndef ECO_OPS_ASK_H
#define ECO_OPS_ASK_H

#include "eco_query.h"
#include "steps.h"

#define ECO_ASK_MAX_PARAMS 32

/** Parameters of an operation as text, in the order they are printed. */
struct eco_ask_params {
    struct {
        const char *name;
        const char *value; /* NULL: a bare flag */
    } p[ECO_ASK_MAX_PARAMS];
    size_t n;
};

/** Look-ups of cards, models and regions for the parser. */
extern const struct eco_query_names eco_ask_names;

/** Why something said was not used, in the language of `ctx`. */
const char *eco_ask_reason(struct eco_ctx *ctx, const struct eco_query_missed *m);
/** What the question says, as a result. */
void eco_ask_fill(struct eco_ctx *ctx, const struct eco_query *q, struct eco_res_ask_params *out);
/** The parameters that `op` takes. `requests` is added when it is above zero. */
void eco_ask_params_of(struct eco_ctx *ctx, const struct eco_op *op, const struct eco_query *q,
                       double requests, struct eco_ask_params *out);
/** What was measured of the precision, card by card: list of eco_res_ask_card. */
struct eco_list eco_ask_cards(struct eco_ctx *ctx, enum eco_precision p);
/** The card of that class with most measured pairs of the precision; NULL: none. */
const char *eco_ask_card_of(enum eco_precision p, enum eco_arch arch);
/** "audit serve.py": with the files that the text names, else "audit PATH". */
const char *eco_ask_audit(struct eco_ctx *ctx, const char *text);
/** "ecocompute cost --model …" */
const char *eco_ask_command(struct eco_ctx *ctx, const char *verb, const struct eco_ask_params *p);

#endif
