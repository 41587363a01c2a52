/*
 * Replies that were given before, by their whole address. An answer is a function of program, data
 * and question alone, so a kept one is the answer; what is rarely asked makes room. Fixed in size.
 */
#include "server_parts.h"

#include <stdlib.h>
#include <string.h>

#define SETS 128 /* a power of two */
#define WAYS 4
#define MAX_REPLY ((size_t)16 << 10) /* so that all of them stay under 8 MiB */
#define MAX_TARGET ((size_t)1 << 10)

struct kept {
    char *target, *body; /* owned */
    size_t len;
    char etag[40];
    uint64_t used; /* the cache's clock when it was asked last; 0: empty */
};

struct eco_reply_cache {
    pthread_mutex_t lock;
    uint64_t clock;
    struct kept set[SETS][WAYS];
};

struct eco_reply_cache *eco_reply_cache_new(void)
{
    struct eco_reply_cache *c = calloc(1, sizeof(*c));
    if (c) {
        pthread_mutex_init(&c->lock, NULL);
    }
    return c;
}

void eco_reply_cache_free(struct eco_reply_cache *c)
{
    for (size_t i = 0; c && i < (size_t)SETS * WAYS; i++) {
        free(c->set[i / WAYS][i % WAYS].target);
        free(c->set[i / WAYS][i % WAYS].body);
    }
    if (c) {
        pthread_mutex_destroy(&c->lock);
        free(c);
    }
}

/* FNV-1a. */
static struct kept *set_of(struct eco_reply_cache *c, const char *target)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *target; target++) {
        h = (h ^ (unsigned char)*target) * UINT64_C(0x100000001b3);
    }
    return c->set[(h ^ h >> 32) % SETS];
}

bool eco_reply_cache_get(struct eco_reply_cache *c, const char *target, struct eco_buf *out,
                         char etag[40])
{
    bool found = false;
    pthread_mutex_lock(&c->lock);
    struct kept *k = set_of(c, target);
    for (size_t i = 0; i < WAYS && !found; i++, k++) {
        if (k->used && strcmp(k->target, target) == 0) {
            k->used = ++c->clock;
            eco_buf_put(out, k->body, k->len);
            memcpy(etag, k->etag, sizeof k->etag);
            found = true;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

void eco_reply_cache_put(struct eco_reply_cache *c, const char *target, const struct eco_buf *body,
                         const char *etag)
{
    size_t len = strlen(target);
    if (len > MAX_TARGET || body->len > MAX_REPLY || !eco_buf_ok(body)) {
        return;
    }
    struct kept fresh = {
        .target = malloc(len + 1), .body = malloc(body->len + 1), .len = body->len};
    if (!fresh.target || !fresh.body) {
        free(fresh.target);
        free(fresh.body);
        return;
    }
    memcpy(fresh.target, target, len + 1);
    memcpy(fresh.body, eco_buf_str(body), body->len + 1);
    strncpy(fresh.etag, etag, sizeof fresh.etag - 1);
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the set keeps them; the analyser loses it */
    pthread_mutex_lock(&c->lock);
    struct kept *set = set_of(c, target), *oldest = set;
    for (size_t i = 0; i < WAYS; i++) {
        bool same = set[i].used && strcmp(set[i].target, target) == 0;
        if (same || set[i].used < oldest->used) {
            oldest = &set[i];
        }
        if (same) { /* another thread was faster */
            break;
        }
    }
    fresh.used = ++c->clock;
    struct kept gone = *oldest;
    *oldest = fresh;
    pthread_mutex_unlock(&c->lock);
    free(gone.target);
    free(gone.body);
}
