/* CPUs and memory this process may use: affinity, cgroup v1 and v2. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "cpus.h"

#include "base/file.h"
#include "base/num.h"
#include "engine.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_MAX_BYTES 1024
#define SMALL_FILE (64u << 10)

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
static long quota_of(const char *folder)
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
    return quota > 0 && period > 0 ? (quota + period - 1) / period : 0;
}

/* The tightest quota from `folder` up to `root`. */
static long tightest(char *folder, size_t root_len)
{
    long best = 0;
    for (;;) {
        long q = quota_of(folder);
        if (q > 0 && (best == 0 || q < best)) {
            best = q;
        }
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < root_len) {
            return best;
        }
        *slash = '\0';
    }
}

/* A line "ID:controllers:PATH" of /proc/self/cgroup; v2's controllers are empty. */
static long quota_of_line(const char *line, size_t len, const char *root)
{
    const char *first = memchr(line, ':', len);
    const char *second = first ? memchr(first + 1, ':', len - (size_t)(first + 1 - line)) : NULL;
    if (!second) {
        return 0;
    }
    const char *names = first + 1, *path = second + 1;
    int names_len = (int)(second - names), path_len = (int)(line + len - path);
    char folder[PATH_MAX_BYTES];
    size_t root_len = strlen(root);
    if (names_len > 0) {
        if (!memmem(names, (size_t)names_len, "cpu", 3) ||
            memmem(names, (size_t)names_len, "cpuset", 6) == names) {
            return 0;
        }
        snprintf(folder, sizeof(folder), "%s/cpu%.*s", root, path_len, path);
        root_len += 4;
    } else {
        snprintf(folder, sizeof(folder), "%s%.*s", root, path_len, path);
    }
    return tightest(folder, root_len);
}

int eco_engine_cpus_at(const char *proc_cgroup, const char *sys_root, int affinity)
{
    char text[4096];
    long best = affinity;
    slurp(proc_cgroup, text, sizeof(text));
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        long q = quota_of_line(line, len, sys_root);
        best = q > 0 && q < best ? q : best;
        line += len + (line[len] == '\n');
    }
    return best > 1 ? (int)best : 1;
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

uint64_t eco_engine_memory_free(void)
{
    char text[4096];
    slurp("/proc/meminfo", text, sizeof(text));
    const char *at = strstr(text, "MemAvailable:");
    uint64_t free_bytes = at ? strtoull(at + 13, NULL, 10) * 1024 : 0;
    char limit[64], used[64];
    slurp("/sys/fs/cgroup/memory.max", limit, sizeof(limit));
    slurp("/sys/fs/cgroup/memory.current", used, sizeof(used));
    uint64_t hi = strtoull(limit, NULL, 10), lo = strtoull(used, NULL, 10);
    if (hi > 0) { /* "max" reads as 0 */
        uint64_t left = hi > lo ? hi - lo : 0;
        free_bytes = free_bytes && free_bytes < left ? free_bytes : left;
    }
    return free_bytes;
}

int eco_engine_runnable(void)
{
    char text[128];
    slurp("/proc/loadavg", text, sizeof(text));
    const char *at = text;
    for (int i = 0; i < 3 && at; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at ? (int)strtol(at, NULL, 10) - 1 : -1;
}
