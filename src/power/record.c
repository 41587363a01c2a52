#include "record.h"

#include "base/csv.h"
#include "base/num.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 10000000u
#define MAX_T_S 9e9     /* seconds that 64 bits of nanoseconds hold; seconds since 1970 fit */
#define MAX_POWER_W 1e9 /* over it a reading is no power of a machine */

static int push(struct eco_record_table *t, size_t *cap, double t_s, double w, const char *name,
                long line, struct eco_err *err)
{
    if (t->n && t_s < t->t_s[t->n - 1]) {
        return eco_err_set_at(err, ECO_E_CONTENT, "power", line, 0,
                              "'%.100s' line %ld: time goes back", name, line);
    }
    if (!(fabs(t_s) <= MAX_T_S) || !(fabs(w) <= MAX_POWER_W)) {
        return eco_err_set_at(err, ECO_E_CONTENT, "power", line, 0,
                              "'%.100s' line %ld: %g W at %g s cannot be true", name, line, w, t_s);
    }
    if (t->n == MAX_ROWS) {
        return eco_err_set(err, ECO_E_TOO_LARGE, "power", "'%.100s' has over %u rows", name,
                           MAX_ROWS);
    }
    if (t->n == *cap) {
        size_t more = *cap ? 2 * *cap : 1024;
        double *grown = realloc(t->t_s, more * sizeof(double));
        if (!grown) {
            return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        }
        t->t_s = grown;
        grown = realloc(t->power_w, more * sizeof(double));
        if (!grown) {
            return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        }
        t->power_w = grown;
        *cap = more;
    }
    t->t_s[t->n] = t_s;
    t->power_w[t->n++] = w;
    return 0;
}

void eco_record_done(struct eco_record_table *t)
{
    free(t->t_s);
    free(t->power_w);
    memset(t, 0, sizeof(*t));
}

/* ---- PTDaemon ------------------------------------------------------------------------------ */

/* Days since 1970-01-01 of a civil date (proleptic Gregorian). */
static int64_t days_of(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = y / 400, yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

/* "MM-DD-YYYY HH:MM:SS.mmm" */
static bool ptd_time(const char *s, size_t len, double *t_s)
{
    static const struct {
        size_t at, len;
    } part[] = {{0, 2}, {3, 2}, {6, 4}, {11, 2}, {14, 2}, {17, 2}, {20, 3}};
    int64_t v[7];
    if (len != 23) {
        return false;
    }
    for (size_t i = 0; i < 7; i++) {
        /* a leading zero is no JSON number: digit by digit */
        const char *digit = s + part[i].at;
        v[i] = 0;
        for (size_t k = 0; k < part[i].len; k++) {
            if (digit[k] < '0' || digit[k] > '9') {
                return false;
            }
            v[i] = v[i] * 10 + (digit[k] - '0');
        }
    }
    *t_s = (double)(days_of(v[2], v[0], v[1]) * 86400 + v[3] * 3600 + v[4] * 60 + v[5]) +
           (double)v[6] * 1e-3;
    return true;
}

bool eco_record_ptd_line(const char *line, size_t len, double *t_s, double *power_w)
{
    if (len < 5 || memcmp(line, "Time,", 5) != 0) {
        return false;
    }
    const char *time = line + 5, *end = line + len;
    const char *comma = memchr(time, ',', (size_t)(end - time));
    if (!comma || end - comma < 8 || memcmp(comma, ",Watts,", 7) != 0) {
        return false;
    }
    const char *watts = comma + 7;
    const char *stop = memchr(watts, ',', (size_t)(end - watts));
    stop = stop ? stop : end;
    return ptd_time(time, (size_t)(comma - time), t_s) &&
           eco_num_parse_lenient(watts, (size_t)(stop - watts), power_w) == 0;
}

static int read_ptd(const char *name, const char *text, size_t len, struct eco_record_table *out,
                    struct eco_err *err)
{
    size_t cap = 0;
    long line = 0;
    double start_s = 0;
    for (const char *at = text, *end = text + len; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        size_t n = (size_t)(stop - at);
        n -= n && at[n - 1] == '\r';
        double t_s, w;
        line++;
        if (eco_record_ptd_line(at, n, &t_s, &w)) {
            start_s = out->n ? start_s : t_s;
            int rc = w < 0 ? 0 : push(out, &cap, t_s - start_s, w, name, line, err);
            out->empty += w < 0; /* PTDaemon writes -1 for "not read" */
            if (rc) {
                return rc;
            }
        }
        at = stop + 1;
    }
    return 0;
}

/* ---- CSV ----------------------------------------------------------------------------------- */

static int find_column(const struct eco_csv *c, const char *name, const char *column,
                       struct eco_err *err)
{
    int found = column ? eco_csv_column(c, column) : -1;
    for (size_t i = 0; !column && found < 0 && i < c->columns; i++) {
        if (strncmp(c->header[i].s, "power", 5) == 0 || strcmp(c->header[i].s, "watts") == 0) {
            found = (int)i;
        }
    }
    return found >= 0
               ? found
               : eco_err_set(err, ECO_E_UNKNOWN_NAME, "column", "'%.100s' has no column '%.40s'",
                             name, column ? column : "power_w");
}

static int read_rows(struct eco_csv *c, const char *name, const char *column,
                     struct eco_record_table *out, struct eco_err *err)
{
    size_t cap = 0;
    int rc, time = eco_csv_column(c, "t_s");
    if (time < 0) {
        return eco_err_set(err, ECO_E_CONTENT, "power", "'%.100s' has no column 't_s'", name);
    }
    int power = find_column(c, name, column, err);
    if (power < 0) {
        return power;
    }
    snprintf(out->column, sizeof(out->column), "%s", c->header[power].s);
    while ((rc = eco_csv_next(c, err)) == 1) {
        double t_s, w;
        int have_t = eco_csv_num(c, time, &t_s, err), have_w = eco_csv_num(c, power, &w, err);
        if (have_t < 0 || have_w < 0) {
            return have_t < 0 ? have_t : have_w;
        }
        if (!have_t || !have_w) {
            out->empty++;
            continue;
        }
        rc = push(out, &cap, t_s, w, name, c->line, err);
        if (rc) {
            return rc;
        }
    }
    return rc;
}

int eco_record_read(const char *name, const char *text, size_t len, const char *column,
                    struct eco_record_table *out, struct eco_err *err)
{
    memset(out, 0, sizeof(*out));
    int rc;
    if (len > 5 && memcmp(text, "Time,", 5) == 0) {
        snprintf(out->column, sizeof(out->column), "watts");
        rc = read_ptd(name, text, len, out, err);
    } else {
        struct eco_csv *c = calloc(1, sizeof(*c));
        rc = c ? eco_csv_open(c, name, text, len, err)
               : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        if (rc == 0) {
            rc = read_rows(c, name, column, out, err);
            eco_csv_done(c);
        }
        free(c);
    }
    if (rc == 0 && out->n < 2) {
        rc = eco_err_set(err, ECO_E_CONTENT, "power", "'%.100s' has %zu readings%s%.40s%s: too few",
                         name, out->n, column ? " in '" : "", column ? column : "",
                         column ? "'" : "");
    }
    if (rc) {
        eco_record_done(out);
    }
    return rc;
}
