#include "experiment/sensor_look.h"

#include "base/clock.h"
#include "power/sensor.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_S 6.0
#define STEP_NS 4000000
#define MAX_READS 1500
#define MAX_LOOKED_AT 4
#define MAX_LINES 8
#define LINE_BYTES 192

struct reads {
    double t_s[MAX_READS], power_w[ECO_POWER_FIELDS][MAX_READS];
    size_t n;
};

struct eco_sensor_look {
    struct eco_power_source *sources[MAX_LOOKED_AT];
    struct reads reads[MAX_LOOKED_AT];
    size_t count, lines;
    pthread_t thread;
    bool running;
    atomic_bool stop;
    char line[MAX_LINES][LINE_BYTES];
};

struct eco_sensor_look *eco_sensor_look_new(struct eco_power_source *const *sources, size_t n)
{
    struct eco_sensor_look *l = calloc(1, sizeof(*l));
    for (size_t i = 0; l && i < n && l->count < MAX_LOOKED_AT; i++) {
        struct eco_power_source *s = sources[i];
        /* a source that is not read from several threads is left to the meter */
        if (s->fields && eco_power_parallel(s) && !s->derived) {
            l->sources[l->count++] = s;
        }
    }
    return l;
}

void eco_sensor_look_free(struct eco_sensor_look *l)
{
    eco_sensor_look_end(l);
    free(l);
}

static void *run(void *arg)
{
    struct eco_sensor_look *l = arg;
    const struct timespec step = {0, STEP_NS};
    int64_t start_ns = eco_clock_mono_ns();
    bool more = true;
    while (more && !atomic_load(&l->stop)) {
        more = false;
        for (size_t i = 0; i < l->count; i++) {
            struct reads *r = &l->reads[i];
            double w[ECO_POWER_FIELDS];
            unsigned char status[ECO_POWER_FIELDS];
            double t_s = (double)(eco_clock_mono_ns() - start_ns) * 1e-9;
            if (r->n == MAX_READS || t_s > LOOK_S) {
                continue;
            }
            more = true;
            eco_power_read_all(l->sources[i], w, status);
            r->t_s[r->n] = t_s;
            for (int f = 0; f < ECO_POWER_FIELDS; f++) {
                r->power_w[f][r->n] = status[f] == ECO_POWER_OK ? w[f] : (double)NAN;
            }
            r->n++;
        }
        nanosleep(&step, NULL);
    }
    return NULL;
}

void eco_sensor_look_start(struct eco_sensor_look *l)
{
    if (l && l->count && !l->running) {
        atomic_store(&l->stop, false);
        l->running = pthread_create(&l->thread, NULL, run, l) == 0;
    }
}

static void tell(struct eco_sensor_look *l, const struct eco_power_source *s, const char *field,
                 const char *what, double table_s, double seen_s)
{
    if (l->lines == MAX_LINES) {
        return;
    }
    char *line = l->line[l->lines++];
    if (isnan(table_s)) {
        snprintf(line, LINE_BYTES, "%.60s, %s field: %s not in the table, seen: %.0f ms", s->device,
                 field, what, seen_s * 1e3);
    } else {
        snprintf(line, LINE_BYTES, "%.60s, %s field: %s seen %.0f ms, the table says %.0f ms",
                 s->device, field, what, seen_s * 1e3, table_s * 1e3);
    }
}

static void judge(struct eco_sensor_look *l, size_t i, int f)
{
    static const char *const names[ECO_POWER_FIELDS] = {"default", "average", "instant"};
    struct eco_power_source *s = l->sources[i];
    struct reads *r = &l->reads[i];
    double t_s[MAX_READS], w[MAX_READS], refresh_s, averaging_s;
    size_t n = 0;
    for (size_t k = 0; k < r->n; k++) {
        if (!isnan(r->power_w[f][k])) {
            t_s[n] = r->t_s[k];
            w[n++] = r->power_w[f][k];
        }
    }
    eco_sensor_detect(t_s, w, n, &refresh_s, &averaging_s);
    double step_s = isnan(refresh_s) ? s->refresh_s[f] : refresh_s;
    if (!(averaging_s > 1.5 * step_s)) { /* one step of readings tells nothing of what is inside */
        averaging_s = (double)NAN;
    }
    bool new_refresh = isnan(s->refresh_s[f]) && !isnan(refresh_s);
    bool new_averaging = isnan(s->averaging_s[f]) && !isnan(averaging_s);
    if (new_refresh || eco_sensor_disagrees(s->refresh_s[f], refresh_s)) {
        tell(l, s, names[f], "refresh", s->refresh_s[f], refresh_s);
    }
    /* a load that comes on slowly looks like averaging: only a faster sensor contradicts */
    if (new_averaging ||
        (eco_sensor_disagrees(s->averaging_s[f], averaging_s) && averaging_s < s->averaging_s[f])) {
        tell(l, s, names[f], "averaging", s->averaging_s[f], averaging_s);
    }
    s->refresh_s[f] = new_refresh ? refresh_s : s->refresh_s[f];
    s->averaging_s[f] = new_averaging ? averaging_s : s->averaging_s[f];
}

void eco_sensor_look_end(struct eco_sensor_look *l)
{
    if (!l || !l->running) {
        return;
    }
    atomic_store(&l->stop, true);
    pthread_join(l->thread, NULL);
    l->running = false;
    for (size_t i = 0; i < l->count; i++) {
        for (int f = 0; f < ECO_POWER_FIELDS; f++) {
            if (l->sources[i]->fields & (1u << f)) {
                judge(l, i, f);
            }
        }
    }
}

const char *eco_sensor_look_warning(const struct eco_sensor_look *l, size_t i)
{
    return l && i < l->lines ? l->line[i] : NULL;
}
