/*
 * Sources below class/hwmon: AMD GPUs (amdgpu: power only), Intel GPUs (i915, xe: an energy
 * counter), boards (INA monitors as on Jetson, ACPI power meters). Three rows of the table share
 * one reader; files stay open.
 */
#include "backend.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 700
#define MAX_HWMON 64
#define INTEL_REGISTER_J 262144.0 /* 2^32 counts of 2^-14 J, underneath the 64-bit file */

enum hwmon_kind {
    HWMON_POWER_UW, /* one file, microwatts */
    HWMON_RAIL,     /* millivolts and milliamperes */
    HWMON_ENERGY_UJ /* one file, microjoules */
};

struct hwmon {
    enum hwmon_kind kind;
    int fd, fd2;
    struct eco_power_wrap wrap;
    double last_j;
    int64_t last_ns;
    bool restarted; /* the counter went back: no difference can be taken any more */
};

static enum eco_power_status status_of(int error)
{
    switch (error) {
    case 0:
        return ECO_POWER_OK;
    case EACCES:
    case EPERM:
        return ECO_POWER_DENIED;
    case ENODEV:
    case ENXIO:
        return ECO_POWER_LOST;
    case EOPNOTSUPP:
        return ECO_POWER_ABSENT;
    default:
        return ECO_POWER_FAILED;
    }
}

static enum eco_power_status counter(struct eco_power_source *s, double *energy_j)
{
    struct hwmon *h = s->ctx;
    uint64_t uj;
    int rc = eco_power_pread_u64(h->fd, &uj);
    h->restarted |= rc == 0 && h->wrap.started && uj < h->wrap.last;
    if (h->restarted) {
        return ECO_POWER_FAILED; /* a 64-bit file never wraps: the driver was loaded anew */
    }
    if (rc == 0) {
        *energy_j = eco_power_unwrap(&h->wrap, uj) * 1e-6;
    }
    return status_of(rc);
}

static enum eco_power_status from_counter(struct eco_power_source *s, double *power_w)
{
    struct hwmon *h = s->ctx;
    double now_j;
    int64_t now_ns = eco_clock_mono_ns();
    enum eco_power_status got = counter(s, &now_j);
    if (got != ECO_POWER_OK) {
        return got;
    }
    bool first = h->last_ns == 0 || now_ns <= h->last_ns;
    if (!first) {
        *power_w = (now_j - h->last_j) / ((double)(now_ns - h->last_ns) * 1e-9);
    }
    h->last_j = now_j;
    h->last_ns = now_ns;
    return first ? ECO_POWER_ABSENT : ECO_POWER_OK;
}

static void sample(struct eco_power_source *s, double power_w[ECO_POWER_FIELDS],
                   unsigned char status[ECO_POWER_FIELDS])
{
    struct hwmon *h = s->ctx;
    uint64_t a = 0, b = 0;
    double w = (double)NAN;
    enum eco_power_status got;
    for (int f = 0; f < ECO_POWER_FIELDS; f++) {
        power_w[f] = (double)NAN;
        status[f] = ECO_POWER_ABSENT;
    }
    if (h->kind == HWMON_ENERGY_UJ) {
        got = from_counter(s, &w);
    } else {
        int rc = eco_power_pread_u64(h->fd, &a);
        rc = rc == 0 && h->kind == HWMON_RAIL ? eco_power_pread_u64(h->fd2, &b) : rc;
        got = status_of(rc);
        w = h->kind == HWMON_RAIL ? (double)a * (double)b * 1e-6 : (double)a * 1e-6;
        if (got == ECO_POWER_OK && s->limit_w > 0 && w > 2 * s->limit_w) {
            got = ECO_POWER_SENTINEL;
        }
    }
    status[ECO_POWER_DEFAULT] = (unsigned char)got;
    power_w[ECO_POWER_DEFAULT] = got == ECO_POWER_OK ? w : (double)NAN;
}

static void close_source(struct eco_power_source *s)
{
    struct hwmon *h = s->ctx;
    if (h && h->fd >= 0) {
        close(h->fd);
    }
    if (h && h->fd2 >= 0) {
        close(h->fd2);
    }
}

static int open_file(struct eco_power_set *set, struct eco_power_source *s, const char *path)
{
    uint64_t v;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc = fd < 0 ? errno : eco_power_pread_u64(fd, &v);
    if (rc) {
        if (fd >= 0) {
            close(fd);
        }
        eco_power_blame_file(set, s, path, rc);
        return -1;
    }
    return fd;
}

