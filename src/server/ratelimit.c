/*
 * A token bucket per client: `per_min` tokens at most, refilled evenly over a minute. Buckets lie
 * in a table of fixed size; in a full set the one that is fullest again makes room, since it
 * remembers least.
 */
#include "server_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SETS 4096 /* a power of two */
#define WAYS 8

struct bucket {
    uint64_t key[2]; /* 0, 0: empty */
    double tokens;
    int64_t at_ns;
};

struct eco_limiter {
    pthread_mutex_t lock;
    double capacity, per_ns;
    uint64_t salt; /* so that nobody outside knows which clients share a set */
    struct bucket set[SETS][WAYS];
};

struct eco_limiter *eco_limiter_new(double per_min)
{
    struct eco_limiter *l = calloc(1, sizeof(*l));
    if (l) {
        pthread_mutex_init(&l->lock, NULL);
        l->capacity = per_min < 1 ? 1 : per_min;
        l->per_ns = per_min / 60e9;
        l->salt = (uint64_t)(uintptr_t)l * UINT64_C(0x9e3779b97f4a7c15);
    }
    return l;
}

void eco_limiter_free(struct eco_limiter *l)
{
    if (l) {
        pthread_mutex_destroy(&l->lock);
        free(l);
    }
}

static bool is_mapped_ipv4(const unsigned char a[16])
{
    static const unsigned char prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return memcmp(a, prefix, sizeof prefix) == 0;
}

static uint64_t mixed(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static double now_in(const struct eco_limiter *l, const struct bucket *b, int64_t now_ns)
{
    return fmin(l->capacity, b->tokens + (double)(now_ns - b->at_ns) * l->per_ns);
}

static struct bucket *bucket_of(struct eco_limiter *l, const uint64_t key[2], int64_t now_ns)
{
    struct bucket *set = l->set[mixed(key[0] ^ mixed(key[1] ^ l->salt)) % SETS];
    struct bucket *fullest = &set[0];
    double most = -1;
    for (size_t i = 0; i < WAYS; i++) {
        struct bucket *b = &set[i];
        if (b->key[0] == key[0] && b->key[1] == key[1]) {
            return b;
        }
        double tokens = b->key[0] || b->key[1] ? now_in(l, b, now_ns) : l->capacity + 1;
        if (tokens > most) {
            most = tokens, fullest = b;
        }
    }
    *fullest = (struct bucket){{key[0], key[1]}, l->capacity, now_ns};
    return fullest;
}

double eco_limiter_take(struct eco_limiter *l, const unsigned char address[16], double cost,
                        int64_t now_ns)
{
    uint64_t key[2];
    double wait_s = 0;
    cost = fmin(cost, l->capacity); /* else it could never be had */
    memcpy(key, address, sizeof key);
    if (!is_mapped_ipv4(address)) {
        key[1] = 1; /* one household, one /64; never 0, 0 */
    }
    pthread_mutex_lock(&l->lock);
    struct bucket *b = bucket_of(l, key, now_ns);
    double tokens = now_in(l, b, now_ns);
    if (tokens >= cost) {
        tokens -= cost;
    } else {
        wait_s = (cost - tokens) / l->per_ns / 1e9;
    }
    b->tokens = tokens;
    b->at_ns = now_ns;
    pthread_mutex_unlock(&l->lock);
    return wait_s;
}
