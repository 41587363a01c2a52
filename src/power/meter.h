/*
 * The meter: a thread that samples power on absolute deadlines into memory allocated before, and
 * windows over it. Hardware counters are read at window edges only (a read costs up to 2.4 ms).
 *
 * Life cycle: new -> start -> (begin -> workload -> end)* -> stop -> free. The sources stay the
 * caller's and must outlive the meter. begin/end/trace may be called from any one thread besides
 * the sampler's. Errors: reads that fail are counted and named in the window, never an error code.
 */
#ifndef ECO_POWER_METER_H
#define ECO_POWER_METER_H

#include "power.h"

#define ECO_METER_MAX_SOURCES 16
#define ECO_METER_MAX_OPEN 4 /* windows that may be open at once */
#define ECO_METER_REASON 160

/* A clock, so that tests can simulate a day. NULL functions: CLOCK_MONOTONIC. */
struct eco_meter_clock {
    int64_t (*now_ns)(void *ctx);
    void (*sleep_until_ns)(void *ctx, int64_t t_mono_ns);
    void *ctx;
};

struct eco_meter_options {
    double rate_hz; /* 0: 10; up to 1000 */
    double trace_s; /* how much trace to keep; 0: 3600 */
    /* The card's profile: true = (reading - offset) / gain; NAN: none. For integral_j only. */
    double gain, offset_w;
    const struct eco_meter_clock *clock; /* NULL: the real one */
    double min_window_s;                 /* 0: the rule below; tests may shorten it */
    bool manual; /* no thread: the caller calls eco_meter_step (simulated clocks) */
};

/* One deadline of the sampler for one source. t_before/after: around all reads of the source. */
struct eco_meter_sample {
    int64_t t_before_ns, t_after_ns;
    double power_w[ECO_POWER_FIELDS];       /* NAN unless status is OK */
    unsigned char status[ECO_POWER_FIELDS]; /* enum eco_power_status */
    unsigned char source;                   /* index in the meter */
};

/* The energy of one window by one source. NAN: not known, and the reason beside it says why. */
struct eco_meter_energy {
    double window_s;     /* as asked for */
    double min_window_s; /* max(5 s, 20 refresh periods, 5 averaging windows) */
    double counter_j;    /* hardware counter, edges aligned to ticks */
    double v1_j;         /* protocol v1: default field, trapezoid, no shift, no profile */
    double integral_j;   /* best field, shifted by half its averaging window, with the profile */
    double mean_w, peak_w, low_w; /* of the integral; mean over what was covered */
    double gap_frac;              /* (integral - counter) / counter */
    /* Half width of the 95 % interval of `integral_j` and its parts (root of sum of squares). */
    double uncertainty_j, bias_j, edge_j, alias_j, gap_j;
    double counter_uncertainty_j;   /* bias and resolution of both edges */
    double counter_resolution_frac; /* two counts over counter_j */
    enum eco_power_field field;     /* what integral_j integrates */
    int64_t samples, late, missed, failed, duplicates, gaps;
    double gap_s;           /* left out of the integral */
    bool lost;              /* the device vanished inside */
    bool too_short;         /* window_s < min_window_s: every joule is NAN */
    bool duty;              /* the field sees only a part of the time: several starts are needed */
    bool counter_disagrees; /* |gap_frac| > 5 % */
    bool withhold;          /* |gap_frac| > 15 %: no verdict unless both agree on the sign */
    char counter_reason[ECO_METER_REASON];  /* why counter_j is NAN; "" */
    char integral_reason[ECO_METER_REASON]; /* why integral_j is NAN or what it lacks; "" */
};

struct eco_meter_idle {
    double mean_w, sd_w; /* NAN: nothing read */
    int64_t samples;
};

struct eco_meter_cost {
    double cpu_s; /* CPU time of the sampler thread since start */
    double wall_s;
    double driver_s; /* wall time inside the reads */
    int64_t samples;
    size_t memory_bytes; /* ring and state */
};

struct eco_meter;

int eco_meter_new(struct eco_power_source *const *sources, size_t n,
                  const struct eco_meter_options *o, struct eco_meter **out, struct eco_err *err);
/** The thread; takes a first sample. Again after stop: the trace goes on with a gap. */
int eco_meter_start(struct eco_meter *m, struct eco_err *err);
void eco_meter_stop(struct eco_meter *m); /* idempotent */
/** The sources' averaging windows are known better now (detected): between windows only. */
void eco_meter_retime(struct eco_meter *m);
void eco_meter_free(struct eco_meter *m); /* stops; accepts NULL */

/** Opens a window now; `id` is for end. Reads the counters, aligned to a tick (<= 0.12 s). */
int eco_meter_begin(struct eco_meter *m, int *id, struct eco_err *err);
/**
 * Closes it at the time of the call, then keeps sampling until the longest averaging window has
 * passed (up to about 1.2 s; the workload has ended already). Fills out[0..sources) in the order
 * of the sources.
 */
int eco_meter_end(struct eco_meter *m, int id, struct eco_meter_energy *out, struct eco_err *err);
/** As begin/end without waiting for ticks or tails: cheap edges for per-iteration windows. */
int eco_meter_begin_fast(struct eco_meter *m, int *id, struct eco_err *err);
/** The sum of several windows (random starts of one trial) with the scatter of their mean power. */
void eco_meter_pool(const struct eco_meter_energy *w, size_t n, struct eco_meter_energy *out);

/** Mean and spread of the last `seconds` of a source's best field (idle wait, watts now). */
void eco_meter_recent(struct eco_meter *m, size_t source, double seconds,
                      struct eco_meter_idle *out);
void eco_meter_costs(struct eco_meter *m, struct eco_meter_cost *out);

/** Samples ever written, and how many of the oldest the ring no longer has. */
int64_t eco_meter_trace_count(struct eco_meter *m, int64_t *lost);
/** Copies samples [from, from + cap) of the whole run, oldest first; returns how many. */
size_t eco_meter_trace(struct eco_meter *m, int64_t from, struct eco_meter_sample *out, size_t cap);
/** The field that integral_j uses: average, else default (an instant one that is not duty-cycled
 * comes first), of a source. */
enum eco_power_field eco_meter_best_field(const struct eco_power_source *s);

/** manual: sleeps to the next deadline on the clock and samples all sources once. */
void eco_meter_step(struct eco_meter *m);

#endif
