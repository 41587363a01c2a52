/* Inside the module: what an engine holds. */
#ifndef ECO_ENGINE_DECODER_H
#define ECO_ENGINE_DECODER_H

#include "engine.h"
#include "forward.h"
#include "open_model.h"
#include "pool.h"

struct eco_decoder {
    struct eco_engine_info info;
    struct eco_opened opened; /* files stay mapped while weights point into them */
    struct eco_pool *pool;
    struct eco_forward f;
    float *scratch_memory;
    int *step; /* [3][tokens]: ids, sequences, positions of a pass */
    int batch, context;
};

#endif
