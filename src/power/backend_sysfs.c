/*
 * Sources that are files below /sys: RAPL (powercap), AMD and Intel GPUs (hwmon), boards with INA
 * sensors. A file that only root may read names the command that grants access.
 */
#include "backend.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_PATH 512

static const char *sys_root(const struct eco_power_roots *roots)
{
    return roots->sysfs ? roots->sysfs : "/sys";
}

/* First line of a small file without its newline; false: errno says why. */
static bool first_line(const char *path, char *out, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t got = read(fd, out, cap - 1);
    int saved = errno;
    close(fd);
    errno = saved;
    if (got < 0) {
        return false;
    }
    out[got] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return true;
}

/* A reading, its permission missing (with the command), or its error. */
static void probe_file(const struct eco_power_backend *b, const char *path, const char *device,
                       const char *field, struct eco_arena *arena, struct eco_run_source *out)
{
    char text[64];
    if (first_line(path, text, sizeof(text))) {
        eco_power_available(out, b, device, field);
        return;
    }
    bool denied = errno == EACCES || errno == EPERM;
    const char *reason =
        denied ? eco_arena_printf(arena, "no permission; run: sudo chmod a+r %s", path)
               : eco_arena_printf(arena, "cannot read %s: %s", path, strerror(errno));
    eco_power_unavailable(out, b, reason);
    out->device = device;
}

static size_t probe_rapl(const struct eco_power_roots *roots, struct eco_arena *arena,
                         struct eco_run_source *out, size_t cap)
{
    char base[MAX_PATH], path[MAX_PATH + 300], name[64];
    snprintf(base, sizeof(base), "%s/class/powercap", sys_root(roots));
    DIR *dir = opendir(base);
    size_t n = 0;
    for (struct dirent *e; dir && n < cap && (e = readdir(dir));) {
        if (strncmp(e->d_name, "intel-rapl:", 11) != 0 || strchr(e->d_name + 11, ':')) {
            continue; /* packages only; their sub-domains are inside */
        }
        snprintf(path, sizeof(path), "%s/%s/name", base, e->d_name);
        if (!first_line(path, name, sizeof(name))) {
            snprintf(name, sizeof(name), "%.60s", e->d_name);
        }
        snprintf(path, sizeof(path), "%s/%s/energy_uj", base, e->d_name);
        probe_file(&eco_power_rapl, path, eco_arena_strdup(arena, name, strlen(name)),
                   "energy counter", arena, &out[n]);
        n++;
    }
    if (dir) {
        closedir(dir);
    }
    if (n == 0) {
        eco_power_unavailable(
            out, &eco_power_rapl,
            "no RAPL counters (a virtual machine, or the powercap driver is absent)");
        n = 1;
    }
    return n;
}

/* hwmon folders whose `name` is one of `drivers` (blank-separated), with the first file present */
static size_t probe_hwmon(const struct eco_power_backend *b, const struct eco_power_roots *roots,
                          const char *drivers, const char *const *files, const char *absent,
                          struct eco_arena *arena, struct eco_run_source *out, size_t cap)
{
    char base[MAX_PATH], path[MAX_PATH + 300], name[64], padded[80];
    snprintf(base, sizeof(base), "%s/class/hwmon", sys_root(roots));
    DIR *dir = opendir(base);
    size_t n = 0;
    for (struct dirent *e; dir && n < cap && (e = readdir(dir));) {
        snprintf(path, sizeof(path), "%s/%s/name", base, e->d_name);
        if (e->d_name[0] == '.' || !first_line(path, name, sizeof(name))) {
            continue;
        }
        snprintf(padded, sizeof(padded), " %s ", name);
        for (size_t i = 0; strstr(drivers, padded) && files[i]; i++) {
            snprintf(path, sizeof(path), "%s/%s/%s", base, e->d_name, files[i]);
            if (access(path, F_OK) == 0) {
                probe_file(b, path, eco_arena_printf(arena, "%s (%s)", name, e->d_name),
                           eco_arena_strdup(arena, files[i], strlen(files[i])), arena, &out[n]);
                n++;
                break;
            }
        }
    }
    if (dir) {
        closedir(dir);
    }
    if (n == 0) {
        eco_power_unavailable(out, b, absent);
        n = 1;
    }
    return n;
}

static size_t probe_amdgpu(const struct eco_power_roots *roots, struct eco_arena *arena,
                           struct eco_run_source *out, size_t cap)
{
    static const char *const files[] = {"power1_average", "power1_input", NULL};
    return probe_hwmon(&eco_power_amdgpu, roots, " amdgpu ", files,
                       "no AMD GPU with a power sensor", arena, out, cap);
}

static size_t probe_intel(const struct eco_power_roots *roots, struct eco_arena *arena,
                          struct eco_run_source *out, size_t cap)
{
    static const char *const files[] = {"energy1_input", NULL};
    return probe_hwmon(&eco_power_intel, roots, " i915 xe ", files,
                       "no Intel GPU with an energy counter", arena, out, cap);
}

static size_t probe_board(const struct eco_power_roots *roots, struct eco_arena *arena,
                          struct eco_run_source *out, size_t cap)
{
    static const char *const files[] = {"power1_input", "in1_input", NULL};
    return probe_hwmon(&eco_power_hwmon, roots, " ina3221 ina226 ina238 ina2xx power_meter ", files,
                       "no board power monitor", arena, out, cap);
}

const struct eco_power_backend eco_power_rapl = {"rapl", ECO_RUN_BOUNDARY_CPU_PACKAGE, probe_rapl};
const struct eco_power_backend eco_power_amdgpu = {"amdgpu", ECO_RUN_BOUNDARY_GPU_BOARD,
                                                   probe_amdgpu};
const struct eco_power_backend eco_power_intel = {"intel", ECO_RUN_BOUNDARY_GPU_BOARD, probe_intel};
const struct eco_power_backend eco_power_hwmon = {"hwmon", ECO_RUN_BOUNDARY_SOC, probe_board};
