/* Inside the module: from a model's name or path to its shape and its tensors. */
#ifndef ECO_ENGINE_OPEN_MODEL_H
#define ECO_ENGINE_OPEN_MODEL_H

#include "engine.h"
#include "engine_shape.h"
#include "weights.h"

struct eco_tokenizer;

struct eco_opened {
    struct eco_model model;
    struct eco_shape shape;
    struct eco_source source;  /* close when source.close */
    enum eco_precision stored; /* as the files hold it */
    bool synthetic;
};

/** Whether a path is a folder or a file that may be a whole model; says which to give. */
int eco_engine_check_path(const char *path, struct eco_err *err);

/** "synthetic:NAME", a folder, a .gguf; `with_source` false: shape only. */
int eco_engine_open_model(const char *spec, uint64_t seed, bool with_source, struct eco_opened *out,
                          struct eco_err *err);
void eco_engine_opened_done(struct eco_opened *o);

#endif
