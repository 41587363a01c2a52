/* Reading numbers, and writing and rounding them at fixed places. num_format.c has the shortest. */
#include "base/num.h"

#include "base/num_scan.h"
#include "eco_err.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 19         /* digits a uint64_t always holds */
#define SLOW_DIGITS 800      /* 767 significant digits decide any double; more are one sticky 1 */
#define EXP_CAP 100000000000 /* past any text that fits in memory */
#define TWO_52 4503599627370496.0

/* The powers of ten that a double holds exactly. */
static const double pow10_exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes digits at s[at..len) into `n`; `scale` is -1 after the point, 0 before it. */
static size_t take_digits(struct eco_num_scan *n, const char *s, size_t at, size_t len, int scale)
{
    for (; at < len && is_digit(s[at]); at++) {
        if (n->count < COUNT_MAX) {
            n->digits = n->digits * 10 + (uint64_t)(s[at] - '0');
            n->count += n->digits != 0;
            n->exp10 += scale;
        } else {
            n->dropped = true;
            n->exp10 += scale + 1;
        }
    }
    return at;
}

/* An exponent at s[at..len), or nothing: the place after it. */
static size_t take_exponent(struct eco_num_scan *n, const char *s, size_t at, size_t len)
{
    size_t p = at + 1;
    bool negative = false;
    int64_t e = 0;

    if (at >= len || (s[at] != 'e' && s[at] != 'E')) {
        return at;
    }
    if (p < len && (s[p] == '+' || s[p] == '-')) {
        negative = s[p] == '-';
        p++;
    }
    if (p >= len || !is_digit(s[p])) {
        return at;
    }
    for (; p < len && is_digit(s[p]); p++) {
        if (e < EXP_CAP) {
            e = e * 10 + (s[p] - '0');
        }
    }
    n->exp10 += negative ? -e : e;
    n->plain = false;
    return p;
}

size_t eco_num_scan(const char *s, size_t len, bool lenient, struct eco_num_scan *out)
{
    struct eco_num_scan n = {.plain = true};
    size_t at = 0, start;

    if (len > 0 && (s[0] == '-' || (lenient && s[0] == '+'))) {
        n.negative = s[0] == '-';
        at = 1;
    }
    start = at;
    if (at < len && s[at] == '0') {
        at++; /* a leading zero stands alone */
    } else {
        at = take_digits(&n, s, at, len, 0);
    }
    if (at == start && !(lenient && at + 1 < len && s[at] == '.' && is_digit(s[at + 1]))) {
        return 0;
    }
    if (at < len && s[at] == '.') {
        size_t end = take_digits(&n, s, at + 1, len, -1);
        if (end > at + 1 || lenient) {
            n.plain = false;
            at = end;
        }
    }
    at = take_exponent(&n, s, at, len);
    *out = n;
    return at;
}

bool eco_num_scan_i64(const struct eco_num_scan *n, int64_t *out)
{
    uint64_t most = n->negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;

    if (!n->plain || n->dropped || n->digits > most) {
        return false;
    }
    *out = n->negative ? (int64_t)(0 - n->digits) : (int64_t)n->digits;
    return true;
}

/*
 * The rest goes to strtod, as an integer and an exponent ("123e-4"), so that no locale's decimal
 * point can matter. `s` is the text that `n` was scanned from.
 */
static double slow_double(const struct eco_num_scan *n, const char *s, size_t len)
{
    char text[SLOW_DIGITS + 40];
    size_t used = 0;
    int64_t exp10 = n->exp10;
    bool sticky = false;

    for (size_t i = 0; i < len && s[i] != 'e' && s[i] != 'E'; i++) {
        if (!is_digit(s[i]) || (used == 0 && s[i] == '0')) {
            continue;
        }
        if (used < SLOW_DIGITS) {
            text[used++] = s[i];
            exp10 -= used > COUNT_MAX; /* exp10 counts from the 19th digit */
        } else {
            sticky = sticky || s[i] != '0';
        }
    }
    if (sticky) {
        text[used++] = '1';
        exp10--;
    }
    exp10 = exp10 > 99999 ? 99999 : exp10 < -99999 ? -99999 : exp10;
    snprintf(text + used, sizeof text - used, "e%d", (int)exp10);
    return strtod(text, NULL);
}

int eco_num_scan_double(const struct eco_num_scan *n, const char *s, size_t len, double *out)
{
    double v;

    if (n->digits == 0) {
        v = 0;
    } else if (!n->dropped && n->digits <= (uint64_t)1 << 53 && n->exp10 >= -22 && n->exp10 <= 22) {
        /* Both operands are exact, so the one rounding of the operation is the right one. */
        v = (double)n->digits;
        v = n->exp10 < 0 ? v / pow10_exact[-n->exp10] : v * pow10_exact[n->exp10];
    } else {
        v = slow_double(n, s, len);
        if (isinf(v)) {
            return ECO_E_RANGE;
        }
    }
    *out = n->negative ? -v : v;
    return 0;
}

