/*
 * Two reports side by side: whether they may be compared at all, what differs around them, and the
 * difference of each quantity with its 95 % interval where both carry a spread. Joules of two
 * boundaries are never subtracted: then there is no difference, and the verdict says why.
 * Errors: ECO_E_CONTENT (err.arg "a" or "b") for what is no report. Pure, no state.
 */
#ifndef ECO_REPORT_COMPARE_H
#define ECO_REPORT_COMPARE_H

#include "eco_err.h"

#include <stdbool.h>
#include <stddef.h>

#define ECO_COMPARE_MAX_ASPECTS 20
#define ECO_COMPARE_MAX_ROWS 10
#define ECO_COMPARE_TEXT 160

/* Around the numbers: boundary, protocol, software … "not stated" where a file is mute. */
struct eco_compare_aspect {
    const char *name; /* static */
    char a[ECO_COMPARE_TEXT], b[ECO_COMPARE_TEXT];
    bool same;   /* both state the same */
    bool blocks; /* differs, and forbids the comparison */
};

/* One quantity. A NAN is not known. */
struct eco_compare_row {
    const char *quantity; /* "energy per token"; static */
    const char *unit;     /* "mJ"; static */
    double a, b;
    bool points; /* the difference is b - a in percentage points, else 100 (b/a - 1) % */
    double diff, lo95, hi95;
    const char *verdict; /* "higher", "lower", "cannot tell", "no interval"; static */
    const char *reason;  /* why there is no interval or no difference; NULL; static */
};

/* Two sessions of one set-up: how much sessions differ, and what a third would show. */
struct eco_compare_sessions {
    int n;                               /* 2; 0: they are no two sessions of one set-up */
    double sd_pct, mean_pct, lo95, hi95; /* of the energy ratio; of the change, a third's */
    const char *reason;                  /* why they are not; NULL; static */
};

struct eco_comparison {
    bool comparable;
    char verdict[256];
    struct eco_compare_aspect aspects[ECO_COMPARE_MAX_ASPECTS];
    size_t aspect_count;
    struct eco_compare_row rows[ECO_COMPARE_MAX_ROWS];
    size_t row_count;
    struct eco_compare_sessions sessions;
};

int eco_report_compare(const char *a, size_t a_len, const char *b, size_t b_len,
                       struct eco_comparison *out, struct eco_err *err);

/** 97.5 % quantile of Student's t, df > 0 (INFINITY: the normal one); 1e-9 relative. */
double eco_compare_t975(double df);

#endif
