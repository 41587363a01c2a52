/*
 * Inside the module: tensors of mapped files, by name, and the source that they make. Files stay
 * mapped read-only until the source is closed; tensors are used where they lie.
 */
#ifndef ECO_ENGINE_FILE_TENSORS_H
#define ECO_ENGINE_FILE_TENSORS_H

#include "base/arena.h"
#include "engine_shape.h"
#include "gguf_read.h"
#include "matrix.h"
#include "weights.h"

#define ECO_FILE_MAX_MAPS 1024

struct eco_mapped {
    const unsigned char *data; /* NULL: an empty file */
    size_t bytes;
};

struct eco_file_tensor {
    const char *name; /* in the arena */
    enum eco_format format;
    uint64_t rows, cols; /* a vector has one row */
    const unsigned char *data;
    uint64_t bytes;
    bool placed;        /* a slot of the shape has it */
    const char *unread; /* its type, where the engine cannot read it: no data then; or NULL */
};

/** How a kind of file names a role; %d is the layer. Fused names may be NULL. */
struct eco_names {
    const char *role[ECO_ROLE_COUNT];
    const char *qkv, *qkv_bias, *gate_up;
    const char *layers; /* what begins so must have a slot; NULL: the config says what counts */
};

struct eco_file_tensors;

int eco_engine_files_new(struct eco_file_tensors **out, struct eco_err *err);
void eco_engine_files_free(struct eco_file_tensors *f); /* accepts NULL */
struct eco_arena *eco_engine_files_arena(struct eco_file_tensors *f);
/** Maps a whole file; it lives as long as `f`. */
int eco_engine_files_map(struct eco_file_tensors *f, const char *path, struct eco_mapped *out,
                         struct eco_err *err);
/** Adds a tensor whose data lie in a mapped file; the name is copied. */
int eco_engine_files_add(struct eco_file_tensors *f, const struct eco_file_tensor *t,
                         struct eco_err *err);
const struct eco_file_tensor *eco_engine_files_find(const struct eco_file_tensors *f,
                                                    const char *name);
/** Sorts by name; ECO_E_CONTENT when a name comes twice or two tensors overlap. */
int eco_engine_files_sort(struct eco_file_tensors *f, const char *file, struct eco_err *err);
/** Finds every tensor of the shape, checks extents, leaves none out; `out` then owns `f`. */
int eco_engine_files_source(struct eco_file_tensors *f, const char *file, const struct eco_shape *s,
                            const struct eco_names *names, struct eco_source *out,
                            struct eco_err *err);

/** A Hugging Face folder, a .gguf. On success `*files` has the tensors sorted. */
int eco_engine_open_folder(const char *path, struct eco_shape *shape,
                           struct eco_file_tensors **files, struct eco_err *err);
int eco_engine_open_gguf(const char *path, struct eco_shape *shape, struct eco_file_tensors **files,
                         struct eco_err *err);
/** A line of a GGUF's list of tensors; t.data is NULL for types that the engine cannot read. */
struct eco_gguf_tensor {
    struct eco_file_tensor t;
    char name[ECO_GGUF_MAX_KEY];
    uint64_t offset;
    uint32_t type; /* ggml's number */
    int dims;
    bool usable;
};
/** ECO_E_UNSUPPORTED, with its type, for a tensor that is not usable. */
int eco_gguf_usable(const struct eco_gguf_tensor *t, const char *file, struct eco_err *err);
int eco_gguf_tensors(struct eco_gguf *h, struct eco_arena *arena, struct eco_gguf_tensor **out,
                     struct eco_err *err);
extern const struct eco_names eco_engine_gguf_names;
extern const struct eco_names eco_engine_hf_names, eco_engine_hf_names_gemma2;

#endif
