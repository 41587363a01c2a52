/*
 * Floats to codes.
 * NF4: bitsandbytes' quantize_4bit (Dettmers et al. 2023): absmax of 64, value * (1/absmax), the
 * code whose interval between midpoints holds it, a value on a midpoint going down; even elements
 * in the high nibble. Double quantization: absmax minus their mean, blocks of 256, dynamic map.
 * I8: LLM.int8() (Dettmers et al. 2022): a row's absmax to 127, round to nearest even.
 * Q8_0, Q4_0: the reference quantizers of ggml.
 */
#include "half.h"
#include "kernels_quant.h"
#include "weights.h"

#include <math.h>
#include <string.h>

const float eco_engine_nf4_midpoints[15] = {
    -0.8480964004993439f,  -0.6106329262256622f,  -0.4599952697753906f,   -0.33967943489551544f,
    -0.23460740596055984f, -0.13791173323988914f, -0.045525018125772476f, 0.03979014977812767f,
    0.1202552504837513f,   0.2035212516784668f,   0.2920137718319893f,    0.3893125355243683f,
    0.5016634166240692f,   0.6427869200706482f,   0.8614784181118011f,
};

int eco_engine_row_unit(enum eco_format f, int cols)
{
    int unit = 1;
    if (f == ECO_FORMAT_NF4 || f == ECO_FORMAT_NF4_DQ) {
        while ((long)unit * cols % ECO_NF4_BLOCK != 0) {
            unit *= 2;
        }
    }
    return unit;
}

static float absmax_of(const float *x, size_t n)
{
    float m = 0.0f;
    for (size_t i = 0; i < n; i++) {
        float a = fabsf(x[i]);
        m = a > m ? a : m;
    }
    return m;
}

/* How many midpoints lie below x: the code. NaN, as 0/0 of an empty block, gives 0. */
static unsigned nf4_code(float x)
{
    const float *mid = eco_engine_nf4_midpoints;
    unsigned c = x > mid[7] ? 8u : 0u;
    c += x > mid[c + 3] ? 4u : 0u;
    c += x > mid[c + 1] ? 2u : 0u;
    c += x > mid[c] ? 1u : 0u;
    return c;
}

static void quantize_nf4(uint8_t *codes, float *absmax, const float *x, size_t n)
{
    for (size_t at = 0; at < n; at += ECO_NF4_BLOCK) {
        size_t len = n - at < ECO_NF4_BLOCK ? n - at : ECO_NF4_BLOCK;
        float m = absmax_of(x + at, len), scale = 1.0f / m;
        absmax[at / ECO_NF4_BLOCK] = m;
        for (size_t i = 0; i < len; i += 2) {
            unsigned high = nf4_code(x[at + i] * scale);
            unsigned low = i + 1 < len ? nf4_code(x[at + i + 1] * scale) : 0u;
            codes[(at + i) / 2] = (uint8_t)(high << 4 | low);
        }
    }
}

static void quantize_i8(int8_t *q, float *scale, const float *x, size_t n)
{
    float m = absmax_of(x, n);
    float inv = m > 0.0f ? 127.0f / m : 0.0f;
    *scale = m;
    for (size_t i = 0; i < n; i++) {
        q[i] = (int8_t)rintf(x[i] * inv);
    }
}

static void quantize_q8_0(uint8_t *block, const float *x, size_t n)
{
    for (size_t b = 0; b < n; b += ECO_Q_BLOCK, block += 34) {
        float d = absmax_of(x + b, ECO_Q_BLOCK) / 127.0f;
        float inv = d > 0.0f ? 1.0f / d : 0.0f;
        uint16_t h = eco_f32_to_f16(d);
        memcpy(block, &h, 2);
        for (size_t i = 0; i < ECO_Q_BLOCK; i++) {
            block[2 + i] = (uint8_t)(int8_t)roundf(x[b + i] * inv);
        }
    }
}

static uint8_t q4_code(float x)
{
    int q = (int)(x + 8.5f);
    return (uint8_t)(q > 15 ? 15 : q);
}

