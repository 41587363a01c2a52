#include "base/hash.h"

#include "eco_err.h"

#include <string.h>

/* FIPS 180-4 section 4.2.2: cube roots of the first 64 primes. */
static const uint32_t round_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void schedule(uint32_t w[64], const uint8_t *block)
{
    for (int i = 0; i < 16; i++) {
        const uint8_t *p = block + 4 * i;
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        uint32_t s0 = rotr(a, 7) ^ rotr(a, 18) ^ a >> 3;
        uint32_t s1 = rotr(b, 17) ^ rotr(b, 19) ^ b >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

static void compress(uint32_t h[8], const uint8_t *block)
{
    uint32_t w[64], v[8];

    schedule(w, block);
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25);
        uint32_t ch = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + s1 + ch + round_k[i] + w[i];
        uint32_t s0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22);
        uint32_t maj = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        v[7] = v[6], v[6] = v[5], v[5] = v[4], v[4] = v[3] + t1;
        v[3] = v[2], v[2] = v[1], v[1] = v[0], v[0] = t1 + s0 + maj;
    }
    for (int i = 0; i < 8; i++) {
        h[i] += v[i];
    }
}

void eco_sha256_init(struct eco_sha256 *s)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    memset(s, 0, sizeof *s);
    memcpy(s->h, start, sizeof start);
}

void eco_sha256_update(struct eco_sha256 *s, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    size_t held = (size_t)(s->bytes % 64);

    s->bytes += len;
    if (held > 0) {
        size_t take = len < 64 - held ? len : 64 - held;
        if (take > 0) {
            memcpy(s->block + held, p, take);
            p += take;
            len -= take;
        }
        if (held + take < 64) {
            return;
        }
        compress(s->h, s->block);
    }
    for (; len >= 64; p += 64, len -= 64) {
        compress(s->h, p);
    }
    if (len > 0) {
        memcpy(s->block, p, len);
    }
}

void eco_sha256_final(struct eco_sha256 *s, uint8_t out[32])
{
    uint8_t pad[72] = {0x80};
    uint64_t bits = s->bytes * 8;
    size_t zeros = (size_t)((119 - s->bytes % 64) % 64);

    for (size_t i = 0; i < 8; i++) {
        pad[1 + zeros + i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    eco_sha256_update(s, pad, 1 + zeros + 8);
    for (size_t i = 0; i < 32; i++) {
        out[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
    }
}

void eco_sha256_hex(const void *bytes, size_t len, char out[65])
{
    static const char digits[] = "0123456789abcdef";
    struct eco_sha256 s;
    uint8_t sum[32];

    eco_sha256_init(&s);
    eco_sha256_update(&s, bytes, len);
    eco_sha256_final(&s, sum);
    for (size_t i = 0; i < 32; i++) {
        out[2 * i] = digits[sum[i] >> 4];
        out[2 * i + 1] = digits[sum[i] & 15];
    }
    out[64] = '\0';
}

void eco_base64url_encode(struct eco_buf *out, const void *bytes, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const uint8_t *p = bytes;

    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        uint32_t v = (uint32_t)p[i] << 16;
        v |= n > 1 ? (uint32_t)p[i + 1] << 8 : 0;
        v |= n > 2 ? p[i + 2] : 0;
        char text[4];
        for (size_t k = 0; k < 4; k++) {
            text[k] = digits[v >> (18 - 6 * k) & 63];
        }
        eco_buf_put(out, text, n + 1);
    }
}

static int sextet(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '-' || c == '+' ? 62 : c == '_' || c == '/' ? 63 : -1;
}

/* Nothing is written to `out` unless the whole text is right. */
static int check_base64(const char *text, size_t *len)
{
    size_t n = *len, padding = 0;

    while (padding < 2 && padding < n && text[n - 1 - padding] == '=') {
        padding++;
    }
    n -= padding;
    if (n % 4 == 1 || (padding > 0 && (n + padding) % 4 != 0)) {
        return ECO_E_CONTENT;
    }
    for (size_t i = 0; i < n; i++) {
        if (sextet(text[i]) < 0) {
            return ECO_E_CONTENT;
        }
    }
    /* Bits left over must be zero, or two texts would mean one value. */
    if ((n % 4 == 2 && (sextet(text[n - 1]) & 15) != 0) ||
        (n % 4 == 3 && (sextet(text[n - 1]) & 3) != 0)) {
        return ECO_E_CONTENT;
    }
    *len = n;
    return 0;
}

int eco_base64url_decode(struct eco_buf *out, const char *text, size_t len)
{
    int code = check_base64(text, &len);

    if (code < 0) {
        return code;
    }
    for (size_t i = 0; i < len; i += 4) {
        size_t n = len - i < 4 ? len - i : 4;
        uint32_t v = 0;
        for (size_t k = 0; k < 4; k++) {
            v = v << 6 | (k < n ? (uint32_t)sextet(text[i + k]) : 0);
        }
        char bytes[3] = {(char)(v >> 16 & 255), (char)(v >> 8 & 255), (char)(v & 255)};
        eco_buf_put(out, bytes, n - 1);
    }
    return eco_buf_ok(out) ? 0 : ECO_E_NO_MEMORY;
}
