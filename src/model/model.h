/*
 * What a model is: a known name, a size, a config.json, a folder of safetensors, a .gguf ->
 * parameters by class, shape, bytes (`struct eco_model`). Two halves: pure parsers over bytes,
 * which compile to WebAssembly, and model_files.c, which reads headers from disk and never the
 * tensors. Ownership: everything is copied into the caller's structs; nothing stays allocated.
 * Errors: ECO_E_CONTENT with the file in `arg`, the line and column of a text, or the byte offset
 * in `column`. On failure the out parameters are untouched. Threads: no shared state.
 */
#ifndef ECO_MODEL_H
#define ECO_MODEL_H

#include "eco_err.h"
#include "eco_limits.h"
#include "eco_types.h"

/* Limits on what a file may make us do. */
#define ECO_MODEL_MAX_CONFIG (4u << 20)        /* bytes of a config.json */
#define ECO_MODEL_MAX_INDEX (32u << 20)        /* bytes of a model.safetensors.index.json */
#define ECO_MODEL_MAX_ST_HEADER (32u << 20)    /* bytes of one safetensors header */
#define ECO_MODEL_MAX_GGUF_HEADER (128u << 20) /* bytes of metadata and tensor list */
#define ECO_MODEL_MAX_TENSORS (1u << 18)       /* in one file */
#define ECO_MODEL_MAX_SHARDS 1024
#define ECO_MODEL_MAX_PARAMS 1000000000000000ull /* 1e15 */
#define ECO_MODEL_MIN_SIZE_B ECO_SIZE_MIN_B
#define ECO_MODEL_MAX_SIZE_B ECO_SIZE_MAX_B

enum eco_tensor_class {
    ECO_TENSOR_LINEAR = 0, /* matrices of attention and feed-forward, shared experts, routers */
    ECO_TENSOR_EXPERT,     /* routed experts */
    ECO_TENSOR_EMBEDDING,  /* token and position tables */
    ECO_TENSOR_LM_HEAD,
    ECO_TENSOR_NORM,     /* norms, biases, other vectors */
    ECO_TENSOR_OTHER,    /* not read for a token of text: vision towers, prediction heads */
    ECO_TENSOR_CONSTANT, /* scales, zero points, tables of a quantizer: bytes, no parameters */
    ECO_TENSOR_BUFFER,   /* masks, inverse frequencies, a second copy of a tied table */
    ECO_TENSOR_CLASSES
};

/** Beside the model: what was read, and remarks for the user. */
struct eco_model_info {
    char architecture[48]; /* "llama", "qwen2", "gpt-oss"; "" for a size */
    uint64_t class_params[ECO_TENSOR_CLASSES];
    uint64_t class_bytes[ECO_TENSOR_CLASSES]; /* as stored; all 0 when no tensors were read */
    uint32_t tensors, files;                  /* tensors listed, files read */
    char note[240];                           /* what was assumed or left out; "" when nothing */
};

const char *eco_tensor_class_name(enum eco_tensor_class c); /* "linear", "lm_head" … */

/* --- pure: from numbers and bytes -------------------------------------------------------- */

/**
 * A dense decoder of `params_b` 1e9 parameters with the shape that known models of that size have
 * (kernel regression over ln N). `name` may be NULL ("7B"). shape_basis INTERPOLATED.
 * ECO_E_RANGE outside 0.001..1e6.
 */
int eco_model_from_size(double params_b, const char *name, struct eco_model *out,
                        struct eco_err *err);

/**
 * From the text of a config.json: counts by the architecture's own formula. `file` names it in
 * messages, `name` becomes out->name (NULL: the config's own, else `file`). ECO_E_UNSUPPORTED names
 * an architecture that is not known. `info` may be NULL.
 */
int eco_model_from_config(const char *file, const char *name, const char *text, size_t len,
                          struct eco_model *out, struct eco_model_info *info, struct eco_err *err);

/**
 * From one safetensors header (`bytes`: the file's first 8 + header bytes) and the text of its
 * config.json (NULL, 0: none; then heads are interpolated by size). `file_bytes`: size of the
 * whole file, 0 when not known. ECO_E_CONTENT names the byte.
 */
int eco_model_from_safetensors(const char *file, const char *name, const unsigned char *bytes,
                               size_t len, uint64_t file_bytes, const char *config,
                               size_t config_len, struct eco_model *out,
                               struct eco_model_info *info, struct eco_err *err);

/**
 * From the head of a .gguf file (version 2 or 3). 0; or 1 when `len` bytes are not the whole
 * header and `file_bytes` says that there is more (out untouched): call again with more.
 */
int eco_model_from_gguf(const char *file, const char *name, const unsigned char *bytes, size_t len,
                        uint64_t file_bytes, struct eco_model *out, struct eco_model_info *info,
                        struct eco_err *err);

/** "Q5_K" of ggml's number of a type; NULL: none. */
const char *eco_model_ggml_type(uint32_t type);

/* --- from disk: model_files.c, not in the WebAssembly set -------------------------------- */

/**
 * A known name or Hugging Face id, a folder, a config.json, a .safetensors, a .gguf. A path is
 * tried first when `spec` has the look of one or names a folder with a config.json; a known name
 * wins over a plain file or another folder. file_bytes leaves out masks and a tied table's copy.
 */
int eco_model_open(const char *spec, struct eco_model *out, struct eco_err *err);
int eco_model_inspect(const char *spec, struct eco_model *out, struct eco_model_info *info,
                      struct eco_err *err);

#endif
