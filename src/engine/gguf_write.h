/*
 * Inside the module: writing a GGUF file, version 3 (ggml's docs/gguf.md), whole or not at all: a
 * temporary file beside it, fsync, rename. Keys first, then the list of tensors, then
 * eco_gguf_create, then the tensors' bytes in the order of the list, then eco_gguf_commit.
 */
#ifndef ECO_ENGINE_GGUF_WRITE_H
#define ECO_ENGINE_GGUF_WRITE_H

#include "base/buf.h"
#include "gguf_read.h"
#include "matrix.h"

#define ECO_GGUF_ALIGN 32u

struct eco_gguf_writer {
    struct eco_buf keys, tensors;
    uint64_t n_keys, n_tensors;
    uint64_t data_bytes; /* of the tensors listed so far, with padding */
    uint64_t at;         /* of the tensors written so far */
    char path[4096], temp[4096 + 32];
    int fd;
    bool made;
};

void eco_gguf_writer_init(struct eco_gguf_writer *w);
void eco_gguf_writer_done(struct eco_gguf_writer *w); /* removes what was not committed */

void eco_gguf_put_text(struct eco_gguf_writer *w, const char *key, const char *text, size_t len);
void eco_gguf_put_u32(struct eco_gguf_writer *w, const char *key, uint32_t v);
void eco_gguf_put_f32(struct eco_gguf_writer *w, const char *key, float v);
void eco_gguf_put_bool(struct eco_gguf_writer *w, const char *key, bool v);
/** A key as another file has it. */
void eco_gguf_put_key(struct eco_gguf_writer *w, const struct eco_gguf_key *k);
/** The head of an ARRAY key; n items follow, texts by eco_gguf_item_text, numbers as bytes. */
void eco_gguf_put_array(struct eco_gguf_writer *w, const char *key, enum eco_gguf_type type,
                        uint64_t n);
void eco_gguf_item_text(struct eco_gguf_writer *w, const char *text, size_t len);
void eco_gguf_item_bits(struct eco_gguf_writer *w, uint32_t bits);

/** rows 0: a vector. Bytes as of the format. */
void eco_gguf_put_tensor(struct eco_gguf_writer *w, const char *name, enum eco_format format,
                         uint64_t rows, uint64_t cols, uint64_t bytes);
/** ggml's number of a format; -1: it has none (NF4, INT8). */
int eco_gguf_type_of(enum eco_format f);
/** Keys and list as they will lie at the file's beginning. */
int eco_gguf_head(const struct eco_gguf_writer *w, struct eco_buf *out, struct eco_err *err);

/** ECO_E_EXISTS without `force` when the file is there; ECO_E_IO with numbers when the disk has too
 * little room. */
int eco_gguf_create(struct eco_gguf_writer *w, const char *path, bool force, struct eco_err *err);
int eco_gguf_data(struct eco_gguf_writer *w, const void *bytes, size_t len, struct eco_err *err);
/** Pads to the next tensor. */
int eco_gguf_pad(struct eco_gguf_writer *w, struct eco_err *err);
int eco_gguf_commit(struct eco_gguf_writer *w, uint64_t *file_bytes, struct eco_err *err);

#endif
