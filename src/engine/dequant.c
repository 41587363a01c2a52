/*
 * Codes to floats, one plain loop a format. Sources: bitsandbytes (Dettmers et al. 2023, QLoRA, and
 * 2022, LLM.int8()) for NF4 and I8; the block layouts of ggml (ggml-common.h) for the Q formats.
 */
#include "half.h"
#include "kernels_quant.h"
#include "matrix.h"
#include "packed.h"

#include <string.h>

const float eco_engine_nf4_table[16] = {
    -1.0f,
    -0.6961928009986877f,
    -0.5250730514526367f,
    -0.39491748809814453f,
    -0.28444138169288635f,
    -0.18477343022823334f,
    -0.09105003625154495f,
    0.0f,
    0.07958029955625534f,
    0.16093020141124725f,
    0.24611230194568634f,
    0.33791524171829224f,
    0.44070982933044434f,
    0.5626170039176941f,
    0.7229568362236023f,
    1.0f,
};

/* Of all scales up to 127, 124 rounds the sixteen values best: 0.0018 of absmax rms, where NF4
 * itself is off by 0.035 (test_quant.c has both). */
const int8_t eco_engine_nf4_a8_table[16] = {-124, -86, -65, -49, -35, -23, -11, 0,
                                            10,   20,  31,  42,  55,  70,  90,  124};

static const struct {
    const char *name;
    int weights, bytes;
} formats[ECO_FORMAT_COUNT] = {
#define X(name, weights, bytes) {#name, weights, bytes},
    ECO_FORMATS(X)
#undef X
};

const char *eco_engine_format_name(enum eco_format f)
{
    return f < ECO_FORMAT_COUNT ? formats[f].name : "none";
}

size_t eco_engine_row_bytes(enum eco_format f, int cols)
{
    return (size_t)(cols / formats[f].weights) * (size_t)formats[f].bytes;
}

bool eco_engine_matrix_bytes(enum eco_format f, int rows, int cols, uint64_t *codes,
                             uint64_t *constants)
{
    uint64_t n = (uint64_t)rows * (uint64_t)cols, w = (uint64_t)formats[f].weights;
    uint64_t blocks = (n + ECO_NF4_BLOCK - 1) / ECO_NF4_BLOCK;
    if (w > 2 && (uint64_t)cols % w != 0) {
        return false;
    }
    *codes = (n + w - 1) / w * (uint64_t)formats[f].bytes;
    *constants = 0;
    if (f == ECO_FORMAT_NF4 || f == ECO_FORMAT_NF4_A8) {
        *constants = blocks * 4;
    } else if (f == ECO_FORMAT_NF4_DQ) {
        *constants = blocks + (blocks + ECO_DQ_BLOCK - 1) / ECO_DQ_BLOCK * 4 + 4;
    } else if (f == ECO_FORMAT_I8) {
        *constants = (uint64_t)rows * 4;
    }
    return true;
}

static void dequant_nf4(const struct eco_matrix *w, size_t at, int n, float *out)
{
    const uint8_t *codes = w->data;
    for (int i = 0; i < n; i++, at++) {
        unsigned byte = codes[at / 2];
        unsigned code = at % 2 ? byte & 15u : byte >> 4;
        out[i] = eco_engine_nf4_table[code] * eco_engine_nf4_absmax(w, at / ECO_NF4_BLOCK);
    }
}

static void dequant_nf4_a8(const struct eco_matrix *w, size_t at, int n, float *out)
{
    const uint8_t *codes = w->data;
    for (int i = 0; i < n; i++, at++) {
        unsigned byte = codes[at / 2], code = at % 2 ? byte & 15u : byte >> 4;
        out[i] = (float)eco_engine_nf4_a8_table[code] *
                 (w->scale[at / ECO_NF4_BLOCK] * (1.0f / ECO_A8_ONE));
    }
}

static void dequant_q8_0(const uint8_t *block, int n, float *out)
{
    for (int b = 0; b < n / ECO_Q_BLOCK; b++, block += 34) {
        float d = eco_f16_to_f32(eco_load_u16(block));
        for (int i = 0; i < ECO_Q_BLOCK; i++) {
            *out++ = d * (float)(int8_t)block[2 + i];
        }
    }
}

static void dequant_q4_0(const uint8_t *block, int n, float *out)
{
    for (int b = 0; b < n / ECO_Q_BLOCK; b++, block += 18, out += ECO_Q_BLOCK) {
        float d = eco_f16_to_f32(eco_load_u16(block));
        for (int i = 0; i < ECO_Q_BLOCK / 2; i++) {
            out[i] = d * (float)((block[2 + i] & 15) - 8);
            out[i + 16] = d * (float)((block[2 + i] >> 4) - 8);
        }
    }
}

void eco_engine_q4_k_scale(const uint8_t *s, int j, int *scale, int *min)
{
    if (j < 4) {
        *scale = s[j] & 63;
        *min = s[j + 4] & 63;
    } else {
        *scale = (s[j + 4] & 15) | ((s[j - 4] >> 6) << 4);
        *min = (s[j + 4] >> 4) | ((s[j] >> 6) << 4);
    }
}

