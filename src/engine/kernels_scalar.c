/* Portable inner loops, and the choice of a set. */
#include "half.h"
#include "kernels.h"
#include "packed.h"

#include <math.h>
#include <string.h>
#if defined(ECO_NEON_DOT)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

static float dot(const float *a, const float *b, int n)
{
    float s[4] = {0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) {
            s[k] += a[i + k] * b[i + k];
        }
    }
    for (; i < n; i++) {
        s[0] += a[i] * b[i];
    }
    return (s[0] + s[1]) + (s[2] + s[3]);
}

static void axpy(float *y, float a, const float *x, int n)
{
    for (int i = 0; i < n; i++) {
        y[i] += a * x[i];
    }
}

static float dot_f16(const float *a, const uint16_t *b, int n)
{
    float s = 0.0f;
    for (int i = 0; i < n; i++) {
        s += a[i] * eco_f16_to_f32(b[i]);
    }
    return s;
}

static void axpy_f16(float *y, float a, const uint16_t *x, int n)
{
    for (int i = 0; i < n; i++) {
        y[i] += a * eco_f16_to_f32(x[i]);
    }
}

static void to_f16(uint16_t *out, const float *x, int n)
{
    for (int i = 0; i < n; i++) {
        out[i] = eco_f32_to_f16(x[i]);
    }
}

static void gate(float *g, const float *u, int n, bool gelu)
{
    for (int i = 0; i < n; i++) {
        float x = g[i];
        float act = gelu ? 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)))
                         : x / (1.0f + expf(-x));
        g[i] = act * u[i];
    }
}

static float absmax(const float *x, int n)
{
    float m = 0.0f;
    for (int i = 0; i < n; i++) {
        m = fabsf(x[i]) > m ? fabsf(x[i]) : m;
    }
    return m;
}

static int32_t codes(const float *x, int n, float inv, int8_t *q)
{
    int32_t sum = 0;
    for (int i = 0; i < n; i++) {
        float v = rintf(x[i] * inv);
        q[i] = fabsf(v) <= 128.0f ? (int8_t)(v < 127.0f ? v : 127.0f) : 0; /* of no number: 0 */
        sum += q[i];
    }
    return sum;
}

void eco_engine_scalar_mark(const float *x, int n, float threshold, int8_t *marks)
{
    for (int i = 0; i < n; i++) {
        marks[i] |= fabsf(x[i]) >= threshold;
    }
}

static void prepare_q8(const float *x, int n, int8_t *q, float *scale, int32_t *q_sum)
{
    for (int b = 0; b < n; b += ECO_Q_BLOCK) {
        float m = absmax(x + b, ECO_Q_BLOCK);
        scale[b / ECO_Q_BLOCK] = eco_f16_to_f32(eco_f32_to_f16(m / 127.0f));
        q_sum[b / ECO_Q_BLOCK] = codes(x + b, ECO_Q_BLOCK, m > 0.0f ? 127.0f / m : 0.0f, q + b);
    }
}

void eco_engine_scalar_prepare_a8(const float *x, int n, int8_t *q, float *scale, int32_t *q_sum)
{
    for (int b = 0; b < n; b += ECO_NF4_BLOCK) {
        int8_t c[ECO_NF4_BLOCK];
        float m = absmax(x + b, ECO_NF4_BLOCK);
        scale[b / ECO_NF4_BLOCK] = eco_engine_a8_scale(m);
        q_sum[b / ECO_NF4_BLOCK] = codes(x + b, ECO_NF4_BLOCK, m > 0.0f ? 127.0f / m : 0.0f, c);
        for (int i = 0; i < ECO_NF4_BLOCK; i++) {
            q[b + i / 2 + i % 2 * (ECO_NF4_BLOCK / 2)] = c[i];
        }
    }
}

