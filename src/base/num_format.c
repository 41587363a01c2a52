/* The shortest decimal text of a double, laid out as JavaScript's Number::toString does. */
#include "base/num.h"

#include "base/num_pow10.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Lays out 0.d1d2…dn * 10^point (ECMA-262, Number::toString). */
static size_t lay_out(bool negative, const char *digits, int n, int point, char *out)
{
    char *p = out;

    if (negative) {
        *p++ = '-';
    }
    if (point > 21 || point < -5) {
        *p++ = digits[0];
        if (n > 1) {
            *p++ = '.';
            memcpy(p, digits + 1, (size_t)n - 1);
            p += n - 1;
        }
        return (size_t)(p - out) + (size_t)sprintf(p, "e%+d", point - 1);
    }
    if (point <= 0) {
        memcpy(p, "0.00000", (size_t)(2 - point));
        p += 2 - point;
        memcpy(p, digits, (size_t)n);
        p += n;
    } else if (point >= n) {
        memcpy(p, digits, (size_t)n);
        memset(p + n, '0', (size_t)(point - n));
        p += point;
    } else {
        memcpy(p, digits, (size_t)point);
        p[point] = '.';
        memcpy(p + point + 1, digits + point, (size_t)(n - point));
        p += n + 1;
    }
    *p = '\0';
    return (size_t)(p - out);
}

struct u128 {
    uint64_t high, low;
};

static struct u128 multiply(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__) && !defined(__wasm__) /* there it would be a call into libgcc */
    __extension__ unsigned __int128 p = (unsigned __int128)a * b;
    return (struct u128){(uint64_t)(p >> 64), (uint64_t)p};
#else
    uint64_t al = a & 0xFFFFFFFF, ah = a >> 32, bl = b & 0xFFFFFFFF, bh = b >> 32;
    uint64_t low = al * bl, cross = ah * bl, other = al * bh;
    uint64_t middle = (low >> 32) + (cross & 0xFFFFFFFF) + (other & 0xFFFFFFFF);
    return (struct u128){ah * bh + (cross >> 32) + (other >> 32) + (middle >> 32), a * b};
#endif
}

/* floor(g * c / 2^128), with its last bit set when a remainder was cut off ("round to odd"). */
static uint64_t scale_to_odd(const struct eco_pow10 *g, uint64_t c)
{
    struct u128 x = multiply(g->low, c), y = multiply(g->high, c);
    uint64_t low = y.low + x.high;

    return (y.high + (low < x.high)) | (low > 1);
}

/* floor(a * 2^-bits) for a negative `a` too, where C leaves the shift to the compiler. */
static int floor_shift(int64_t a, int bits)
{
    return (int)((a + ((int64_t)4096 << bits)) >> bits) - 4096;
}

/*
 * The shortest decimal d * 10^*exp10 that reads back as x, and the nearest to x among the shortest:
 * R. Giulietti, "The Schubfach way to render doubles", 2020, figure 4. x = c * 2^q; the interval
 * that rounds to x has the bounds (4c -/+ 2) * 2^(q-2), the lower one nearer when c is a power of
 * two; both belong to it when c is even. d may end in zeros.
 */
static uint64_t shortest(double x, int *exp10)
{
    uint64_t bits, c;
    int q, k;

    memcpy(&bits, &x, sizeof bits);
    c = bits & 0xFFFFFFFFFFFFF;
    q = (int)(bits >> 52);
    bool lopsided = c == 0 && q > 1;
    c |= q > 0 ? (uint64_t)1 << 52 : 0;
    q = (q > 0 ? q : 1) - 1075;

    uint64_t odd = c & 1;
    k = floor_shift((int64_t)q * 1262611 - (lopsided ? 524031 : 0), 22); /* log10(2^q or 3/4 2^q) */
    int h = q + floor_shift((int64_t)-k * 1741647, 19) + 1;              /* log2(10^-k) */
    const struct eco_pow10 *g = &eco_pow10_table[-k - ECO_POW10_MIN];
    uint64_t lower = scale_to_odd(g, (4 * c - (lopsided ? 1 : 2)) << h) + odd;
    uint64_t middle = scale_to_odd(g, 4 * c << h);
    uint64_t upper = scale_to_odd(g, (4 * c + 2) << h) - odd;
    uint64_t s = middle / 4;

    *exp10 = k;
    if (s >= 10) {
        uint64_t tens = s / 10 * 10;
        bool down = lower <= 4 * tens, up = 4 * (tens + 10) <= upper;
        if (down != up) {
            return down ? tens : tens + 10;
        }
    }
    bool down = lower <= 4 * s, up = 4 * (s + 1) <= upper;
    if (down != up) {
        return down ? s : s + 1;
    }
    uint64_t half = 4 * s + 2;
    return middle < half || (middle == half && s % 2 == 0) ? s : s + 1;
}

static int to_digits(uint64_t v, char digits[20])
{
    char text[20];
    int n = 0;

    for (; v > 0; v /= 10) {
        text[n++] = (char)('0' + v % 10);
    }
    for (int i = 0; i < n; i++) {
        digits[i] = text[n - 1 - i];
    }
    return n;
}

/*
 * Values that are a multiple of 10^-6 (or 10^-3) with at most 15 digits, which is nearly all
 * that is written here. Different decimals of at most 15 digits are different doubles, so
 * the one found, without its trailing zeros, is the shortest.
 */
static bool short_decimal(double x, uint64_t *value, int *places)
{
    if (x < 9007199254740992.0 && x == (double)(uint64_t)x) {
        *value = (uint64_t)x;
        *places = 0;
        return true;
    }
    if (!(x < 1e12)) {
        return false;
    }
    *value = (uint64_t)(x * 1e3 + 0.5);
    *places = 3;
    if ((double)*value / 1e3 == x) {
        return true;
    }
    *value = (uint64_t)(x * 1e6 + 0.5);
    *places = 6;
    return x < 1e9 && (double)*value / 1e6 == x;
}

static size_t put_short(bool negative, uint64_t value, int places, char *out)
{
    char text[24];
    char *end = text + sizeof text, *p = end;
    char *o = out;

    while (places > 0 && value % 10 == 0) {
        value /= 10;
        places--;
    }
    for (int k = places; k > 0; k--) {
        *--p = (char)('0' + value % 10);
        value /= 10;
    }
    if (places > 0) {
        *--p = '.';
    }
    do {
        *--p = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    if (negative) {
        *o++ = '-';
    }
    memcpy(o, p, (size_t)(end - p));
    o += end - p;
    *o = '\0';
    return (size_t)(o - out);
}

size_t eco_num_format(double v, char out[ECO_NUM_MAX])
{
    double x = fabs(v);
    char digits[20];
    uint64_t value;
    int places;

    if (!isfinite(v)) {
        /* Callers must not ask; JSON has no such number, so the text is at least valid. */
        memcpy(out, "null", 5);
        return 4;
    }
    if (short_decimal(x, &value, &places)) {
        return put_short(v < 0, value, places, out);
    }
    value = shortest(x, &places);
    while (value % 10 == 0) {
        value /= 10;
        places++;
    }
    int n = to_digits(value, digits);
    return lay_out(v < 0, digits, n, n + places, out);
}
