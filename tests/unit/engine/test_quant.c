/*
 * Codes and scales, bit for bit, against implementations written here from the published
 * definitions, by search instead of by thresholds; none of them shares code with the engine.
 */
#include "eco_test.h"
#include "engine/half.h"
#include "engine/kernels_quant.h"
#include "engine/matrix.h"
#include "engine/weights.h"

#define N 4096

static uint64_t rng = 88172645463325252u;

static double uniform(void)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (double)(rng >> 11) / 9007199254740992.0;
}

static void fill(float *x, int n)
{
    for (int i = 0; i < n; i++) {
        double u = uniform() + uniform() + uniform() + uniform() - 2.0;
        x[i] = (float)(u * (i % 97 == 0 ? 3.0 : 0.5));
    }
}

/* QLoRA's appendix E: the sixteen NF4 values. */
static const double nf4[16] = {-1.0,
                               -0.6961928009986877,
                               -0.5250730514526367,
                               -0.39491748809814453,
                               -0.28444138169288635,
                               -0.18477343022823334,
                               -0.09105003625154495,
                               0.0,
                               0.07958029955625534,
                               0.16093020141124725,
                               0.24611230194568634,
                               0.33791524171829224,
                               0.44070982933044434,
                               0.5626170039176941,
                               0.7229568362236023,
                               1.0};

/*
 * The nearest value; of two equally near the lower. Half of the middles lie halfway between two
 * floats: the published code compares with decimals of 16 digits as floats, and so do we.
 */
static int nearest_nf4(float x)
{
    int best = 0;
    for (int i = 1; i < 16; i++) {
        char decimal[40];
        snprintf(decimal, sizeof(decimal), "%.16g", (nf4[i - 1] + nf4[i]) / 2.0);
        best = x > strtof(decimal, NULL) ? i : best;
    }
    return best;
}

static void make(struct eco_matrix *m, enum eco_format f, int rows, int cols, unsigned char *codes,
                 float *scales, const float *x)
{
    *m = (struct eco_matrix){
        .format = f, .rows = rows, .cols = cols, .data = codes, .scale = scales};
    assert_true(eco_engine_matrix_bytes(f, rows, cols, &m->code_bytes, &m->constant_bytes));
    eco_engine_quantize_rows(m, 0, rows, x);
}

static void test_nf4_codes_and_absmax(void **state)
{
    static float x[N], back[N], absmax[N / 64];
    static unsigned char codes[N / 2];
    struct eco_matrix m;
    (void)state;
    fill(x, N);
    memset(x + 640, 0, 64 * sizeof(float)); /* an empty block */
    for (int i = 0; i < 15; i++) {          /* values on the midpoints, both sides of them */
        x[64 * 20 + 3 * i] = (float)((nf4[i] + nf4[i + 1]) / 2.0);
        x[64 * 20 + 3 * i + 1] = nextafterf(x[64 * 20 + 3 * i], 2.0f);
        x[64 * 20 + 3 * i + 2] = nextafterf(x[64 * 20 + 3 * i], -2.0f);
    }
    x[64 * 20 + 60] = 1.0f; /* absmax 1: the values stay as they are */
    for (int i = 0; i < 64; i++) {
        x[64 * 20 + i] = fabsf(x[64 * 20 + i]) > 1.0f ? 0.5f : x[64 * 20 + i];
    }
    make(&m, ECO_FORMAT_NF4, 32, 128, codes, absmax, x);
    for (int b = 0; b < N / 64; b++) {
        float max = 0;
        for (int i = 0; i < 64; i++) {
            max = fabsf(x[64 * b + i]) > max ? fabsf(x[64 * b + i]) : max;
        }
        assert_memory_equal(&max, &absmax[b], sizeof(float));
        for (int i = 0; i < 64; i++) {
            int at = 64 * b + i, code = at % 2 ? codes[at / 2] & 15 : codes[at / 2] >> 4;
            float scaled = x[at] * (1.0f / max);
            assert_int_equal(code, max > 0 ? nearest_nf4(scaled) : 0);
        }
    }
    for (int r = 0; r < 32; r++) {
        eco_engine_dequant(&m, r, 0, 128, back + 128 * r);
    }
    for (int i = 0; i < N; i++) { /* half the widest gap, 0.1519, of the block's absmax */
        assert_near((double)back[i], (double)x[i], 0.1520 * (double)absmax[i / 64]);
    }
}

