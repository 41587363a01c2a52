/*
 * NVIDIA: libnvidia-ml by dlopen, so that neither building nor starting needs a driver. Every call
 * may be missing or refuse; each field keeps its own return code.
 */
#include "backend.h"
#include "base/num.h"
#include "nvml_abi.h"
#include "sensor.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 96
#define MAX_PROCESSES 64
#define ABSURD_W 10000.0 /* no board draws this: a value that cannot be true */

/* Power values at or over this are the driver's "no value". */
static const double sentinel = 9223372036854710272.0; /* 2^63 - 65536 */

struct nvml {
    void *lib;
    char driver[TEXT_BYTES];
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *);
    int (*by_index)(unsigned, nvml_device *);
    int (*name)(nvml_device, char *, unsigned);
    int (*uuid)(nvml_device, char *, unsigned);
    int (*power_mw)(nvml_device, unsigned *);
    int (*energy_mj)(nvml_device, unsigned long long *);
    int (*fields)(nvml_device, int, struct nvml_field_value *);
    int (*limit_mw)(nvml_device, unsigned *);
    int (*default_limit_mw)(nvml_device, unsigned *);
    int (*set_limit_mw)(nvml_device, unsigned);
    int (*lock_clocks)(nvml_device, unsigned, unsigned);
    int (*reset_clocks)(nvml_device);
    int (*clock_mhz)(nvml_device, int, unsigned *);
    int (*temperature)(nvml_device, int, unsigned *);
    int (*throttle)(nvml_device, unsigned long long *);
    int (*memory)(nvml_device, struct nvml_memory *);
    int (*compute_processes)(nvml_device, unsigned *, struct nvml_process *);
    int (*graphics_processes)(nvml_device, unsigned *, struct nvml_process *);
    int (*mig_mode)(nvml_device, unsigned *, unsigned *);
    int (*capability)(nvml_device, int *, int *);
    int (*persistence)(nvml_device, unsigned *);
    int (*ecc)(nvml_device, unsigned *, unsigned *);
    int (*virtualization)(nvml_device, int *);
    int (*driver_version)(char *, unsigned);
    const char *(*error_text)(int);
};

struct gpu {
    struct nvml *n;
    nvml_device device;
    double limit_w;                         /* for the sentinel rule; NAN */
    unsigned long long last_mj, counts_gcd; /* of the counter */
    bool have_last, energy_by_field;
    bool restarted; /* the counter went back: no difference can be taken any more */
};

/* dlsym gives an object pointer; POSIX allows the conversion, ISO C does not. */
static void load(void *lib, const char *name, void *fn)
{
    void *symbol = dlsym(lib, name);
    if (symbol) {
        memcpy(fn, &symbol, sizeof(symbol));
    }
}

/* Older names first: where a newer one exists it replaces what was loaded. */
static void load_all(struct nvml *n)
{
    const struct {
        const char *name;
        void *fn;
    } calls[] = {
        {"nvmlInit_v2", &n->init},
        {"nvmlShutdown", &n->shutdown},
        {"nvmlDeviceGetCount_v2", &n->count},
        {"nvmlDeviceGetHandleByIndex_v2", &n->by_index},
        {"nvmlDeviceGetName", &n->name},
        {"nvmlDeviceGetUUID", &n->uuid},
        {"nvmlDeviceGetPowerUsage", &n->power_mw},
        {"nvmlDeviceGetTotalEnergyConsumption", &n->energy_mj},
        {"nvmlDeviceGetFieldValues", &n->fields},
        {"nvmlDeviceGetPowerManagementLimit", &n->limit_mw},
        {"nvmlDeviceGetEnforcedPowerLimit", &n->limit_mw},
        {"nvmlDeviceGetPowerManagementDefaultLimit", &n->default_limit_mw},
        {"nvmlDeviceSetPowerManagementLimit", &n->set_limit_mw},
        {"nvmlDeviceSetGpuLockedClocks", &n->lock_clocks},
        {"nvmlDeviceResetGpuLockedClocks", &n->reset_clocks},
        {"nvmlDeviceGetClockInfo", &n->clock_mhz},
        {"nvmlDeviceGetTemperature", &n->temperature},
        {"nvmlDeviceGetCurrentClocksThrottleReasons", &n->throttle},
        {"nvmlDeviceGetCurrentClocksEventReasons", &n->throttle},
        {"nvmlDeviceGetMemoryInfo", &n->memory},
        {"nvmlDeviceGetComputeRunningProcesses_v2", &n->compute_processes},
        {"nvmlDeviceGetComputeRunningProcesses_v3", &n->compute_processes},
        {"nvmlDeviceGetGraphicsRunningProcesses_v2", &n->graphics_processes},
        {"nvmlDeviceGetGraphicsRunningProcesses_v3", &n->graphics_processes},
        {"nvmlDeviceGetMigMode", &n->mig_mode},
        {"nvmlDeviceGetCudaComputeCapability", &n->capability},
        {"nvmlDeviceGetPersistenceMode", &n->persistence},
        {"nvmlDeviceGetEccMode", &n->ecc},
        {"nvmlDeviceGetVirtualizationMode", &n->virtualization},
        {"nvmlSystemGetDriverVersion", &n->driver_version},
        {"nvmlErrorString", &n->error_text},
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        load(n->lib, calls[i].name, calls[i].fn);
    }
}

