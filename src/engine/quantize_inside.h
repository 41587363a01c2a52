/* Inside the module: a quantizing run, and its two kinds of sources. */
#ifndef ECO_ENGINE_QUANTIZE_INSIDE_H
#define ECO_ENGINE_QUANTIZE_INSIDE_H

#include "gguf_write.h"
#include "pool.h"
#include "quantize.h"
#include "tok.h"
#include "weights.h"

/** A tensor of the file to write; its rows come from up to three parts, one behind the other. */
struct eco_quantize_tensor {
    char name[ECO_GGUF_MAX_KEY];
    enum eco_format format;
    int rows, cols; /* rows 0: a vector */
    int parts;
    struct eco_slot part[3];
    const void *data; /* of a GGUF's tensor: a matrix in its own format; NULL: by slots */
    enum eco_format stored;
    int pairs_of; /* > 0: rows (of a bias: values) are reordered within heads of that many */
    float plus;   /* added to every value */
};

struct eco_quantize_run {
    enum eco_precision precision;
    enum eco_format format; /* of matrices */
    struct eco_gguf_writer w;
    struct eco_quantize_tensor *tensors; /* [n], owned */
    size_t n, cap;
    const struct eco_source *source; /* of slots */
    struct eco_pool *pool;
    float *rows;          /* [threads][2][floats] */
    float *rope_factors;  /* of Llama 3, or NULL; owned */
    unsigned char *codes; /* of a chunk of rows */
    struct eco_quantized *out;
};

/** Adds a tensor to the list and to the file's head. */
int eco_quantize_add(struct eco_quantize_run *q, const struct eco_quantize_tensor *t,
                     struct eco_err *err);
/** Keys and tensors of a Hugging Face folder. */
int eco_quantize_folder(struct eco_quantize_run *q, const char *path, const struct eco_shape *s,
                        struct eco_err *err);
/** The keys of a tokenizer, with `vocab` pieces; `*exact` false, and no keys, when a GGUF cannot
 * say all that it does. */
int eco_quantize_tokenizer(struct eco_gguf_writer *w, const struct eco_tokenizer *t, int vocab,
                           bool *exact, struct eco_err *err);

#endif
