/* Classes of code points, and NFC: decompose, order the marks, compose (UAX 15). */
#include "tok_unicode.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

/* Hangul syllables are computed (Unicode 3.12). */
#define S_BASE 0xAC00u
#define L_BASE 0x1100u
#define V_BASE 0x1161u
#define T_BASE 0x11A7u
#define L_COUNT 19u
#define V_COUNT 21u
#define T_COUNT 28u
#define S_COUNT (L_COUNT * V_COUNT * T_COUNT)

#define MAX_RUN 64 /* a starter and its marks; longer runs are cut, as "stream-safe" text does */

static unsigned kind_of(const struct eco_unicode_range *r, size_t n, uint32_t c)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (c > r[mid].hi) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo < n && c >= r[lo].lo ? r[lo].kind : 0u;
}

unsigned eco_unicode_class(uint32_t c)
{
    if (c < 0x80) { /* most text */
        uint32_t lower = c | 0x20u;
        return lower >= 'a' && lower <= 'z'                          ? ECO_UNICODE_LETTER
               : c >= '0' && c <= '9'                                ? ECO_UNICODE_NUMBER
               : c == ' ' || (c >= '\t' && c <= '\r')                ? ECO_UNICODE_SPACE
               : c < ' ' || c == 0x7f || strchr("$+<=>^`|~", (int)c) ? 0u
                                                                     : ECO_UNICODE_PUNCTUATION;
    }
    return kind_of(eco_unicode_classes, eco_unicode_classes_count, c);
}

size_t eco_unicode_next(const char *s, size_t len, uint32_t *c)
{
    if ((unsigned char)s[0] < 0x80) {
        *c = (unsigned char)s[0];
        return 1;
    }
    size_t n = eco_utf8_decode(s, len, c);
    if (n == 0) {
        *c = 0xFFFD;
        return 1;
    }
    return n;
}

static unsigned combining(uint32_t c)
{
    return c < 0x300 ? 0u : kind_of(eco_unicode_combining, eco_unicode_combining_count, c);
}

/* The pair that `whole` is, or NULL. */
static const uint32_t *pair_of(uint32_t whole)
{
    size_t lo = 0, hi = eco_unicode_pairs_count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (eco_unicode_pairs[3 * mid] < whole) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    const uint32_t *p = eco_unicode_pairs + 3 * lo;
    return lo < eco_unicode_pairs_count && p[0] == whole ? p : NULL;
}

/* What two code points compose to, or 0. */
static uint32_t composed(uint32_t a, uint32_t b)
{
    if (a - L_BASE < L_COUNT && b - V_BASE < V_COUNT) {
        return S_BASE + ((a - L_BASE) * V_COUNT + (b - V_BASE)) * T_COUNT;
    }
    if (a - S_BASE < S_COUNT && (a - S_BASE) % T_COUNT == 0 && b - T_BASE - 1 < T_COUNT - 1) {
        return a + (b - T_BASE);
    }
    size_t lo = 0, hi = eco_unicode_composed_count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const uint32_t *p = eco_unicode_pairs + 3 * (size_t)eco_unicode_composed[mid];
        if (p[1] < a || (p[1] == a && p[2] < b)) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    const uint32_t *p = lo < eco_unicode_composed_count
                            ? eco_unicode_pairs + 3 * (size_t)eco_unicode_composed[lo]
                            : NULL;
    return p && p[1] == a && p[2] == b ? p[0] : 0;
}

/* Code points that wait: a starter, and what may still change. */
struct run {
    uint32_t c[MAX_RUN + 4];
    size_t n;
};

static void compose(struct run *r)
{
    uint32_t *c = r->c;
    for (size_t i = 1; i < r->n; i++) { /* canonical order: stable, by combining class */
        for (size_t k = i; k > 0 && combining(c[k]) > 0 && combining(c[k - 1]) > combining(c[k]);
             k--) {
            uint32_t swap = c[k];
            c[k] = c[k - 1];
            c[k - 1] = swap;
        }
    }
    size_t kept = r->n > 0 ? 1 : 0;
    unsigned last = 0;
    bool starts = r->n > 0 && combining(c[0]) == 0;
    for (size_t i = 1; i < r->n; i++) {
        unsigned class = combining(c[i]);
        bool blocked = kept > 1 && last >= class;
        uint32_t whole = starts && !blocked ? composed(c[0], c[i]) : 0;
        if (whole) {
            c[0] = whole;
        } else {
            last = class;
            c[kept++] = c[i];
        }
    }
    r->n = kept;
}

static void flush(struct run *r, struct eco_buf *out)
{
    compose(r);
    for (size_t i = 0; i < r->n; i++) {
        char bytes[4];
        eco_buf_put(out, bytes, eco_utf8_encode(r->c[i], bytes));
    }
    r->n = 0;
}

/* A starter ends the run before it, unless it composes with what that run has become. */
static void push(struct run *r, uint32_t c, struct eco_buf *out)
{
    if (combining(c) == 0) {
        compose(r);
        if (!(r->n == 1 && composed(r->c[0], c))) {
            flush(r, out);
        }
    }
    r->c[r->n++] = c;
    if (r->n > MAX_RUN) {
        flush(r, out);
    }
}

static void decompose(struct run *r, uint32_t c, struct eco_buf *out)
{
    if (c - S_BASE < S_COUNT) {
        uint32_t s = c - S_BASE;
        push(r, L_BASE + s / (V_COUNT * T_COUNT), out);
        push(r, V_BASE + s % (V_COUNT * T_COUNT) / T_COUNT, out);
        if (s % T_COUNT) {
            push(r, T_BASE + s % T_COUNT, out);
        }
        return;
    }
    uint32_t second[8];
    size_t n = 0;
    const uint32_t *p = c < 0xC0 ? NULL : pair_of(c);
    while (p && n < 8) { /* firsts decompose further, seconds never do */
        c = p[1];
        if (p[2]) {
            second[n++] = p[2];
        }
        p = pair_of(c);
    }
    push(r, c, out);
    while (n > 0) {
        push(r, second[--n], out);
    }
}

void eco_unicode_nfc(const char *s, size_t len, struct eco_buf *out)
{
    struct run r = {.n = 0};
    size_t ascii = 0;
    while (ascii < len && (unsigned char)s[ascii] < 0x80) {
        ascii++;
    }
    ascii -= ascii > 0 && ascii < len ? 1 : 0; /* the last one may take a mark */
    eco_buf_put(out, s, ascii);
    for (size_t at = ascii; at < len;) {
        uint32_t c = 0;
        size_t n = (unsigned char)s[at] < 0x80 ? 1 : eco_utf8_decode(s + at, len - at, &c);
        if (n == 0) {
            flush(&r, out);
            eco_buf_putc(out, s[at++]);
            continue;
        }
        decompose(&r, n == 1 ? (uint32_t)(unsigned char)s[at] : c, out);
        at += n;
    }
    flush(&r, out);
}
