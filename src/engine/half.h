/* Inside the module: IEEE half and bfloat16 from and to float, round to nearest even. */
#ifndef ECO_ENGINE_HALF_H
#define ECO_ENGINE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t eco_float_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof(u));
    return u;
}

static inline float eco_bits_float(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof(x));
    return x;
}

static inline float eco_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, rest = h & 0x7fffu;
    if (rest >= 0x7c00u) { /* inf, NaN */
        return eco_bits_float(sign | 0x7f800000u | ((rest & 0x3ffu) << 13));
    }
    if (rest < 0x400u) { /* subnormal: rest * 2^-24 is exact */
        float x = (float)rest * 0x1p-24f;
        return sign ? -x : x;
    }
    return eco_bits_float(sign | ((rest << 13) + 0x38000000u));
}

static inline uint16_t eco_f32_to_f16(float x)
{
    uint32_t u = eco_float_bits(x), sign = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
    if (a > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u);
    }
    if (a >= 0x477ff000u) { /* rounds to 65536 or more */
        return (uint16_t)(sign | 0x7c00u);
    }
    if (a < 0x38800000u) { /* subnormal: adding 0.5 puts the last bit at 2^-24 */
        float s = eco_bits_float(a) + 0.5f;
        return (uint16_t)(sign | (eco_float_bits(s) - 0x3f000000u));
    }
    uint32_t r = a + 0xfffu + ((a >> 13) & 1u);
    return (uint16_t)(sign | ((r - 0x38000000u) >> 13));
}

static inline float eco_bf16_to_f32(uint16_t h)
{
    return eco_bits_float((uint32_t)h << 16);
}

static inline uint16_t eco_f32_to_bf16(float x)
{
    uint32_t u = eco_float_bits(x);
    if ((u & 0x7fffffffu) > 0x7f800000u) {
        return (uint16_t)((u >> 16) | 0x40u);
    }
    return (uint16_t)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

static inline uint16_t eco_load_u16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline int32_t eco_load_i32(const void *p)
{
    int32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

#endif
