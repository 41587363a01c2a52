/* The one table of backends, in the order they are preferred, and the set of their sources. */
#include "backend.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SET_ARENA_LIMIT ((size_t)4 << 20)

static const struct eco_power_backend *const backends[] = {
    &eco_power_nvml,  &eco_power_amd,  &eco_power_amdgpu, &eco_power_intel,
    &eco_power_hwmon, &eco_power_rapl, &eco_power_ipmi,
};

/* Backends that are asked for by "scheme:argument". */
static const struct eco_power_backend *const extras[] = {
    &eco_power_exec,
    &eco_power_csv,
    &eco_power_ptd,
    &eco_power_sim,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *eco_power_names(char *out, size_t cap)
{
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < COUNT(backends) && n < cap; i++) {
        n += (size_t)snprintf(out + n, cap - n, "%s, ", backends[i]->name);
    }
    if (n < cap) {
        snprintf(out + n, cap - n, "exec:COMMAND, csv:FILE or ptd:FILE");
    }
    return out;
}

static int unknown(const char *name, struct eco_err *err)
{
    char names[120];
    return eco_err_set(err, ECO_E_UNKNOWN_NAME, "source", "unknown source '%.60s': %s", name,
                       eco_power_names(names, sizeof(names)));
}

/* "scheme:argument" of one of the extras. */
static const struct eco_power_backend *find_extra(const char *text)
{
    size_t scheme = strcspn(text, ":");
    for (size_t i = 0; i < COUNT(extras); i++) {
        if (strlen(extras[i]->name) == scheme && memcmp(extras[i]->name, text, scheme) == 0 &&
            text[scheme] == ':' && text[scheme + 1]) {
            return extras[i];
        }
    }
    return NULL;
}

int eco_power_check_name(const char *name, struct eco_err *err)
{
    for (size_t i = 0; i < COUNT(backends); i++) {
        if (strcmp(backends[i]->name, name) == 0) {
            return 0;
        }
    }
    return find_extra(name) ? 0 : unknown(name, err);
}

static int open_extra(struct eco_power_set *set, const char *extra, struct eco_err *err)
{
    const struct eco_power_backend *b = find_extra(extra);
    return b ? b->find(set, extra + strlen(b->name) + 1, err) : unknown(extra, err);
}

/* Median of a few reads: what a sample costs. */
static void measure_cost(struct eco_power_source *s)
{
    double w[ECO_POWER_FIELDS], cost_s[5] = {0};
    unsigned char status[ECO_POWER_FIELDS];
    if (!s->usable || !s->backend->sample || s->external) {
        return;
    }
    for (size_t i = 0; i < COUNT(cost_s); i++) {
        int64_t start_ns = eco_clock_mono_ns();
        s->backend->sample(s, w, status);
        double c = (double)(eco_clock_mono_ns() - start_ns) * 1e-9;
        size_t at = i;
        for (; at > 0 && cost_s[at - 1] > c; at--) {
            cost_s[at] = cost_s[at - 1];
        }
        cost_s[at] = c;
    }
    s->read_cost_s = cost_s[COUNT(cost_s) / 2];
    if (s->counter) {
        double j;
        int64_t start_ns = eco_clock_mono_ns();
        s->backend->counter(s, &j);
        s->counter_cost_s = (double)(eco_clock_mono_ns() - start_ns) * 1e-9;
    }
}

int eco_power_open(const struct eco_power_options *o, struct eco_power_set **out,
                   struct eco_err *err)
{
    struct eco_power_set *set = calloc(1, sizeof(*set));
    if (!set) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    eco_arena_init(&set->arena, SET_ARENA_LIMIT);
    set->options = *o;
    int rc = o->extra ? open_extra(set, o->extra, err) : 0;
    for (size_t i = 0; rc == 0 && i < COUNT(backends); i++) {
        rc = backends[i]->find(set, NULL, err);
    }
    if (rc) {
        eco_power_close(set);
        return rc;
    }
    for (size_t i = 0; i < set->count; i++) {
        measure_cost(&set->sources[i]);
    }
    *out = set;
    return 0;
}

void eco_power_close(struct eco_power_set *set)
{
    if (!set) {
        return;
    }
    for (size_t i = 0; i < set->count; i++) {
        if (set->sources[i].backend->close) {
            set->sources[i].backend->close(&set->sources[i]);
        }
    }
    for (size_t i = 0; i < set->shared_count; i++) {
        set->shared[i].backend->close_all(set, set->shared[i].ctx);
    }
    eco_arena_done(&set->arena);
    free(set);
}

size_t eco_power_count(const struct eco_power_set *set)
{
    return set->count;
}

