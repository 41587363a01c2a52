/*
 * The energy of a window of a recorded table, by the meter's own integrator and its rules: edges
 * clipped and interpolated, a 1 s average shifted by half of it, gaps reported, the card's profile
 * undone, an interval that says what is not known.
 */
#ifndef ECO_POWER_REPLAY_H
#define ECO_POWER_REPLAY_H

#include "meter.h"
#include "record.h"

#include "dataset/dataset.h"

struct eco_replay {
    struct eco_meter_energy energy;   /* integral_j, mean_w, samples, uncertainty_j and their kin */
    double shift_s;                   /* by which the window was moved */
    double refresh_s, averaging_s;    /* detected in the table; NAN: it does not show them */
    const struct eco_sensor *profile; /* used; NULL: none */
};

/**
 * `column` tells the instrument by its name: "…instant…", "…average…", "…draw…" or "…default…"
 * (the plain field, whose averaging is detected); any other column is taken as instantaneous and
 * not shifted. `card` (NULL: none) names a profile of data/sensors.csv.
 * from_s, to_s NAN: the first reading; the last one, less the shift.
 * ECO_E_RANGE: a window outside the table or shorter than its rule, ECO_E_UNKNOWN_NAME: no profile.
 */
int eco_replay_energy(const struct eco_record_table *t, const char *column, const char *card,
                      double from_s, double to_s, struct eco_replay *out, struct eco_err *err);

#endif