static struct eco_power_source *add(struct eco_power_set *set, const struct eco_power_backend *b,
                                    const char *device, enum hwmon_kind kind, const char *path,
                                    const char *path2)
{
    struct eco_power_source *s = eco_power_add(set, b, device);
    struct hwmon *h = eco_arena_alloc(&set->arena, sizeof(*h));
    if (!s || !h) {
        return NULL;
    }
    h->kind = kind;
    h->fd = open_file(set, s, path);
    h->fd2 = h->fd >= 0 && path2 ? open_file(set, s, path2) : -1;
    s->ctx = h;
    if (h->fd >= 0 && (!path2 || h->fd2 >= 0)) {
        eco_power_usable(s, 1u << ECO_POWER_DEFAULT, kind == HWMON_ENERGY_UJ);
        s->derived = kind == HWMON_ENERGY_UJ;
        s->resolution_j = s->derived ? 1e-6 : (double)NAN;
    }
    return s;
}

static void cap_of(struct eco_power_source *s, const char *dir)
{
    static const char *const files[] = {"power1_cap", "power1_max", "power1_rated_max"};
    char path[PATH_BYTES];
    for (size_t i = 0; i < 3 && isnan(s->limit_w); i++) {
        uint64_t uw;
        snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
        if (eco_power_read_u64(path, &uw) == 0 && uw > 0) {
            s->limit_w = (double)uw * 1e-6;
        }
    }
}

/* The first of `files` that is there becomes the source. */
static struct eco_power_source *add_first(struct eco_power_set *set,
                                          const struct eco_power_backend *b, const char *dir,
                                          const char *device, enum hwmon_kind kind,
                                          const char *const *files)
{
    char path[PATH_BYTES];
    for (size_t i = 0; files[i]; i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
        if (access(path, F_OK) == 0) {
            struct eco_power_source *s = add(set, b, device, kind, path, NULL);
            if (s) {
                cap_of(s, dir);
            }
            return s;
        }
    }
    return NULL;
}

static void find_amdgpu(struct eco_power_set *set, const char *dir, const char *device)
{
    static const char *const files[] = {"power1_average", "power1_input", NULL};
    struct eco_power_source *s =
        add_first(set, &eco_power_amdgpu, dir, device, HWMON_POWER_UW, files);
    if (s && !s->usable && !s->command) {
        s->reason =
            eco_arena_printf(&set->arena, "%s (of a card with two dies only the even one reports)",
                             s->reason ? s->reason : "no power");
    }
}

static void find_intel(struct eco_power_set *set, const char *dir, const char *device)
{
    static const char *const files[] = {"energy1_input", "energy2_input", NULL};
    struct eco_power_source *s =
        add_first(set, &eco_power_intel, dir, device, HWMON_ENERGY_UJ, files);
    if (s) { /* the driver joins the register's wraps only while somebody reads it */
        s->wrap_s = INTEL_REGISTER_J / s->limit_w;
    }
}

/* The rails of an INA3221: the one that feeds the whole board is the source, others are parts. */
static void find_rails(struct eco_power_set *set, const char *dir, const char *device)
{
    char volts[PATH_BYTES], amperes[PATH_BYTES], path[PATH_BYTES], label[64];
    size_t first = set->count;
    bool total = false;
    for (int i = 1; i <= 8; i++) {
        snprintf(volts, sizeof(volts), "%s/in%d_input", dir, i);
        snprintf(amperes, sizeof(amperes), "%s/curr%d_input", dir, i);
        if (access(volts, F_OK) != 0 || access(amperes, F_OK) != 0) {
            continue;
        }
        snprintf(path, sizeof(path), "%s/in%d_label", dir, i);
        if (!eco_power_first_line(path, label, sizeof(label))) {
            snprintf(label, sizeof(label), "rail %d", i);
        }
        struct eco_power_source *s =
            add(set, &eco_power_hwmon, eco_arena_printf(&set->arena, "%s %s", device, label),
                HWMON_RAIL, volts, amperes);
        bool whole = strcmp(label, "VDD_IN") == 0 || strcmp(label, "POM_5V_IN") == 0;
        if (s && !whole) {
            s->selected = false;
            s->note = "one rail of the board, not the whole";
        }
        total = total || whole;
    }
    for (size_t i = first; !total && i < set->count; i++) {
        set->sources[i].note = "one rail of the board; no rail here covers the whole";
    }
}

