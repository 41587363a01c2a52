/*
 * Power and energy of this machine's devices for a monitoring system: one thread reads all sources
 * ten times a second, others take what it read last. Energies count from the start; a hardware
 * counter and our own integral of power are two figures, never mixed. What cannot be read is left
 * out, never 0. Threads: text() may be called from any. Owner: free() ends the thread.
 */
#ifndef ECO_OPS_POWER_EXPORT_H
#define ECO_OPS_POWER_EXPORT_H

#include "base/buf.h"
#include "eco_err.h"

struct eco_power_export;

/** Where to look; NULL: the system's own places. */
int eco_power_export_new(const char *nvml_library, const char *sysfs, const char *visible_devices,
                         struct eco_power_export **out, struct eco_err *err);
/** Prometheus' text format. */
void eco_power_export_text(void *export, struct eco_buf *out);
void eco_power_export_free(struct eco_power_export *e); /* accepts NULL */

#endif
