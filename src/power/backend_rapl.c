/*
 * RAPL through powercap (Intel, and AMD with recent kernels): one source per package, one per
 * package with its DRAM where there is a DRAM counter, and the platform's (psys) on its own. The
 * counters wrap; the sampler polls them far more often than that.
 */
#include "backend.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_ZONES 64
#define PATH_BYTES 600
#define MAX_COUNTERS 2
#define COUNTS_OF_RANGE 4294967295.0 /* max_energy_range_uj is 2^32 - 1 counts */

struct rapl {
    int fd[MAX_COUNTERS];
    struct eco_power_wrap wrap[MAX_COUNTERS]; /* uJ */
    size_t n;
    double last_j;
    int64_t last_ns; /* 0: not read yet */
};

static enum eco_power_status counter(struct eco_power_source *s, double *energy_j)
{
    struct rapl *r = s->ctx;
    double total_uj = 0;
    for (size_t i = 0; i < r->n; i++) {
        uint64_t now_uj;
        int rc = eco_power_pread_u64(r->fd[i], &now_uj);
        if (rc) {
            return rc == EACCES || rc == EPERM ? ECO_POWER_DENIED
                   : rc == ENODEV              ? ECO_POWER_LOST
                                               : ECO_POWER_FAILED;
        }
        if (now_uj > r->wrap[i].max) {
            return ECO_POWER_SENTINEL;
        }
        total_uj += eco_power_unwrap(&r->wrap[i], now_uj);
    }
    *energy_j = total_uj * 1e-6;
    return ECO_POWER_OK;
}

/* Mean power since the last reading; also what keeps the counters polled. */
static void sample(struct eco_power_source *s, double power_w[ECO_POWER_FIELDS],
                   unsigned char status[ECO_POWER_FIELDS])
{
    struct rapl *r = s->ctx;
    double now_j = 0;
    int64_t now_ns = eco_clock_mono_ns();
    enum eco_power_status got = counter(s, &now_j);
    for (int f = 0; f < ECO_POWER_FIELDS; f++) {
        power_w[f] = (double)NAN;
        status[f] = ECO_POWER_ABSENT;
    }
    status[ECO_POWER_DEFAULT] = (unsigned char)got;
    if (got != ECO_POWER_OK) {
        return;
    }
    if (r->last_ns && now_ns > r->last_ns) {
        power_w[ECO_POWER_DEFAULT] = (now_j - r->last_j) / ((double)(now_ns - r->last_ns) * 1e-9);
    } else {
        status[ECO_POWER_DEFAULT] = ECO_POWER_ABSENT; /* the first reading has no difference */
    }
    r->last_j = now_j;
    r->last_ns = now_ns;
}

static void close_source(struct eco_power_source *s)
{
    struct rapl *r = s->ctx;
    for (size_t i = 0; r && i < r->n; i++) {
        close(r->fd[i]);
    }
}

/* Opens zone/energy_uj as one more counter of the source. */
static bool add_counter(struct eco_power_set *set, struct eco_power_source *s, const char *base,
                        const char *zone)
{
    char path[PATH_BYTES];
    struct rapl *r = s->ctx;
    uint64_t max_uj = 0, now_uj;
    snprintf(path, sizeof(path), "%s/%s/max_energy_range_uj", base, zone);
    int rc = eco_power_read_u64(path, &max_uj);
    if (rc || max_uj == 0) {
        s->reason = eco_arena_printf(&set->arena,
                                     "cannot read %s: where the counter wraps is not known, so no "
                                     "difference can be trusted",
                                     path);
        return false;
    }
    snprintf(path, sizeof(path), "%s/%s/energy_uj", base, zone);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    rc = fd < 0 ? errno : eco_power_pread_u64(fd, &now_uj);
    if (rc) {
        if (fd >= 0) {
            close(fd);
        }
        eco_power_blame_file(set, s, path, rc);
        if (s->command) { /* one command for all of them */
            s->command =
                eco_arena_printf(&set->arena, "sudo chmod a+r %s/intel-rapl*/energy_uj", base);
            s->reason = eco_arena_printf(&set->arena, "no permission; run: %s",
                                         s->command ? s->command : "");
        }
        return false;
    }
    r->fd[r->n] = fd;
    double step_uj = (double)max_uj / COUNTS_OF_RANGE;
    r->wrap[r->n++] = (struct eco_power_wrap){.max = max_uj, .step = step_uj};
    s->resolution_j = step_uj * 1e-6;
    s->wrap_j = (double)max_uj * 1e-6;
    return true;
}