void eco_engine_rows_by_dequant(const struct eco_matrix *w, int begin, int end,
                                const struct eco_act *x, float *y, size_t ldy,
                                eco_dequant_fn *dequant,
                                float (*dot_fn)(const float *, const float *, int))
{
    float tile[ECO_TILE];
    for (int r = begin; r < end; r++) {
        for (int t = 0; t < x->n; t++) {
            y[(size_t)t * ldy + (size_t)r] = 0.0f;
        }
        for (int c = 0; c < w->cols; c += ECO_TILE) {
            int n = w->cols - c < ECO_TILE ? w->cols - c : ECO_TILE;
            dequant(w, r, c, n, tile);
            for (int t = 0; t < x->n; t++) {
                y[(size_t)t * ldy + (size_t)r] +=
                    dot_fn(tile, x->x + (size_t)t * (size_t)x->cols + c, n);
            }
        }
    }
}

/* y of up to 4 rows and 4 tokens from a tile's sums. */
static void add_tile(float out[4][4], int rows, int tokens, float *y, size_t ldy)
{
    for (int r = 0; r < rows; r++) {
        for (int t = 0; t < tokens; t++) {
            y[(size_t)t * ldy + (size_t)r] += out[r][t];
        }
    }
}

/* Missing rows and tokens of an edge tile repeat the last one; their sums are dropped. */
static void edge_tile(const float *w, const float *x, size_t ldx, int tokens, int n,
                      float out[4][4], eco_tile_fn *tile)
{
    float few[4 * ECO_TILE];
    for (int t = 0; t < 4; t++) {
        const float *from = x + (size_t)(t < tokens ? t : tokens - 1) * ldx;
        memcpy(few + (size_t)t * ECO_TILE, from, (size_t)n * sizeof(float));
    }
    tile(w, few, ECO_TILE, n, out);
}

/* All tokens by the weights of up to four rows at columns [c, c + n). */
static void tiles(const float *w, const float *from, const struct eco_act *x, int n, int rows,
                  float *y, size_t ldy, eco_tile_fn *tile)
{
    const size_t ldx = (size_t)x->cols;
    for (int t = 0; t < x->n; t += 4, from += 4 * ldx) {
        float out[4][4] = {{0}};
        int tokens = x->n - t < 4 ? x->n - t : 4;
        if (tokens == 4) {
            tile(w, from, ldx, n, out);
        } else {
            edge_tile(w, from, ldx, tokens, n, out, tile);
        }
        add_tile(out, rows, tokens, y + (size_t)t * ldy, ldy);
    }
}

void eco_engine_rows_by_tiles(const struct eco_matrix *w, int begin, int end,
                              const struct eco_act *x, const float *from, float *y, size_t ldy,
                              eco_dequant_fn *dequant, eco_tile_fn *tile)
{
    float weights[4 * ECO_TILE] __attribute__((aligned(64)));
    for (int r = begin; r < end; r += 4) {
        int rows = end - r < 4 ? end - r : 4;
        for (int t = 0; t < x->n; t++) {
            memset(y + (size_t)t * ldy + (size_t)r, 0, (size_t)rows * sizeof(float));
        }
        for (int c = 0; c < w->cols; c += ECO_TILE) {
            int n = w->cols - c < ECO_TILE ? w->cols - c : ECO_TILE;
            for (int k = 0; k < 4; k++) {
                dequant(w, r + (k < rows ? k : rows - 1), c, n, weights + k * ECO_TILE);
            }
            tiles(weights, from + c, x, n, rows, y + r, ldy, tile);
        }
    }
}

static void rows_float(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
                       float *y, size_t ldy)
{
    eco_engine_rows_by_dequant(w, begin, end, x, y, ldy, eco_engine_dequant, dot);
}

/* Block i of row r, from where it lies or put together. */
static const uint8_t *block_of(const struct eco_matrix *w, int r, int i, uint8_t *room)
{
    if (w->packed) {
        eco_engine_unpack_block(w, r, i, room);
        return room;
    }
    return (const uint8_t *)w->data + (size_t)r * eco_engine_row_bytes(w->format, w->cols) +
           eco_engine_row_bytes(w->format, i * ECO_Q_BLOCK);
}

