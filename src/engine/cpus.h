/* Inside the module: which CPUs this process may use, and what memory is free. */
#ifndef ECO_ENGINE_CPUS_H
#define ECO_ENGINE_CPUS_H

#include <stdint.h>

/**
 * CPUs of the affinity mask, cut to the quota of the cgroup under `sys_root` ("/sys/fs/cgroup")
 * that `proc_cgroup` ("/proc/self/cgroup") names: ceil(quota / period), v2 cpu.max or v1
 * cpu.cfs_quota_us, the tightest of the way up. At least 1.
 */
int eco_engine_cpus_at(const char *proc_cgroup, const char *sys_root, int affinity);
/** CPU numbers of the affinity mask into cpu[0..max); returns how many the mask has (<= max). */
int eco_engine_cpu_list(int *cpu, int max);
/**
 * Bytes that can still be taken: MemAvailable of `proc`/meminfo, cut to what the memory cgroups
 * under `sys_root` have left on the way up (v2 memory.max less memory.current, v1
 * memory.limit_in_bytes less memory.usage_in_bytes; pages of files there count as free).
 * 0: not known.
 */
uint64_t eco_engine_memory_free_at(const char *proc, const char *sys_root);
uint64_t eco_engine_memory_free(void); /* of "/proc" and "/sys/fs/cgroup" */
/** Running tasks on this machine other than this one, from `proc`/loadavg; -1: not known. */
int eco_engine_runnable_at(const char *proc);
int eco_engine_runnable(void);

/** CPU time so far; seconds. */
struct eco_cpu_use {
    double wall_s, own_s, busy_s; /* of the clock, of this process, of all on its CPUs; NAN */
};

/** Work that `proc`/stat has counted on the n CPUs of the list, stolen time too; NAN: not known. */
double eco_engine_busy_s_at(const char *proc, const int *cpu, int n);
void eco_engine_cpu_use(struct eco_cpu_use *out); /* now */
/**
 * The share of n CPUs that others used from `a` to `b`. 0 as well where that is not known: in less
 * than half a second (the kernel counts in hundredths), or where it counts less than we used.
 */
double eco_engine_others_frac(const struct eco_cpu_use *a, const struct eco_cpu_use *b, int n);

#endif
