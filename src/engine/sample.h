/*
 * Inside the module: the next token from its logits. Greedy without temperature; else softmax of
 * logits / temperature over the top_k best (Fan et al. 2018) of which the fewest that reach top_p
 * are kept (Holtzman et al. 2020), drawn by a seeded generator.
 */
#ifndef ECO_ENGINE_SAMPLE_H
#define ECO_ENGINE_SAMPLE_H

#include "engine.h"

struct eco_candidate {
    float p; /* logit, then exp of it */
    int id;
};

struct eco_sampler {
    struct eco_sampling how;
    struct eco_candidate *heap; /* [vocab], owned; NULL: greedy */
    uint64_t state[ECO_ENGINE_MAX_BATCH];
};

/** `how` NULL: greedy. */
int eco_engine_sampler_init(struct eco_sampler *s, const struct eco_sampling *how, int vocab,
                            struct eco_err *err);
void eco_engine_sampler_done(struct eco_sampler *s);
int eco_engine_sampler_pick(struct eco_sampler *s, int seq, const float *logits, int vocab);

#endif
