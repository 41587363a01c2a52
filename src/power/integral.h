/*
 * The energy of a window from power samples, one sample at a time: trapezoid, both edges clipped
 * and interpolated, gaps left out and reported, equal readings never dropped. The same code serves
 * the live meter and recorded tables. No allocation, no clock; times are nanoseconds.
 */
#ifndef ECO_POWER_INTEGRAL_H
#define ECO_POWER_INTEGRAL_H

#include <stdbool.h>
#include <stdint.h>

#define ECO_INTEGRAL_OPEN INT64_MAX /* the window's end is not known yet */

struct eco_integral {
    int64_t from_ns, to_ns; /* already shifted by half the averaging window */
    int64_t gap_ns;         /* samples further apart split the window */
    double gain, offset_w;  /* true = (reading - offset) / gain */
    /* results */
    double energy_j, comp_j; /* Kahan's running compensation */
    double covered_s, gap_s; /* of the window: integrated, left out */
    double peak_w, low_w;    /* of the readings inside; NAN: none */
    int64_t samples, duplicates, gaps;
    bool zero;     /* 0 W for two seconds of the window: not a power reading */
    double edge_j; /* how much of it depends on interpolation at the two edges */
    /* state */
    int64_t covered_ns;
    int64_t zero_since_ns; /* of the readings of 0 W that end now */
    bool have_prev, at_zero;
    int64_t prev_ns;
    double prev_w;
};

/** gap_ns: 3 sampling periods. gain 1 and offset 0 mean: as read. */
void eco_integral_init(struct eco_integral *it, int64_t from_ns, int64_t to_ns, int64_t gap_ns,
                       double gain, double offset_w);
/**
 * Times must not go back; negative power is no reading and passed over. A sample before `from` is
 * remembered for the edge's interpolation.
 */
void eco_integral_add(struct eco_integral *it, int64_t t_ns, double reading_w);
/** No more samples: holds the last reading to the end of the window unless that is a gap. */
void eco_integral_finish(struct eco_integral *it);
/** true when samples have passed the end: nothing more will change. */
bool eco_integral_done(const struct eco_integral *it);

#endif
