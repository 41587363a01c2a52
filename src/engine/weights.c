/* Building the weights of a model from a source. */
#define _GNU_SOURCE /* madvise, MAP_ANONYMOUS */
#include "weights.h"

#include "packed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGN 64u
#define CHUNK_FLOATS (1 << 17) /* of a quantizing thread's buffer; a row at least */

enum eco_format eco_engine_format_of(enum eco_precision p, enum eco_role role,
                                     enum eco_format stored)
{
    bool table = role == ECO_ROLE_EMBED || role == ECO_ROLE_HEAD;
    switch (p) {
    case ECO_PREC_FP32:
        return ECO_FORMAT_F32;
    case ECO_PREC_FP16:
        return ECO_FORMAT_F16;
    case ECO_PREC_BF16:
        return ECO_FORMAT_BF16;
    case ECO_PREC_NF4: /* bitsandbytes replaces linear layers only, and not lm_head */
        return table ? ECO_FORMAT_F16 : ECO_FORMAT_NF4;
    case ECO_PREC_NF4_DQ:
        return table ? ECO_FORMAT_F16 : ECO_FORMAT_NF4_DQ;
    case ECO_PREC_NF4_A8:
        return table ? ECO_FORMAT_F16 : ECO_FORMAT_NF4_A8;
    case ECO_PREC_INT8_MIXED:
    case ECO_PREC_INT8_PURE:
        return table ? ECO_FORMAT_F16 : ECO_FORMAT_I8;
    case ECO_PREC_GGUF_Q8_0:
        return ECO_FORMAT_Q8_0;
    case ECO_PREC_GGUF_Q4_0:
        return ECO_FORMAT_Q4_0;
    default:
        return stored;
    }
}

static enum eco_tensor_class class_of(enum eco_role role)
{
    if (role == ECO_ROLE_EMBED) {
        return ECO_TENSOR_EMBEDDING;
    }
    if (role == ECO_ROLE_HEAD) {
        return ECO_TENSOR_LM_HEAD;
    }
    return role < ECO_ROLE_MATRICES ? ECO_TENSOR_LINEAR : ECO_TENSOR_NORM;
}