struct eco_power_source *eco_power_at(const struct eco_power_set *set, size_t i)
{
    return i < set->count ? (struct eco_power_source *)&set->sources[i] : NULL;
}

struct eco_power_source *eco_power_add(struct eco_power_set *set, const struct eco_power_backend *b,
                                       const char *device)
{
    const double none = (double)NAN;
    if (set->count == ECO_POWER_MAX_SOURCES) {
        return NULL;
    }
    struct eco_power_source *s = &set->sources[set->count++];
    memset(s, 0, sizeof(*s));
    s->backend = b;
    s->name = b->name;
    s->boundary = b->boundary;
    s->device = device ? device : "";
    s->index = -1;
    s->resolution_j = s->wrap_j = s->wrap_s = s->limit_w = none;
    s->read_cost_s = s->counter_cost_s = s->memory_bytes = none;
    for (int f = 0; f < ECO_POWER_FIELDS; f++) {
        s->refresh_s[f] = s->averaging_s[f] = none;
    }
    return s;
}

void eco_power_add_absent(struct eco_power_set *set, const struct eco_power_backend *b,
                          const char *device, const char *reason)
{
    struct eco_power_source *s = eco_power_add(set, b, device);
    if (s) {
        s->reason = reason ? reason : "out of memory";
    }
}

void eco_power_usable(struct eco_power_source *s, unsigned fields, bool counter)
{
    s->usable = s->selected = true;
    s->fields = fields;
    s->counter = counter;
    s->reason = NULL;
}

void eco_power_blame_file(struct eco_power_set *set, struct eco_power_source *s, const char *path,
                          int error)
{
    char text[40];
    if (error == EACCES || error == EPERM) {
        s->command = eco_arena_printf(&set->arena, "sudo chmod a+r %s", path);
        s->reason =
            eco_arena_printf(&set->arena, "no permission; run: %s", s->command ? s->command : "");
    } else if ((error == EILSEQ || error == ERANGE) &&
               eco_power_first_line(path, text, sizeof(text))) {
        for (char *c = text; *c; c++) {
            *c = *c >= ' ' && *c <= '~' ? *c : '?';
        }
        s->reason =
            eco_arena_printf(&set->arena, "%s holds '%s', which is not a count", path, text);
    } else {
        s->reason = eco_arena_printf(&set->arena, "cannot read %s: %s", path, strerror(error));
    }
}

double eco_power_unwrap(struct eco_power_wrap *w, uint64_t now)
{
    if (w->started && now >= w->last) {
        w->sum += (double)(now - w->last);
    } else if (w->started && w->max) {
        w->sum += (double)(w->max - w->last) + (double)now + w->step;
    }
    w->started = true;
    w->last = now;
    return w->sum;
}

void eco_power_read_all(struct eco_power_source *s, double power_w[ECO_POWER_FIELDS],
                        unsigned char status[ECO_POWER_FIELDS])
{
    for (int f = 0; f < ECO_POWER_FIELDS; f++) {
        power_w[f] = (double)NAN;
        status[f] = ECO_POWER_ABSENT;
    }
    if (s->usable && s->backend->sample) {
        s->backend->sample(s, power_w, status);
    }
}

bool eco_power_parallel(const struct eco_power_source *s)
{
    return s->backend->parallel;
}

enum eco_power_status eco_power_read(struct eco_power_source *s, enum eco_power_field field,
                                     double *power_w)
{
    double w[ECO_POWER_FIELDS];
    unsigned char status[ECO_POWER_FIELDS];
    if (!s->usable || !s->backend->sample) {
        return ECO_POWER_ABSENT;
    }
    s->backend->sample(s, w, status);
    if (status[field] == ECO_POWER_OK) {
        *power_w = w[field];
    }
    return (enum eco_power_status)status[field];
}

enum eco_power_status eco_power_read_counter(struct eco_power_source *s, double *energy_j)
{
    return s->usable && s->counter ? s->backend->counter(s, energy_j) : ECO_POWER_ABSENT;
}

void eco_power_read_state(struct eco_power_source *s, struct eco_power_state *out)
{
    const double none = (double)NAN;
    *out = (struct eco_power_state){.temp_c = none,
                                    .clock_sm_mhz = none,
                                    .clock_mem_mhz = none,
                                    .limit_w = none,
                                    .memory_total_bytes = none,
                                    .memory_free_bytes = none,
                                    .persistence = -1,
                                    .ecc = -1,
                                    .status = ECO_POWER_OK};
    if (s->backend->state) {
        s->backend->state(s, out);
    }
}

