/* The persistent thread pool. */
#define _GNU_SOURCE /* pthread_setaffinity_np */
#include "pool.h"

#include "cpus.h"
#include "engine.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* About 20 us of spinning: longer than the gap between two blocks of a layer, shorter than a time
 * slice that another process could use. */
#define SPINS 4000

struct worker {
    struct eco_pool *pool;
    pthread_t id;
    int index;
};

struct eco_pool {
    int threads;
    bool bound;
    cpu_set_t caller_mask; /* to give back what pinning took */
    struct eco_job job;
    atomic_int next; /* first item nobody took */
    atomic_int done; /* workers that finished this job */
    atomic_uint round;
    atomic_int sleepers;
    atomic_bool quit;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct worker workers[ECO_ENGINE_MAX_THREADS];
};

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void bind_to(pthread_t thread, int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    pthread_setaffinity_np(thread, sizeof(set), &set);
}

static void take_items(struct eco_pool *p, int thread)
{
    const struct eco_job *j = &p->job;
    for (;;) {
        int begin = atomic_fetch_add_explicit(&p->next, j->chunk, memory_order_relaxed);
        if (begin >= j->n) {
            return;
        }
        int end = begin + j->chunk < j->n ? begin + j->chunk : j->n;
        j->work(j->ctx, begin, end, thread);
    }
}

/* Waits for a round other than `seen`. The order of sleepers and round is what run() relies on. */
static unsigned next_round(struct eco_pool *p, unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        unsigned r = atomic_load_explicit(&p->round, memory_order_acquire);
        if (r != seen) {
            return r;
        }
        relax();
    }
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->sleepers, 1);
    while (atomic_load(&p->round) == seen) {
        pthread_cond_wait(&p->wake, &p->lock);
    }
    atomic_fetch_sub(&p->sleepers, 1);
    pthread_mutex_unlock(&p->lock);
    return atomic_load(&p->round);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct eco_pool *p = w->pool;
    unsigned seen = 0;
    for (;;) {
        seen = next_round(p, seen);
        if (atomic_load(&p->quit)) {
            return NULL;
        }
        take_items(p, w->index);
        atomic_fetch_add_explicit(&p->done, 1, memory_order_release);
    }
}

static void start_round(struct eco_pool *p)
{
    atomic_fetch_add(&p->round, 1);
    if (atomic_load(&p->sleepers) > 0) {
        pthread_mutex_lock(&p->lock);
        pthread_cond_broadcast(&p->wake);
        pthread_mutex_unlock(&p->lock);
    }
}

void eco_engine_pool_run(struct eco_pool *p, const struct eco_job *job)
{
    if (p->threads == 1 || job->n <= job->chunk) {
        if (job->n > 0) {
            job->work(job->ctx, 0, job->n, 0);
        }
        return;
    }
    p->job = *job;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    atomic_store_explicit(&p->done, 0, memory_order_relaxed);
    start_round(p);
    take_items(p, 0);
    for (int i = 0; atomic_load_explicit(&p->done, memory_order_acquire) < p->threads - 1; i++) {
        if (i < SPINS) {
            relax();
        } else {
            sched_yield(); /* the other thread may wait for this CPU */
        }
    }
}

int eco_engine_pool_threads(const struct eco_pool *p)
{
    return p->threads;
}

int eco_engine_pool_new(int threads, bool pin, struct eco_pool **out, struct eco_err *err)
{
    int cpu[ECO_ENGINE_MAX_THREADS] = {0};
    struct eco_pool *p = calloc(1, sizeof(*p));
    if (!p) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    int cpus = pin ? eco_engine_cpu_list(cpu, ECO_ENGINE_MAX_THREADS) : 0;
    p->threads = 1;
    p->bound = cpus > 0;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    if (p->bound) {
        pthread_getaffinity_np(pthread_self(), sizeof(p->caller_mask), &p->caller_mask);
    }
    for (int i = 1; i < threads; i++) {
        p->workers[i] = (struct worker){.pool = p, .index = i};
        if (pthread_create(&p->workers[i].id, NULL, worker_main, &p->workers[i]) != 0) {
            eco_engine_pool_free(p);
            return eco_err_set(err, ECO_E_NO_MEMORY, "threads", "cannot start thread %d", i + 1);
        }
        p->threads++;
        if (cpus > 0) {
            bind_to(p->workers[i].id, cpu[i % cpus]);
        }
    }
    if (cpus > 0) {
        bind_to(pthread_self(), cpu[0]);
    }
    *out = p;
    return 0;
}

void eco_engine_pool_free(struct eco_pool *p)
{
    if (!p) {
        return;
    }
    atomic_store(&p->quit, true);
    start_round(p);
    for (int i = 1; i < p->threads; i++) {
        pthread_join(p->workers[i].id, NULL);
    }
    if (p->bound) {
        pthread_setaffinity_np(pthread_self(), sizeof(p->caller_mask), &p->caller_mask);
    }
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