/* The value of largest magnitude, with its sign, maps to -8. */
static void quantize_q4_0(uint8_t *block, const float *x, size_t n)
{
    for (size_t b = 0; b < n; b += ECO_Q_BLOCK, block += 18) {
        float extreme = 0.0f;
        for (size_t i = 0; i < ECO_Q_BLOCK; i++) {
            extreme = fabsf(x[b + i]) > fabsf(extreme) ? x[b + i] : extreme;
        }
        float d = extreme / -8.0f;
        float inv = d != 0.0f ? 1.0f / d : 0.0f;
        uint16_t h = eco_f32_to_f16(d);
        memcpy(block, &h, 2);
        for (size_t i = 0; i < ECO_Q_BLOCK / 2; i++) {
            unsigned low = q4_code(x[b + i] * inv), high = q4_code(x[b + 16 + i] * inv);
            block[2 + i] = (uint8_t)(low | high << 4);
        }
    }
}

static void to_f16(uint16_t *out, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = eco_f32_to_f16(x[i]);
    }
}

static void from_f16(float *out, const uint16_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = eco_f16_to_f32(x[i]);
    }
}

const struct eco_quantizers eco_engine_quantizers_scalar = {
    quantize_nf4, quantize_q8_0, quantize_q4_0, quantize_i8, to_f16, from_f16,
};

const struct eco_quantizers *eco_engine_quantizers(void)
{
#if defined(ECO_ENGINE_X86)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return &eco_engine_quantizers_avx2;
    }
#endif
    return &eco_engine_quantizers_scalar;
}

static void quantize_bf16(uint16_t *out, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = eco_f32_to_bf16(x[i]);
    }
}

void eco_engine_quantize_rows(const struct eco_matrix *w, int begin, int end, const float *x)
{
    const struct eco_quantizers *q = eco_engine_quantizers();
    size_t cols = (size_t)w->cols, at = (size_t)begin * cols, n = (size_t)(end - begin) * cols;
    uint8_t *out = (uint8_t *)(uintptr_t)w->data;
    float *scale = (float *)(uintptr_t)w->scale;
    switch (w->format) {
    case ECO_FORMAT_F32:
        memcpy(out + 4 * at, x, n * sizeof(float));
        break;
    case ECO_FORMAT_F16:
        q->to_f16((uint16_t *)(void *)out + at, x, n);
        break;
    case ECO_FORMAT_BF16:
        quantize_bf16((uint16_t *)(void *)out + at, x, n);
        break;
    case ECO_FORMAT_NF4:
    case ECO_FORMAT_NF4_DQ:
    case ECO_FORMAT_NF4_A8:
        q->nf4(out + at / 2, scale + at / ECO_NF4_BLOCK, x, n);
        break;
    case ECO_FORMAT_I8:
        for (int r = begin; r < end; r++, x += cols) {
            q->i8((int8_t *)out + (size_t)r * cols, &scale[r], x, cols);
        }
        break;
    case ECO_FORMAT_Q8_0: /* rows are whole blocks */
        q->q8_0(out + at / ECO_Q_BLOCK * 34, x, n);
        break;
    default:
        q->q4_0(out + at / ECO_Q_BLOCK * 18, x, n);
        break;
    }
}

/* Nearest entry of the dynamic map; halfway goes down. */
static uint8_t dynamic_code(float x)
{
    const float *map = eco_engine_dynamic_map;
    int lo = 0, hi = 255;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (x > map[mid]) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return (uint8_t)(x > (map[lo] + map[hi]) * 0.5f ? hi : lo);
}

void eco_engine_quantize_absmax(struct eco_matrix *w, const float *absmax)
{
    size_t blocks = ((size_t)w->rows * (size_t)w->cols + ECO_NF4_BLOCK - 1) / ECO_NF4_BLOCK;
    uint8_t *codes = (uint8_t *)(uintptr_t)w->scale_code;
    float *scales = (float *)(uintptr_t)w->scale_scale;
    double sum = 0.0;
    for (size_t i = 0; i < blocks; i++) {
        sum += (double)absmax[i];
    }
    w->scale_offset = (float)(sum / (double)blocks);
    for (size_t at = 0; at < blocks; at += ECO_DQ_BLOCK) {
        size_t len = blocks - at < ECO_DQ_BLOCK ? blocks - at : ECO_DQ_BLOCK;
        float m = 0.0f;
        for (size_t i = at; i < at + len; i++) {
            float a = fabsf(absmax[i] - w->scale_offset);
            m = a > m ? a : m;
        }
        float inv = 1.0f / m; /* m 0: NaN codes to the lowest entry, times 0 */
        scales[at / ECO_DQ_BLOCK] = m;
        for (size_t i = at; i < at + len; i++) {
            codes[i] = dynamic_code((absmax[i] - w->scale_offset) * inv);
        }
    }
}
