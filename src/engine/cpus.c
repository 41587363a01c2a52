/* CPUs and memory this process may use: affinity, cgroup v1 and v2. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "cpus.h"

#include "base/file.h"
#include "base/num.h"
#include "engine.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATH_MAX_BYTES 1024
#define SMALL_FILE (64u << 10)
#define STAT_FILE (4u << 20) /* a line for each CPU, and one of all interrupts */
#define SHORTEST_S 0.5

/* The first words of a small file; "" when it cannot be read. */
static void slurp(const char *path, char *out, size_t size)
{
    struct eco_buf b = ECO_BUF_INIT;
    out[0] = '\0';
    if (eco_file_read(path, SMALL_FILE, &b, NULL) == 0) {
        snprintf(out, size, "%s", eco_buf_str(&b));
    }
    eco_buf_done(&b);
}

/* ceil(quota / period) of one cgroup folder; 0: no limit there. */
static uint64_t quota_of(const char *folder)
{
    char path[PATH_MAX_BYTES + 32], text[128];
    long quota = 0, period = 0;
    snprintf(path, sizeof(path), "%s/cpu.max", folder);
    slurp(path, text, sizeof(text));
    if (text[0]) {
        char *end = text;
        quota = strtol(text, &end, 10); /* "max" reads as 0 */
        period = strtol(end, NULL, 10);
    } else {
        snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", folder);
        slurp(path, text, sizeof(text));
        quota = strtol(text, NULL, 10);
        snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
        slurp(path, text, sizeof(text));
        period = strtol(text, NULL, 10);
    }
    return quota > 0 && period > 0 ? (uint64_t)((quota + period - 1) / period) : 0;
}

/* The smallest value from `folder` up to `root`; 0: none has one. */
static uint64_t tightest(char *folder, size_t root_len, uint64_t (*value)(const char *folder))
{
    uint64_t best = 0;
    for (;;) {
        uint64_t v = value(folder);
        if (v > 0 && (best == 0 || v < best)) {
            best = v;
        }
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < root_len) {
            return best;
        }
        *slash = '\0';
    }
}

/* Whether a list "cpu,cpuacct" has the word. */
static bool has_word(const char *list, size_t len, const char *word)
{
    size_t n = strlen(word);
    for (size_t at = 0; at < len;) {
        const char *comma = memchr(list + at, ',', len - at);
        size_t end = comma ? (size_t)(comma - list) : len;
        if (end - at == n && memcmp(list + at, word, n) == 0) {
            return true;
        }
        at = end + 1;
    }
    return false;
}

/*
 * A line "ID:controllers:PATH" of /proc/self/cgroup; v2's controllers are empty. In a container
 * PATH may lie outside what is mounted: then the root's own files count, the last on the way up.
 */
static uint64_t value_of_line(const char *line, size_t len, const char *root,
                              const char *controller, uint64_t (*value)(const char *folder))
{
    const char *first = memchr(line, ':', len);
    const char *second = first ? memchr(first + 1, ':', len - (size_t)(first + 1 - line)) : NULL;
    if (!second) {
        return 0;
    }
    const char *names = first + 1, *path = second + 1;
    size_t names_len = (size_t)(second - names), root_len = strlen(root);
    int path_len = (int)(line + len - path);
    char folder[PATH_MAX_BYTES];
    if (names_len == 0) {
        snprintf(folder, sizeof(folder), "%s%.*s", root, path_len, path);
    } else if (has_word(names, names_len, controller)) {
        snprintf(folder, sizeof(folder), "%s/%s%.*s", root, controller, path_len, path);
        root_len += 1 + strlen(controller);
    } else {
        return 0;
    }
    return tightest(folder, root_len, value);
}

/* The smallest of all lines; 0: none. */
static uint64_t value_of_cgroup(const char *proc_cgroup, const char *root, const char *controller,
                                uint64_t (*value)(const char *folder))
{
    char text[4096];
    uint64_t best = 0;
    slurp(proc_cgroup, text, sizeof(text));
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        uint64_t v = value_of_line(line, len, root, controller, value);
        best = v > 0 && (best == 0 || v < best) ? v : best;
        line += len + (line[len] == '\n');
    }
    return best;
}

int eco_engine_cpus_at(const char *proc_cgroup, const char *sys_root, int affinity)
{
    uint64_t quota = value_of_cgroup(proc_cgroup, sys_root, "cpu", quota_of);
    int best = quota > 0 && quota < (uint64_t)affinity ? (int)quota : affinity;
    return best > 1 ? best : 1;
}

int eco_engine_cpu_list(int *cpu, int max)
{
    cpu_set_t set;
    int n = 0;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        return 0;
    }
    for (size_t i = 0; i < CPU_SETSIZE && n < max; i++) {
        if (CPU_ISSET(i, &set)) {
            cpu[n++] = (int)i;
        }
    }
    return n;
}

