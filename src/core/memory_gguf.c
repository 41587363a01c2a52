#include "memory.h"

/* X(NAME, weights a block, bytes a block): the block layouts of ggml. */
#define BLOCKS(X)                                                                                  \
    X(F16, 1, 2)                                                                                   \
    X(Q8_0, 32, 34)                                                                                \
    X(Q5_1, 32, 24)                                                                                \
    X(Q5_0, 32, 22)                                                                                \
    X(Q4_0, 32, 18)                                                                                \
    X(IQ4_NL, 32, 18)                                                                              \
    X(Q6_K, 256, 210)                                                                              \
    X(Q5_K, 256, 176)                                                                              \
    X(Q4_K, 256, 144)                                                                              \
    X(Q3_K, 256, 110)                                                                              \
    X(Q2_K, 256, 84)                                                                               \
    X(IQ4_XS, 256, 136)                                                                            \
    X(IQ3_S, 256, 110)                                                                             \
    X(IQ3_XXS, 256, 98)                                                                            \
    X(IQ2_S, 256, 82)

enum block {
    BLOCK_NONE = 0,
#define X(name, weights, bytes) BLOCK_##name,
    BLOCKS(X)
#undef X
};

static const struct {
    int weights, bytes;
} blocks[] = {{1, 0},
#define X(name, weights, bytes) {weights, bytes},
              BLOCKS(X)
#undef X
};

/** Which layers take the richer type of a pair. */
enum where {
    NOWHERE = 0,
    EVERYWHERE,
    MORE_BITS,    /* first and last eighth, and every third between */
    FIRST_EIGHTH, /* i < n/8 */
    FIRST_16TH,
    FIRST_4,
    FIRST_2,
    SHARED_VALUES, /* every layer of a model with 4 or more query heads to one value head */
    MIDDLE         /* neither the first nor the last eighth */
};

struct pick {
    enum where where;
    enum block rich, plain; /* plain NONE: the mix's base type */
};

struct mix {
    enum eco_precision precision;
    enum block base;
    struct pick value, down, gate_up;
    enum block query_key, output_proj; /* NONE: base */
    enum block embedding, lm_head;     /* a tied table takes lm_head's */
};

#define K4M                                                                                        \
    .base = BLOCK_Q4_K, .value = {MORE_BITS, BLOCK_Q6_K, BLOCK_NONE},                              \
    .down = {MORE_BITS, BLOCK_Q6_K, BLOCK_NONE}
#define K5M                                                                                        \
    .base = BLOCK_Q5_K, .value = {MORE_BITS, BLOCK_Q6_K, BLOCK_NONE},                              \
    .down = {MORE_BITS, BLOCK_Q6_K, BLOCK_NONE}
#define K2                                                                                         \
    .base = BLOCK_Q2_K, .value = {SHARED_VALUES, BLOCK_Q4_K, BLOCK_Q3_K},                          \
    .down = {EVERYWHERE, BLOCK_Q3_K, BLOCK_NONE}, .output_proj = BLOCK_Q3_K

