/*
 * Power sources: one const table, in the order they are preferred. A source that cannot be used
 * says why and what would make it usable; nothing here ever guesses a number.
 * For now sources are probed, not sampled. Results' strings live in the caller's arena.
 */
#ifndef ECO_POWER_BACKEND_H
#define ECO_POWER_BACKEND_H

#include "base/arena.h"
#include "eco_run.h"

#include <stddef.h>

/** Where to look; NULL members mean the system's own places. Tests point them elsewhere. */
struct eco_power_roots {
    const char *nvml_library; /* "libnvidia-ml.so.1" */
    const char *sysfs;        /* "/sys" */
};

struct eco_power_backend {
    const char *name; /* "nvml" */
    enum eco_run_boundary boundary;
    /* Appends what was found, at least one entry; returns how many (<= cap). */
    size_t (*probe)(const struct eco_power_roots *roots, struct eco_arena *arena,
                    struct eco_run_source *out, size_t cap);
};

extern const struct eco_power_backend *const eco_power_backends[]; /* NULL-ended */

/** All sources with their state and reason, in order. Never fails; returns the count. */
size_t eco_power_probe_all(const struct eco_power_roots *roots, struct eco_arena *arena,
                           struct eco_run_source *out, size_t cap);

/** The first NVIDIA GPU's name as the driver says it, or NULL. Reads /proc, loads no library. */
const char *eco_power_gpu_name(struct eco_arena *arena);

extern const struct eco_power_backend eco_power_nvml, eco_power_rapl, eco_power_amdgpu,
    eco_power_intel, eco_power_hwmon;

/** Helpers of the backends: an entry that cannot be used, and one that can. */
void eco_power_unavailable(struct eco_run_source *s, const struct eco_power_backend *b,
                           const char *reason);
void eco_power_available(struct eco_run_source *s, const struct eco_power_backend *b,
                         const char *device, const char *field);

#endif