static void dequant_q4_k(const uint8_t *block, int n, float *out)
{
    for (int b = 0; b < n / ECO_K_BLOCK; b++, block += 144, out += ECO_K_BLOCK) {
        float d = eco_f16_to_f32(eco_load_u16(block));
        float dmin = eco_f16_to_f32(eco_load_u16(block + 2));
        const uint8_t *q = block + 16;
        for (int j = 0; j < 8; j++) { /* sub-blocks of 32; two share 32 bytes, low nibbles first */
            int scale, min;
            eco_engine_q4_k_scale(block + 4, j, &scale, &min);
            for (int i = 0; i < 32; i++) {
                int code = j % 2 ? q[32 * (j / 2) + i] >> 4 : q[32 * (j / 2) + i] & 15;
                out[32 * j + i] = d * (float)scale * (float)code - dmin * (float)min;
            }
        }
    }
}

static void dequant_q6_k(const uint8_t *block, int n, float *out)
{
    for (int b = 0; b < n / ECO_K_BLOCK; b++, block += 210, out += ECO_K_BLOCK) {
        float d = eco_f16_to_f32(eco_load_u16(block + 208));
        for (int i = 0; i < ECO_K_BLOCK; i++) {
            int half = i / 128, quarter = i % 128 / 32, k = i % 32;
            const uint8_t *ql = block + 64 * half, *qh = block + 128 + 32 * half;
            int low = ql[k + 32 * (quarter % 2)];
            low = quarter < 2 ? low & 15 : low >> 4;
            int code = (low | ((qh[k] >> (2 * quarter)) & 3) << 4) - 32;
            out[i] = d * (float)(int8_t)block[192 + i / 16] * (float)code;
        }
    }
}

static void dequant_16(const struct eco_matrix *w, size_t at, int n, float *out)
{
    const uint8_t *p = (const uint8_t *)w->data + 2 * at;
    if (w->format == ECO_FORMAT_F16 && n >= 64 && (uintptr_t)p % 2 == 0) {
        eco_engine_quantizers()->from_f16(out, (const uint16_t *)(const void *)p, (size_t)n);
        return;
    }
    for (int i = 0; i < n; i++) {
        uint16_t h = eco_load_u16(p + 2 * i);
        out[i] = w->format == ECO_FORMAT_F16 ? eco_f16_to_f32(h) : eco_bf16_to_f32(h);
    }
}

static void dequant_i8(const struct eco_matrix *w, int row, size_t at, int n, float *out)
{
    const int8_t *q = (const int8_t *)w->data + at;
    float s = w->scale[row] * (1.0f / 127.0f);
    for (int i = 0; i < n; i++) {
        out[i] = (float)q[i] * s;
    }
}

static void dequant_packed(const struct eco_matrix *w, int row, int col, int n, float *out)
{
    uint8_t block[34];
    for (int i = 0; i < n; i += ECO_Q_BLOCK) {
        eco_engine_unpack_block(w, row, (col + i) / ECO_Q_BLOCK, block);
        if (w->format == ECO_FORMAT_Q8_0) {
            dequant_q8_0(block, ECO_Q_BLOCK, out + i);
        } else {
            dequant_q4_0(block, ECO_Q_BLOCK, out + i);
        }
    }
}

void eco_engine_dequant(const struct eco_matrix *w, int row, int col, int n, float *out)
{
    if (w->packed) {
        dequant_packed(w, row, col, n, out);
        return;
    }
    size_t at = (size_t)row * (size_t)w->cols + (size_t)col;
    const uint8_t *blocks = (const uint8_t *)w->data;
    if (formats[w->format].weights > 2) {
        blocks += (size_t)row * eco_engine_row_bytes(w->format, w->cols) +
                  eco_engine_row_bytes(w->format, col);
    }
    switch (w->format) {
    case ECO_FORMAT_F32:
        memcpy(out, (const uint8_t *)w->data + 4 * at, (size_t)n * sizeof(float));
        break;
    case ECO_FORMAT_F16:
    case ECO_FORMAT_BF16:
        dequant_16(w, at, n, out);
        break;
    case ECO_FORMAT_NF4:
    case ECO_FORMAT_NF4_DQ:
        dequant_nf4(w, at, n, out);
        break;
    case ECO_FORMAT_NF4_A8:
        dequant_nf4_a8(w, at, n, out);
        break;
    case ECO_FORMAT_I8:
        dequant_i8(w, row, at, n, out);
        break;
    case ECO_FORMAT_Q8_0:
        dequant_q8_0(blocks, n, out);
        break;
    case ECO_FORMAT_Q4_0:
        dequant_q4_0(blocks, n, out);
        break;
    case ECO_FORMAT_Q4_K:
        dequant_q4_k(blocks, n, out);
        break;
    case ECO_FORMAT_Q6_K:
        dequant_q6_k(blocks, n, out);
        break;
    case ECO_FORMAT_COUNT:
        break;
    }
}
