/* The CPU backend: the operations of engine_backend.h over the kernels and the thread pool. */
#include "engine_backend.h"
#include "half.h"
#include "kernels.h"
#include "packed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 16384 /* floats that are not worth waking threads for */

struct eco_backend_ctx {
    const struct eco_kernels *k;
    struct eco_pool *pool;
    struct eco_act act; /* prepared activations, room for `tokens` of the widest matrix */
    float *scores;      /* [threads][context] */
    float *inv_freq;    /* [rope dims / 2] */
    float magnitude;    /* of cosine and sine */
    float *angle;       /* [tokens][rope dims / 2][2]: cosine, sine of the pass's positions */
    int context;
};

static int widest(const struct eco_shape *s)
{
    int q = s->heads * s->head_dim, w = s->hidden > s->intermediate ? s->hidden : s->intermediate;
    return w > q ? w : q;
}

static uint64_t scratch_bytes(const struct eco_shape *s, int threads, int tokens, int context)
{
    uint64_t cells = (uint64_t)tokens * (uint64_t)widest(s);
    return cells * (4 + 1 + 4 + 4) + (uint64_t)threads * (uint64_t)context * 4;
}

static void cpu_close(struct eco_backend_ctx *b)
{
    if (b) {
        free(b->act.order);
        free(b->act.q);
        free(b->act.q_sum);
        free(b->act.scale);
        free(b->act.outlier);
        free(b->act.outlier_x);
        free(b->scores);
        free(b->inv_freq);
        free(b->angle);
        free(b);
    }
}

