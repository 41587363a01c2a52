#include "memory.h"

#include "eco_limits.h"

#include <math.h>

#define MAX_BATCH ((double)ECO_BATCH_MAX)
#define MAX_TOKENS 1e8

/* Blocks of bitsandbytes: 64 weights to an absmax, 256 absmax to a second one. */
#define NF4_BLOCK 64.0
#define NF4_DQ_BLOCK 256.0
/* GPTQ, AWQ and W4A16 as published: groups of 128 with an fp16 scale and a packed zero point. */
#define W4_GROUP 128.0

/* Prompt tokens in flight at once: vLLM's chunk for prefill, llama.cpp's micro-batch. */
#define CHUNK_TOKENS 8192.0
#define MICRO_BATCH_TOKENS 512.0
/* The built-in engine allows itself 64 MB beside weights and KV. */
#define BUILTIN_BYTES 64e6

/** Parameters by class, in double, from what the model says; `expert` is inside `linear`. */
struct classes {
    double embedding, lm_head, norm, linear;
    double table;  /* what the output multiplication reads: lm_head, or the tied table */
    double active; /* of linear, read for one token */
    double expert; /* of linear, routed experts */
};

static struct classes classes_of(const struct eco_model *m)
{
    struct classes c = {.embedding = (double)m->params_embedding,
                        .lm_head = (double)m->params_lm_head,
                        .norm = (double)m->params_norm,
                        .linear = (double)m->params_linear};
    double total = m->params_total ? (double)m->params_total : m->params_b * 1e9;
    if (!(c.linear > 0.0)) {
        c.linear = fmax(0.0, total - c.embedding - c.lm_head - c.norm);
    }
    double vocab_table = (double)m->vocab * (double)m->hidden;
    c.table = m->tied ? fmin(vocab_table, c.embedding) : c.lm_head;
    c.active = c.linear;
    if (m->params_active > 0) {
        c.active = fmin(c.linear, fmax(0.0, (double)m->params_active - c.norm - c.table));
    }
    if (m->experts > m->experts_per_token && m->experts_per_token > 0) {
        double e = m->experts, k = m->experts_per_token;
        c.expert = fmin(c.linear, (c.linear - c.active) * e / (e - k));
    }
    return c;
}

/** Bits of one weight of each class: codes, and the constants beside them. */
struct bits {
    double embedding, lm_head, norm, linear, constants;
    bool experts_only; /* linear and constants hold for routed experts, the rest has 16 bits */
};

static struct bits bits_of(const struct eco_model *m, enum eco_precision p)
{
    struct bits b = {16.0, 16.0, 16.0, 16.0, 0.0, false};
    struct eco_gguf_mix mix;
    if (eco_memory_gguf_mix(m, p, &mix)) {
        b.embedding = mix.embedding_bits;
        b.lm_head = mix.lm_head_bits;
        b.norm = 32.0;
        b.linear = mix.linear_bits;
        return b;
    }
    switch (p) {
    case ECO_PREC_FP32:
        b.embedding = b.lm_head = b.norm = b.linear = 32.0;
        break;
    case ECO_PREC_FP8:
    case ECO_PREC_W8A8:
        b.linear = 8.0;
        break;
    case ECO_PREC_INT8_MIXED:
    case ECO_PREC_INT8_PURE:
        b.linear = 8.0; /* and one fp32 absmax a row, of about the model's width */
        b.constants = m->hidden > 0 ? 32.0 / m->hidden : 0.0;
        break;
    case ECO_PREC_NF4:
    case ECO_PREC_NF4_A8:
        b.linear = 4.0;
        b.constants = 32.0 / NF4_BLOCK;
        break;
    case ECO_PREC_NF4_DQ:
        b.linear = 4.0;
        b.constants = 8.0 / NF4_BLOCK + 32.0 / (NF4_BLOCK * NF4_DQ_BLOCK);
        break;
    case ECO_PREC_GPTQ_INT4:
    case ECO_PREC_AWQ_INT4:
    case ECO_PREC_W4A16:
        b.linear = 4.0;
        b.constants = (16.0 + 4.0) / W4_GROUP;
        break;
    case ECO_PREC_GPTQ_INT8:
    case ECO_PREC_W8A16:
        b.linear = 8.0;
        b.constants = (16.0 + 4.0) / W4_GROUP;
        break;
    case ECO_PREC_NVFP4: /* blocks of 16 with an e4m3 scale */
        b.linear = 4.0;
        b.constants = 8.0 / 16.0;
        break;
    case ECO_PREC_MXFP4: /* blocks of 32 with an e8m0 scale; gpt-oss packs its experts only */
        b.linear = 4.0;
        b.constants = 8.0 / 32.0;
        b.experts_only = m->experts > 1;
        break;
    default:
        break;
    }
    return b;
}

