/*
 * The experiment's view of real power: one or more sources of one boundary, read by meter.h and
 * added up. Owned by the caller; the sources must outlive it. `now` reads the state of devices
 * whose backend allows it beside the sampler. The trace is appended to a CSV file as trials end.
 */
#ifndef ECO_EXPERIMENT_METER_PORT_H
#define ECO_EXPERIMENT_METER_PORT_H

#include "experiment/experiment.h"
#include "power/meter.h"

struct eco_meter_port;

/** Starts sampling. `rate_hz` 0: 10. `gain` NAN: no profile. */
int eco_meter_port_new(struct eco_power_source *const *sources, size_t n, double rate_hz,
                       double gain, double offset_w, struct eco_meter_port **out,
                       struct eco_err *err);
void eco_meter_port_free(struct eco_meter_port *p); /* stops; accepts NULL */
struct eco_exp_meter eco_meter_port_meter(struct eco_meter_port *p);
/**
 * Line i of what the look at the sensors found: refresh or averaging other than the table says, or
 * unknown to it. Lives as long as the port; NULL: no more.
 */
const char *eco_meter_port_warning(const struct eco_meter_port *p, size_t i);
/** No more samples; windows are over. */
void eco_meter_port_stop(struct eco_meter_port *p);
/** Appends the samples since the last call to the file; times are seconds since `zero_ns`. */
int eco_meter_port_save_trace(struct eco_meter_port *p, const char *path, int64_t zero_ns,
                              struct eco_err *err);
/** Samples of the summed trace for a chart: at most `cap`, thinned evenly. */
size_t eco_meter_port_chart(struct eco_meter_port *p, int64_t zero_ns, double *t_s, double *power_w,
                            size_t cap);
void eco_meter_port_costs(struct eco_meter_port *p, struct eco_meter_cost *out);

#endif
