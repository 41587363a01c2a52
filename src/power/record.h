/*
 * Recorded power: a CSV table with a `t_s` column, or a PTDaemon log ("Time,MM-DD-YYYY
 * HH:MM:SS.mmm,Watts,123.4,…" lines). Limits: 64 MiB, 10^7 rows. Owned by caller, freed by done.
 */
#ifndef ECO_POWER_RECORD_H
#define ECO_POWER_RECORD_H

#include "eco_err.h"

#include <stdbool.h>
#include <stddef.h>

struct eco_record_table {
    double *t_s, *power_w; /* n of each, t_s rising */
    size_t n, empty;       /* rows without a value in the column are left out and counted */
    char column[64];       /* the one that was read */
};

/**
 * Reads `column` ("power_instant_w"; NULL: the first one whose name begins with "power" or is
 * "watts") of text[0..len). `name` is for messages. ECO_E_CONTENT with line for times that go back,
 * ECO_E_UNKNOWN_NAME for a column that is not there.
 */
int eco_record_read(const char *name, const char *text, size_t len, const char *column,
                    struct eco_record_table *out, struct eco_err *err);
void eco_record_done(struct eco_record_table *t);
/** One PTDaemon line: seconds of its clock and watts; false: it is none. */
bool eco_record_ptd_line(const char *line, size_t len, double *t_s, double *power_w);

#endif
