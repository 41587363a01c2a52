/*
 * A look at the sensors while a load comes on: read much faster than the meter does, so that their
 * refresh and averaging show. What the table does not know is taken from here; what contradicts it
 * is told. Owned by the caller; start and end from one thread; the sources must outlive it.
 */
#ifndef ECO_EXPERIMENT_SENSOR_LOOK_H
#define ECO_EXPERIMENT_SENSOR_LOOK_H

#include "power/power.h"

struct eco_sensor_look;

/** NULL: no memory. Sources that cannot be read beside the meter are left out. */
struct eco_sensor_look *eco_sensor_look_new(struct eco_power_source *const *sources, size_t n);
void eco_sensor_look_free(struct eco_sensor_look *l); /* ends it; accepts NULL */
/** Starts reading; a few seconds at most. Accepts NULL, as all of these. */
void eco_sensor_look_start(struct eco_sensor_look *l);
/** Ends it and fills refresh_s and averaging_s of sources where they are NAN. */
void eco_sensor_look_end(struct eco_sensor_look *l);
/** What was found, line i; NULL: no more. */
const char *eco_sensor_look_warning(const struct eco_sensor_look *l, size_t i);

#endif
