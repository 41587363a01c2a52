/*
 * What is known of a driver's power sensor, and finding it out: the table of SPEC "energy of a
 * window" by compute capability and driver version, the published profiles of data/sensors.csv,
 * and detection from readings. Pure functions over the caller's memory.
 */
#ifndef ECO_POWER_SENSOR_H
#define ECO_POWER_SENSOR_H

#include "dataset/dataset.h"
#include "power.h"

/* NAN: not known. duty: it sees averaging_s of every refresh_s only. */
struct eco_sensor_timing {
    double refresh_s, averaging_s;
    bool duty;
};

/** By compute capability (NVML's "Ampere" is not enough) and driver branch (535; 0: not known). */
void eco_sensor_expect(int cc_major, int cc_minor, int driver_major, enum eco_power_field field,
                       struct eco_sensor_timing *out);
enum eco_arch eco_sensor_arch(int cc_major, int cc_minor);
int eco_sensor_driver_major(const char *driver); /* "535.104.05" -> 535; 0 */

/**
 * From n readings (t in seconds, rising): refresh is the median time between changes of value,
 * averaging the 10-90 % rise of the largest step divided by 0.8 (a boxcar's ramp). NAN where the
 * readings do not show it: too few changes, no step.
 */
void eco_sensor_detect(const double *t_s, const double *power_w, size_t n, double *refresh_s,
                       double *averaging_s);
/** true: the detected value contradicts the expected one (over a factor of two); NAN never does. */
bool eco_sensor_disagrees(double expected_s, double detected_s);

/**
 * The published profile of a card whose name contains `card` ("RTX 3090", "rtx3090"), for a field
 * ("draw", "average" = draw, "instant"); among several driver branches the one whose averaging
 * window is nearest to averaging_s (NAN: the first). NULL: none with gain and offset.
 */
const struct eco_sensor *eco_sensor_profile(const char *card, enum eco_power_field field,
                                            double averaging_s);

#endif
