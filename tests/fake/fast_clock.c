/*
 * A faster clock for programs that mostly sleep, by LD_PRELOAD: CLOCK_MONOTONIC runs
 * ECO_FAST_CLOCK times (1 to 10) as fast, and sleeps are as much shorter. The processes of a
 * test that have it agree on the time, and so do waits for a condition with a deadline on that
 * clock. What waits for events (poll) and the time of day stay as they are.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define NS INT64_C(1000000000)

int clock_gettime(clockid_t clock, struct timespec *t);
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left);
int nanosleep(const struct timespec *t, struct timespec *left);

static int64_t factor(void)
{
    static int64_t f;
    if (f == 0) {
        const char *text = getenv("ECO_FAST_CLOCK");
        long v = text ? strtol(text, NULL, 10) : 1;
        f = v >= 1 && v <= 10 ? v : 1;
    }
    return f;
}

static int64_t ns_of(const struct timespec *t)
{
    return (int64_t)t->tv_sec * NS + t->tv_nsec;
}

static struct timespec spec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS), .tv_nsec = (long)(ns % NS)};
}

static int real_gettime(clockid_t clock, struct timespec *t)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    }
    return real(clock, t);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int rc = real_gettime(clock, t);
    if (rc == 0 && clock == CLOCK_MONOTONIC) {
        *t = spec_of(ns_of(t) * factor());
    }
    return rc;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left)
{
    static int (*real)(clockid_t, int, const struct timespec *, struct timespec *);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "clock_nanosleep");
    }
    int64_t f = clock == CLOCK_MONOTONIC || !(flags & TIMER_ABSTIME) ? factor() : 1;
    struct timespec shorter = spec_of((ns_of(t) + f - 1) / f); /* never too early */
    int rc = real(clock, flags, &shorter, left);
    if (rc && left && !(flags & TIMER_ABSTIME)) {
        *left = spec_of(ns_of(left) * f);
    }
    return rc;
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
    static int (*real)(const struct timespec *, struct timespec *);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "nanosleep");
    }
    struct timespec shorter = spec_of((ns_of(t) + factor() - 1) / factor());
    int rc = real(&shorter, left);
    if (rc && left) {
        *left = spec_of(ns_of(left) * factor());
    }
    return rc;
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    }
    struct timespec sooner = spec_of((ns_of(t) + factor() - 1) / factor());
    return real(c, m, &sooner);
}