/* The _L files of Q2_K, Q4_K, Q5_K and Q6_K are the plain mix with both tables at Q8_0. */
static const struct mix mixes[] = {
    {.precision = ECO_PREC_GGUF_Q8_0, .base = BLOCK_Q8_0, .lm_head = BLOCK_Q8_0},
    {.precision = ECO_PREC_GGUF_Q6_K, .base = BLOCK_Q6_K, .lm_head = BLOCK_Q6_K},
    {.precision = ECO_PREC_GGUF_Q6_K_L,
     .base = BLOCK_Q6_K,
     .embedding = BLOCK_Q8_0,
     .lm_head = BLOCK_Q8_0},
    {.precision = ECO_PREC_GGUF_Q5_K_M, K5M, .lm_head = BLOCK_Q6_K},
    {.precision = ECO_PREC_GGUF_Q5_K_L, K5M, .embedding = BLOCK_Q8_0, .lm_head = BLOCK_Q8_0},
    {.precision = ECO_PREC_GGUF_Q5_K_S, .base = BLOCK_Q5_K, .lm_head = BLOCK_Q6_K},
    {.precision = ECO_PREC_GGUF_Q5_0, .base = BLOCK_Q5_0, .lm_head = BLOCK_Q6_K},
    {.precision = ECO_PREC_GGUF_Q4_K_M, K4M, .lm_head = BLOCK_Q6_K},
    {.precision = ECO_PREC_GGUF_Q4_K_L, K4M, .embedding = BLOCK_Q8_0, .lm_head = BLOCK_Q8_0},
    {.precision = ECO_PREC_GGUF_Q4_K_S,
     .base = BLOCK_Q4_K,
     .value = {FIRST_4, BLOCK_Q5_K, BLOCK_NONE},
     .down = {FIRST_EIGHTH, BLOCK_Q5_K, BLOCK_NONE},
     .lm_head = BLOCK_Q6_K},
    {.precision = ECO_PREC_GGUF_Q4_0, .base = BLOCK_Q4_0, .lm_head = BLOCK_Q6_K},
    {.precision = ECO_PREC_GGUF_IQ4_XS,
     .base = BLOCK_IQ4_XS,
     .value = {SHARED_VALUES, BLOCK_Q5_K, BLOCK_NONE},
     .lm_head = BLOCK_Q6_K},
    {.precision = ECO_PREC_GGUF_Q3_K_L,
     .base = BLOCK_Q3_K,
     .value = {EVERYWHERE, BLOCK_Q5_K, BLOCK_NONE},
     .down = {EVERYWHERE, BLOCK_Q5_K, BLOCK_NONE},
     .output_proj = BLOCK_Q5_K,
     .lm_head = BLOCK_Q6_K},
    {.precision = ECO_PREC_GGUF_Q3_K_M,
     .base = BLOCK_Q3_K,
     .value = {FIRST_2, BLOCK_Q5_K, BLOCK_Q4_K},
     .down = {FIRST_16TH, BLOCK_Q5_K, BLOCK_Q4_K},
     .output_proj = BLOCK_Q4_K,
     .lm_head = BLOCK_Q6_K},
    {.precision = ECO_PREC_GGUF_IQ3_XS,
     .base = BLOCK_IQ3_S,
     .value = {SHARED_VALUES, BLOCK_Q4_K, BLOCK_NONE},
     .gate_up = {MIDDLE, BLOCK_IQ3_XXS, BLOCK_NONE},
     .query_key = BLOCK_IQ3_XXS,
     .lm_head = BLOCK_Q6_K},
    {.precision = ECO_PREC_GGUF_Q2_K, K2, .lm_head = BLOCK_Q6_K},
    {.precision = ECO_PREC_GGUF_Q2_K_L, K2, .embedding = BLOCK_Q8_0, .lm_head = BLOCK_Q8_0},
    {.precision = ECO_PREC_GGUF_IQ2_M,
     .base = BLOCK_IQ2_S,
     .value = {SHARED_VALUES, BLOCK_Q4_K, BLOCK_IQ3_S},
     .down = {FIRST_EIGHTH, BLOCK_IQ3_S, BLOCK_NONE},
     .output_proj = BLOCK_IQ3_S,
     .embedding = BLOCK_IQ3_S,
     .lm_head = BLOCK_Q5_K},
};

/** Bits of a type in a tensor with rows of `columns`: 256-blocks that do not fit fall back. */
static double block_bits(enum block b, double columns)
{
    if (b != BLOCK_F16 && columns > 0.0 && (long long)columns % blocks[b].weights != 0) {
        switch (b) {
        case BLOCK_Q6_K:
            b = BLOCK_Q8_0;
            break;
        case BLOCK_Q5_K:
            b = BLOCK_Q5_1;
            break;
        case BLOCK_Q4_K:
            b = BLOCK_Q5_0;
            break;
        case BLOCK_Q3_K:
        case BLOCK_Q2_K:
            b = BLOCK_Q4_0;
            break;
        default:
            b = BLOCK_IQ4_NL;
            break;
        }
        if ((long long)columns % blocks[b].weights != 0) {
            b = BLOCK_F16;
        }
    }
    return 8.0 * blocks[b].bytes / blocks[b].weights;
}

