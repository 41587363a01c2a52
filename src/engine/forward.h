/* Inside the module: the state of a running model, and the pass over it. */
#ifndef ECO_ENGINE_FORWARD_H
#define ECO_ENGINE_FORWARD_H

#include "engine_backend.h"

/** Work space of a pass over up to `tokens` tokens. */
struct eco_scratch {
    float *x;         /* [tokens][hidden], the residual stream */
    float *h;         /* [tokens][hidden], normed input of a block, then its output */
    float *q, *o;     /* [tokens][heads * head_dim] */
    float *k, *v;     /* [tokens][kv_heads * head_dim] */
    float *gate, *up; /* [tokens][intermediate] */
    float *logits;    /* [rows][vocab] */
    int tokens, logit_rows;
};

struct eco_forward {
    struct eco_shape shape;
    struct eco_weights weights;
    const struct eco_engine_backend *backend;
    struct eco_backend_ctx *device;
    struct eco_kv *kv; /* [layers] */
    struct eco_scratch scratch;
};

/**
 * Runs tokens through the model: fills scratch.x and the KV caches. t->n <= scratch.tokens; the
 * tokens of a sequence come in the order of their positions.
 */
void eco_engine_forward(struct eco_forward *f, const struct eco_tokens *t);
/** Logits of tokens [first, first + n) of the last pass, into scratch.logits [n][vocab]. */
void eco_engine_project(struct eco_forward *f, int first, int n);

#endif
