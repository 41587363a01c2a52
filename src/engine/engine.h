/*
 * The embedded decode engine: a plain decoder-only transformer (Llama family) on the CPU, so that
 * one binary can measure what a precision costs on this machine. One `struct eco_decoder` is one
 * loaded arm: weights in one precision, KV caches for `batch` sequences, a thread pool.
 * Ownership: open allocates everything, close frees it; steps allocate nothing.
 * Errors: enum eco_code; ECO_E_UNSUPPORTED names what an architecture needs, ECO_E_DEVICE says
 * how much is wanted and how much there is. Threads: an engine belongs to one caller at a time.
 */
#ifndef ECO_ENGINE_ENGINE_H
#define ECO_ENGINE_ENGINE_H

#include "eco_err.h"
#include "eco_types.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ECO_ENGINE_MAX_BATCH 64
#define ECO_ENGINE_MAX_THREADS 256
#define ECO_ENGINE_MAX_CONTEXT (1 << 20)

/** Instruction set of the kernels; AUTO takes the best the processor has. */
enum eco_engine_isa {
    ECO_ENGINE_ISA_AUTO = 0,
    ECO_ENGINE_ISA_SCALAR,
    ECO_ENGINE_ISA_AVX2,
    ECO_ENGINE_ISA_AVX512,
    ECO_ENGINE_ISA_NEON,
    ECO_ENGINE_ISA_NEON_DOT,
    ECO_ENGINE_ISA_COUNT
};

struct eco_engine_options {
    const char *model; /* "synthetic:NAME", a Hugging Face folder, a .gguf */
    /* FP32, FP16, BF16, NF4, NF4-DQ, NF4-A8, INT8-MIXED, INT8-PURE, GGUF-Q8_0, GGUF-Q4_0; NONE: as
     * the files hold it (synthetic: FP16). */
    enum eco_precision precision;
    int batch;          /* sequences decoded together, 1..64; 0: 1 */
    int context_tokens; /* KV room of each sequence, prompt and generated; 0: 2048 or the model's */
    int threads;        /* 0: the CPUs this process may use (affinity and cgroup) */
    bool pin;           /* bind each thread to a CPU */
    enum eco_engine_isa isa;
    uint64_t seed;         /* of synthetic weights */
    uint64_t memory_bytes; /* refuse above it; 0: what the machine and the cgroup have free */
};

struct eco_engine_info {
    struct eco_model model; /* name, shape, counts */
    char architecture[32];  /* "llama", "qwen2" … */
    char backend[32];       /* "ecocompute-cpu" */
    char isa[16];           /* "avx2" */
    enum eco_precision precision;
    bool synthetic, has_tokenizer;
    int threads, cpus; /* used; usable by this process */
    int batch, context_tokens;
    uint64_t class_bytes[ECO_TENSOR_CLASSES]; /* resident weights by class; constants apart */
    uint64_t weight_bytes, kv_bytes, scratch_bytes, mapped_bytes;
    uint64_t read_bytes_per_token; /* weight bytes one decode step reads */
    double load_s;
    char warning[240]; /* "" when there is nothing to warn about */
};

/** Of one generation; seconds of the monotonic clock. */
struct eco_engine_timing {
    double ttft_s;  /* prompt in to first token out, all sequences */
    double tpot_s;  /* mean of the steps after the first token; 0 when there was none */
    double total_s; /* ttft_s + decode */
    double prefill_tokens_per_s, decode_tokens_per_s; /* over all sequences */
    int64_t prompt_tokens, gen_tokens;                /* over all sequences */
};

struct eco_decoder;

/** Loads or makes the weights. On success `*out` is owned by the caller. */
int eco_engine_open(const struct eco_engine_options *o, struct eco_decoder **out,
                    struct eco_err *err);
void eco_engine_close(struct eco_decoder *e); /* accepts NULL */
const struct eco_engine_info *eco_engine_info(const struct eco_decoder *e);

/** Bytes that open would need (weights + KV + scratch), from the shape alone, without loading. */
int eco_engine_need(const struct eco_engine_options *o, uint64_t *bytes, struct eco_err *err);

/** Called after each step with the batch's new ids [batch]; not 0 stops the generation. */
struct eco_engine_sink {
    int (*step)(void *ctx, const int *ids, int batch, int index);
    void *ctx;
};

/**
 * Greedy decoding from `prompt` [batch][n_prompt], `n_gen` tokens a sequence (no stop token: an arm
 * must do the same work in every trial). Starts from empty KV caches. `ids` [batch][n_gen] may be
 * NULL, so may `sink`. ECO_E_RANGE when n_prompt + n_gen does not fit context_tokens.
 */
int eco_engine_generate(struct eco_decoder *e, const int *prompt, int n_prompt, int n_gen, int *ids,
                        const struct eco_engine_sink *sink, struct eco_engine_timing *out,
                        struct eco_err *err);

/** How eco_engine_sample chooses; temperature 0: the best token. */
struct eco_sampling {
    double temperature, top_p; /* top_p 1: all */
    int top_k;                 /* 0: all */
    uint64_t seed;             /* the same seed gives the same text */
};

/** As eco_engine_generate, with tokens drawn as `how` says (NULL: greedy). */
int eco_engine_sample(struct eco_decoder *e, const struct eco_sampling *how, const int *prompt,
                      int n_prompt, int n_gen, int *ids, const struct eco_engine_sink *sink,
                      struct eco_engine_timing *out, struct eco_err *err);

/** Seeded token ids [batch][n_prompt] for a prompt that costs what a real one does. */
void eco_engine_prompt(const struct eco_decoder *e, uint64_t seed, int n_prompt, int *prompt);

/** Logits [n][vocab] of one sequence after each of its n tokens, from an empty cache. */
int eco_engine_logits(struct eco_decoder *e, const int *tokens, int n, float *logits,
                      struct eco_err *err);

/**
 * Perplexity exp(mean negative log likelihood), token-weighted over non-overlapping windows of
 * `window` tokens (>= 2; every token but a window's first is predicted). `*counted` may be NULL.
 */
int eco_engine_perplexity(struct eco_decoder *e, const int *tokens, int64_t n, int window,
                          double *ppl, int64_t *counted, struct eco_err *err);

/** CPUs this process may use: affinity mask, cut to the cgroup's quota (v1 and v2), >= 1. */
int eco_engine_cpus(void);
const char *eco_engine_isa_name(enum eco_engine_isa isa); /* "avx2"; "auto" */
enum eco_engine_isa eco_engine_isa_parse(const char *text, size_t len, bool *ok);

#endif