static enum eco_power_status status_of(int rc)
{
    switch (rc) {
    case NVML_SUCCESS:
        return ECO_POWER_OK;
    case NVML_NOT_SUPPORTED:
    case NVML_INVALID_ARGUMENT:
    case NVML_FUNCTION_NOT_FOUND:
        return ECO_POWER_ABSENT;
    case NVML_NO_PERMISSION:
        return ECO_POWER_DENIED;
    case NVML_GPU_IS_LOST:
    case NVML_RESET_REQUIRED:
        return ECO_POWER_LOST;
    default:
        return ECO_POWER_FAILED;
    }
}

static const char *why(struct eco_power_set *set, const struct nvml *n, const char *call, int rc)
{
    const char *text = n->error_text ? n->error_text(rc) : NULL;
    const char *said =
        eco_arena_printf(&set->arena, "%s: %s (NVML %d)", call, text ? text : "failed", rc);
    return said ? said : call;
}

static double value_of(const struct nvml_field_value *v)
{
    switch (v->value_type) {
    case NVML_VALUE_DOUBLE:
        return v->value.d;
    case NVML_VALUE_UINT:
        return v->value.u;
    case NVML_VALUE_ULONG:
        return (double)v->value.ul;
    case NVML_VALUE_ULLONG:
        return (double)v->value.ull;
    case NVML_VALUE_SLLONG:
        return (double)v->value.sll;
    case NVML_VALUE_SINT:
        return v->value.s;
    default:
        return (double)NAN;
    }
}

/* Milliwatts as a reading, or why they are none. */
static unsigned char keep(const struct gpu *g, int rc, double mw, double *power_w)
{
    *power_w = (double)NAN;
    if (rc != NVML_SUCCESS) {
        return (unsigned char)status_of(rc);
    }
    double most_w = g->limit_w > 0 ? 2 * g->limit_w : ABSURD_W;
    if (!(mw >= 0) || mw >= sentinel || mw == (double)UINT32_MAX || mw * 1e-3 > most_w) {
        return ECO_POWER_SENTINEL;
    }
    *power_w = mw * 1e-3;
    return ECO_POWER_OK;
}

static void sample(struct eco_power_source *s, double power_w[ECO_POWER_FIELDS],
                   unsigned char status[ECO_POWER_FIELDS])
{
    struct gpu *g = s->ctx;
    struct nvml_field_value v[2] = {{.field_id = NVML_FIELD_POWER_INSTANT},
                                    {.field_id = NVML_FIELD_POWER_AVERAGE}};
    static const enum eco_power_field to[2] = {ECO_POWER_INSTANT, ECO_POWER_AVERAGE};
    unsigned mw = 0;
    int rc = g->n->fields ? g->n->fields(g->device, 2, v) : NVML_FUNCTION_NOT_FOUND;
    for (int i = 0; i < 2; i++) {
        status[to[i]] = keep(g, rc ? rc : v[i].rc, value_of(&v[i]), &power_w[to[i]]);
    }
    rc = g->n->power_mw ? g->n->power_mw(g->device, &mw) : NVML_FUNCTION_NOT_FOUND;
    status[ECO_POWER_DEFAULT] = keep(g, rc, mw, &power_w[ECO_POWER_DEFAULT]);
}