/* Blocks lie over the flattened tensor: rows of 48 share them. */
static void test_nf4_blocks_cross_rows(void **state)
{
    static float x[N], absmax[N / 64], absmax2[N / 64], row[48];
    static unsigned char codes[N / 2], codes2[N / 2];
    struct eco_matrix m, flat;
    (void)state;
    fill(x, 48 * 64);
    make(&m, ECO_FORMAT_NF4, 64, 48, codes, absmax, x);
    make(&flat, ECO_FORMAT_NF4, 1, 48 * 64, codes2, absmax2, x);
    assert_memory_equal(codes, codes2, 48 * 32);
    assert_memory_equal(absmax, absmax2, 48 * sizeof(float));
    assert_int_equal(eco_engine_row_unit(ECO_FORMAT_NF4, 48), 4);
    for (int r = 0; r < 64; r++) {
        eco_engine_dequant(&m, r, 0, 48, row);
        for (int c = 0; c < 48; c++) {
            int at = 48 * r + c, code = at % 2 ? codes[at / 2] & 15 : codes[at / 2] >> 4;
            float want = (float)nf4[code] * absmax[at / 64];
            assert_memory_equal(&want, &row[c], sizeof(float));
        }
    }
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/* The dynamic map by its definition, in double. */
static void test_dynamic_map(void **state)
{
    float map[256];
    int n = 0;
    (void)state;
    for (int i = 0; i < 7; i++) {
        int parts = 1 << i;
        for (int k = 0; k < parts; k++) {
            double lo = 0.1 + 0.9 * k / parts, hi = 0.1 + 0.9 * (k + 1) / parts;
            float v = (float)(pow(10.0, i - 6) * (lo + hi) / 2.0);
            map[n++] = v;
            map[n++] = -v;
        }
    }
    map[n++] = 0.0f;
    map[n++] = 1.0f;
    assert_int_equal(n, 256);
    qsort(map, 256, sizeof(float), compare);
    for (int i = 0; i < 256; i++) {
        assert_near_rel((double)eco_engine_dynamic_map[i], (double)map[i], 2.5e-7);
    }
}

static void test_nf4_double_quantization(void **state)
{
    enum { ROWS = 320, COLS = 256, BLOCKS = ROWS * COLS / 64 };
    static float x[ROWS * COLS], absmax[BLOCKS], scale[BLOCKS / 256 + 1], row[COLS];
    static unsigned char codes[ROWS * COLS / 2], code2[BLOCKS];
    struct eco_matrix m;
    double sum = 0;
    (void)state;
    fill(x, ROWS * COLS);
    make(&m, ECO_FORMAT_NF4_DQ, ROWS, COLS, codes, absmax, x);
    m.scale_code = code2;
    m.scale_scale = scale;
    eco_engine_quantize_absmax(&m, absmax);
    for (int i = 0; i < BLOCKS; i++) {
        sum += (double)absmax[i];
    }
    assert_near_rel((double)m.scale_offset, sum / BLOCKS, 1e-7);
    for (int at = 0; at < BLOCKS; at += 256) {
        float max = 0;
        for (int i = at; i < at + 256 && i < BLOCKS; i++) {
            max = fabsf(absmax[i] - m.scale_offset) > max ? fabsf(absmax[i] - m.scale_offset) : max;
        }
        assert_memory_equal(&max, &scale[at / 256], sizeof(float));
        for (int i = at; i < at + 256 && i < BLOCKS; i++) {
            float v = (absmax[i] - m.scale_offset) * (1.0f / max);
            int best = 0;
            for (int k = 1; k < 256; k++) {
                float d = fabsf(eco_engine_dynamic_map[k] - v);
                best = d < fabsf(eco_engine_dynamic_map[best] - v) ? k : best;
            }
            assert_int_equal(code2[i], best);
        }
    }
    eco_engine_dequant(&m, 3, 64, 128, row);
    for (int c = 0; c < 128; c++) {
        int at = 3 * COLS + 64 + c, code = at % 2 ? codes[at / 2] & 15 : codes[at / 2] >> 4;
        float a = eco_engine_dynamic_map[code2[at / 64]] * scale[at / 64 / 256] + m.scale_offset;
        assert_near_rel((double)row[c], nf4[code] * (double)a, 1e-6);
    }
    assert_int_equal(m.constant_bytes, BLOCKS + (BLOCKS / 256) * 4 + 4);
}

/* NF4-A8: NF4's own codes; the table is the nearest whole numbers, of a scale that few beat. */
static void test_a8_table(void **state)
{
    static float x[N], a[N / 64], b[N / 64], row[128];
    static unsigned char codes[N / 2], codes2[N / 2];
    double count[16] = {0}, best = 1e9, own = 0, nf4_off = 0, square = 0;
    struct eco_matrix m;
    (void)state;
    for (int i = 0; i < N; i++) { /* normal, as weights are */
        x[i] = (float)(sqrt(-2.0 * log(1.0 - uniform())) * cos(6.283185307 * uniform()));
    }
    make(&m, ECO_FORMAT_NF4, 32, 128, codes, a, x);
    make(&m, ECO_FORMAT_NF4_A8, 32, 128, codes2, b, x);
    assert_memory_equal(codes, codes2, sizeof(codes));
    assert_memory_equal(a, b, sizeof(a));
    for (int i = 0; i < N; i++) {
        int code = i % 2 ? codes[i / 2] & 15 : codes[i / 2] >> 4;
        double off = (double)x[i] - nf4[code] * (double)a[i / 64];
        count[code] += (double)(a[i / 64] * a[i / 64]);
        nf4_off += off * off;
        square += (double)(x[i] * x[i]);
    }
    for (int scale = 64; scale <= 127; scale++) {
        double off = 0;
        for (int k = 0; k < 16; k++) {
            double d = nearbyint(nf4[k] * scale) / scale - nf4[k];
            off += count[k] * d * d;
        }
        best = off < best ? off : best;
        own = scale == (int)ECO_A8_ONE ? off : own;
    }
    assert_true(own < 1.3 * best);
    print_message(
        "NF4 is off by %.4f rms of the weights, its table in whole numbers by %.4f more\n",
        sqrt(nf4_off / square), sqrt(own / square));
    assert_true(own < 0.01 * nf4_off);
    for (int k = 0; k < 16; k++) {
        assert_int_equal(eco_engine_nf4_a8_table[k], (int)nearbyint(nf4[k] * 124.0));
    }
    eco_engine_dequant(&m, 3, 0, 128, row);
    for (int c = 0; c < 128; c++) {
        int at = 3 * 128 + c, code = at % 2 ? codes[at / 2] & 15 : codes[at / 2] >> 4;
        assert_near((double)row[c], eco_engine_nf4_a8_table[code] * (double)a[at / 64] / 124.0,
                    1e-6);
    }
}

static void test_int8_rows(void **state)
{
    static float x[N], scale[32], row[128];
    static unsigned char codes[N];
    struct eco_matrix m;
    (void)state;
    fill(x, N);
    memset(x + 5 * 128, 0, 128 * sizeof(float));
    for (int i = 0; i < 100; i++) { /* exact halves: to even */
        x[7 * 128 + i] = (float)i + 0.5f;
    }
    x[7 * 128 + 127] = 127.0f;
    make(&m, ECO_FORMAT_I8, 32, 128, codes, scale, x);
    for (int r = 0; r < 32; r++) {
        float max = 0;
        for (int c = 0; c < 128; c++) {
            max = fabsf(x[128 * r + c]) > max ? fabsf(x[128 * r + c]) : max;
        }
        assert_memory_equal(&max, &scale[r], sizeof(float));
        for (int c = 0; c < 128; c++) {
            double v = max > 0 ? (double)(x[128 * r + c] * (127.0f / max)) : 0.0;
            double down = floor(v), part = v - down;
            double want = part > 0.5 || (part == 0.5 && fmod(down, 2.0) != 0.0) ? down + 1 : down;
            assert_int_equal((signed char)codes[128 * r + c], (int)want);
        }
    }
    eco_engine_dequant(&m, 7, 0, 128, row);
    assert_near_rel((double)row[99], 100.0, 1e-6); /* 99.5 went to 100 */
}

/* Q8_0 and Q4_0 by the definition of their blocks: a half scale, then the nearest code. */
static void test_ggml_blocks(void **state)
{
    static float x[N], back[128];
    static unsigned char codes[N / 32 * 34];
    struct eco_matrix m;
    (void)state;
    fill(x, N);
    memset(x + 256, 0, 32 * sizeof(float));
    make(&m, ECO_FORMAT_Q8_0, 32, 128, codes, NULL, x);
    for (int b = 0; b < N / 32; b++) {
        float max = 0;
        for (int i = 0; i < 32; i++) {
            max = fabsf(x[32 * b + i]) > max ? fabsf(x[32 * b + i]) : max;
        }
        float d = max / 127.0f;
        for (int i = 0; i < 32; i++) {
            double v = d > 0 ? (double)(x[32 * b + i] * (1.0f / d)) : 0.0;
            int want = (int)(v < 0 ? -floor(-v + 0.5) : floor(v + 0.5));
            assert_int_equal((signed char)codes[34 * b + 2 + i], want);
        }
    }
    eco_engine_dequant(&m, 4, 0, 128, back);
    for (int i = 0; i < 128; i++) {
        assert_near((double)back[i], (double)x[512 + i], 3.0 / 127.0 * 0.52 * 2.0);
    }
    make(&m, ECO_FORMAT_Q4_0, 32, 128, codes, NULL, x);
    for (int b = 0; b < N / 32; b++) {
        float d = 0;
        for (int i = 0; i < 32; i++) {
            d = fabsf(x[32 * b + i]) > fabsf(d) ? x[32 * b + i] : d;
        }
        d = d / -8.0f;
        for (int i = 0; i < 32; i++) {
            double v = d != 0 ? floor((double)(x[32 * b + i] * (1.0f / d) + 8.5f)) : 8.0;
            int want = v > 15 ? 15 : (int)v, byte = codes[18 * b + 2 + i % 16];
            assert_int_equal(i < 16 ? byte & 15 : byte >> 4, want);
        }
    }
}

static void test_sizes(void **state)
{
    uint64_t codes, constants;
    (void)state;
    assert_true(eco_engine_matrix_bytes(ECO_FORMAT_NF4, 11008, 4096, &codes, &constants));
    assert_int_equal(codes, 11008u * 4096u / 2);
    assert_int_equal(constants, 11008u * 4096u / 64 * 4);
    assert_true(eco_engine_matrix_bytes(ECO_FORMAT_Q4_0, 10, 64, &codes, &constants));
    assert_int_equal(codes, 10 * 2 * 18);
    assert_true(eco_engine_matrix_bytes(ECO_FORMAT_NF4_A8, 11008, 4096, &codes, &constants));
    assert_int_equal(codes, 11008u * 4096u / 2); /* as NF4 */
    assert_int_equal(constants, 11008u * 4096u / 64 * 4);
    assert_false(eco_engine_matrix_bytes(ECO_FORMAT_NF4_A8, 10, 96, &codes, &constants));
    assert_false(eco_engine_matrix_bytes(ECO_FORMAT_Q8_0, 10, 48, &codes, &constants));
    assert_false(eco_engine_matrix_bytes(ECO_FORMAT_Q6_K, 10, 96, &codes, &constants));
}

/* A value that a rounding rule can get wrong, at a scale that keeps it one. */
static float awkward(int i)
{
    static const float special[] = {0.0f,    -0.0f,  0.5f,    -0.5f,       1.5f,         -1.5f,
                                    2.5f,    126.5f, -126.5f, 0.49999997f, -0.49999997f, 1e-42f,
                                    -1e-42f, 127.0f, -127.0f, 3.0e38f};
    unsigned k = (unsigned)(uniform() * 40.0);
    if (i % 7 == 3 && k < sizeof(special) / sizeof(special[0]) - 1) {
        return special[k];
    }
    return (float)((uniform() + uniform() - 1.0) * (k % 5 == 0 ? 254.0 : 60.0));
}

/* Every set gives the bits of the portable one: lengths with tails, ties, zeros, NaN, infinity. */
static void test_sets_agree_bit_for_bit(void **state)
{
    static float x[1024];
    static unsigned char a[4096], b[4096];
    static float sa[1024], sb[1024];
    const struct eco_quantizers *q = eco_engine_quantizers(), *p = &eco_engine_quantizers_scalar;
    (void)state;
    if (q == p) {
        print_message("skipped: this processor has the portable set only\n");
    }
    for (int round = 0; round < 400; round++) {
        size_t n = 32 * (1 + (size_t)(uniform() * 30.0)), odd = n - (size_t)(uniform() * 31.0);
        for (size_t i = 0; i < n; i++) {
            x[i] = round % 50 == 49 ? 0.0f : awkward((int)i);
        }
        for (int i = 0; i < 15 && round % 3 == 0;
             i++) { /* midpoints of a block whose absmax is 1 */
            float mid = eco_engine_nf4_midpoints[i];
            x[4 * i % 32] = i % 2 ? nextafterf(mid, round % 2 ? 1.0f : -1.0f) : mid;
        }
        memset(a, 0x55, sizeof(a));
        memset(b, 0x55, sizeof(b));
        p->nf4(a, sa, x, odd);
        q->nf4(b, sb, x, odd);
        assert_memory_equal(a, b, sizeof(a));
        assert_memory_equal(sa, sb, (odd + 63) / 64 * sizeof(float));
        p->q8_0(a, x, n);
        q->q8_0(b, x, n);
        assert_memory_equal(a, b, sizeof(a));
        p->q4_0(a, x, n);
        q->q4_0(b, x, n);
        assert_memory_equal(a, b, sizeof(a));
        p->i8((int8_t *)a, sa, x, odd);
        q->i8((int8_t *)b, sb, x, odd);
        assert_memory_equal(a, b, sizeof(a));
        assert_memory_equal(sa, sb, sizeof(float));
        p->to_f16((uint16_t *)(void *)a, x, odd);
        q->to_f16((uint16_t *)(void *)b, x, odd);
        assert_memory_equal(a, b, sizeof(a));
        p->from_f16(sa, (const uint16_t *)(const void *)a, odd);
        q->from_f16(sb, (const uint16_t *)(const void *)a, odd);
        assert_memory_equal(sa, sb, odd * sizeof(float));
    }
    x[5] = NAN; /* a NaN is passed over, its code is the lowest */
    p->nf4(a, sa, x, 64);
    q->nf4(b, sb, x, 64);
    assert_memory_equal(a, b, 32);
    assert_memory_equal(sa, sb, sizeof(float));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nf4_codes_and_absmax),
        cmocka_unit_test(test_sets_agree_bit_for_bit),
        cmocka_unit_test(test_nf4_blocks_cross_rows),
        cmocka_unit_test(test_dynamic_map),
        cmocka_unit_test(test_nf4_double_quantization),
        cmocka_unit_test(test_a8_table),
        cmocka_unit_test(test_int8_rows),
        cmocka_unit_test(test_ggml_blocks),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
