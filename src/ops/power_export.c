#include "power_export.h"

#include "base/clock.h"
#include "power/meter.h"
#include "power/power.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define PERIOD_NS 100000000 /* of the power readings */
#define COUNTER_EVERY 10    /* readings; some drivers take milliseconds for a counter */
#define GAP_S 2.0           /* without a reading for longer nothing is integrated over it */
#define MAX_SOURCES 32

struct device {
    struct eco_power_source *source;
    enum eco_power_field field;
    double power_w;           /* NAN: not read */
    double integral_j;        /* NAN: never read */
    double counter0_j, now_j; /* NAN: no counter */
    int64_t at_ns;
};

struct eco_power_export {
    struct eco_power_set *set;
    struct device device[MAX_SOURCES];
    size_t n;
    pthread_t thread;
    pthread_mutex_t lock;
    atomic_bool stop;
};

static double counter_of(struct eco_power_source *s)
{
    double j;
    return s->counter && eco_power_read_counter(s, &j) == ECO_POWER_OK ? j : (double)NAN;
}

/* The reading is made without the lock: a driver may take its time. */
static void read_device(struct eco_power_export *e, struct device *d, bool counter)
{
    double w = NAN;
    bool ok = d->source->fields && eco_power_read(d->source, d->field, &w) == ECO_POWER_OK;
    double j = counter ? counter_of(d->source) : (double)NAN;
    int64_t now = eco_clock_mono_ns();
    pthread_mutex_lock(&e->lock);
    double gap_s = (double)(now - d->at_ns) / 1e9;
    if (ok && isfinite(d->power_w) && gap_s <= GAP_S) {
        d->integral_j += 0.5 * (w + d->power_w) * gap_s; /* trapezoid */
    }
    d->power_w = ok ? w : (double)NAN;
    d->at_ns = now;
    if (isfinite(j)) {
        d->now_j = j;
    }
    pthread_mutex_unlock(&e->lock);
}

static void *sample(void *to)
{
    struct eco_power_export *e = to;
    const struct timespec pause = {0, PERIOD_NS};
    for (unsigned turn = 1; !atomic_load(&e->stop); turn++) {
        for (size_t i = 0; i < e->n; i++) {
            read_device(e, &e->device[i], turn % COUNTER_EVERY == 0);
        }
        nanosleep(&pause, NULL);
    }
    return NULL;
}

int eco_power_export_new(const char *nvml_library, const char *sysfs, const char *visible_devices,
                         struct eco_power_export **out, struct eco_err *err)
{
    const struct eco_power_options o = {
        .nvml_library = nvml_library, .sysfs = sysfs, .visible_devices = visible_devices};
    struct eco_power_export *e = calloc(1, sizeof(*e));
    int rc = e ? eco_power_open(&o, &e->set, err)
               : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    if (rc) {
        free(e);
        return rc;
    }
    for (size_t i = 0; i < eco_power_count(e->set) && e->n < MAX_SOURCES; i++) {
        struct eco_power_source *s = eco_power_at(e->set, i);
        if (s->usable && s->selected) {
            double j = counter_of(s);
            e->device[e->n++] = (struct device){.source = s,
                                                .field = eco_meter_best_field(s),
                                                .power_w = NAN,
                                                .counter0_j = j,
                                                .now_j = j};
        }
    }
    pthread_mutex_init(&e->lock, NULL);
    if (pthread_create(&e->thread, NULL, sample, e)) {
        pthread_mutex_destroy(&e->lock);
        eco_power_close(e->set);
        free(e);
        return eco_err_set(err, ECO_E_INTERNAL, "", "cannot start a thread");
    }
    *out = e;
    return 0;
}

void eco_power_export_free(struct eco_power_export *e)
{
    if (e) {
        atomic_store(&e->stop, true);
        pthread_join(e->thread, NULL);
        pthread_mutex_destroy(&e->lock);
        eco_power_close(e->set);
        free(e);
    }
}

/* A label's value: backslash, quote and newline are escaped. */
static void label(struct eco_buf *out, const char *name, const char *value)
{
    eco_buf_printf(out, "%s=\"", name);
    for (; value && *value; value++) {
        if (*value == '\\' || *value == '"') {
            eco_buf_putc(out, '\\');
        }
        if (*value == '\n') {
            eco_buf_puts(out, "\\n");
        } else {
            eco_buf_putc(out, *value);
        }
    }
    eco_buf_putc(out, '"');
}

static void line(struct eco_buf *out, const char *metric, const struct eco_power_source *s,
                 const char *basis, double v)
{
    if (!isfinite(v)) {
        return;
    }
    eco_buf_printf(out, "%s{", metric);
    label(out, "source", s->name);
    eco_buf_putc(out, ',');
    label(out, "device", s->device);
    eco_buf_putc(out, ',');
    label(out, "uuid", s->uuid);
    eco_buf_putc(out, ',');
    label(out, "boundary", eco_run_boundary_name(s->boundary));
    if (basis) {
        eco_buf_putc(out, ',');
        label(out, "basis", basis);
    }
    eco_buf_puts(out, "} ");
    eco_buf_put_num(out, v);
    eco_buf_putc(out, '\n');
}

void eco_power_export_text(void *export, struct eco_buf *out)
{
    struct eco_power_export *e = export;
    pthread_mutex_lock(&e->lock);
    eco_buf_puts(out, "# HELP ecocompute_power_sources Power sources that can be read here.\n"
                      "# TYPE ecocompute_power_sources gauge\n");
    eco_buf_printf(out, "ecocompute_power_sources %zu\n", e->n);
    eco_buf_puts(out, "# HELP ecocompute_power_watts Power as the device reports it now.\n"
                      "# TYPE ecocompute_power_watts gauge\n");
    for (size_t i = 0; i < e->n; i++) {
        line(out, "ecocompute_power_watts", e->device[i].source, NULL, e->device[i].power_w);
    }
    eco_buf_puts(out, "# HELP ecocompute_energy_joules_total Energy since the start, by the "
                      "device's own counter or by our integral of its power; boundaries must not "
                      "be added.\n# TYPE ecocompute_energy_joules_total counter\n");
    for (size_t i = 0; i < e->n; i++) {
        const struct device *d = &e->device[i];
        line(out, "ecocompute_energy_joules_total", d->source, "counter", d->now_j - d->counter0_j);
        if (d->source->fields) {
            line(out, "ecocompute_energy_joules_total", d->source, "integral", d->integral_j);
        }
    }
    pthread_mutex_unlock(&e->lock);
}