static void rows_q8_0(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
                      float *y, size_t ldy)
{
    int blocks = w->cols / ECO_Q_BLOCK;
    uint8_t room[34];
    for (int r = begin; r < end; r++) {
        for (int t = 0; t < x->n; t++) {
            const int8_t *q = x->q + (size_t)t * (size_t)x->cols;
            const float *scale = x->scale + (size_t)t * (size_t)blocks;
            float sum = 0.0f;
            for (int i = 0; i < blocks; i++, q += ECO_Q_BLOCK) {
                const uint8_t *b = block_of(w, r, i, room);
                int s = 0;
                for (int k = 0; k < ECO_Q_BLOCK; k++) {
                    s += (int8_t)b[2 + k] * q[k];
                }
                sum += (float)s * (eco_f16_to_f32(eco_load_u16(b)) * scale[i]);
            }
            y[(size_t)t * ldy + (size_t)r] = sum;
        }
    }
}

static void rows_q4_0(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
                      float *y, size_t ldy)
{
    int blocks = w->cols / ECO_Q_BLOCK;
    uint8_t room[34];
    for (int r = begin; r < end; r++) {
        for (int t = 0; t < x->n; t++) {
            const int8_t *q = x->q + (size_t)t * (size_t)x->cols;
            const float *scale = x->scale + (size_t)t * (size_t)blocks;
            float sum = 0.0f;
            for (int i = 0; i < blocks; i++, q += ECO_Q_BLOCK) {
                const uint8_t *b = block_of(w, r, i, room);
                int s = 0;
                for (int k = 0; k < ECO_Q_BLOCK / 2; k++) {
                    s += ((b[2 + k] & 15) - 8) * q[k] + ((b[2 + k] >> 4) - 8) * q[k + 16];
                }
                sum += (float)s * (eco_f16_to_f32(eco_load_u16(b)) * scale[i]);
            }
            y[(size_t)t * ldy + (size_t)r] = sum;
        }
    }
}

static void rows_nf4_a8(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
                        float *y, size_t ldy)
{
    const int8_t *table = eco_engine_nf4_a8_table;
    size_t blocks = (size_t)w->cols / ECO_NF4_BLOCK;
    for (int r = begin; r < end; r++) {
        const uint8_t *p = (const uint8_t *)w->data + (size_t)r * blocks * (ECO_NF4_BLOCK / 2);
        for (int t = 0; t < x->n; t++) {
            const int8_t *even = x->q + (size_t)t * (size_t)x->cols;
            float sum = 0.0f;
            for (size_t b = 0; b < blocks; b++, even += ECO_NF4_BLOCK) {
                const int8_t *odd = even + ECO_NF4_BLOCK / 2;
                int s = 0;
                for (size_t i = 0; i < ECO_NF4_BLOCK / 2; i++) {
                    unsigned byte = p[b * (ECO_NF4_BLOCK / 2) + i];
                    s += table[byte >> 4] * even[i] + table[byte & 15] * odd[i];
                }
                sum += (float)s *
                       (w->scale[(size_t)r * blocks + b] * x->scale[(size_t)t * blocks + b]);
            }
            y[(size_t)t * ldy + (size_t)r] = sum;
        }
    }
}

void eco_engine_add_outliers(const struct eco_matrix *w, int row, const struct eco_act *x, float *y,
                             size_t ldy)
{
    const int8_t *q = (const int8_t *)w->data + (size_t)row * (size_t)w->cols;
    float s = w->scale[row] * (1.0f / 127.0f);
    for (int k = 0; k < x->n_outliers; k++) {
        float v = eco_f16_to_f32(eco_f32_to_f16((float)q[x->outlier[k]] * s));
        for (int t = 0; t < x->n; t++) {
            y[(size_t)t * ldy + (size_t)row] +=
                v * x->outlier_x[(size_t)t * (size_t)x->n_outliers + (size_t)k];
        }
    }
}

