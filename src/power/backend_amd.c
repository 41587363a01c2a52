/*
 * AMD GPUs by their energy counter: libamd_smi, else librocm_smi64, by dlopen (amdgpu's hwmon has
 * power but no energy). Prototypes from the libraries' public headers. The accumulator is 64 bits
 * of `resolution` microjoules.
 */
#include "backend.h"
#include "base/clock.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_CARDS 32
#define AMDSMI_INIT_GPUS 2u

typedef void *amd_handle;

struct amd {
    void *lib;
    int (*shutdown)(void);
    /* rocm_smi: by index */
    int (*energy_by_index)(uint32_t, uint64_t *, float *, uint64_t *);
    int (*power_by_index)(uint32_t, uint32_t, uint64_t *);
    int (*name_by_index)(uint32_t, char *, size_t);
    /* amd_smi: by handle */
    int (*energy_by_handle)(amd_handle, uint64_t *, float *, uint64_t *);
};

struct card {
    struct amd *a;
    uint32_t index;
    amd_handle handle;
    uint64_t last_count;
    bool restarted; /* the count went back: no difference can be taken any more */
    double last_j;
    int64_t last_ns;
};

static void load(void *lib, const char *name, void *fn)
{
    void *symbol = dlsym(lib, name);
    if (symbol) {
        memcpy(fn, &symbol, sizeof(symbol));
    }
}

static enum eco_power_status counter(struct eco_power_source *s, double *energy_j)
{
    struct card *c = s->ctx;
    uint64_t count = 0, stamp = 0;
    float resolution_uj = 0;
    int rc = c->a->energy_by_handle
                 ? c->a->energy_by_handle(c->handle, &count, &resolution_uj, &stamp)
                 : c->a->energy_by_index(c->index, &count, &resolution_uj, &stamp);
    if (rc) {
        return rc == 2 ? ECO_POWER_ABSENT : rc == 4 ? ECO_POWER_DENIED : ECO_POWER_FAILED;
    }
    if (count == 0 || !(resolution_uj > 0)) {
        return ECO_POWER_ABSENT; /* the odd die of a two-die card counts nothing */
    }
    c->restarted |= count < c->last_count; /* a later, higher count would hide it */
    if (c->restarted) {
        return ECO_POWER_FAILED;
    }
    c->last_count = count;
    s->resolution_j = (double)resolution_uj * 1e-6;
    *energy_j = (double)count * s->resolution_j;
    return ECO_POWER_OK;
}

static void sample(struct eco_power_source *s, double power_w[ECO_POWER_FIELDS],
                   unsigned char status[ECO_POWER_FIELDS])
{
    struct card *c = s->ctx;
    uint64_t uw = 0;
    for (int f = 0; f < ECO_POWER_FIELDS; f++) {
        power_w[f] = (double)NAN;
        status[f] = ECO_POWER_ABSENT;
    }
    if (!s->derived) {
        int rc = c->a->power_by_index(c->index, 0, &uw);
        status[ECO_POWER_DEFAULT] = rc == 0   ? ECO_POWER_OK
                                    : rc == 2 ? ECO_POWER_ABSENT
                                              : ECO_POWER_FAILED;
        power_w[ECO_POWER_DEFAULT] = rc ? (double)NAN : (double)uw * 1e-6;
        return;
    }
    double now_j = 0;
    int64_t now_ns = eco_clock_mono_ns();
    enum eco_power_status got = counter(s, &now_j);
    bool first = c->last_ns == 0 || now_ns <= c->last_ns;
    if (got == ECO_POWER_OK && !first) {
        power_w[ECO_POWER_DEFAULT] = (now_j - c->last_j) / ((double)(now_ns - c->last_ns) * 1e-9);
    }
    status[ECO_POWER_DEFAULT] =
        (unsigned char)(got == ECO_POWER_OK && first ? ECO_POWER_ABSENT : got);
    if (got == ECO_POWER_OK) {
        c->last_j = now_j;
        c->last_ns = now_ns;
    }
}

static void add_card(struct eco_power_set *set, struct amd *a, uint32_t index, amd_handle handle)
{
    struct card *c = eco_arena_alloc(&set->arena, sizeof(*c));
    struct eco_power_source *s = eco_power_add(set, &eco_power_amd, NULL);
    char name[96] = "AMD GPU";
    uint64_t uw;
    double j;
    if (!c || !s) {
        return;
    }
    if (a->name_by_index && a->name_by_index(index, name, sizeof(name)) != 0) {
        strcpy(name, "AMD GPU");
    }
    name[sizeof(name) - 1] = '\0';
    c->a = a;
    c->index = index;
    c->handle = handle;
    s->ctx = c;
    s->index = (int)index;
    s->device = eco_arena_printf(&set->arena, "GPU %u: %s", index, name);
    if (counter(s, &j) != ECO_POWER_OK) {
        s->reason = "no energy count (of a card with two dies only the even one reports)";
        return;
    }
    s->derived = !a->power_by_index || a->power_by_index(index, 0, &uw) != 0;
    eco_power_usable(s, 1u << ECO_POWER_DEFAULT, true);
}