static bool is_rich(enum where w, const struct eco_model *m, int i)
{
    int n = m->layers;
    switch (w) {
    case EVERYWHERE:
        return true;
    case MORE_BITS:
        return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
    case FIRST_EIGHTH:
        return i < n / 8;
    case FIRST_16TH:
        return i < n / 16;
    case FIRST_4:
        return i < 4;
    case FIRST_2:
        return i < 2;
    case SHARED_VALUES:
        return m->n_kv_heads > 0 && m->n_heads / m->n_kv_heads >= 4;
    case MIDDLE:
        return i >= n / 8 && i < 7 * n / 8;
    case NOWHERE:
    default:
        return false;
    }
}

/** Mean bits over the layers of a tensor whose type is picked by layer. */
static double pick_bits(const struct pick *p, enum block base, const struct eco_model *m,
                        double columns)
{
    enum block plain = p->plain ? p->plain : base;
    if (m->layers < 1) {
        return block_bits(plain, columns);
    }
    int rich = 0;
    for (int i = 0; i < m->layers; i++) {
        rich += is_rich(p->where, m, i);
    }
    double share = (double)rich / m->layers;
    return (rich ? share * block_bits(p->rich, columns) : 0.0) +
           (1.0 - share) * block_bits(plain, columns);
}

/** Types of 3 and 4 bits become Q5_K in the value projections of 80-layer models. */
static enum block raised(enum block b)
{
    return b == BLOCK_Q3_K || b == BLOCK_Q4_K ? BLOCK_Q5_K : b;
}

static double value_bits(const struct mix *x, const struct eco_model *m, double columns)
{
    struct pick p = x->value;
    if (m->experts == 8) {
        return block_bits(BLOCK_Q8_0, columns);
    }
    if (m->layers == 80) {
        p.rich = raised(p.rich);
        p.plain = raised(p.plain ? p.plain : x->base);
    }
    return pick_bits(&p, x->base, m, columns);
}

static double linear_bits(const struct mix *x, const struct eco_model *m)
{
    double h = m->hidden, attn = (double)m->n_heads * m->head_dim;
    double kv = (double)m->n_kv_heads * m->head_dim, ff = m->intermediate;
    if (m->experts > 1) {
        ff *= m->experts;
    }
    double total = 2.0 * h * attn + 2.0 * h * kv + 3.0 * h * ff;
    if (!(total > 0.0)) {
        return block_bits(x->base, 256.0);
    }
    enum block qk = x->query_key ? x->query_key : x->base;
    enum block proj = x->output_proj ? x->output_proj : x->base;
    enum block key = m->experts == 8 ? BLOCK_Q8_0 : qk;
    if (m->experts == 8 && blocks[proj].bytes < blocks[BLOCK_Q5_K].bytes && proj != BLOCK_Q8_0) {
        proj = BLOCK_Q5_K;
    }
    double sum = h * attn * (block_bits(qk, h) + block_bits(proj, attn));
    sum += h * kv * (block_bits(key, h) + value_bits(x, m, h));
    sum += 2.0 * h * ff * pick_bits(&x->gate_up, x->base, m, h);
    sum += h * ff * pick_bits(&x->down, x->base, m, (double)m->intermediate);
    return sum / total;
}

bool eco_memory_gguf_mix(const struct eco_model *m, enum eco_precision p, struct eco_gguf_mix *out)
{
    bool gguf = eco_precision_family(p) == ECO_FAM_GGUF;
    for (size_t i = 0; gguf && i < sizeof mixes / sizeof mixes[0]; i++) {
        const struct mix *x = &mixes[i];
        if (x->precision != p) {
            continue;
        }
        double h = m->hidden;
        enum block table = x->embedding ? x->embedding : x->base;
        out->lm_head_bits = block_bits(x->lm_head, h);
        out->embedding_bits = m->tied ? out->lm_head_bits : block_bits(table, h);
        out->linear_bits = linear_bits(x, m);
        return true;
    }
    return false;
}