static enum eco_precision precision_of(const struct eco_model *m, enum eco_precision p)
{
    if (p != ECO_PREC_NONE) {
        return p;
    }
    return m->stored != ECO_PREC_NONE ? m->stored : ECO_PREC_FP16;
}

/** Bytes of `linear` parameters of which `expert` are routed experts, codes and constants. */
static double matrix_bytes(const struct bits *b, double linear, double expert, double bits)
{
    double quantized = b->experts_only ? expert : linear;
    double rest = bits == b->linear ? (linear - quantized) * 16.0 : 0.0;
    return (quantized * bits + rest) / 8.0;
}

/** Resident bytes by class; out's other members stay as they are. */
static void weights_of(const struct eco_model *m, enum eco_precision p, struct eco_memory *out)
{
    struct classes c = classes_of(m);
    struct bits b = bits_of(m, p);
    out->embedding_bytes = c.embedding * b.embedding / 8.0;
    out->lm_head_bytes = c.lm_head * b.lm_head / 8.0;
    out->norm_bytes = c.norm * b.norm / 8.0;
    out->linear_bytes = matrix_bytes(&b, c.linear, c.expert, b.linear);
    out->constants_bytes =
        b.constants > 0.0 ? matrix_bytes(&b, c.linear, c.expert, b.constants) : 0.0;
    out->weights_fp16_bytes = 2.0 * (c.embedding + c.lm_head + c.norm + c.linear);
    double tables = out->embedding_bytes + out->lm_head_bytes + out->norm_bytes;
    if (m->file_bytes > 0 && m->stored == p) {
        /* the files say what they hold; the tables are known, the matrices have the rest */
        double rest = (double)m->file_bytes - tables - out->constants_bytes;
        if (rest > 0.0) {
            out->linear_bytes = rest;
        }
    }
    out->weights_bytes = tables + out->linear_bytes + out->constants_bytes;
}

double eco_memory_weight_bytes(const struct eco_model *m, enum eco_precision precision)
{
    struct eco_memory out = {0};
    if (!m) {
        return 0.0;
    }
    weights_of(m, precision_of(m, precision), &out);
    return out.weights_bytes;
}

double eco_memory_read_bytes(const struct eco_model *m, enum eco_precision precision, double batch)
{
    if (!m) {
        return 0.0;
    }
    struct classes c = classes_of(m);
    struct bits b = bits_of(m, precision_of(m, precision));
    double linear = c.active, expert = 0.0;
    if (c.expert > 0.0) {
        double e = m->experts, k = m->experts_per_token;
        double distinct = e * -expm1(fmax(1.0, batch) * log1p(-k / e));
        linear += c.expert * (distinct - k) / e;
        expert = c.expert * distinct / e;
    }
    double constants = b.constants > 0.0 ? matrix_bytes(&b, linear, expert, b.constants) : 0.0;
    return matrix_bytes(&b, linear, expert, b.linear) + constants +
           (c.table * (m->tied ? b.embedding : b.lm_head) + c.norm * b.norm) / 8.0;
}

double eco_memory_kv_bytes(const struct eco_model *m, double tokens)
{
    if (!m || !(tokens > 0.0) || m->layers <= 0) {
        return 0.0;
    }
    if (m->kv_lora_rank > 0) /* one latent and one shared rotary key a layer */ {
        return 2.0 * m->layers * (double)(m->kv_lora_rank + m->rope_head_dim) * tokens;
    }
    double windowed = 0.0;
    if (m->sliding_window > 0) {
        windowed = m->sliding_layers > 0 ? fmin(m->sliding_layers, m->layers) : m->layers;
    }
    double positions = (m->layers - windowed) * tokens;
    positions += windowed * fmin(tokens, m->sliding_window);
    return 2.0 * positions * 2.0 * (double)m->n_kv_heads * (double)m->head_dim;
}

/**
 * Modelled: for every token in flight two 32-bit copies of the hidden state, the 16-bit queries,
 * keys and values, and both halves of the feed-forward input; and the last logits, 16 and 32 bits.
 */