size_t eco_power_processes(struct eco_power_source *s, struct eco_power_process *out, size_t cap)
{
    return s->backend->processes ? s->backend->processes(s, out, cap) : 0;
}

int eco_power_set_limit_w(struct eco_power_source *s, double limit_w, struct eco_err *err)
{
    return s->backend->set_limit_w
               ? s->backend->set_limit_w(s, limit_w, err)
               : eco_err_set(err, ECO_E_UNSUPPORTED, "power_limits",
                             "'%s' has no power limit that can be set", s->name);
}

int eco_power_lock_clock_mhz(struct eco_power_source *s, double clock_mhz, struct eco_err *err)
{
    return s->backend->lock_clock_mhz
               ? s->backend->lock_clock_mhz(s, clock_mhz, err)
               : eco_err_set(err, ECO_E_UNSUPPORTED, "lock_clocks",
                             "'%s' has no clock that can be locked", s->name);
}

const char *eco_power_status_name(enum eco_power_status s)
{
    static const char *const names[] = {"ok",     "absent",   "failed", "lost",
                                        "denied", "sentinel", "ended"};
    return (size_t)s < COUNT(names) ? names[s] : "unknown";
}

static bool is_known(const struct eco_power_set *set, const char *name)
{
    for (size_t i = 0; i < COUNT(backends); i++) {
        if (strcmp(backends[i]->name, name) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->sources[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* What to say when nothing can be measured with: the first missing permission, else a reason. */
static void refuse(const struct eco_power_set *set, const char *name, struct eco_err *err)
{
    const struct eco_power_source *first = NULL;
    for (size_t i = 0; i < set->count; i++) {
        const struct eco_power_source *s = &set->sources[i];
        bool wanted = !name || strcmp(name, s->name) == 0;
        if (wanted && s->command) {
            eco_err_set(err, ECO_E_PERMISSION, "source", "%s %s: %s", s->name, s->device,
                        s->reason);
            return;
        }
        /* a device that is there but refused says more than a backend that found nothing */
        if (wanted && s->reason && (!first || (!first->device[0] && s->device[0]))) {
            first = s;
        }
    }
    if (name && !is_known(set, name)) {
        unknown(name, err);
    } else if (first) {
        eco_err_set(err, ECO_E_DEVICE, "source", "no power source: %s%s%s: %s", first->name,
                    first->device[0] ? " " : "", first->device, first->reason);
    } else {
        eco_err_set(err, ECO_E_DEVICE, "source", "no power source%s%.40s can be used here",
                    name ? " " : "", name ? name : "");
    }
}

size_t eco_power_choose(struct eco_power_set *set, const char *name, struct eco_power_source **out,
                        size_t cap, struct eco_err *err)
{
    const struct eco_power_source *lead = NULL;
    size_t n = 0;
    for (size_t i = 0; i < set->count && n < cap; i++) {
        struct eco_power_source *s = &set->sources[i];
        if (!s->selected || (name && strcmp(name, s->name) != 0)) {
            continue;
        }
        /* the best one leads; the others are more devices of its kind and boundary */
        lead = lead ? lead : s;
        if (s->backend == lead->backend && s->boundary == lead->boundary) {
            out[n++] = s;
        }
    }
    if (n == 0) {
        refuse(set, name, err);
    }
    return n;
}

static const char *field_text(const struct eco_power_source *s)
{
    if (s->counter) {
        return "energy counter";
    }
    if (s->fields & (1u << ECO_POWER_INSTANT)) {
        return "power, instant";
    }
    return s->fields & (1u << ECO_POWER_AVERAGE) ? "power, average" : "power";
}

void eco_power_describe(const struct eco_power_source *s, bool used, struct eco_run_source *out)
{
    eco_run_source_init(out);
    out->name = s->name;
    out->device = s->device[0] ? s->device : NULL;
    out->status = !s->usable ? "unavailable" : used ? "used" : "available";
    out->reason = s->reason;
    out->driver = s->driver;
    out->boundary = s->boundary;
    if (!s->usable) {
        return;
    }
    enum eco_power_field f = s->fields & (1u << ECO_POWER_INSTANT) && !s->duty[ECO_POWER_INSTANT]
                                 ? ECO_POWER_INSTANT
                             : (s->fields & (1u << ECO_POWER_AVERAGE)) ? ECO_POWER_AVERAGE
                                                                       : ECO_POWER_DEFAULT;
    out->field = field_text(s);
    out->refresh_s = s->refresh_s[f];
    out->averaging_s = s->averaging_s[f];
    out->read_cost_s = s->read_cost_s;
    out->resolution_j = s->resolution_j;
}