static int parse(const char *s, size_t len, bool lenient, double *out)
{
    struct eco_num_scan n;

    if (len == 0 || eco_num_scan(s, len, lenient, &n) != len) {
        return ECO_E_INVALID;
    }
    return eco_num_scan_double(&n, s, len, out);
}

int eco_num_parse(const char *s, size_t len, double *out)
{
    return parse(s, len, false, out);
}

int eco_num_parse_lenient(const char *s, size_t len, double *out)
{
    return parse(s, len, true, out);
}

int eco_num_parse_i64(const char *s, size_t len, int64_t *out)
{
    struct eco_num_scan n;

    if (len == 0 || eco_num_scan(s, len, false, &n) != len || !n.plain) {
        return ECO_E_INVALID;
    }
    return eco_num_scan_i64(&n, out) ? 0 : ECO_E_RANGE;
}

/* The error of the rounded product p = a * b, exactly (Dekker 1971); |a|, |b| far from the ends. */
static double product_error(double a, double b, double p)
{
    const double split = 134217729.0; /* 2^27 + 1 */
    double ac = a * split, bc = b * split;
    double ah = ac - (ac - a), bh = bc - (bc - b);
    double al = a - ah, bl = b - bh;

    return ((ah * bh - p) + ah * bl + al * bh) + al * bl;
}

/*
 * The integer nearest to x * 10^places, ties upwards, for 0 <= x; false when it is 2^52 or more.
 * With p the rounded product and frac its fraction, |x * 10^places - p| <= ulp(p)/2 and, below
 * 2^52, frac - 1/2 is a multiple of ulp(p): unless it is zero its sign decides, and then the sign
 * of the product's error does.
 */
static bool scaled_integer(double x, int places, uint64_t *out)
{
    double p, d;
    uint64_t i;

    if (places > 22) {
        return false;
    }
    p = x * pow10_exact[places];
    if (!(p < TWO_52)) {
        return false;
    }
    if (p < 0.25) {
        *out = 0;
        return true;
    }
    i = (uint64_t)p;
    d = (p - (double)i) - 0.5;
    *out = i + (d > 0 || (d == 0 && product_error(x, pow10_exact[places], p) >= 0));
    return true;
}

/* Decimal digits of `v`, at least `least` of them, ending before `end`: where they start. */
static char *put_digits(char *end, uint64_t v, int least)
{
    while (v > 0 || least > 0) {
        *--end = (char)('0' + v % 10);
        v /= 10;
        least--;
    }
    return end;
}

/* Adds one in the last place of a decimal text ("9.99" -> "10.00"); s has room for one more. */
static size_t increment(char *s, size_t len)
{
    for (size_t i = len; i-- > 0;) {
        if (!is_digit(s[i])) {
            continue;
        }
        if (s[i] != '9') {
            s[i]++;
            return len;
        }
        s[i] = '0';
    }
    memmove(s + 1, s, len + 1);
    s[0] = '1';
    return len + 1;
}

/* Any 0 <= x < 1e21, by the C library's exact expansion with its ties (to even) put right. */
static size_t fixed_slow(double x, int places, char *out)
{
    double twice = ldexp(x, places + 1); /* a tie: x is an odd multiple of 2^-(places + 1) */
    bool tie = fmod(twice, 2.0) == 1.0;
    size_t len = (size_t)sprintf(out, "%.*f", places + tie, x);

    for (size_t i = 0; i < len; i++) {
        if (!is_digit(out[i])) {
            out[i] = '.'; /* whatever the locale has */
        }
    }
    if (tie) {
        out[--len] = '\0'; /* the last digit, a 5; places > 0: halves below 2^52 never come here */
        len = increment(out, len);
    }
    return len;
}

size_t eco_num_fixed(double v, int places, char out[ECO_NUM_MAX + 320])
{
    char *p = out;
    double x = fabs(v);
    uint64_t n;

    places = places < 0 ? 0 : places > 100 ? 100 : places;
    if (!(x < 1e21)) {
        return eco_num_format(v, out);
    }
    if (v < 0) {
        *p++ = '-';
    }
    if (!scaled_integer(x, places, &n)) {
        return (size_t)(p - out) + fixed_slow(x, places, p);
    }
    char text[48];
    char *end = text + sizeof text, *start = put_digits(end, n, places + 1);
    size_t whole = (size_t)(end - start) - (size_t)places;
    memcpy(p, start, whole);
    p += whole;
    if (places > 0) {
        *p++ = '.';
        memcpy(p, start + whole, (size_t)places);
        p += places;
    }
    *p = '\0';
    return (size_t)(p - out);
}

double eco_num_round(double v, int places)
{
    char text[ECO_NUM_MAX + 320];
    uint64_t n;
    double x = v;

    places = places < 0 ? 0 : places > 100 ? 100 : places;
    if (!(fabs(v) < 1e21)) {
        return v;
    }
    if (scaled_integer(fabs(v), places, &n)) {
        x = (double)n / pow10_exact[places]; /* both exact: correctly rounded */
        return v < 0 ? -x : x;
    }
    size_t len = eco_num_fixed(v, places, text);
    return eco_num_parse(text, len, &x) == 0 ? x : v;
}
