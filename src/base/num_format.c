/* The shortest decimal text of a double, laid out as JavaScript's Number::toString does. */
#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Digits of the first precision that reads back, x > 0; sets the decimal point's place. */
static int shortest(double x, char digits[20], int *point)
{
    char text[40];
    int first = x < 2.3e-308 ? 1 : 15;
    int n = 0;

    for (int precision = first; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, x);
        if (strtod(text, NULL) == x) {
            break;
        }
    }
    const char *e = strchr(text, 'e');
    for (const char *p = text; p < e; p++) {
        if (*p >= '0' && *p <= '9') {
            digits[n++] = *p;
        }
    }
    while (n > 1 && digits[n - 1] == '0') {
        n--;
    }
    *point = atoi(e + 1) + 1;
    return n;
}

/*
 * Values that are a multiple of 10^-6 (or 10^-3) with at most 15 digits, which is nearly all
 * that is written here. Different decimals of at most 15 digits are different doubles, so
 * the one found, without its trailing zeros, is the shortest.
 */
static bool short_decimal(double x, uint64_t *value, int *places)
{
    double scale = x < 1e9 ? 1e6 : 1e3;
    uint64_t i;

    if (x < 9007199254740992.0 && x == (double)(uint64_t)x) {
        *value = (uint64_t)x;
        *places = 0;
        return true;
    }
    if (!(x < 1e12)) {
        return false;
    }
    i = (uint64_t)(x * scale + 0.5);
    if (i >= 1000000000000000u || (double)i / scale != x) {
        return false;
    }
    *value = i;
    *places = scale > 1e5 ? 6 : 3;
    return true;
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
    int places, point;

    if (!isfinite(v)) {
        /* Callers must not ask; JSON has no such number, so the text is at least valid. */
        memcpy(out, "null", 5);
        return 4;
    }
    if (short_decimal(x, &value, &places)) {
        return put_short(v < 0, value, places, out);
    }
    int n = shortest(x, digits, &point);
    return lay_out(v < 0, digits, n, point, out);
}