static void rows_i8(const struct eco_matrix *w, int begin, int end, const struct eco_act *x,
                    float *y, size_t ldy)
{
    for (int r = begin; r < end; r++) {
        const int8_t *a = (const int8_t *)w->data + (size_t)r * (size_t)w->cols;
        for (int t = 0; t < x->n; t++) {
            const int8_t *q = x->q + (size_t)t * (size_t)x->cols;
            int64_t s = 0;
            for (int i = 0; i < w->cols; i++) {
                s += a[i] * q[i];
            }
            y[(size_t)t * ldy + (size_t)r] =
                (float)s * (w->scale[r] * x->scale[t] * (1.0f / (127.0f * 127.0f)));
        }
        eco_engine_add_outliers(w, r, x, y, ldy);
    }
}

const struct eco_kernels eco_engine_kernels_scalar = {
    .isa = ECO_ENGINE_ISA_SCALAR,
    .dot = dot,
    .axpy = axpy,
    .dot_f16 = dot_f16,
    .axpy_f16 = axpy_f16,
    .to_f16 = to_f16,
    .gate = gate,
    .absmax = absmax,
    .codes = codes,
    .mark = eco_engine_scalar_mark,
    .prepare_q8 = prepare_q8,
    .prepare_a8 = eco_engine_scalar_prepare_a8,
    .rows = {[ECO_FORMAT_F32] = rows_float,
             [ECO_FORMAT_F16] = rows_float,
             [ECO_FORMAT_BF16] = rows_float,
             [ECO_FORMAT_NF4] = rows_float,
             [ECO_FORMAT_NF4_DQ] = rows_float,
             [ECO_FORMAT_NF4_A8] = rows_nf4_a8,
             [ECO_FORMAT_I8] = rows_i8,
             [ECO_FORMAT_Q8_0] = rows_q8_0,
             [ECO_FORMAT_Q4_0] = rows_q4_0,
             [ECO_FORMAT_Q4_K] = rows_float,
             [ECO_FORMAT_Q6_K] = rows_float},
    .kind = {[ECO_FORMAT_NF4_A8] = ECO_ACT_A8,
             [ECO_FORMAT_I8] = ECO_ACT_I8,
             [ECO_FORMAT_Q8_0] = ECO_ACT_Q8,
             [ECO_FORMAT_Q4_0] = ECO_ACT_Q8},
};

static const char *const isa_names[ECO_ENGINE_ISA_COUNT] = {"auto",   "scalar", "avx2",
                                                            "avx512", "neon",   "neon-dot"};

const char *eco_engine_isa_name(enum eco_engine_isa isa)
{
    return isa < ECO_ENGINE_ISA_COUNT ? isa_names[isa] : "none";
}

enum eco_engine_isa eco_engine_isa_parse(const char *text, size_t len, bool *ok)
{
    for (int i = 0; i < ECO_ENGINE_ISA_COUNT; i++) {
        if (strlen(isa_names[i]) == len && memcmp(isa_names[i], text, len) == 0) {
            *ok = true;
            return (enum eco_engine_isa)i;
        }
    }
    *ok = false;
    return ECO_ENGINE_ISA_AUTO;
}

int eco_engine_kernels_pick(enum eco_engine_isa want, const struct eco_kernels **out,
                            struct eco_err *err)
{
    const struct eco_kernels *best = &eco_engine_kernels_scalar;
#if defined(ECO_ENGINE_X86)
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
    if (avx512 && (want == ECO_ENGINE_ISA_AUTO || want == ECO_ENGINE_ISA_AVX512)) {
        best = &eco_engine_kernels_avx512;
    } else if (avx2 && (want == ECO_ENGINE_ISA_AUTO || want == ECO_ENGINE_ISA_AVX2)) {
        best = &eco_engine_kernels_avx2;
    }
#elif defined(ECO_ENGINE_NEON)
    best = want == ECO_ENGINE_ISA_SCALAR ? best : &eco_engine_kernels_neon;
#if defined(ECO_NEON_DOT)
    if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0 && best != &eco_engine_kernels_scalar &&
        want != ECO_ENGINE_ISA_NEON) {
        best = &eco_engine_kernels_neon_dot;
    }
#endif
#endif
    if (want != ECO_ENGINE_ISA_AUTO && best->isa != want) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "isa", "this processor has no '%s'",
                           eco_engine_isa_name(want));
    }
    *out = best;
    return 0;
}