static double activation_of(const struct eco_memory_query *q, double batch)
{
    const struct eco_model *m = q->model;
    double tokens = batch * fmax(1.0, q->context_tokens);
    if (q->engine == ECO_ENGINE_LLAMACPP || q->engine == ECO_ENGINE_BUILTIN) {
        tokens = fmin(tokens, MICRO_BATCH_TOKENS);
    } else if (q->engine != ECO_ENGINE_TRANSFORMERS && q->engine != ECO_ENGINE_UNKNOWN) {
        tokens = fmin(tokens, CHUNK_TOKENS);
    }
    double qkv = ((double)m->n_heads + 2.0 * m->n_kv_heads) * m->head_dim;
    double ff = m->intermediate * fmax(1.0, m->experts_per_token);
    double per_token = 2.0 * 4.0 * m->hidden + 2.0 * (qkv + 2.0 * ff);
    return tokens * per_token + batch * (2.0 + 4.0) * m->vocab;
}

static double overhead_of(enum eco_engine engine)
{
    if (engine == ECO_ENGINE_LLAMACPP) {
        return ECO_MEMORY_CONTEXT_LLAMACPP_BYTES;
    }
    return engine == ECO_ENGINE_BUILTIN ? BUILTIN_BYTES : ECO_MEMORY_CONTEXT_BYTES;
}

static int check_query(const struct eco_memory_query *q, struct eco_err *err)
{
    if (!q || !q->model) {
        return eco_err_set(err, ECO_E_MISSING, "model", "a 'model' is needed");
    }
    if (q->batch != 0.0 && !(q->batch >= 1.0 && q->batch <= MAX_BATCH)) {
        return eco_err_set(err, ECO_E_RANGE, "batch", "'batch' must be between 1 and %d",
                           ECO_BATCH_MAX);
    }
    if (!(q->context_tokens >= 0.0 && q->context_tokens <= MAX_TOKENS)) {
        return eco_err_set(err, ECO_E_RANGE, "context",
                           "'context' must be between 0 and 100000000 tokens");
    }
    if (q->kv_bits != 0.0 && !(q->kv_bits >= 1.0 && q->kv_bits <= 64.0)) {
        return eco_err_set(err, ECO_E_RANGE, "kv_bits", "'kv_bits' must be between 1 and 64");
    }
    if (q->precision < ECO_PREC_NONE || q->precision >= ECO_PREC_COUNT) {
        return eco_err_set(err, ECO_E_UNKNOWN_NAME, "precision", "unknown precision");
    }
    const struct eco_model *m = q->model;
    if (m->params_total == 0 && !(m->params_b > 0.0)) {
        return eco_err_set(err, ECO_E_INVALID, "model", "model '%.100s' has no size", m->name);
    }
    if (q->context_tokens > 0.0 && (m->layers <= 0 || m->hidden <= 0)) {
        return eco_err_set(err, ECO_E_INVALID, "model",
                           "model '%.100s' has no shape, so its KV cache is not known", m->name);
    }
    return 0;
}

double eco_memory_limit_bytes(const struct eco_gpu *gpu, int n_gpus)
{
    return ECO_MEMORY_SHARE * eco_gpu_memory_bytes(gpu) * (n_gpus > 0 ? n_gpus : 1);
}

double eco_memory_room(const struct eco_gpu *gpu, int n_gpus, double total_bytes)
{
    return total_bytes / eco_memory_limit_bytes(gpu, n_gpus);
}

int eco_memory_estimate(const struct eco_memory_query *q, struct eco_memory *out,
                        struct eco_err *err)
{
    int rc = check_query(q, err);
    if (rc) {
        return rc;
    }
    struct eco_memory r = {0};
    const struct eco_model *m = q->model;
    enum eco_precision p = precision_of(m, q->precision);
    double batch = q->batch > 0.0 ? q->batch : 1.0;
    double kv_scale = (q->kv_bits > 0.0 ? q->kv_bits : 16.0) / 16.0;
    weights_of(m, p, &r);
    r.read_bytes_per_token = eco_memory_read_bytes(m, p, batch);
    r.kv_bytes_per_sequence = kv_scale * eco_memory_kv_bytes(m, q->context_tokens);
    r.kv_bytes = batch * r.kv_bytes_per_sequence;
    r.activation_bytes = activation_of(q, batch);
    r.overhead_bytes = overhead_of(q->engine);
    r.total_bytes = r.weights_bytes + r.kv_bytes + r.activation_bytes + r.overhead_bytes;
    r.basis = m->shape_basis == ECO_BASIS_COMPUTED ? ECO_BASIS_COMPUTED : ECO_BASIS_INTERPOLATED;
    *out = r;
    return 0;
}