static void close_all(struct eco_power_set *set, void *shared)
{
    struct amd *a = shared;
    (void)set;
    if (a->shutdown) {
        a->shutdown();
    }
    dlclose(a->lib);
    free(a);
}

/* false: not this library */
static bool find_by_index(struct eco_power_set *set, struct amd *a)
{
    int (*init)(uint64_t) = NULL;
    int (*count)(uint32_t *) = NULL;
    uint32_t n = 0;
    load(a->lib, "rsmi_init", &init);
    load(a->lib, "rsmi_shut_down", &a->shutdown);
    load(a->lib, "rsmi_num_monitor_devices", &count);
    load(a->lib, "rsmi_dev_energy_count_get", &a->energy_by_index);
    load(a->lib, "rsmi_dev_power_ave_get", &a->power_by_index);
    load(a->lib, "rsmi_dev_name_get", &a->name_by_index);
    if (!init || !count || !a->energy_by_index || init(0) != 0) {
        a->shutdown = NULL;
        return false;
    }
    for (uint32_t i = 0; count(&n) == 0 && i < n && i < MAX_CARDS; i++) {
        add_card(set, a, i, NULL);
    }
    return true;
}

static bool find_by_handle(struct eco_power_set *set, struct amd *a)
{
    int (*init)(uint64_t) = NULL;
    int (*sockets)(uint32_t *, amd_handle *) = NULL;
    int (*processors)(amd_handle, uint32_t *, amd_handle *) = NULL;
    amd_handle socket[MAX_CARDS], card[MAX_CARDS];
    uint32_t n = MAX_CARDS, index = 0;
    load(a->lib, "amdsmi_init", &init);
    load(a->lib, "amdsmi_shut_down", &a->shutdown);
    load(a->lib, "amdsmi_get_socket_handles", &sockets);
    load(a->lib, "amdsmi_get_processor_handles", &processors);
    load(a->lib, "amdsmi_get_energy_count", &a->energy_by_handle);
    if (!init || !sockets || !processors || !a->energy_by_handle || init(AMDSMI_INIT_GPUS) != 0) {
        a->shutdown = NULL;
        return false;
    }
    if (sockets(&n, socket) != 0) {
        n = 0;
    }
    for (uint32_t i = 0; i < n && i < MAX_CARDS; i++) {
        uint32_t cards = MAX_CARDS;
        if (processors(socket[i], &cards, card) != 0) {
            continue;
        }
        for (uint32_t k = 0; k < cards && k < MAX_CARDS; k++) {
            add_card(set, a, index++, card[k]);
        }
    }
    return true;
}

static bool find_in(struct eco_power_set *set, const char *library)
{
    struct amd *a = calloc(1, sizeof(*a));
    if (!a) {
        return false;
    }
    a->lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (a->lib && (find_by_handle(set, a) || find_by_index(set, a))) {
        set->shared[set->shared_count].backend = &eco_power_amd;
        set->shared[set->shared_count++].ctx = a;
        return true;
    }
    if (a->lib) {
        dlclose(a->lib);
    }
    free(a);
    return false;
}

/* Without AMD's kernel driver the libraries find nothing: a search through all paths is saved. */
static bool has_driver(struct eco_power_set *set)
{
    const char *sysfs = set->options.sysfs ? set->options.sysfs : "/sys";
    const char *module = eco_arena_printf(&set->arena, "%s/module/amdgpu", sysfs);
    return access("/dev/kfd", F_OK) == 0 || !module || access(module, F_OK) == 0;
}

static int find(struct eco_power_set *set, const char *extra, struct eco_err *err)
{
    static const char *const libraries[] = {"libamd_smi.so", "librocm_smi64.so"};
    const char *given = set->options.amd_library;
    size_t before = set->count;
    (void)extra;
    (void)err;
    if (!given && !has_driver(set)) {
        eco_power_add_absent(set, &eco_power_amd, NULL, "no AMD GPU driver (amdgpu)");
        return 0;
    }
    if (given) {
        find_in(set, given);
    }
    for (size_t i = 0; !given && i < 2 && !find_in(set, libraries[i]); i++) {
    }
    if (set->count == before) {
        eco_power_add_absent(set, &eco_power_amd, NULL,
                             "no AMD management library (libamd_smi or librocm_smi64)");
    }
    return 0;
}

const struct eco_power_backend eco_power_amd = {
    .name = "amd",
    .boundary = ECO_RUN_BOUNDARY_GPU_BOARD,
    .gpu = true,
    .find = find,
    .sample = sample,
    .counter = counter,
    .close_all = close_all,
};
