/*
 * An arena: many small allocations, one free. Blocks come from malloc; nothing is freed before
 * eco_arena_done/reset. Returns NULL when out of memory or over `limit`. Not thread-safe.
 */
#ifndef ECO_BASE_ARENA_H
#define ECO_BASE_ARENA_H

#include <stddef.h>

struct eco_arena_block;
struct eco_arena {
    struct eco_arena_block *head;
    size_t used, limit; /* bytes handed out; limit 0: none */
};

void eco_arena_init(struct eco_arena *a, size_t limit);
void eco_arena_done(struct eco_arena *a);                /* accepts NULL */
void eco_arena_reset(struct eco_arena *a);               /* keeps one block for reuse */
void *eco_arena_alloc(struct eco_arena *a, size_t size); /* zeroed, 16-byte aligned */
void *eco_arena_array(struct eco_arena *a, size_t count, size_t size);  /* checked multiplication */
char *eco_arena_strdup(struct eco_arena *a, const char *s, size_t len); /* NUL-terminated */
char *eco_arena_printf(struct eco_arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
