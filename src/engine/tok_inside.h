/*
 * Inside the module: what a tokenizer holds. Loaders (tok_json.c, tok_spm.c, tok_gguf.c) fill it,
 * eco_tok_finish checks and indexes it, tok.c walks text through it:
 *     special tokens -> normal form -> words (tok_words.c) -> ids (tok_bpe.c, tok_unigram.c)
 */
#ifndef ECO_ENGINE_TOK_INSIDE_H
#define ECO_ENGINE_TOK_INSIDE_H

#include "base/arena.h"
#include "tok.h"

#define ECO_TOK_SPACE "\xe2\x96\x81" /* U+2581, SentencePiece's space */
#define ECO_TOK_MAX_STOPS 32
#define ECO_TOK_MAX_ENDS 8

/* ggml's and SentencePiece's numbers. */
enum eco_tok_type {
    ECO_TOK_NORMAL = 1,
    ECO_TOK_UNKNOWN = 2,
    ECO_TOK_CONTROL = 3,
    ECO_TOK_USER = 4,
    ECO_TOK_UNUSED = 5,
    ECO_TOK_BYTE = 6
};

enum eco_tok_model {
    ECO_TOK_MERGES, /* a list of merges, first ones first */
    ECO_TOK_SCORES, /* two neighbours merge into a piece, best score first */
    ECO_TOK_UNIGRAM /* the best sum of scores */
};

/* X(NAME, "name") — how text falls into words before merging. */
#define ECO_TOK_WORDS(X)                                                                           \
    X(NONE, "spm")                                                                                 \
    X(GPT2, "gpt2")                                                                                \
    X(LLAMA3, "llama3")                                                                            \
    X(QWEN2, "qwen2")                                                                              \
    X(QWEN35, "qwen35")                                                                            \
    X(TEKKEN, "tekken")                                                                            \
    X(FALCON, "falcon")                                                                            \
    X(DEEPSEEK_LLM, "deepseek-llm")                                                                \
    X(DEEPSEEK_CODER, "deepseek-coder")                                                            \
    X(SPACES, "spm-words") /* a word begins at each U+2581 */                                      \
    X(RUNS, "spm-runs")    /* a word begins at each run of U+2581 */

enum eco_tok_words {
#define X(name, text) ECO_TOK_WORDS_##name,
    ECO_TOK_WORDS(X)
#undef X
};

enum eco_tok_prefix { ECO_TOK_PREFIX_NEVER, ECO_TOK_PREFIX_FIRST, ECO_TOK_PREFIX_ALWAYS };

struct eco_piece {
    const char *text; /* as it lies in normalized text; raw bytes for byte-level vocabularies */
    uint32_t len;
    uint8_t type;        /* enum eco_tok_type */
    bool lstrip, rstrip; /* of a special token: takes the white space beside it */
    float score;
};

struct eco_merge {
    int left, right; /* left -1: an empty place of the table */
    int rank, to;
};

struct eco_tokenizer {
    struct eco_arena arena;
    enum eco_tok_model model;
    struct eco_piece *pieces; /* [n] */
    int n;
    uint32_t *slots; /* [slot_mask + 1] id + 1 by hash of the text; specials have their own */
    uint32_t *special_slots;
    size_t slot_mask, special_mask;
    struct eco_merge *merges; /* [merge_mask + 1] by hash of the pair */
    size_t merge_mask;
    uint32_t max_piece; /* bytes */
    float min_score, max_score;

    bool byte_level, ignore_merges, fuse_unknown, one_digit;
    bool nfc, escape_spaces, trim_spaces, add_space; /* add_space: GPT-2's add_prefix_space */
    bool prefix_once; /* no prefix where the text has a space already */
    bool cuts;        /* no piece goes on over a U+2581: text may be cut there */
    enum eco_tok_prefix prefix;
    enum eco_tok_words words;
    const unsigned char *charsmap; /* SentencePiece's: a trie, then texts; NULL: none */
    size_t charsmap_bytes, charsmap_units;
    int byte_id[256]; /* -1: none */
    bool byte_fallback;

    int unknown; /* -1: none, such text is left out */
    int first[ECO_TOK_MAX_ENDS], n_first, last[ECO_TOK_MAX_ENDS], n_last;
    int stops[ECO_TOK_MAX_STOPS], n_stops;
    uint32_t special_lens[64]; /* lengths of special texts, longest first */
    int n_special_lens;
    bool special_first[256]; /* bytes that a special text begins with */
};

/** An empty one with room for n pieces (types NORMAL, no texts). */
int eco_tok_new(int n, struct eco_tokenizer **out, struct eco_err *err);
/** Copies text into piece id. */
int eco_tok_set(struct eco_tokenizer *t, int id, const char *text, size_t len,
                enum eco_tok_type type, float score, struct eco_err *err);
/** Room for the merges, then each in order of rank; unknown texts are errors. */
int eco_tok_reserve_merges(struct eco_tokenizer *t, size_t n, struct eco_err *err);
int eco_tok_add_merge(struct eco_tokenizer *t, const char *left, size_t left_len, const char *right,
                      size_t right_len, int rank, struct eco_err *err);
/** Indexes the pieces by text; merges need it. */
int eco_tok_index(struct eco_tokenizer *t, struct eco_err *err);
/** After the last change: specials, bytes, stops. */
int eco_tok_finish(struct eco_tokenizer *t, struct eco_err *err);

/** The merge of two pieces, or NULL. */
const struct eco_merge *eco_tok_merge(const struct eco_tokenizer *t, int left, int right);
/** The longest special token at text[0..len), user-defined ones always, others when `all`; -1. */
int eco_tok_special_at(const struct eco_tokenizer *t, const char *text, size_t len, bool all);
/** The byte that "<0xE2>" stands for, or -1. */
int eco_tok_byte(const char *text, size_t len);
/** GPT-2's bytes as letters: appends the raw bytes; false when a letter stands for no byte. */
bool eco_tok_unbyte(const char *text, size_t len, struct eco_buf *out);

/** The end of the word that begins at text[at], at < len. NONE: all of it. */
size_t eco_tok_word_end(enum eco_tok_words words, const char *text, size_t at, size_t len);
/** The same for DeepSeek's rules, tok_words_split.c. */
size_t eco_tok_word_end_split(enum eco_tok_words words, const char *text, size_t at, size_t len);

/** Work space of one encode call. Init with {0}. */
struct eco_tok_work {
    struct eco_tok_symbol *symbols;
    struct eco_tok_pair *heap;
    size_t symbols_cap, heap_cap, heap_n;
    struct eco_tok_node *nodes;
    size_t nodes_cap;
};
void eco_tok_work_done(struct eco_tok_work *w);
int eco_tok_bpe(const struct eco_tokenizer *t, struct eco_tok_work *w, const char *word, size_t len,
                struct eco_ids *out, struct eco_err *err);
int eco_tok_unigram(const struct eco_tokenizer *t, struct eco_tok_work *w, const char *text,
                    size_t len, struct eco_ids *out, struct eco_err *err);

/** What no piece holds: its bytes, or the unknown token (fused with one before when asked). */
int eco_tok_unknown(const struct eco_tokenizer *t, const char *text, size_t len, bool *fused,
                    struct eco_ids *out, struct eco_err *err);
/** SentencePiece's character map over s[0..len). */
int eco_tok_charsmap(const struct eco_tokenizer *t, const char *s, size_t len, struct eco_buf *out,
                     struct eco_err *err);
bool eco_tok_charsmap_ok(const unsigned char *map, size_t bytes, size_t *units);

#endif
