/*
 * A small process that puts power limits and clocks back when this one cannot: it waits on a pipe,
 * and when that ends without "done" (kill -9, a crash) it opens the cards itself and restores what
 * it was told. Start it before any driver library is loaded. Owned by the caller.
 */
#ifndef ECO_OPS_MEASURE_GUARD_H
#define ECO_OPS_MEASURE_GUARD_H

#include "power/power.h"

struct eco_guard;

/** Strings of `o` are copied by the new process. */
int eco_guard_start(const struct eco_power_options *o, struct eco_guard **out, struct eco_err *err);
/** Before a setting of this source is changed: what to put back. limit_w 0: its clocks. */
int eco_guard_note(struct eco_guard *g, const struct eco_power_source *s, double limit_w,
                   struct eco_err *err);
/** All is put back already: the process ends and does nothing. Accepts NULL. */
void eco_guard_done(struct eco_guard *g);

#endif
