/* Inside of the meter, shared by meter.c (thread, ring, edges) and meter_window.c (results). */
#ifndef ECO_POWER_METER_STATE_H
#define ECO_POWER_METER_STATE_H

#include "integral.h"
#include "meter.h"

#include <pthread.h>
#include <stdatomic.h>

/* A counter at a window's edge. */
struct meter_edge {
    enum eco_power_status status;
    double energy_j;             /* at the edge, interpolated */
    double spread_j;             /* how far it may be off: what was not aligned */
    int64_t before_ns, after_ns; /* of its read, which may have waited for the sampler's */
};

struct meter_source_window {
    struct eco_integral best[ECO_POWER_FIELDS]; /* shifted, with profile */
    struct eco_integral v1;                     /* default field, as it is */
    int64_t failed[ECO_POWER_FIELDS], absent[ECO_POWER_FIELDS], sentinels[ECO_POWER_FIELDS];
    int64_t read[ECO_POWER_FIELDS]; /* readings while the window was open, OK ones */
    bool lost;
    struct meter_edge begin, end;
};

struct meter_window {
    bool used, fast;
    int64_t from_ns, to_ns;
    int64_t late, missed; /* the meter's counts at the beginning, then the differences */
    struct meter_source_window source[ECO_METER_MAX_SOURCES];
};

struct eco_meter {
    struct eco_power_source *sources[ECO_METER_MAX_SOURCES];
    size_t n;
    struct eco_meter_options o;
    struct eco_meter_clock clock;
    int64_t start_ns, period_ns;
    double averaging_s; /* longest of the sources' best fields: what end waits for */
    double tick_s[ECO_METER_MAX_SOURCES]; /* of the counter, seen at the first edge; NAN */
    double last_w[ECO_METER_MAX_SOURCES]; /* the last good sample, however old; NAN */
    pthread_t thread;
    bool running;
    atomic_bool stop;
    pthread_mutex_t io[ECO_METER_MAX_SOURCES]; /* one reader of a source at a time */
    pthread_cond_t wake;                       /* stop is set */
    pthread_mutex_t lock;                      /* everything below */
    int64_t deadlines;                         /* passed so far */
    int64_t late, missed, written, driver_ns, cpu_ns;
    struct eco_meter_sample *ring;
    size_t cap;
    struct meter_window window[ECO_METER_MAX_OPEN];
};

/* meter_window.c */
void eco_meter_window_open(struct eco_meter *m, struct meter_window *w, int64_t from_ns);
void eco_meter_window_close(struct eco_meter *m, struct meter_window *w);
void eco_meter_window_feed(struct eco_meter *m, struct meter_window *w,
                           const struct eco_meter_sample *s);
bool eco_meter_window_done(const struct eco_meter *m, const struct meter_window *w);
void eco_meter_window_result(const struct eco_meter *m, struct meter_window *w, size_t source,
                             struct eco_meter_energy *out);
/* Parts of the 95 % half width of an integral. */
void eco_meter_spread(const struct eco_power_source *s, const struct eco_integral *it, int f,
                      bool profile, struct eco_meter_energy *out);

#endif
