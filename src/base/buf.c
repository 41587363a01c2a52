#include "base/buf.h"

#include "base/num.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP ((size_t)256)

void eco_buf_done(struct eco_buf *b)
{
    if (b == NULL) {
        return;
    }
    free(b->data);
    b->data = NULL;
    b->len = b->cap = 0;
    b->failed = false;
}

void eco_buf_clear(struct eco_buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data != NULL) {
        b->data[0] = '\0';
    }
}

bool eco_buf_ok(const struct eco_buf *b)
{
    return !b->failed;
}

const char *eco_buf_str(const struct eco_buf *b)
{
    return b->data != NULL ? b->data : "";
}

bool eco_buf_reserve(struct eco_buf *b, size_t extra)
{
    size_t cap = b->cap;
    char *data;

    if (b->failed) {
        return false;
    }
    if (extra < b->cap - b->len && b->data != NULL) {
        return true;
    }
    if (extra >= SIZE_MAX / 2 - b->len) {
        b->failed = true;
        return false;
    }
    if (cap < FIRST_CAP) {
        cap = FIRST_CAP;
    }
    while (cap <= b->len + extra) {
        cap *= 2;
    }
    data = realloc(b->data, cap);
    if (data == NULL) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->cap = cap;
    b->data[b->len] = '\0';
    return true;
}

/* Room for `len` more bytes, within the limit. */
static bool room(struct eco_buf *b, size_t len)
{
    if (b->limit == 0 && !b->failed && len < b->cap - b->len) {
        return true; /* nearly always */
    }
    if (b->limit != 0 && (b->len > b->limit || len > b->limit - b->len)) {
        b->failed = true;
    }
    return eco_buf_reserve(b, len);
}

/* memcpy of a few bytes, without the call: two pieces that may overlap. */
static inline void copy(char *to, const char *from, size_t len)
{
    uint64_t head, tail;

    if (len < 8 || len > 16) {
        memcpy(to, from, len);
        return;
    }
    memcpy(&head, from, 8);
    memcpy(&tail, from + len - 8, 8);
    memcpy(to, &head, 8);
    memcpy(to + len - 8, &tail, 8);
}

void eco_buf_put(struct eco_buf *b, const void *bytes, size_t len)
{
    if (!room(b, len)) {
        return;
    }
    if (len > 0) {
        copy(b->data + b->len, bytes, len);
    }
    b->len += len;
    b->data[b->len] = '\0';
}

char *eco_buf_extend(struct eco_buf *b, size_t len)
{
    if (!room(b, len)) {
        return NULL;
    }
    b->len += len;
    b->data[b->len] = '\0';
    return b->data + b->len - len;
}

void eco_buf_puts(struct eco_buf *b, const char *s)
{
    eco_buf_put(b, s, strlen(s));
}

void eco_buf_putc(struct eco_buf *b, char c)
{
    if (!room(b, 1)) {
        return;
    }
    b->data[b->len++] = c;
    b->data[b->len] = '\0';
}

void eco_buf_printf(struct eco_buf *b, const char *fmt, ...)
{
    va_list ap;
    size_t space;
    int len;

    if (!eco_buf_reserve(b, 0)) {
        return;
    }
    space = b->cap - b->len;
    va_start(ap, fmt);
    len = vsnprintf(b->data + b->len, space, fmt, ap);
    va_end(ap);
    if (len < 0 || !room(b, (size_t)len)) {
        b->failed = true;
        b->data[b->len] = '\0';
        return;
    }
    if ((size_t)len >= space) {
        va_start(ap, fmt);
        vsnprintf(b->data + b->len, b->cap - b->len, fmt, ap);
        va_end(ap);
    }
    b->len += (size_t)len;
}

void eco_buf_put_num(struct eco_buf *b, double v)
{
    char text[ECO_NUM_MAX];

    if (b->limit == 0 && !b->failed && b->cap - b->len > ECO_NUM_MAX) {
        b->len += eco_num_format(v, b->data + b->len); /* nearly always */
        return;
    }
    eco_buf_put(b, text, eco_num_format(v, text));
}