static uint64_t aligned(uint64_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* Calls fn for every tensor of the shape. */
static int each_slot(const struct eco_shape *s,
                     int (*fn)(void *ctx, const struct eco_slot *t, struct eco_err *err), void *ctx,
                     struct eco_err *err)
{
    for (int layer = -1; layer < s->layers; layer++) {
        for (int r = 0; r < ECO_ROLE_COUNT; r++) {
            bool outside = r == ECO_ROLE_EMBED || r == ECO_ROLE_HEAD || r == ECO_ROLE_OUT_NORM;
            struct eco_slot t = eco_engine_slot(s, (enum eco_role)r, layer);
            int rc = t.rows > 0 && outside == (layer < 0) ? fn(ctx, &t, err) : 0;
            if (rc) {
                return rc;
            }
        }
    }
    return 0;
}

struct sizing {
    enum eco_precision p;
    const struct eco_source *source; /* may be NULL */
    bool tied;
    uint64_t bytes;
};

/* The slot's codes where they lie in the file, when they are of the wanted format. */
static const void *in_place(const struct eco_source *source, enum eco_precision p,
                            const struct eco_slot *t, enum eco_format *format)
{
    enum eco_format stored = ECO_FORMAT_F16;
    const void *at = source ? source->stored(source->ctx, t, &stored) : NULL;
    *format = eco_engine_format_of(p, t->role, stored);
    return *format == stored ? at : NULL;
}

/* Q8_0 and Q4_0 are multiplied sixteen rows at a time; a table that only looks rows up stays. */
static bool packs(const struct eco_slot *t, enum eco_format format, bool tied)
{
    return eco_engine_can_pack(format, t->rows) && (t->role != ECO_ROLE_EMBED || tied);
}

static int size_slot(void *ctx, const struct eco_slot *t, struct eco_err *err)
{
    struct sizing *z = ctx;
    uint64_t codes = (uint64_t)t->cols * sizeof(float), constants = 0;
    enum eco_format format = ECO_FORMAT_F32;
    if (t->role < ECO_ROLE_MATRICES) {
        const void *at = in_place(z->source, z->p, t, &format);
        if (!eco_engine_matrix_bytes(format, t->rows, t->cols, &codes, &constants)) {
            return eco_err_set(err, ECO_E_UNSUPPORTED, "precision",
                               "%s needs rows of whole blocks; a matrix here has %d columns",
                               eco_engine_format_name(format), t->cols);
        }
        bool stays = at && !packs(t, format, z->tied);
        codes = stays ? 0 : codes;
        constants = stays ? 0 : constants;
    }
    z->bytes += aligned(codes) + aligned(constants) + 2 * ALIGN;
    return 0;
}

int eco_engine_weight_bytes(const struct eco_shape *s, enum eco_precision p,
                            const struct eco_source *source, uint64_t *bytes, struct eco_err *err)
{
    struct sizing z = {p, source, s->tied, 0};
    int rc = each_slot(s, size_slot, &z, err);
    if (rc == 0) {
        *bytes = z.bytes;
    }
    return rc;
}

struct building {
    const struct eco_shape *s;
    enum eco_precision p;
    const struct eco_source *source;
    struct eco_pool *pool;
    struct eco_weights *w;
    float *buffer; /* [threads][buffer_floats] */
    size_t buffer_floats;
};

static void *take(struct eco_weights *w, uint64_t bytes)
{
    void *at = w->region + w->region_used;
    w->region_used += (size_t)aligned(bytes);
    return w->region_used <= w->region_bytes ? at : NULL;
}

struct quantizing {
    const struct building *b;
    const struct eco_slot *slot;
    const struct eco_matrix *w;
    const uint8_t *stored; /* blocks to pack, or NULL: to quantize */
};

/* Rows that are made together: whole NF4 blocks, whole groups of packed rows. */
static int row_unit(const struct eco_matrix *w)
{
    return w->packed ? ECO_PACKED_ROWS : eco_engine_row_unit(w->format, w->cols);
}

/* Floats to ggml's blocks in the thread's own memory, from there to their groups. */
static void quantize_packed(const struct quantizing *q, int begin, int end, float *x)
{
    size_t floats = (size_t)(end - begin) * (size_t)q->w->cols;
    struct eco_matrix rows = *q->w;
    rows.packed = false;
    rows.rows = end - begin;
    rows.data = x + floats;
    eco_engine_quantize_rows(&rows, 0, end - begin, x);
    eco_engine_pack_rows(q->w, begin, end, rows.data);
}

static void quantize_chunk(const void *ctx, int begin, int end, int thread)
{
    const struct quantizing *q = ctx;
    int cols = q->slot->cols, unit = row_unit(q->w), step = CHUNK_FLOATS / cols / unit * unit;
    float *x = q->b->buffer + (size_t)thread * q->b->buffer_floats;
    step = step > unit ? step : unit;
    if (q->stored) {
        size_t row = eco_engine_row_bytes(q->w->format, cols);
        eco_engine_pack_rows(q->w, begin, end, q->stored + (size_t)begin * row);
        return;
    }
    for (int r = begin; r < end; r += step) {
        int stop = r + step < end ? r + step : end;
        q->b->source->rows(q->b->source->ctx, q->slot, r, stop, x);
        if (q->w->packed) {
            quantize_packed(q, r, stop, x);
        } else {
            eco_engine_quantize_rows(q->w, r, stop, x);
        }
    }
}

/* What was read of a mapped file is not needed any more: let its pages go. */
static void release_stored(const struct building *b, const struct eco_slot *t)
{
    enum eco_format format = ECO_FORMAT_F16;
    const void *at = b->source->stored(b->source->ctx, t, &format);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uint64_t codes = 0, constants = 0;
    if (at && eco_engine_matrix_bytes(format, t->rows, t->cols, &codes, &constants)) {
        uintptr_t begin = ((uintptr_t)at + page - 1) / page * page;
        uintptr_t end = ((uintptr_t)at + codes) / page * page;
        if (begin < end) {
            madvise((void *)begin, end - begin, MADV_DONTNEED);
        }
    }
}

/* Codes and constants of a matrix that is not used where it lies. */
static int make_matrix(const struct building *b, const struct eco_slot *t, const void *stored,
                       struct eco_matrix *m, struct eco_err *err)
{
    float *absmax = NULL;
    size_t blocks = ((size_t)t->rows * (size_t)t->cols + ECO_NF4_BLOCK - 1) / ECO_NF4_BLOCK;
    m->data = take(b->w, m->code_bytes);
    if (m->format == ECO_FORMAT_NF4 || m->format == ECO_FORMAT_NF4_A8 ||
        m->format == ECO_FORMAT_I8) {
        m->scale = take(b->w, m->constant_bytes);
    } else if (m->format == ECO_FORMAT_NF4_DQ) {
        m->scale_code = take(b->w, blocks);
        m->scale_scale = take(b->w, m->constant_bytes - blocks);
        absmax = malloc(blocks * sizeof(float)); /* one matrix's, freed below */
        m->scale = absmax;
        if (!absmax) {
            return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        }
    }
    struct quantizing q = {b, t, m, stored};
    int unit = row_unit(m);
    int chunk = (16 + unit - 1) / unit * unit;
    eco_engine_pool_run(b->pool, &(struct eco_job){quantize_chunk, &q, t->rows, chunk});
    if (absmax) {
        m->scale = NULL;
        eco_engine_quantize_absmax(m, absmax);
        free(absmax);
    }
    release_stored(b, t);
    return 0;
}

static struct eco_matrix *matrix_of(struct eco_weights *w, const struct eco_slot *t)
{
    struct eco_layer *l = t->layer >= 0 ? &w->layers[t->layer] : NULL;
    switch (t->role) {
    case ECO_ROLE_EMBED:
        return &w->embed;
    case ECO_ROLE_HEAD:
        return &w->head;
    case ECO_ROLE_Q:
        return &l->wq;
    case ECO_ROLE_K:
        return &l->wk;
    case ECO_ROLE_V:
        return &l->wv;
    case ECO_ROLE_O:
        return &l->wo;
    case ECO_ROLE_GATE:
        return &l->w_gate;
    case ECO_ROLE_UP:
        return &l->w_up;
    default:
        return &l->w_down;
    }
}

static const float **vector_of(struct eco_weights *w, const struct eco_slot *t)
{
    struct eco_layer *l = t->layer >= 0 ? &w->layers[t->layer] : NULL;
    switch (t->role) {
    case ECO_ROLE_ATTN_NORM:
        return &l->attn_norm;
    case ECO_ROLE_FFN_NORM:
        return &l->ffn_norm;
    case ECO_ROLE_POST_ATTN_NORM:
        return &l->post_attn_norm;
    case ECO_ROLE_POST_FFN_NORM:
        return &l->post_ffn_norm;
    case ECO_ROLE_Q_BIAS:
        return &l->bias_q;
    case ECO_ROLE_K_BIAS:
        return &l->bias_k;
    case ECO_ROLE_V_BIAS:
        return &l->bias_v;
    case ECO_ROLE_O_BIAS:
        return &l->bias_o;
    case ECO_ROLE_Q_NORM:
        return &l->q_norm;
    case ECO_ROLE_K_NORM:
        return &l->k_norm;
    default:
        return &w->out_norm;
    }
}

static void build_vector(const struct building *b, const struct eco_slot *t)
{
    float *v = take(b->w, (uint64_t)t->cols * sizeof(float));
    bool bias = t->role >= ECO_ROLE_Q_BIAS && t->role <= ECO_ROLE_O_BIAS;
    b->source->rows(b->source->ctx, t, 0, 1, v);
    for (int i = 0; b->s->norm_plus_one && !bias && i < t->cols; i++) {
        v[i] += 1.0f;
    }
    *vector_of(b->w, t) = v;
}

static int build_slot(void *ctx, const struct eco_slot *t, struct eco_err *err)
{
    struct building *b = ctx;
    struct eco_weights *w = b->w;
    if (t->role >= ECO_ROLE_MATRICES) {
        build_vector(b, t);
        w->class_bytes[ECO_TENSOR_NORM] += (uint64_t)t->cols * sizeof(float);
        w->read_bytes += (uint64_t)t->cols * sizeof(float);
        return 0;
    }
    struct eco_matrix *m = matrix_of(w, t);
    *m =
        (struct eco_matrix){.rows = t->rows, .cols = t->cols, .mixed = b->p == ECO_PREC_INT8_MIXED};
    m->data = in_place(b->source, b->p, t, &m->format);
    eco_engine_matrix_bytes(m->format, t->rows, t->cols, &m->code_bytes, &m->constant_bytes);
    const void *stored = m->data;
    int rc = 0;
    m->packed = packs(t, m->format, b->s->tied);
    if (stored && !m->packed) {
        w->mapped_bytes += m->code_bytes;
    } else {
        rc = make_matrix(b, t, stored, m, err);
    }
    w->class_bytes[class_of(t->role)] += m->code_bytes;
    w->class_bytes[ECO_TENSOR_CONSTANT] += m->constant_bytes;
    bool read = t->role != ECO_ROLE_EMBED || b->s->tied; /* else one row a token */
    w->read_bytes += read ? m->code_bytes + m->constant_bytes : 0;
    return rc;
}

static int reserve(struct eco_weights *w, uint64_t bytes, struct eco_err *err)
{
    void *at = bytes < SIZE_MAX / 2 ? mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                    : MAP_FAILED;
    if (at == MAP_FAILED) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "model", "%.2f GB of weights cannot be had",
                           (double)bytes / 1e9);
    }
    madvise(at, (size_t)bytes, MADV_HUGEPAGE); /* a wish: fewer TLB misses while streaming */
    w->region = at;
    w->region_bytes = (size_t)bytes;
    return 0;
}

