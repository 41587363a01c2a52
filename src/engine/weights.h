/*
 * Inside the module: the weights of a model, and where they come from. A source gives tensors by
 * role; build() keeps what already lies in the wanted format where it is (mmap) and quantizes the
 * rest, rows at a time, into one region. No second copy of the weights ever exists.
 */
#ifndef ECO_ENGINE_WEIGHTS_H
#define ECO_ENGINE_WEIGHTS_H

#include "engine_shape.h"
#include "matrix.h"
#include "model/model.h"
#include "pool.h"

struct eco_layer {
    struct eco_matrix wq;                           /* [heads * head_dim][hidden] */
    struct eco_matrix wk, wv;                       /* [kv_heads * head_dim][hidden] */
    struct eco_matrix wo;                           /* [hidden][heads * head_dim] */
    struct eco_matrix w_gate, w_up;                 /* [intermediate][hidden] */
    struct eco_matrix w_down;                       /* [hidden][intermediate] */
    const float *attn_norm, *ffn_norm;              /* [hidden] */
    const float *post_attn_norm, *post_ffn_norm;    /* [hidden] or NULL */
    const float *bias_q, *bias_k, *bias_v, *bias_o; /* [rows of their matrix] or NULL */
    const float *q_norm, *k_norm;                   /* [head_dim] or NULL */
};

struct eco_weights {
    struct eco_matrix embed; /* [vocab][hidden] */
    struct eco_matrix head;  /* [vocab][hidden]; the same memory when tied */
    const float *out_norm;   /* [hidden] */
    struct eco_layer *layers;
    unsigned char *region; /* owned */
    size_t region_bytes, region_used;
    uint64_t class_bytes[ECO_TENSOR_CLASSES];
    uint64_t read_bytes; /* of one decode step */
    uint64_t mapped_bytes;
};

/** Where tensors come from; functions may be called from several threads at once. */
struct eco_source {
    void *ctx; /* owned by the source */
    /** Rows [begin, end) of the slot as floats [end - begin][cols]. */
    void (*rows)(void *ctx, const struct eco_slot *slot, int begin, int end, float *out);
    /** The slot's codes where they lie, when the file has them as one piece; else NULL. */
    const void *(*stored)(void *ctx, const struct eco_slot *slot, enum eco_format *format);
    void (*close)(void *ctx); /* may be NULL */
};

/** The format of a matrix under a precision; `stored` is used for ECO_PREC_NONE. */
enum eco_format eco_engine_format_of(enum eco_precision p, enum eco_role role,
                                     enum eco_format stored);
/** Bytes of all tensors in that precision, from the shape; ECO_E_UNSUPPORTED when rows do not fit
 * the blocks. `source` may be NULL; with it, what stays in the file is left out. */
int eco_engine_weight_bytes(const struct eco_shape *s, enum eco_precision p,
                            const struct eco_source *source, uint64_t *bytes, struct eco_err *err);
int eco_engine_weights_build(const struct eco_shape *s, enum eco_precision p,
                             const struct eco_source *source, struct eco_pool *pool,
                             struct eco_weights *out, struct eco_err *err);
void eco_engine_weights_done(struct eco_weights *w);

/** Seeded Gaussian weights in the shape; FP16-exact values. */
int eco_engine_synthetic(const struct eco_shape *s, uint64_t seed, struct eco_source *out,
                         struct eco_err *err);

/** Quantizes rows [begin, end), given as floats, into the matrix, whose pointers are writable. */
void eco_engine_quantize_rows(const struct eco_matrix *w, int begin, int end, const float *x);
/** NF4_DQ: second stage, over the absmax of all blocks. Sets scale_offset. */
void eco_engine_quantize_absmax(struct eco_matrix *w, const float *absmax);
/** Rows that hold whole NF4 blocks together: quantize_rows is given multiples of it. */
int eco_engine_row_unit(enum eco_format f, int cols);

#endif