static int read_mj(const struct gpu *g, unsigned long long *mj)
{
    struct nvml_field_value v = {.field_id = NVML_FIELD_TOTAL_ENERGY};
    if (!g->energy_by_field) {
        return g->n->energy_mj ? g->n->energy_mj(g->device, mj) : NVML_FUNCTION_NOT_FOUND;
    }
    int rc = g->n->fields ? g->n->fields(g->device, 1, &v) : NVML_FUNCTION_NOT_FOUND;
    rc = rc ? rc : v.rc;
    double value = rc ? 0 : value_of(&v);
    if (rc == 0 && !(value >= 0 && value < sentinel)) {
        return NVML_UNKNOWN;
    }
    *mj = rc ? 0 : (unsigned long long)value;
    return rc;
}

static unsigned long long gcd(unsigned long long a, unsigned long long b)
{
    while (b) {
        unsigned long long r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static enum eco_power_status counter(struct eco_power_source *s, double *energy_j)
{
    struct gpu *g = s->ctx;
    unsigned long long mj = 0;
    int rc = read_mj(g, &mj);
    if (rc) {
        return status_of(rc);
    }
    if ((double)mj >= sentinel) {
        return ECO_POWER_SENTINEL;
    }
    g->restarted |= g->have_last && mj < g->last_mj;
    if (g->restarted) {
        return ECO_POWER_FAILED; /* the driver was loaded anew: no difference can be taken */
    }
    if (g->have_last && mj != g->last_mj) {
        /* some drivers count in whole joules: what all readings are multiples of is the count */
        g->counts_gcd = gcd(g->counts_gcd ? g->counts_gcd : g->last_mj, mj);
        s->resolution_j = (double)g->counts_gcd * 1e-3;
    }
    g->have_last = true;
    g->last_mj = mj;
    *energy_j = (double)mj * 1e-3;
    return ECO_POWER_OK;
}

/* 1: SM, 2: memory. NAN: not said. */
static double clock_of(const struct gpu *g, int type)
{
    unsigned mhz = 0;
    int rc = g->n->clock_mhz ? g->n->clock_mhz(g->device, type, &mhz) : NVML_FUNCTION_NOT_FOUND;
    return rc ? (double)NAN : mhz;
}

static const char *throttle_word(uint64_t bits)
{
    if (bits & (NVML_THROTTLE_SW_THERMAL | NVML_THROTTLE_HW_THERMAL)) {
        return "thermal";
    }
    if (bits & NVML_THROTTLE_POWER_BRAKE) {
        return "power brake";
    }
    if (bits & NVML_THROTTLE_HW_SLOWDOWN) {
        return "hardware slowdown";
    }
    return bits & NVML_THROTTLE_SW_POWER_CAP ? "power cap" : NULL;
}

static void state(struct eco_power_source *s, struct eco_power_state *out)
{
    const struct gpu *g = s->ctx;
    const struct nvml *n = g->n;
    unsigned v = 0, pending = 0;
    unsigned long long bits = 0;
    struct nvml_memory memory = {0};
    int rc = n->temperature ? n->temperature(g->device, 0, &v) : NVML_FUNCTION_NOT_FOUND;
    out->temp_c = rc ? (double)NAN : v;
    out->status = status_of(rc) == ECO_POWER_LOST ? ECO_POWER_LOST : ECO_POWER_OK;
    out->clock_sm_mhz = clock_of(g, 1);
    out->clock_mem_mhz = clock_of(g, 2);
    if (n->limit_mw && n->limit_mw(g->device, &v) == 0) {
        out->limit_w = v * 1e-3;
    }
    if (n->throttle && n->throttle(g->device, &bits) == 0) {
        const uint64_t slow = NVML_THROTTLE_HW_SLOWDOWN | NVML_THROTTLE_SW_THERMAL |
                              NVML_THROTTLE_HW_THERMAL | NVML_THROTTLE_POWER_BRAKE;
        out->throttle_bits = bits;
        out->throttled = (bits & slow) != 0;
        out->throttle = throttle_word(bits);
    }
    if (n->memory && n->memory(g->device, &memory) == 0) {
        out->memory_total_bytes = (double)memory.total;
        out->memory_free_bytes = (double)memory.free;
    }
    if (n->persistence && n->persistence(g->device, &v) == 0) {
        out->persistence = v != 0;
    }
    if (n->ecc && n->ecc(g->device, &v, &pending) == 0) {
        out->ecc = v != 0;
    }
}

static size_t list_processes(int (*call)(nvml_device, unsigned *, struct nvml_process *),
                             nvml_device device, struct eco_power_process *out, size_t cap,
                             size_t n)
{
    struct nvml_process p[MAX_PROCESSES];
    unsigned count = MAX_PROCESSES;
    memset(p, 0, sizeof(p));
    if (!call || call(device, &count, p) != 0) {
        return n;
    }
    for (unsigned i = 0; i < count && i < MAX_PROCESSES; i++, n++) {
        if (n < cap) {
            bool known = p[i].used_bytes != UINT64_MAX;
            out[n] =
                (struct eco_power_process){p[i].pid, known ? (double)p[i].used_bytes : (double)NAN};
        }
    }
    return n;
}

static size_t processes(struct eco_power_source *s, struct eco_power_process *out, size_t cap)
{
    const struct gpu *g = s->ctx;
    size_t n = list_processes(g->n->compute_processes, g->device, out, cap, 0);
    return list_processes(g->n->graphics_processes, g->device, out, cap, n);
}

static int set_failed(const struct nvml *n, int rc, const char *arg, const char *tool,
                      struct eco_err *err)
{
    if (rc == NVML_NO_PERMISSION) {
        return eco_err_set(err, ECO_E_PERMISSION, arg, "only root may set this; run: sudo %s",
                           tool);
    }
    const char *text = n->error_text ? n->error_text(rc) : NULL;
    return eco_err_set(err, ECO_E_DEVICE, arg, "the driver refuses: %.100s (NVML %d)",
                       text ? text : "failed", rc);
}

static int set_limit_w(struct eco_power_source *s, double limit_w, struct eco_err *err)
{
    struct gpu *g = s->ctx;
    const struct nvml *n = g->n;
    unsigned mw = (unsigned)(limit_w * 1000 + 0.5), now = 0;
    int rc = n->set_limit_mw ? 0 : NVML_FUNCTION_NOT_FOUND;
    if (rc == 0 && limit_w == 0) {
        rc = n->default_limit_mw ? n->default_limit_mw(g->device, &mw) : NVML_FUNCTION_NOT_FOUND;
    }
    rc = rc ? rc : n->set_limit_mw(g->device, mw);
    if (rc) {
        return set_failed(n, rc, "power_limits", "nvidia-smi -pl WATTS", err);
    }
    if (n->limit_mw && n->limit_mw(g->device, &now) == 0) {
        s->limit_w = g->limit_w = now * 1e-3;
        if (now + 1000 < mw || now > mw + 1000) {
            return eco_err_set(err, ECO_E_DEVICE, "power_limits",
                               "the limit reads %.1f W after setting %.1f W", now * 1e-3,
                               mw * 1e-3);
        }
    }
    return 0;
}

static int lock_clock_mhz(struct eco_power_source *s, double clock_mhz, struct eco_err *err)
{
    const struct gpu *g = s->ctx;
    const struct nvml *n = g->n;
    unsigned mhz = (unsigned)(clock_mhz + 0.5);
    int rc = NVML_FUNCTION_NOT_FOUND;
    if (mhz == 0 && n->reset_clocks) {
        rc = n->reset_clocks(g->device);
    } else if (mhz && n->lock_clocks) {
        rc = n->lock_clocks(g->device, mhz, mhz);
    }
    return rc ? set_failed(n, rc, "lock_clocks", "nvidia-smi -lgc MHZ", err) : 0;
}

/* ---- finding the cards --------------------------------------------------------------------- */

/*
 * CUDA_VISIBLE_DEVICES: indices or UUIDs (a beginning is enough), in order, up to the first entry
 * that names nothing. A MIG entry selects a slice, never a board.
 */
static bool is_visible(const char *list, unsigned index, const char *uuid, unsigned count)
{
    for (const char *at = list; at && *at;) {
        size_t len = strcspn(at, ",");
        int64_t number;
        if (eco_num_parse_i64(at, len, &number) == 0) {
            if (number < 0 || number >= (int64_t)count) {
                return false;
            }
            if (number == (int64_t)index) {
                return true;
            }
        } else if (uuid && len >= 4 && strncmp(at, uuid, len) == 0) {
            return true;
        }
        at += len + (at[len] == ',');
    }
    return !list;
}

static const char *text_of(struct eco_power_set *set, int (*call)(nvml_device, char *, unsigned),
                           nvml_device device)
{
    char text[TEXT_BYTES] = "";
    if (!call || call(device, text, sizeof(text)) != 0) {
        return NULL;
    }
    text[sizeof(text) - 1] = '\0';
    return eco_arena_strdup(&set->arena, text, strlen(text));
}

/* Fields that answer now; a call that failed is asked again, one that is not supported is not. */
static void find_fields(struct eco_power_source *s, int *rc_default)
{
    struct gpu *g = s->ctx;
    double w[ECO_POWER_FIELDS], j;
    unsigned char status[ECO_POWER_FIELDS];
    unsigned fields = 0;
    for (int again = 0; again < 3; again++) {
        sample(s, w, status);
        for (int f = 0; f < ECO_POWER_FIELDS; f++) {
            fields |= status[f] == ECO_POWER_OK ? 1u << f : 0;
        }
    }
    unsigned mw = 0;
    *rc_default = g->n->power_mw ? g->n->power_mw(g->device, &mw) : NVML_FUNCTION_NOT_FOUND;
    bool has = counter(s, &j) == ECO_POWER_OK;
    if (!has) {
        g->energy_by_field = true;
        has = counter(s, &j) == ECO_POWER_OK;
    }
    if (fields || has) {
        eco_power_usable(s, fields, has);
        s->resolution_j = has ? 1e-3 : (double)NAN;
    }
}

static void describe_sensor(struct eco_power_source *s)
{
    const struct gpu *g = s->ctx;
    if (g->n->capability && g->n->capability(g->device, &s->cc_major, &s->cc_minor) != 0) {
        s->cc_major = s->cc_minor = 0;
    }
    s->arch = eco_sensor_arch(s->cc_major, s->cc_minor);
    for (int f = 0; f < ECO_POWER_FIELDS; f++) {
        struct eco_sensor_timing t;
        if (s->fields & (1u << f)) {
            eco_sensor_expect(s->cc_major, s->cc_minor, eco_sensor_driver_major(s->driver),
                              (enum eco_power_field)f, &t);
            s->refresh_s[f] = t.refresh_s;
            s->averaging_s[f] = t.averaging_s;
            s->duty[f] = t.duty;
        }
    }
    if (s->duty[ECO_POWER_DEFAULT] || s->duty[ECO_POWER_INSTANT]) {
        s->note = "the sensor sees 25 ms of every 100 ms: several random starts are needed";
    }
}

/* Boards whose power belongs to several users are refused, with what the board draws. */
static void refuse_shared(struct eco_power_set *set, struct eco_power_source *s)
{
    const struct gpu *g = s->ctx;
    unsigned mig = 0, pending = 0;
    int mode = NVML_VIRTUAL_NONE;
    double w;
    if (g->n->mig_mode && g->n->mig_mode(g->device, &mig, &pending) == 0 && mig) {
        bool have = eco_power_read(s, ECO_POWER_DEFAULT, &w) == ECO_POWER_OK;
        s->mig = s->shared = true;
        s->reason = eco_arena_printf(&set->arena,
                                     "MIG is on: the sensor sees the whole board%s, shared by all "
                                     "its instances; no slice can be measured",
                                     have ? "" : " only");
        if (have) {
            s->note = eco_arena_printf(&set->arena, "board power %.1f W, shared", w);
        }
    } else if (g->n->virtualization && g->n->virtualization(g->device, &mode) == 0 &&
               mode == NVML_VIRTUAL_VGPU) {
        s->shared = true;
        s->reason = "a vGPU: the board is shared with other guests and cannot be attributed";
    }
    if (s->shared) {
        s->usable = s->selected = false;
    }
}

/* Not asked for. A card that is lost does not tell its UUID: only an index leaves it out. */
static bool left_out(const struct eco_power_set *set, const struct eco_power_source *s,
                     unsigned count)
{
    const char *list = set->options.visible_devices;
    bool by_index = list && (*list == '\0' || (*list >= '0' && *list <= '9'));
    return (s->uuid || by_index) && !is_visible(list, (unsigned)s->index, s->uuid, count);
}

static void find_one(struct eco_power_set *set, struct nvml *n, unsigned index, unsigned count)
{
    struct gpu *g = eco_arena_alloc(&set->arena, sizeof(*g));
    struct eco_power_source *s = eco_power_add(set, &eco_power_nvml, NULL);
    if (!g || !s) {
        return;
    }
    unsigned limit_mw = 0;
    int rc = n->by_index(index, &g->device);
    g->n = n;
    g->limit_w = (double)NAN;
    s->ctx = g;
    s->index = (int)index;
    s->driver = n->driver[0] ? n->driver : NULL;
    const char *name = rc ? NULL : text_of(set, n->name, g->device);
    s->device = eco_arena_printf(&set->arena, "GPU %u: %s", index, name ? name : "unknown");
    s->uuid = rc ? NULL : text_of(set, n->uuid, g->device);
    s->wanted = !left_out(set, s, count);
    if (rc) {
        s->reason = why(set, n, "opening the card", rc);
        return;
    }
    if (n->limit_mw && n->limit_mw(g->device, &limit_mw) == 0 && limit_mw > 0) {
        s->limit_w = g->limit_w = limit_mw * 1e-3;
    }
    find_fields(s, &rc);
    if (!s->usable) {
        s->reason = rc ? why(set, n, "reading power", rc)
                       : "every power reading is a value that cannot be true";
        return;
    }
    describe_sensor(s);
    if (name && strstr(name, "GH200")) {
        s->module = true;
        s->boundary = ECO_RUN_BOUNDARY_GPU_MODULE;
        s->note = "GH200: the plain field and the counter cover the module, CPU included";
    }
    refuse_shared(set, s);
    if (s->selected && !s->wanted) {
        s->selected = false;
        s->note = "left out by CUDA_VISIBLE_DEVICES";
    }
}

static void close_all(struct eco_power_set *set, void *shared)
{
    struct nvml *n = shared;
    (void)set;
    if (n->shutdown) {
        n->shutdown();
    }
    dlclose(n->lib);
    free(n);
}

static int open_library(struct eco_power_set *set, struct nvml *n, const char *path)
{
    n->lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!n->lib) {
        eco_power_add_absent(set, &eco_power_nvml, NULL,
                             eco_arena_printf(&set->arena, "no NVIDIA driver library (%s)", path));
        return -1;
    }
    load_all(n);
    if (!n->init || !n->count || !n->by_index) {
        eco_power_add_absent(set, &eco_power_nvml, NULL,
                             "the library lacks the calls that are needed");
        return -1;
    }
    int rc = n->init();
    if (rc) {
        eco_power_add_absent(set, &eco_power_nvml, NULL, why(set, n, "starting NVML", rc));
        return -1;
    }
    if (n->driver_version && n->driver_version(n->driver, sizeof(n->driver)) != 0) {
        n->driver[0] = '\0';
    }
    n->driver[sizeof(n->driver) - 1] = '\0';
    return 0;
}

static int find(struct eco_power_set *set, const char *extra, struct eco_err *err)
{
    const char *path = set->options.nvml_library;
    struct nvml *n = calloc(1, sizeof(*n));
    (void)extra;
    if (!n) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    if (open_library(set, n, path ? path : "libnvidia-ml.so.1")) {
        if (n->lib) {
            dlclose(n->lib);
        }
        free(n);
        return 0;
    }
    unsigned count = 0;
    int rc = n->count(&count);
    for (unsigned i = 0; rc == 0 && i < count; i++) {
        find_one(set, n, i, count);
    }
    if (rc || count == 0) {
        eco_power_add_absent(set, &eco_power_nvml, NULL,
                             rc ? why(set, n, "counting cards", rc) : "NVML sees no GPU");
    }
    set->shared[set->shared_count].backend = &eco_power_nvml;
    set->shared[set->shared_count++].ctx = n;
    return 0;
}

const struct eco_power_backend eco_power_nvml = {
    .name = "nvml",
    .boundary = ECO_RUN_BOUNDARY_GPU_BOARD,
    .gpu = true,
    .parallel = true,
    .find = find,
    .sample = sample,
    .counter = counter,
    .state = state,
    .processes = processes,
    .set_limit_w = set_limit_w,
    .lock_clock_mhz = lock_clock_mhz,
    .close_all = close_all,
};