static void read_limit(struct eco_power_source *s, const char *base, const char *zone)
{
    static const char *const files[] = {"constraint_0_max_power_uw", "constraint_0_power_limit_uw"};
    char path[PATH_BYTES];
    for (size_t i = 0; i < 2 && isnan(s->limit_w); i++) {
        uint64_t uw;
        snprintf(path, sizeof(path), "%s/%s/%s", base, zone, files[i]);
        if (eco_power_read_u64(path, &uw) == 0 && uw > 0) {
            s->limit_w = (double)uw * 1e-6;
        }
    }
    s->wrap_s = s->wrap_j / s->limit_w;
}

static void add_source(struct eco_power_set *set, const char *base, const char *zone,
                       const char *with, const char *device, enum eco_run_boundary boundary)
{
    struct eco_power_source *s = eco_power_add(set, &eco_power_rapl, device);
    struct rapl *r = eco_arena_alloc(&set->arena, sizeof(*r));
    if (!s || !r) {
        return;
    }
    s->ctx = r;
    s->boundary = boundary;
    s->derived = true;
    if (add_counter(set, s, base, zone) && (!with || add_counter(set, s, base, with))) {
        eco_power_usable(s, 1u << ECO_POWER_DEFAULT, true);
        read_limit(s, base, zone);
    }
}

/* The sub-zone of a package that is called "dram"; "" when there is none. */
static void find_dram(const char *base, const char *zone, char out[64])
{
    char path[PATH_BYTES], name[64];
    out[0] = '\0';
    for (int i = 0; i < 8 && !out[0]; i++) {
        snprintf(path, sizeof(path), "%s/%s:%d/name", base, zone, i);
        if (eco_power_first_line(path, name, sizeof(name)) && strcmp(name, "dram") == 0) {
            snprintf(out, 64, "%.50s:%d", zone, i);
        }
    }
}

static void find_zone(struct eco_power_set *set, const char *base, const char *zone)
{
    char path[PATH_BYTES], name[64], dram[64];
    snprintf(path, sizeof(path), "%s/%s/name", base, zone);
    if (!eco_power_first_line(path, name, sizeof(name))) {
        snprintf(name, sizeof(name), "%.60s", zone);
    }
    const char *device = eco_arena_strdup(&set->arena, name, strlen(name));
    for (size_t i = 0; device && i < set->count; i++) {
        if (set->sources[i].backend == &eco_power_rapl &&
            strcmp(set->sources[i].device, device) == 0) {
            return; /* the same package seen through a second interface counts once */
        }
    }
    bool platform = strcmp(name, "psys") == 0;
    add_source(set, base, zone, NULL, device,
               platform ? ECO_RUN_BOUNDARY_SOC : ECO_RUN_BOUNDARY_CPU_PACKAGE);
    find_dram(base, zone, dram);
    if (!platform && dram[0]) {
        add_source(set, base, zone, dram, eco_arena_printf(&set->arena, "%s+dram", name),
                   ECO_RUN_BOUNDARY_CPU_PACKAGE_DRAM);
    }
}

static int find(struct eco_power_set *set, const char *extra, struct eco_err *err)
{
    char base[PATH_BYTES / 2], zone[64], path[PATH_BYTES];
    size_t before = set->count;
    (void)extra;
    (void)err;
    snprintf(base, sizeof(base), "%s/class/powercap",
             set->options.sysfs ? set->options.sysfs : "/sys");
    /* in order of their numbers, which readdir does not keep */
    int most = access(base, F_OK) == 0 ? MAX_ZONES : 0;
    for (int i = 0; i < most; i++) {
        snprintf(zone, sizeof(zone), "intel-rapl:%d", i);
        snprintf(path, sizeof(path), "%s/%s", base, zone);
        if (access(path, F_OK) == 0) {
            find_zone(set, base, zone);
        }
    }
    if (set->count == before) {
        eco_power_add_absent(set, &eco_power_rapl, NULL,
                             "no RAPL counters (no sensor in this VM, or the powercap driver is "
                             "absent)");
    }
    return 0;
}

const struct eco_power_backend eco_power_rapl = {
    .name = "rapl",
    .boundary = ECO_RUN_BOUNDARY_CPU_PACKAGE,
    .find = find,
    .sample = sample,
    .counter = counter,
    .close = close_source,
};
