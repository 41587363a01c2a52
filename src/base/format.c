#include "base/format.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

struct text {
    char *p, *end; /* end: room for the NUL is behind it */
    bool failed;
};

static void put(struct text *t, const char *s, size_t n)
{
    if (n > (size_t)(t->end - t->p)) {
        t->failed = true;
        return;
    }
    memcpy(t->p, s, n);
    t->p += n;
}

/* v / 10^places in digits; trailing zeros and a bare point left out when `trim`. */
static void put_digits(struct text *t, bool negative, uint64_t v, int places, bool trim)
{
    char digits[24];
    char *end = digits + sizeof digits, *p = end;

    while (trim && places > 0 && v % 10 == 0) {
        v /= 10;
        places--;
    }
    for (int k = places; k > 0; k--) {
        *--p = (char)('0' + v % 10);
        v /= 10;
    }
    if (places > 0)
        *--p = '.';
    do {
        *--p = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    if (negative)
        *--p = '-';
    put(t, p, (size_t)(end - p));
}

/* a * 10^places as the nearest whole number; UINT64_MAX where the product could be off by one. */
static uint64_t nearest(double a, int places)
{
    double p = a * tens[places], rest;
    uint64_t whole;

    if (!(p < 1e10))
        return UINT64_MAX;
    whole = (uint64_t)p;
    rest = p - (double)whole - 0.5;
    if (fabs(rest) < 1e-5) /* p is exact to 1e-6 */
        return UINT64_MAX;
    return whole + (rest > 0);
}

static void put_fixed(struct text *t, double v, int places)
{
    uint64_t n = places >= 0 && places < 10 ? nearest(fabs(v), places) : UINT64_MAX;

    if (n == UINT64_MAX)
        t->failed = true;
    else
        put_digits(t, signbit(v), n, places, false);
}

/* %g from 0.1 up to 10^digits: no exponent. */
static void put_general(struct text *t, double v, int digits)
{
    double a = fabs(v);
    int whole = 0;
    uint64_t n;

    if (v == 0.0 && !signbit(v)) {
        put(t, "0", 1);
        return;
    }
    if (digits < 1 || digits > 9 || !(a >= 0.1 && a < tens[digits])) {
        t->failed = true;
        return;
    }
    while (a >= tens[whole])
        whole++;
    n = nearest(a, digits - whole);
    if (n >= (uint64_t)tens[digits]) /* refused, or one digit more by rounding */
        t->failed = true;
    else
        put_digits(t, v < 0, n, digits - whole, true);
}

static void put_i64(struct text *t, int64_t v)
{
    put_digits(t, v < 0, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 0, false);
}

/* A conversion with a precision: ".*f", ".1f", ".3g"; where it ends. */
static const char *put_precise(struct text *t, const char *f, va_list *ap)
{
    int places = -1;

    f++; /* the point */
    if (*f == '*')
        places = va_arg(*ap, int);
    else if (*f >= '0' && *f <= '9')
        places = *f - '0';
    if (places < 0 || (f[1] != 'f' && f[1] != 'g'))
        t->failed = true;
    else if (f[1] == 'f')
        put_fixed(t, va_arg(*ap, double), places);
    else
        put_general(t, va_arg(*ap, double), places);
    return f + 2;
}

/* One conversion, of which f is the character after '%'; where it ends. */
static const char *put_one(struct text *t, const char *f, va_list *ap)
{
    const char *s;

    if (*f == '.')
        return put_precise(t, f, ap);
    if (*f == 's') {
        s = va_arg(*ap, const char *);
        if (s == NULL)
            t->failed = true;
        else
            put(t, s, strlen(s));
    } else if (*f == 'd') {
        put_i64(t, va_arg(*ap, int));
    } else if (*f == 'g') {
        put_general(t, va_arg(*ap, double), 6);
    } else if (*f == '%') {
        put(t, f, 1);
    } else if (strncmp(f, "zu", 2) == 0) {
        put_digits(t, false, va_arg(*ap, size_t), 0, false);
        f++;
    } else if (strncmp(f, "lld", 3) == 0) {
        put_i64(t, va_arg(*ap, long long));
        f += 2;
    } else {
        t->failed = true;
    }
    return f + 1;
}

int eco_format(char *out, size_t cap, const char *fmt, va_list ap)
{
    struct text t = {out, out + (cap > 0 ? cap - 1 : 0), cap == 0};
    va_list args;

    va_copy(args, ap);
    while (*fmt != '\0' && !t.failed) {
        size_t n = strcspn(fmt, "%");

        put(&t, fmt, n);
        fmt += n;
        if (*fmt == '%')
            fmt = put_one(&t, fmt + 1, &args);
    }
    va_end(args);
    if (t.failed)
        return -1;
    *t.p = '\0';
    return (int)(t.p - out);
}