int eco_engine_weights_build(const struct eco_shape *s, enum eco_precision p,
                             const struct eco_source *source, struct eco_pool *pool,
                             struct eco_weights *out, struct eco_err *err)
{
    struct eco_weights w = {0};
    struct building b = {.s = s, .p = p, .source = source, .pool = pool, .w = &w};
    uint64_t bytes = 0;
    int widest = s->intermediate > s->hidden ? s->intermediate : s->hidden;
    widest = s->heads * s->head_dim > widest ? s->heads * s->head_dim : widest;
    int rc = eco_engine_weight_bytes(s, p, source, &bytes, err);
    if (rc == 0) {
        rc = reserve(&w, bytes, err);
    }
    if (rc == 0) {
        /* 64 rows hold whole NF4 blocks whatever the width; blocks to pack lie behind 16 rows */
        bool odd = (s->intermediate | s->hidden | (s->heads * s->head_dim)) % ECO_NF4_BLOCK != 0;
        size_t floats = (size_t)widest * (odd ? ECO_NF4_BLOCK : ECO_PACKED_ROWS);
        b.buffer_floats = 2 * (floats > CHUNK_FLOATS ? floats : CHUNK_FLOATS);
        w.layers = calloc((size_t)s->layers, sizeof(*w.layers));
        b.buffer = malloc((size_t)eco_engine_pool_threads(pool) * b.buffer_floats * sizeof(float));
        rc = w.layers && b.buffer ? each_slot(s, build_slot, &b, err)
                                  : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    free(b.buffer);
    if (rc) {
        eco_engine_weights_done(&w);
        return rc;
    }
    if (s->tied) {
        w.head = w.embed;
    }
    *out = w;
    return 0;
}

void eco_engine_weights_done(struct eco_weights *w)
{
    if (w->region) {
        munmap(w->region, w->region_bytes);
    }
    free(w->layers);
    memset(w, 0, sizeof(*w));
}
