#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN ((size_t)16)
#define FIRST_BLOCK ((size_t)4096)
#define LARGEST_STEP ((size_t)64 << 20) /* blocks double up to this, then grow by it */

struct eco_arena_block {
    struct eco_arena_block *next; /* older */
    size_t cap, at;
    _Alignas(16) unsigned char bytes[];
};

void eco_arena_init(struct eco_arena *a, size_t limit)
{
    a->head = NULL;
    a->used = 0;
    a->limit = limit;
}

static void free_blocks(struct eco_arena_block *b)
{
    while (b != NULL) {
        struct eco_arena_block *next = b->next;
        free(b);
        b = next;
    }
}

void eco_arena_done(struct eco_arena *a)
{
    if (a == NULL) {
        return;
    }
    free_blocks(a->head);
    a->head = NULL;
    a->used = 0;
}

void eco_arena_reset(struct eco_arena *a)
{
    a->used = 0;
    if (a->head == NULL) {
        return;
    }
    /* The newest is the largest, as they double: a repeated use soon needs no malloc at all. */
    free_blocks(a->head->next);
    a->head->next = NULL;
    a->head->at = 0;
}

static struct eco_arena_block *new_block(struct eco_arena *a, size_t need)
{
    size_t cap = a->head == NULL ? FIRST_BLOCK : a->head->cap;
    struct eco_arena_block *b;

    if (a->head != NULL) {
        cap = cap < LARGEST_STEP ? cap * 2 : LARGEST_STEP;
    }
    if (cap < need) {
        cap = need;
    }
    if (cap > SIZE_MAX - sizeof *b) {
        return NULL;
    }
    b = malloc(sizeof *b + cap);
    if (b == NULL) {
        return NULL;
    }
    b->cap = cap;
    b->at = 0;
    b->next = a->head;
    a->head = b;
    return b;
}

void *eco_arena_alloc(struct eco_arena *a, size_t size)
{
    struct eco_arena_block *b = a->head;
    size_t need;

    if (size > SIZE_MAX - ALIGN) {
        return NULL;
    }
    need = size == 0 ? ALIGN : (size + ALIGN - 1) & ~(ALIGN - 1);
    if (a->limit != 0 && (a->used > a->limit || need > a->limit - a->used)) {
        return NULL;
    }
    if (b == NULL || need > b->cap - b->at) {
        b = new_block(a, need);
        if (b == NULL) {
            return NULL;
        }
    }
    void *p = b->bytes + b->at;
    b->at += need;
    a->used += need;
    memset(p, 0, need);
    return p;
}

void *eco_arena_array(struct eco_arena *a, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    return eco_arena_alloc(a, count * size);
}

char *eco_arena_strdup(struct eco_arena *a, const char *s, size_t len)
{
    char *p = len < SIZE_MAX ? eco_arena_alloc(a, len + 1) : NULL;

    if (p != NULL && len > 0) {
        memcpy(p, s, len);
    }
    return p;
}

char *eco_arena_printf(struct eco_arena *a, const char *fmt, ...)
{
    va_list ap;
    char *p = NULL;

    va_start(ap, fmt);
    int len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (len >= 0) {
        p = eco_arena_alloc(a, (size_t)len + 1);
    }
    if (p != NULL) {
        va_start(ap, fmt);
        vsnprintf(p, (size_t)len + 1, fmt, ap);
        va_end(ap);
    }
    return p;
}