static void find_board(struct eco_power_set *set, const char *dir, const char *device)
{
    static const char *const files[] = {"power1_average", "power1_input", NULL};
    struct eco_power_source *s =
        add_first(set, &eco_power_hwmon, dir, device, HWMON_POWER_UW, files);
    if (!s) {
        find_rails(set, dir, device);
        return;
    }
    if (strncmp(device, "power_meter", 11) == 0) {
        char path[PATH_BYTES];
        uint64_t ms;
        s->boundary = ECO_RUN_BOUNDARY_WALL;
        snprintf(path, sizeof(path), "%s/power1_average_interval", dir);
        if (eco_power_read_u64(path, &ms) == 0) {
            s->averaging_s[ECO_POWER_DEFAULT] = (double)ms * 1e-3;
        }
    }
}

/* ---- one scan for the three rows ----------------------------------------------------------- */

static bool is_one_of(const char *name, const char *drivers)
{
    char padded[80];
    snprintf(padded, sizeof(padded), " %.70s ", name);
    return strstr(drivers, padded) != NULL;
}

/* true: this folder's device was seen already (hwmon entries of one device count once) */
static bool seen(const struct stat *devices, size_t n, const struct stat *now)
{
    for (size_t i = 0; i < n; i++) {
        if (devices[i].st_ino == now->st_ino && devices[i].st_dev == now->st_dev) {
            return true;
        }
    }
    return false;
}

static void scan(struct eco_power_set *set, const struct eco_power_backend *b, const char *drivers,
                 void (*found)(struct eco_power_set *, const char *, const char *),
                 const char *absent)
{
    char dir[PATH_BYTES / 2], path[PATH_BYTES], name[64];
    struct stat devices[MAX_HWMON], now;
    size_t n_devices = 0, before = set->count;
    const char *root = set->options.sysfs ? set->options.sysfs : "/sys";
    snprintf(path, sizeof(path), "%.250s/class/hwmon", root);
    /* not 64 questions where there is nothing */
    int most = access(path, F_OK) == 0 ? MAX_HWMON : 0;
    for (int i = 0; i < most; i++) {
        snprintf(dir, sizeof(dir), "%.250s/class/hwmon/hwmon%d", root, i);
        snprintf(path, sizeof(path), "%s/name", dir);
        if (!eco_power_first_line(path, name, sizeof(name)) || !is_one_of(name, drivers)) {
            continue;
        }
        snprintf(path, sizeof(path), "%s/device", dir);
        if (stat(path, &now) == 0) {
            if (seen(devices, n_devices, &now)) {
                continue;
            }
            devices[n_devices++] = now;
        }
        found(set, dir, eco_arena_printf(&set->arena, "%s (hwmon%d)", name, i));
    }
    if (set->count == before) {
        eco_power_add_absent(set, b, NULL, absent);
    }
}

static int find_amd_cards(struct eco_power_set *set, const char *extra, struct eco_err *err)
{
    (void)extra;
    (void)err;
    scan(set, &eco_power_amdgpu, " amdgpu ", find_amdgpu, "no AMD GPU with a power sensor");
    return 0;
}

static int find_intel_cards(struct eco_power_set *set, const char *extra, struct eco_err *err)
{
    (void)extra;
    (void)err;
    scan(set, &eco_power_intel, " i915 xe ", find_intel, "no Intel GPU with an energy counter");
    return 0;
}

static int find_boards(struct eco_power_set *set, const char *extra, struct eco_err *err)
{
    (void)extra;
    (void)err;
    scan(set, &eco_power_hwmon, " ina3221 ina226 ina238 ina2xx ina219 power_meter ", find_board,
         "no board power monitor");
    return 0;
}

const struct eco_power_backend eco_power_amdgpu = {.name = "amdgpu",
                                                   .boundary = ECO_RUN_BOUNDARY_GPU_BOARD,
                                                   .gpu = true,
                                                   .find = find_amd_cards,
                                                   .sample = sample,
                                                   .close = close_source};
const struct eco_power_backend eco_power_intel = {.name = "intel",
                                                  .boundary = ECO_RUN_BOUNDARY_GPU_BOARD,
                                                  .gpu = true,
                                                  .find = find_intel_cards,
                                                  .sample = sample,
                                                  .counter = counter,
                                                  .close = close_source};
const struct eco_power_backend eco_power_hwmon = {.name = "hwmon",
                                                  .boundary = ECO_RUN_BOUNDARY_SOC,
                                                  .find = find_boards,
                                                  .sample = sample,
                                                  .close = close_source};
