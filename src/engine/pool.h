/*
 * Inside the module: a persistent thread pool. run() splits items [0, n) into chunks that threads
 * take from one counter; the caller works too. Waiting threads spin for a moment, then sleep, so
 * that an idle engine takes no power. One caller at a time.
 */
#ifndef ECO_ENGINE_POOL_H
#define ECO_ENGINE_POOL_H

#include "eco_err.h"

#include <stdbool.h>

struct eco_pool;

/** Works on items [begin, end); thread is 0..threads - 1, for scratch memory. */
struct eco_job {
    void (*work)(const void *ctx, int begin, int end, int thread);
    const void *ctx;
    int n, chunk;
};

/** `pin`: thread i is bound to the i-th CPU of the affinity mask. Owned by the caller. */
int eco_engine_pool_new(int threads, bool pin, struct eco_pool **out, struct eco_err *err);
void eco_engine_pool_free(struct eco_pool *p); /* accepts NULL */
int eco_engine_pool_threads(const struct eco_pool *p);
void eco_engine_pool_run(struct eco_pool *p, const struct eco_job *job);

#endif
