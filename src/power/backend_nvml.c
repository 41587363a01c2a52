/*
 * NVIDIA: libnvidia-ml by dlopen, so that neither building nor starting needs a driver. The few
 * prototypes are declared here from NVML's public API (nvmlReturn_t is an int, handles are opaque).
 */
#include "backend.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define NVML_NAME_BYTES 96

typedef void *nvml_device;

struct nvml {
    void *lib;
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *);
    int (*by_index)(unsigned, nvml_device *);
    int (*name)(nvml_device, char *, unsigned);
    int (*power_mw)(nvml_device, unsigned *);
    const char *(*error_text)(int);
};

/* dlsym gives an object pointer; POSIX allows the conversion, ISO C does not. */
static void load(void *lib, const char *name, void *fn)
{
    void *symbol = dlsym(lib, name);
    memcpy(fn, &symbol, sizeof(symbol));
}

static bool open_library(struct nvml *n, const char *path)
{
    memset(n, 0, sizeof(*n));
    n->lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!n->lib) {
        return false;
    }
    load(n->lib, "nvmlInit_v2", &n->init);
    load(n->lib, "nvmlShutdown", &n->shutdown);
    load(n->lib, "nvmlDeviceGetCount_v2", &n->count);
    load(n->lib, "nvmlDeviceGetHandleByIndex_v2", &n->by_index);
    load(n->lib, "nvmlDeviceGetName", &n->name);
    load(n->lib, "nvmlDeviceGetPowerUsage", &n->power_mw);
    load(n->lib, "nvmlErrorString", &n->error_text);
    return n->init && n->count && n->by_index && n->name && n->power_mw;
}

static const char *why(const struct nvml *n, struct eco_arena *arena, const char *call, int rc)
{
    return eco_arena_printf(arena, "%s: %s (%d)", call,
                            n->error_text ? n->error_text(rc) : "failed", rc);
}

/* One card; a bad one never silences the others. */
static void probe_device(struct nvml *n, unsigned index, struct eco_arena *arena,
                         struct eco_run_source *out)
{
    nvml_device device;
    char name[NVML_NAME_BYTES] = "unknown";
    unsigned power_mw;
    int rc = n->by_index(index, &device);
    if (rc == 0) {
        n->name(device, name, sizeof(name));
        name[sizeof(name) - 1] = '\0';
        rc = n->power_mw(device, &power_mw);
    }
    const char *label = eco_arena_printf(arena, "GPU %u: %s", index, name);
    if (rc) {
        eco_power_unavailable(out, &eco_power_nvml, why(n, arena, "reading power", rc));
        out->device = label;
    } else {
        eco_power_available(out, &eco_power_nvml, label, "board power");
    }
}

static size_t probe(const struct eco_power_roots *roots, struct eco_arena *arena,
                    struct eco_run_source *out, size_t cap)
{
    const char *path = roots->nvml_library ? roots->nvml_library : "libnvidia-ml.so.1";
    struct nvml n;
    if (!open_library(&n, path)) {
        eco_power_unavailable(out, &eco_power_nvml,
                              n.lib
                                  ? "the library lacks the calls that are needed"
                                  : eco_arena_printf(arena, "no NVIDIA driver library (%s)", path));
        if (n.lib) {
            dlclose(n.lib);
        }
        return 1;
    }
    unsigned count = 0;
    int rc = n.init();
    bool started = rc == 0;
    rc = rc ? rc : n.count(&count);
    size_t found = 0;
    for (unsigned i = 0; rc == 0 && i < count && found < cap; i++) {
        probe_device(&n, i, arena, &out[found++]);
    }
    if (found == 0) {
        eco_power_unavailable(out, &eco_power_nvml,
                              rc ? why(&n, arena, "starting NVML", rc) : "NVML sees no GPU");
        found = 1;
    }
    if (started && n.shutdown) {
        n.shutdown();
    }
    dlclose(n.lib);
    return found;
}

const struct eco_power_backend eco_power_nvml = {"nvml", ECO_RUN_BOUNDARY_GPU_BOARD, probe};