int eco_engine_cpus(void)
{
    int list[ECO_ENGINE_MAX_THREADS];
    int n = eco_engine_cpu_list(list, ECO_ENGINE_MAX_THREADS);
    return eco_engine_cpus_at("/proc/self/cgroup", "/sys/fs/cgroup", n > 0 ? n : 1);
}

/* A number file of a cgroup folder; 0 when it is not there or says "max". */
static uint64_t number_in(const char *folder, const char *name)
{
    char path[PATH_MAX_BYTES + 64], text[64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    slurp(path, text, sizeof(text));
    return strtoull(text, NULL, 10);
}

/* "inactive_file N" of memory.stat: file pages that the kernel drops when memory is wanted. */
static uint64_t droppable(const char *folder)
{
    char path[PATH_MAX_BYTES + 64], text[8192];
    snprintf(path, sizeof(path), "%s/memory.stat", folder);
    slurp(path, text, sizeof(text));
    const char *at = strstr(text, "inactive_file ");
    return at ? strtoull(at + 14, NULL, 10) : 0;
}

/* What a memory cgroup has left, at least 1 when it has a limit; 0: no limit there. */
static uint64_t room_of(const char *folder)
{
    uint64_t limit = number_in(folder, "memory.max"), used = number_in(folder, "memory.current");
    if (limit == 0) {
        limit = number_in(folder, "memory.limit_in_bytes");
        used = number_in(folder, "memory.usage_in_bytes");
    }
    if (limit == 0 || limit >= UINT64_C(1) << 60) { /* v1's word for none */
        return 0;
    }
    uint64_t drop = droppable(folder);
    used -= drop < used ? drop : used;
    return limit > used ? limit - used : 1;
}

uint64_t eco_engine_memory_free_at(const char *proc, const char *sys_root)
{
    char path[PATH_MAX_BYTES], text[4096];
    snprintf(path, sizeof(path), "%s/meminfo", proc);
    slurp(path, text, sizeof(text));
    const char *at = strstr(text, "MemAvailable:");
    uint64_t machine = at ? strtoull(at + 13, NULL, 10) * 1024 : 0;
    snprintf(path, sizeof(path), "%s/self/cgroup", proc);
    uint64_t group = value_of_cgroup(path, sys_root, "memory", room_of);
    return group > 0 && (machine == 0 || group < machine) ? group : machine;
}

uint64_t eco_engine_memory_free(void)
{
    return eco_engine_memory_free_at("/proc", "/sys/fs/cgroup");
}

int eco_engine_runnable_at(const char *proc)
{
    char path[PATH_MAX_BYTES], text[128];
    snprintf(path, sizeof(path), "%s/loadavg", proc);
    slurp(path, text, sizeof(text));
    const char *at = text;
    for (int i = 0; i < 3 && at; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at && *at ? (int)strtol(at, NULL, 10) - 1 : -1;
}

int eco_engine_runnable(void)
{
    return eco_engine_runnable_at("/proc");
}

/* "cpu3 user nice system idle iowait irq softirq steal …": all but idle and iowait, in ticks. */
static double ticks_of(const char *line)
{
    double sum = 0;
    char *at = (char *)line + strcspn(line, " ");
    for (int i = 0; i < 8; i++) {
        unsigned long long v = strtoull(at, &at, 10);
        sum += i == 3 || i == 4 ? 0.0 : (double)v;
    }
    return sum;
}

double eco_engine_busy_s_at(const char *proc, const int *cpu, int n)
{
    char path[PATH_MAX_BYTES], name[32];
    struct eco_buf text = ECO_BUF_INIT;
    double ticks = 0, per_s = (double)sysconf(_SC_CLK_TCK);
    int seen = 0;
    snprintf(path, sizeof(path), "%s/stat", proc);
    if (eco_file_read(path, STAT_FILE, &text, NULL) == 0) {
        for (int i = 0; i < n; i++) {
            snprintf(name, sizeof(name), "\ncpu%d ", cpu[i]); /* the first line is of all */
            const char *line = strstr(eco_buf_str(&text), name);
            ticks += line ? ticks_of(line + 1) : 0.0;
            seen += line != NULL;
        }
    }
    eco_buf_done(&text);
    return seen == n && n > 0 && per_s > 0 ? ticks / per_s : (double)NAN;
}

static double clock_s(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void eco_engine_cpu_use(struct eco_cpu_use *out)
{
    int list[ECO_ENGINE_MAX_THREADS];
    int n = eco_engine_cpu_list(list, ECO_ENGINE_MAX_THREADS);
    out->busy_s = eco_engine_busy_s_at("/proc", list, n);
    out->own_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    out->wall_s = clock_s(CLOCK_MONOTONIC);
}

double eco_engine_others_frac(const struct eco_cpu_use *a, const struct eco_cpu_use *b, int n)
{
    double wall_s = b->wall_s - a->wall_s;
    double others_s = (b->busy_s - a->busy_s) - (b->own_s - a->own_s);
    return wall_s >= SHORTEST_S && others_s > 0 ? others_s / (wall_s * n) : 0.0;
}
