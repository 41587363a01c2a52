/*
 * What sampling costs: CPU time of the sampler thread at 10 Hz and at 1 kHz (bars: 0.1 % and 1 % of
 * a core, 10 MB), time inside the driver apart; and `track -- true` beside `true`. Peers, measured
 * elsewhere: CodeCarbon 1.18 % of a core and 81 MB, Zeus 0.6 to 0.9 % at 20 Hz and 330 MB.
 * Usage: bench_sampler [PROGRAM], PROGRAM the ecocompute to time (default: only the sampler).
 */
#include "base/clock.h"
#include "power/meter.h"

#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define RUN_S 10
#define BARE_S 4
#define STARTS 21

extern char **environ;

/* What waking up that often costs on this machine now, with nothing done: the floor. */
static double bare_pct(double rate_hz)
{
    struct timespec before, after;
    int64_t start_ns = eco_clock_mono_ns();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    for (int k = 1; k <= BARE_S * rate_hz; k++) {
        int64_t due_ns = start_ns + (int64_t)(k * 1e9 / rate_hz);
        struct timespec t = {due_ns / 1000000000, (long)(due_ns % 1000000000)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    double cpu_s =
        (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9;
    return 100 * cpu_s / ((double)(eco_clock_mono_ns() - start_ns) * 1e-9);
}

static int sampler(double rate_hz)
{
    const struct eco_power_options o = {.nvml_library = "/nonexistent",
                                        .sysfs = "/nonexistent",
                                        .ipmitool = "",
                                        .extra = "sim:square:60,300,0.1"};
    const struct eco_meter_options mo = {
        .rate_hz = rate_hz, .trace_s = 60, .gain = (double)NAN, .offset_w = (double)NAN};
    const struct timespec run = {RUN_S, 0};
    struct eco_power_set *set;
    struct eco_power_source *s[4];
    struct eco_meter *m;
    struct eco_meter_energy e;
    struct eco_meter_cost cost;
    int id;
    if (eco_power_open(&o, &set, NULL) != 0 || eco_power_choose(set, NULL, s, 4, NULL) != 1 ||
        eco_meter_new(s, 1, &mo, &m, NULL) != 0 || eco_meter_start(m, NULL) != 0 ||
        eco_meter_begin(m, &id, NULL) != 0) {
        return 1;
    }
    nanosleep(&run, NULL);
    eco_meter_end(m, id, &e, NULL);
    eco_meter_costs(m, &cost);
    printf("sampler %6.0f Hz: %.4f %% of a core (bare wake-ups %.4f %%), driver %.4f %%, %.2f MB, "
           "%lld late, %lld missed of %lld\n",
           rate_hz, 100 * cost.cpu_s / cost.wall_s, bare_pct(rate_hz),
           100 * cost.driver_s / cost.wall_s, (double)cost.memory_bytes / 1e6, (long long)e.late,
           (long long)e.missed, (long long)cost.samples);
    eco_meter_free(m);
    eco_power_close(set);
    return 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* CPU time of all children so far: what a loaded machine does not stretch. */
static double children_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* Median wall time of a command and its mean CPU time, in seconds. */
static double median_run(char *const argv[], double *cpu_s)
{
    double before_s = children_s();
    double t[STARTS];
    for (int i = 0; i < STARTS; i++) {
        pid_t pid;
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, 1, "/dev/null", 1, 0);
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", 1, 0);
        int64_t start_ns = eco_clock_mono_ns();
        if (posix_spawnp(&pid, argv[0], &files, NULL, argv, environ) != 0) {
            return (double)NAN;
        }
        waitpid(pid, NULL, 0);
        t[i] = (double)(eco_clock_mono_ns() - start_ns) * 1e-9;
        posix_spawn_file_actions_destroy(&files);
    }
    *cpu_s = (children_s() - before_s) / STARTS;
    qsort(t, STARTS, sizeof(t[0]), by_value);
    return t[STARTS / 2];
}

int main(int argc, char **argv)
{
    int rc = sampler(10) || sampler(1000);
    if (argc > 1) {
        char *const alone[] = {"true", NULL};
        char *const tracked[] = {argv[1], "track", "--", "true", NULL};
        double bare_cpu_s, with_cpu_s;
        double bare_s = median_run(alone, &bare_cpu_s), with_s = median_run(tracked, &with_cpu_s);
        printf("track -- true: %.2f ms over true (%.2f ms), median of %d; CPU time %.2f ms over "
               "%.2f ms\n",
               1e3 * (with_s - bare_s), 1e3 * bare_s, STARTS, 1e3 * (with_cpu_s - bare_cpu_s),
               1e3 * bare_cpu_s);
    }
    return rc;
}
