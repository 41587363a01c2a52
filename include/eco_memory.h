/*
 * Memory of a model on a device: weights by tensor class, quantization constants, KV cache,
 * activations, and what the device's runtime takes. And the two figures a decode roofline needs:
 * weight bytes read per step and KV bytes read per sequence.
 *
 * Pure arithmetic over `struct eco_model`; nothing allocated, no state. Bytes are exact where the
 * shapes are (basis COMPUTED), INTERPOLATED where the shape was; activation_bytes and
 * overhead_bytes are always modelled, from the constants below.
 */
#ifndef ECO_MEMORY_H
#define ECO_MEMORY_H

#include "eco_err.h"
#include "eco_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Device context, kernels and library workspaces of a process that runs a model. Modelled: a CUDA
 * context with cuBLAS loaded holds 0.3 to 0.6 GB on the cards of 2018 to 2025; one figure for all.
 */
#define ECO_MEMORY_CONTEXT_BYTES 0.5e9
/* llama.cpp loads its own kernels only. Modelled. */
#define ECO_MEMORY_CONTEXT_LLAMACPP_BYTES 0.3e9
/* Share of a card's memory that a run may fill, as vLLM's default; the driver, fragments and peaks
 * have the rest. The one rule of fitting: every verb asks eco_memory_room. */
#define ECO_MEMORY_SHARE 0.9

struct eco_memory_query {
    const struct eco_model *model; /* borrowed; required */
    enum eco_precision precision;  /* NONE: as stored, else FP16 */
    double batch;                  /* sequences at once, >= 1; 0: 1 */
    double context_tokens;         /* prompt + generated of each sequence; 0: weights only */
    double kv_bits;                /* of one cached value; 0: 16 */
    enum eco_engine engine;        /* decides overhead_bytes; UNKNOWN: transformers */
};

struct eco_memory {
    double weights_bytes;      /* the classes below + constants_bytes */
    double weights_fp16_bytes; /* 2 bytes for every parameter, tied tables once */
    double embedding_bytes, lm_head_bytes, norm_bytes; /* lm_head_bytes 0 when tied */
    double linear_bytes;    /* codes of the quantized matrices (with GGUF scales: in-block) */
    double constants_bytes; /* absmax, scales, zero points kept beside the codes */
    double kv_bytes_per_sequence;
    double kv_bytes;             /* batch * kv_bytes_per_sequence */
    double activation_bytes;     /* modelled */
    double overhead_bytes;       /* device context and workspaces; modelled */
    double total_bytes;          /* weights + kv + activation + overhead */
    double read_bytes_per_token; /* weights read in one decode step of this batch */
    enum eco_basis basis;        /* of weights and KV: COMPUTED or INTERPOLATED */
};

/**
 * Fills `out`. ECO_E_MISSING without a model, ECO_E_RANGE for a batch outside 1..65536, a context
 * outside 0..1e8 tokens, kv_bits outside 1..64, ECO_E_INVALID for a model without a shape.
 */
int eco_memory_estimate(const struct eco_memory_query *q, struct eco_memory *out,
                        struct eco_err *err);

/** Bytes that a run may fill on these cards. NAN where the card's memory is not known. */
double eco_memory_limit_bytes(const struct eco_gpu *gpu, int n_gpus);
/** Share of that limit that `total_bytes` take: over 1 it does not fit. NAN: not known. */
double eco_memory_room(const struct eco_gpu *gpu, int n_gpus, double total_bytes);

/**
 * Resident weight bytes, constants included. bitsandbytes, GPTQ, AWQ, W4A16, FP8 and FP4 leave
 * embeddings, norms and lm_head at 16 bits; GGUF quantizes tables too and keeps norms at 32.
 * A precision equal to the one the files hold gives the files' own bytes.
 */
double eco_memory_weight_bytes(const struct eco_model *m, enum eco_precision precision);

/**
 * Weight bytes a decode step reads: active experts only, no embedding look-up, the lm_head (or the
 * tied table in its place) once. With `batch` sequences routed independently and evenly, the
 * expected number of distinct experts of a layer is E * (1 - (1 - k/E)^batch).
 */
double eco_memory_read_bytes(const struct eco_model *m, enum eco_precision precision, double batch);

/**
 * KV bytes of one sequence at `tokens`, 16-bit values: per layer 2 * n_kv_heads * head_dim values a
 * token (MLA: kv_lora_rank + rope_head_dim), layers with a sliding window capped at it.
 */
double eco_memory_kv_bytes(const struct eco_model *m, double tokens);

#ifdef __cplusplus
}
#endif
#endif
