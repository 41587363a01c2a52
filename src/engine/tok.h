/*
 * Tokenizers: text to token ids and back, as the model's files say. Sources: a GGUF's own
 * vocabulary ("llama": SentencePiece's BPE; "gpt2": byte-level BPE), a Hugging Face folder's
 * tokenizer.json (BPE) or tokenizer.model (SentencePiece's BPE and unigram).
 * Ownership: open allocates, free frees; a tokenizer does not change after open and may be used
 * from several threads. Time: text of n bytes takes n log n steps at most, whatever it holds.
 * Errors: enum eco_code; ECO_E_UNSUPPORTED names the part of a file that is not built in.
 */
#ifndef ECO_ENGINE_TOK_H
#define ECO_ENGINE_TOK_H

#include "base/buf.h"
#include "eco_err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ECO_TOK_MAX_TEXT (1u << 30)
#define ECO_TOK_MAX_PIECES (1 << 22)
#define ECO_TOK_MAX_FILE (1u << 28)

struct eco_tokenizer;

/** Ids in memory of their own. Init with {0}. */
struct eco_ids {
    int *v;
    size_t n, cap;
};
void eco_ids_done(struct eco_ids *ids);
int eco_ids_add(struct eco_ids *ids, int id, struct eco_err *err);

enum eco_tok_flag {
    ECO_TOK_WITH_ENDS = 1,   /* BOS and EOS where the model has them */
    ECO_TOK_WITH_SPECIAL = 2 /* "<|im_start|>" in the text is the token, not letters */
};

/** The tokenizer of a model: a .gguf, a Hugging Face folder, a tokenizer.json or .model file.
 * ECO_E_NOT_FOUND when the model has none. */
int eco_tokenizer_open(const char *path, struct eco_tokenizer **out, struct eco_err *err);
int eco_tokenizer_from_json(const char *file, const char *text, size_t len,
                            struct eco_tokenizer **out, struct eco_err *err);
int eco_tokenizer_from_spm(const char *file, const void *bytes, size_t len,
                           struct eco_tokenizer **out, struct eco_err *err);
int eco_tokenizer_from_gguf(const char *file, const void *bytes, size_t len,
                            struct eco_tokenizer **out, struct eco_err *err);
void eco_tokenizer_free(struct eco_tokenizer *t); /* accepts NULL */

int eco_tokenizer_size(const struct eco_tokenizer *t);
/** "gpt2", "llama3", "spm" … for people. */
const char *eco_tokenizer_kind(const struct eco_tokenizer *t);
/** The id of a piece as the vocabulary writes it, or -1. */
int eco_tokenizer_find(const struct eco_tokenizer *t, const char *text, size_t len);
/** A token after which a model has said all (EOS and the ends of a turn). */
bool eco_tokenizer_stops(const struct eco_tokenizer *t, int id);
/** Adds ids to the stopping ones (a folder's generation_config.json). */
void eco_tokenizer_add_stop(struct eco_tokenizer *t, int id);

/** Appends the ids of text[0..len) to `out`. Malformed UTF-8 is taken byte by byte. */
int eco_tokenizer_encode(const struct eco_tokenizer *t, const char *text, size_t len,
                         unsigned flags, struct eco_ids *out, struct eco_err *err);
/** Appends the bytes of one token as they lie in the text; nothing for control tokens. */
void eco_tokenizer_piece(const struct eco_tokenizer *t, int id, struct eco_buf *out);
/** Appends the text of ids[0..n): whole UTF-8, U+FFFD where the bytes are none. */
void eco_tokenizer_decode(const struct eco_tokenizer *t, const int *ids, size_t n,
                          struct eco_buf *out);

/** Text as tokens come: what is appended is always whole UTF-8. Init with {0}. */
struct eco_tok_stream {
    unsigned char wait[4];
    unsigned n;
    bool drop_space; /* the first token's space is the tokenizer's own */
};
void eco_tok_stream_start(const struct eco_tokenizer *t, struct eco_tok_stream *s);
void eco_tok_stream_put(const struct eco_tokenizer *t, struct eco_tok_stream *s, int id,
                        struct eco_buf *out);
void eco_tok_stream_end(struct eco_tok_stream *s, struct eco_buf *out);

#endif