/* Vectors start on a cache line: a 64-byte load that crosses one takes twice as long. */
static void *lines(size_t bytes)
{
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static int cpu_open(struct eco_backend_ctx **out, const struct eco_shape *s,
                    enum eco_engine_isa isa, struct eco_pool *pool, int tokens, int context,
                    struct eco_err *err)
{
    const struct eco_kernels *k = NULL;
    int rc = eco_engine_kernels_pick(isa, &k, err);
    if (rc) {
        return rc;
    }
    struct eco_backend_ctx *b = calloc(1, sizeof(*b));
    size_t width = (size_t)widest(s), cells = (size_t)tokens * width;
    if (b) {
        b->k = k;
        b->pool = pool;
        b->context = context;
        b->act.order = lines(cells * sizeof(float));
        b->act.q = lines(cells);
        b->act.q_sum = lines((cells / ECO_Q_BLOCK + (size_t)tokens) * sizeof(int32_t));
        b->act.scale = lines((cells / ECO_Q_BLOCK + (size_t)tokens) * sizeof(float));
        b->act.outlier = malloc(width * sizeof(int));
        b->act.outlier_x = lines(cells * sizeof(float));
        b->scores = malloc((size_t)eco_engine_pool_threads(pool) * (size_t)context * sizeof(float));
        b->inv_freq = malloc((size_t)s->rope.dims * sizeof(float));
        b->angle = malloc((size_t)tokens * (size_t)s->rope.dims * sizeof(float));
    }
    if (!b || !b->act.order || !b->act.q || !b->act.scale || !b->act.outlier || !b->act.outlier_x ||
        !b->act.q_sum || !b->scores || !b->inv_freq || !b->angle) {
        cpu_close(b);
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    eco_engine_rope_frequencies(&s->rope, b->inv_freq);
    b->magnitude = eco_engine_rope_magnitude(&s->rope);
    *out = b;
    return 0;
}

static enum eco_engine_isa cpu_isa(const struct eco_backend_ctx *b)
{
    return b->k->isa;
}

static void cpu_embed(struct eco_backend_ctx *b, const struct eco_matrix *table,
                      const struct eco_tokens *t, float scale, float *x)
{
    (void)b;
    for (int i = 0; i < t->n; i++, x += table->cols) {
        eco_engine_dequant(table, t->id[i], 0, table->cols, x);
        for (int c = 0; scale != 1.0f && c < table->cols; c++) {
            x[c] *= scale;
        }
    }
}

static void cpu_rmsnorm(struct eco_backend_ctx *b, const float *x, const float *w, int rows,
                        int dim, float eps, float *y)
{
    for (int r = 0; r < rows; r++, x += dim, y += dim) {
        float scale = 1.0f / sqrtf(b->k->dot(x, x, dim) / (float)dim + eps);
        for (int i = 0; i < dim; i++) {
            y[i] = x[i] * scale * w[i];
        }
    }
}

/* ---- activations as a format wants them ------------------------------------------------------ */

/* Columns with any |x| >= 6 are outliers (LLM.int8()). q is free until the codes are made. */
static void find_outliers(const struct eco_kernels *k, struct eco_act *a)
{
    memset(a->q, 0, (size_t)a->cols);
    for (int t = 0; t < a->n; t++) {
        k->mark(a->x + (size_t)t * (size_t)a->cols, a->cols, ECO_INT8_THRESHOLD, a->q);
    }
    for (int c = 0; c < a->cols; c++) {
        if (a->q[c]) {
            a->outlier[a->n_outliers++] = c;
        }
    }
}

/* int8 codes of one token; outlier columns go apart as FP16. */
static void prepare_i8(const struct eco_kernels *k, const struct eco_act *a, int t)
{
    const size_t at = (size_t)t * (size_t)a->cols, n = (size_t)a->n_outliers;
    const float *x = a->x + at;
    if (n > 0) {
        float *rest = a->order + at;
        memcpy(rest, x, (size_t)a->cols * sizeof(float));
        for (size_t i = 0; i < n; i++) {
            float *v = &rest[a->outlier[i]];
            a->outlier_x[(size_t)t * n + i] = eco_f16_to_f32(eco_f32_to_f16(*v));
            *v = 0.0f;
        }
        x = rest;
    }
    float m = k->absmax(x, a->cols);
    a->scale[t] = m;
    a->q_sum[t] = k->codes(x, a->cols, m > 0.0f ? 127.0f / m : 0.0f, a->q + at);
}

/*
 * The order in which 32-bit words of NF4 codes yield weights: word l of a group holds weights
 * 8 l .. 8 l + 7, nibble k of it weight 8 l + (k ^ 1). Shifting all words by 4 k gives nibble k of
 * every word, so activations are laid out [group][k][l].
 */
static void prepare_nf4(const struct eco_act *a, int t, int lanes)
{
    const float *x = a->x + (size_t)t * (size_t)a->cols;
    float *out = a->order + (size_t)t * (size_t)a->cols;
    for (int c = 0; c < a->cols;) {
        int words = (a->cols - c) / 8 < lanes ? (a->cols - c) / 8 : lanes;
        for (int k = 0; k < 8; k++) {
            for (int l = 0; l < words; l++) {
                *out++ = x[c + 8 * l + (k ^ 1)];
            }
        }
        c += 8 * words;
    }
}

struct preparing {
    const struct eco_backend_ctx *b;
    enum eco_act_kind kind;
};

static void prepare_tokens(const void *ctx, int begin, int end, int thread)
{
    const struct preparing *p = ctx;
    const struct eco_kernels *k = p->b->k;
    const struct eco_act *a = &p->b->act;
    (void)thread;
    for (int t = begin; t < end; t++) {
        size_t at = (size_t)t * (size_t)a->cols, block = at / ECO_Q_BLOCK;
        if (p->kind == ECO_ACT_NF4) {
            prepare_nf4(a, t, k->isa == ECO_ENGINE_ISA_AVX512 ? 16 : 8);
        } else if (p->kind == ECO_ACT_Q8) {
            k->prepare_q8(a->x + at, a->cols, a->q + at, a->scale + block, a->q_sum + block);
        } else if (p->kind == ECO_ACT_A8) {
            block = at / ECO_NF4_BLOCK;
            k->prepare_a8(a->x + at, a->cols, a->q + at, a->scale + block, a->q_sum + block);
        } else {
            prepare_i8(k, a, t);
        }
    }
}

static void prepare(struct eco_backend_ctx *b, const struct eco_matrix *w, const float *x, int n)
{
    struct eco_act *a = &b->act;
    struct preparing p = {b, b->k->kind[w->format]};
    a->n = n;
    a->cols = w->cols;
    a->x = x;
    a->n_outliers = 0;
    if (p.kind == ECO_ACT_F32 || (p.kind == ECO_ACT_NF4 && w->cols % ECO_NF4_BLOCK != 0)) {
        return; /* the floats themselves, or rows that are turned to floats */
    }
    if (p.kind == ECO_ACT_I8 && w->mixed) {
        find_outliers(b->k, a);
    }
    eco_engine_pool_run(b->pool, &(struct eco_job){prepare_tokens, &p, n, 4});
}

/* ---- matrices -------------------------------------------------------------------------------- */

struct matmul {
    const struct eco_backend_ctx *b;
    const struct eco_product *p;
    int count;
};

/* Rows of a product as items: whole groups of packed rows. */
static int padded(const struct eco_product *p)
{
    return (p->w->rows + ECO_PACKED_ROWS - 1) / ECO_PACKED_ROWS * ECO_PACKED_ROWS;
}

/* Items are the rows of all products, one after the other. */
static void matmul_rows(const void *ctx, int begin, int end, int thread)
{
    const struct matmul *m = ctx;
    (void)thread;
    for (int i = 0, first = 0; i < m->count && first < end; i++) {
        const struct eco_product *p = &m->p[i];
        int lo = begin > first ? begin - first : 0;
        int hi = end - first < p->w->rows ? end - first : p->w->rows;
        if (lo < hi) {
            m->b->k->rows[p->w->format](p->w, lo, hi, &m->b->act, p->y, (size_t)p->w->rows);
            for (int t = 0; p->bias && t < m->b->act.n; t++) {
                float *y = p->y + (size_t)t * (size_t)p->w->rows;
                for (int r = lo; r < hi; r++) {
                    y[r] += p->bias[r];
                }
            }
        }
        first += padded(p);
    }
}

static void cpu_matmul(struct eco_backend_ctx *b, const struct eco_product *p, int count,
                       const float *x, int n)
{
    int i = 0;
    while (i < count) { /* runs of products whose activations are prepared alike */
        int rows = padded(&p[i]), run = 1;
        enum eco_act_kind kind = b->k->kind[p[i].w->format];
        while (i + run < count && b->k->kind[p[i + run].w->format] == kind) {
            rows += padded(&p[i + run++]);
        }
        prepare(b, p[i].w, x, n);
        struct matmul m = {b, p + i, run};
        int chunk = rows / (8 * eco_engine_pool_threads(b->pool)) / 16 * 16;
        chunk = chunk < 16 ? 16 : chunk > 256 ? 256 : chunk;
        eco_engine_pool_run(b->pool, &(struct eco_job){matmul_rows, &m, rows, chunk});
        i += run;
    }
}

/* ---- attention ------------------------------------------------------------------------------- */

static void cpu_begin(struct eco_backend_ctx *b, const struct eco_rope *r,
                      const struct eco_tokens *t)
{
    float *out = b->angle;
    for (int i = 0; i < t->n; i++) {
        for (int k = 0; k < r->dims / 2; k++) {
            float angle = (float)t->pos[i] * b->inv_freq[k];
            *out++ = b->magnitude * cosf(angle);
            *out++ = b->magnitude * sinf(angle);
        }
    }
}

static void cpu_rope(struct eco_backend_ctx *b, const struct eco_rope *r,
                     const struct eco_tokens *t, int heads, int head_dim, float *x)
{
    int half = r->dims / 2, second = r->interleaved ? 1 : half, stride = r->interleaved ? 2 : 1;
    for (int i = 0; i < t->n; i++) {
        const float *angle = b->angle + (size_t)i * (size_t)r->dims;
        for (int h = 0; h < heads; h++, x += head_dim) {
            for (int k = 0; k < half; k++) {
                float c = angle[2 * k], s = angle[2 * k + 1];
                float *u = x + k * stride, *v = u + second, a = *u;
                *u = a * c - *v * s;
                *v = *v * c + a * s;
            }
        }
    }
}

static size_t kv_index(const struct eco_kv *kv, int seq, int head, int pos)
{
    size_t row = ((size_t)seq * (size_t)kv->kv_heads + (size_t)head) * (size_t)kv->context;
    return (row + (size_t)pos) * (size_t)kv->head_dim;
}

static void cpu_store(struct eco_backend_ctx *b, const struct eco_kv *kv,
                      const struct eco_tokens *t, const float *k, const float *v)
{
    int d = kv->head_dim;
    for (int i = 0; i < t->n; i++) {
        for (int h = 0; h < kv->kv_heads; h++, k += d, v += d) {
            size_t at = kv_index(kv, t->seq[i], h, t->pos[i]);
            if (kv->half) {
                b->k->to_f16((uint16_t *)kv->k + at, k, d);
                b->k->to_f16((uint16_t *)kv->v + at, v, d);
            } else {
                memcpy((float *)kv->k + at, k, (size_t)d * sizeof(float));
                memcpy((float *)kv->v + at, v, (size_t)d * sizeof(float));
            }
        }
    }
}

struct attending {
    const struct eco_backend_ctx *b;
    const struct eco_kv *kv;
    const struct eco_tokens *t;
    const struct eco_attention *a;
    const float *q;
    float *out;
};

/* exp(score - max) in place; returns 1 / sum. */
static float softmax(float *score, int n)
{
    float max = score[0], sum = 0.0f;
    for (int i = 1; i < n; i++) {
        max = score[i] > max ? score[i] : max;
    }
    for (int i = 0; i < n; i++) {
        score[i] = expf(score[i] - max);
        sum += score[i];
    }
    return 1.0f / sum;
}

static void attend_one(const struct attending *g, int token, int head, float *score)
{
    const struct eco_kv *kv = g->kv;
    const struct eco_kernels *k = g->b->k;
    int d = kv->head_dim, pos = g->t->pos[token];
    int first = g->a->window > 0 && pos >= g->a->window ? pos - g->a->window + 1 : 0;
    int n = pos - first + 1;
    size_t row = ((size_t)token * (size_t)g->a->heads + (size_t)head) * (size_t)d;
    size_t at = kv_index(kv, g->t->seq[token], head / (g->a->heads / kv->kv_heads), first);
    const float *q = g->q + row;
    float *out = g->out + row;
    for (int i = 0; i < n; i++) {
        size_t key = at + (size_t)i * (size_t)d;
        score[i] = g->a->scale * (kv->half ? k->dot_f16(q, (const uint16_t *)kv->k + key, d)
                                           : k->dot(q, (const float *)kv->k + key, d));
        if (g->a->softcap > 0.0f) {
            score[i] = g->a->softcap * tanhf(score[i] / g->a->softcap);
        }
    }
    float inv = softmax(score, n);
    memset(out, 0, (size_t)d * sizeof(float));
    for (int i = 0; i < n; i++) {
        size_t value = at + (size_t)i * (size_t)d;
        if (kv->half) {
            k->axpy_f16(out, score[i] * inv, (const uint16_t *)kv->v + value, d);
        } else {
            k->axpy(out, score[i] * inv, (const float *)kv->v + value, d);
        }
    }
}

static void attend_items(const void *ctx, int begin, int end, int thread)
{
    const struct attending *g = ctx;
    float *score = g->b->scores + (size_t)thread * (size_t)g->b->context;
    for (int i = begin; i < end; i++) {
        attend_one(g, i / g->a->heads, i % g->a->heads, score);
    }
}

static void cpu_attend(struct eco_backend_ctx *b, const struct eco_kv *kv,
                       const struct eco_tokens *t, const struct eco_attention *a, const float *q,
                       float *out)
{
    struct attending g = {.b = b, .kv = kv, .t = t, .a = a, .q = q};
    g.out = out;
    eco_engine_pool_run(b->pool, &(struct eco_job){attend_items, &g, t->n * a->heads, 4});
}

/* ---- elementwise ----------------------------------------------------------------------------- */

struct gating {
    const struct eco_kernels *k;
    float *gate;
    const float *up;
    size_t n;
    bool gelu;
};

#define GATE_ITEM 256

static void gate_items(const void *ctx, int begin, int end, int thread)
{
    const struct gating *g = ctx;
    size_t first = (size_t)begin * GATE_ITEM, stop = (size_t)end * GATE_ITEM;
    stop = stop < g->n ? stop : g->n;
    (void)thread;
    g->k->gate(g->gate + first, g->up + first, (int)(stop - first), g->gelu);
}

static void cpu_gate(struct eco_backend_ctx *b, float *gate, const float *up, size_t n, bool gelu)
{
    struct gating g = {.k = b->k, .up = up, .n = n, .gelu = gelu};
    g.gate = gate;
    int items = (int)((n + GATE_ITEM - 1) / GATE_ITEM);
    int chunk = n < SMALL ? items : 8;
    eco_engine_pool_run(b->pool, &(struct eco_job){gate_items, &g, items, chunk});
}

static void cpu_add(struct eco_backend_ctx *b, float *x, const float *y, size_t n)
{
    (void)b;
    for (size_t i = 0; i < n; i++) {
        x[i] += y[i];
    }
}

static void cpu_softcap(struct eco_backend_ctx *b, float *x, size_t n, float cap)
{
    (void)b;
    for (size_t i = 0; i < n; i++) {
        x[i] = cap * tanhf(x[i] / cap);
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): another backend writes x here */
static void cpu_read(struct eco_backend_ctx *b, float *x, size_t n)
{
    (void)b;
    (void)x;
    (void)n;
}

const struct eco_engine_backend eco_engine_backend_cpu = {
    .name = "ecocompute-cpu",
    .open = cpu_open,
    .close = cpu_close,
    .scratch_bytes = scratch_bytes,
    .isa = cpu_isa,
    .begin = cpu_begin,
    .embed = cpu_embed,
    .rmsnorm = cpu_rmsnorm,
    .matmul = cpu_matmul,
    .rope = cpu_rope,
    .store = cpu_store,
    .attend = cpu_attend,
    .gate = cpu_gate,
    .add = cpu_add,
    .softcap = cpu_softcap,
    .read = cpu_read,
};
