/*
 * Inside the module: tensors as headers list them, sorted into classes and summed. Pure.
 */
#ifndef ECO_MODEL_TENSORS_H
#define ECO_MODEL_TENSORS_H

#include "model.h"
#include "model_config.h"

#define ECO_TENSOR_MAX_DIMS 8

/* X(NAME, bits) — dtypes of safetensors. */
#define ECO_DTYPES(X)                                                                              \
    X(BOOL, 8)                                                                                     \
    X(U8, 8)                                                                                       \
    X(I8, 8)                                                                                       \
    X(F8_E5M2, 8)                                                                                  \
    X(F8_E4M3, 8)                                                                                  \
    X(F8_E8M0, 8)                                                                                  \
    X(F4, 4)                                                                                       \
    X(F6_E2M3, 6)                                                                                  \
    X(F6_E3M2, 6)                                                                                  \
    X(I16, 16)                                                                                     \
    X(U16, 16)                                                                                     \
    X(F16, 16)                                                                                     \
    X(BF16, 16)                                                                                    \
    X(I32, 32)                                                                                     \
    X(U32, 32)                                                                                     \
    X(F32, 32)                                                                                     \
    X(F64, 64)                                                                                     \
    X(I64, 64)                                                                                     \
    X(U64, 64)                                                                                     \
    X(C64, 64)

enum eco_dtype {
    ECO_DTYPE_NONE = 0, /* a block type of ggml */
#define X(name, bits) ECO_DTYPE_##name,
    ECO_DTYPES(X)
#undef X
        ECO_DTYPE_COUNT
};

struct eco_tensor {
    const char *name; /* NUL-terminated, borrowed */
    enum eco_dtype dtype;
    int n_dims;
    uint64_t dims[ECO_TENSOR_MAX_DIMS]; /* outermost first, as PyTorch prints them */
    uint64_t elements, bytes;
};

/** Sums over one or more files. Init with eco_tally_init; plain data. */
struct eco_tally {
    struct eco_model_info info;
    int layers;     /* of the config: tensors of later layers are OTHER; 0: not known */
    int quant_bits; /* of packed integers; 0 or less: 4 */
    uint64_t linear_bytes[ECO_DTYPE_COUNT]; /* of matrices by dtype */
    bool nf4, double_quant, int8_rows;      /* names of bitsandbytes' constants were seen */
    bool overflow;
    int last_layer;                                          /* highest index seen, -1: none */
    uint64_t vocab, hidden, q_width, kv_width, intermediate; /* from well-known tensors, 0: not */
};

void eco_tally_init(struct eco_tally *t, const struct eco_config *c_or_null);
void eco_tally_add(struct eco_tally *t, const struct eco_tensor *x);
enum eco_tensor_class eco_tensor_classify(const struct eco_tensor *x, int layers);
/** Elements that a packed tensor stands for. */
uint64_t eco_tensor_params(const struct eco_tensor *x, int quant_bits);
/** NONE when no dtype dominates that has a precision. */
enum eco_precision eco_tally_precision(const struct eco_tally *t);

/**
 * Model and info from the sums and, when there is one, the config: tensors count, it shapes.
 * `m` must be zeroed; its name and source are the caller's.
 */
int eco_tally_finish(const char *file, struct eco_tally *t, const struct eco_config *c_or_null,
                     struct eco_model *m, struct eco_err *err);

/** One tensor of a safetensors header; `want` may drop it (NULL: all are wanted). */
struct eco_tensor_filter {
    bool (*want)(void *ctx, const char *name);
    void *ctx;
};

/** Reads bytes[0..len), which hold the header, into the sums. */
int eco_safetensors_read(const char *file, const unsigned char *bytes, size_t len,
                         uint64_t file_bytes, const struct eco_tensor_filter *filter,
                         struct eco_tally *t, struct eco_err *err);
/** Header bytes + 8 from the first 8 bytes, checked against the file and the limit. */
int eco_safetensors_header(const char *file, const unsigned char first[8], uint64_t file_bytes,
                           size_t *head, struct eco_err *err);

/** A byte range of a file, to find holes and overlaps. */
struct eco_range {
    uint64_t begin, end;
    uint32_t index;
};
void eco_range_sort(struct eco_range *r, size_t n);

#endif
