#include "base/clock.h"

#include <stdio.h>
#include <time.h>

int64_t eco_clock_mono_ns(void)
{
    struct timespec t = {0, 0};

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t eco_clock_unix_ms(void)
{
    struct timespec t = {0, 0};

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void eco_clock_iso8601(int64_t unix_ms, char out[32])
{
    /* 0000-01-01 and 9999-12-31 in milliseconds: what four digits of a year can say. */
    const int64_t lo_ms = -62167219200000, hi_ms = 253402300799999;
    int64_t ms = unix_ms < lo_ms ? lo_ms : unix_ms > hi_ms ? hi_ms : unix_ms;
    int64_t part_ms = ms % 1000;
    struct tm tm = {0};

    if (part_ms < 0) {
        part_ms += 1000;
    }
    time_t seconds = (time_t)((ms - part_ms) / 1000);
    gmtime_r(&seconds, &tm);
    snprintf(out, 32, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", (unsigned)(tm.tm_year + 1900) % 10000u,
             (unsigned)(tm.tm_mon + 1) % 100u, (unsigned)tm.tm_mday % 100u,
             (unsigned)tm.tm_hour % 100u, (unsigned)tm.tm_min % 100u, (unsigned)tm.tm_sec % 100u,
             (unsigned)part_ms);
}
