/*
 * A growing byte buffer and string helpers. `struct eco_buf` owns its bytes (malloc); a failed
 * growth sets `failed`, later writes do nothing, and the end checks once (eco_buf_ok).
 * Not thread-safe. data is NUL-terminated after every call that returns.
 */
#ifndef ECO_BASE_BUF_H
#define ECO_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct eco_buf {
    char *data; /* owned; NULL until the first write */
    size_t len, cap;
    size_t limit; /* 0: none; a write past it sets failed */
    bool failed;
};

#define ECO_BUF_INIT                                                                               \
    {                                                                                              \
        0                                                                                          \
    }

void eco_buf_done(struct eco_buf *b);  /* accepts NULL; leaves an empty buffer */
void eco_buf_clear(struct eco_buf *b); /* length 0, memory kept */
bool eco_buf_ok(const struct eco_buf *b);
const char *eco_buf_str(const struct eco_buf *b); /* never NULL */
bool eco_buf_reserve(struct eco_buf *b, size_t extra);
void eco_buf_put(struct eco_buf *b, const void *bytes, size_t len);
void eco_buf_puts(struct eco_buf *b, const char *s);
/** The place of `len` more bytes, which the caller fills at once; NULL when they do not fit. */
char *eco_buf_extend(struct eco_buf *b, size_t len);
void eco_buf_putc(struct eco_buf *b, char c);
void eco_buf_printf(struct eco_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void eco_buf_put_num(struct eco_buf *b, double v); /* shortest round trip, see num.h */

/* ASCII case-folded comparison, no locale. */
int eco_str_casecmp(const char *a, const char *b);
int eco_str_ncasecmp(const char *a, const char *b, size_t n);
bool eco_str_ieq(const char *a, size_t alen, const char *b); /* a[0..alen) equals b, case-folded */
/* Equal, in a time that says nothing about how much of a secret was right. */
bool eco_str_same_secret(const char *a, const char *b);
/* Optimal string alignment distance, case-folded, cut off above `max` (returns max + 1). */
int eco_str_distance(const char *a, size_t alen, const char *b, size_t blen, int max);
/* true when s[0..len) is well-formed UTF-8 (no surrogates, no overlong forms). */
bool eco_str_is_utf8(const char *s, size_t len);
/* Columns a UTF-8 text takes on a terminal (East Asian wide = 2, combining = 0). */
size_t eco_str_width(const char *s, size_t len);

#endif
