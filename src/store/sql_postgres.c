/* PostgreSQL by libpq; without it at build time the backend says so. */
#include "sql.h"

#ifdef ECO_HAVE_PQ

#include "base/num.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARGS 40
/* pg_type.dat: what our columns and counts are */
#define OID_BOOL 16
#define OID_INT8 20
#define OID_INT4 23
#define OID_FLOAT8 701

struct postgres {
    struct store_sql base;
    PGconn *db;
    int busy_ms;
};

/* The first line of the server's message, without its end. */
static int failed(const char *what, int code, struct eco_err *err)
{
    char line[180];
    snprintf(line, sizeof(line), "%.170s", what && *what ? what : "no message");
    line[strcspn(line, "\n")] = '\0';
    return eco_err_set(err, code, "store", "postgresql: %s", line);
}

/* 53: resources, 58: system, XX: internal or damaged data (Appendix A of its manual). */
static int code_of(const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (!state)
        return ECO_E_DEVICE;
    if (strncmp(state, "53", 2) == 0 || strncmp(state, "58", 2) == 0)
        return ECO_E_IO;
    if (strncmp(state, "XX", 2) == 0)
        return ECO_E_CONTENT;
    if (strncmp(state, "42501", 5) == 0 || strncmp(state, "25006", 5) == 0 ||
        strncmp(state, "28", 2) == 0)
        return ECO_E_PERMISSION;
    return strncmp(state, "08", 2) == 0 || strncmp(state, "57", 2) == 0 ||
                   strncmp(state, "55", 2) == 0
               ? ECO_E_DEVICE
               : ECO_E_INTERNAL;
}

static bool take(const PGresult *result, struct eco_arena *arena, struct store_rows *rows)
{
    int columns = PQnfields(result);
    for (int r = 0; r < PQntuples(result); r++) {
        struct store_value *row = eco_sql_row(rows, (size_t)columns, arena);
        for (int c = 0; row && c < columns; c++) {
            const char *text = PQgetvalue(result, r, c);
            Oid type = PQftype(result, c);
            double real;
            if (PQgetisnull(result, r, c))
                continue;
            if (type == OID_INT8 || type == OID_INT4) {
                row[c] = eco_sql_int(strtoll(text, NULL, 10));
            } else if (type == OID_BOOL) {
                row[c] = eco_sql_int(*text == 't');
            } else if (type == OID_FLOAT8 && eco_num_parse(text, strlen(text), &real) == 0) {
                row[c] = eco_sql_real(real);
            } else {
                size_t len = (size_t)PQgetlength(result, r, c);
                const char *copy = eco_arena_strdup(arena, text, len);
                if (!copy)
                    return false;
                row[c] = eco_sql_bytes(copy, len);
            }
        }
        if (!row)
            return false;
    }
    return true;
}

/* How every connection is set up, the first and one after a restart of the server. */
static int set_up(struct postgres *p, struct eco_err *err)
{
    char timeout[64];
    const char *const commands[] = {timeout, "SET synchronous_commit = on",
                                    "SET client_encoding = 'UTF8'"};
    snprintf(timeout, sizeof(timeout), "SET lock_timeout = %d", p->busy_ms);
    int rc =
        PQstatus(p->db) == CONNECTION_OK ? 0 : failed(PQerrorMessage(p->db), ECO_E_DEVICE, err);
    for (size_t i = 0; rc == 0 && i < sizeof(commands) / sizeof(commands[0]); i++) {
        PGresult *result = PQexec(p->db, commands[i]);
        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            rc = failed(PQresultErrorMessage(result), code_of(result), err);
        PQclear(result);
    }
    return rc;
}

static int reconnect(struct postgres *p, struct eco_err *err)
{
    PQreset(p->db);
    return set_up(p, err);
}

static int run(struct store_sql *db, const char *sql, const struct store_value *args, size_t n,
               struct eco_arena *arena, struct store_rows *rows, struct eco_err *err)
{
    struct postgres *p = (struct postgres *)db;
    const char *text[MAX_ARGS];
    char number[MAX_ARGS][ECO_NUM_MAX];
    for (size_t i = 0; i < n && i < MAX_ARGS; i++) {
        const struct store_value *v = &args[i];
        text[i] = v->type == STORE_NULL ? NULL : v->type == STORE_TEXT ? v->s : number[i];
        if (v->type == STORE_INT)
            snprintf(number[i], sizeof(number[i]), "%" PRId64, v->i);
        else if (v->type == STORE_REAL)
            eco_num_format(v->d, number[i]);
    }
    int rc = PQstatus(p->db) == CONNECTION_OK ? 0 : reconnect(p, err);
    if (rc != 0)
        return rc;
    /* Outside a transaction a question, or the begin of one, may be asked again. */
    bool again = PQtransactionStatus(p->db) == PQTRANS_IDLE &&
                 (strncmp(sql, "BEGIN", 5) == 0 || strncmp(sql, "SELECT", 6) == 0);
    int count = n < MAX_ARGS ? (int)n : MAX_ARGS;
    PGresult *result = PQexecParams(p->db, sql, count, NULL, text, NULL, NULL, 0);
    if (again && PQstatus(p->db) == CONNECTION_BAD && reconnect(p, NULL) == 0) {
        PQclear(result);
        result = PQexecParams(p->db, sql, count, NULL, text, NULL, NULL, 0);
    }
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        rc = failed(PQresultErrorMessage(result), code_of(result), err);
    else if (rows && !take(result, arena, rows))
        rc = eco_err_set(err, ECO_E_NO_MEMORY, "store", "out of memory");
    PQclear(result);
    return rc; /* where the connection broke the outcome is not known: it is not repeated */
}

/* The server keeps its pages whole; what it stores of ours the store itself compares by hash. */
static int check(struct store_sql *db, bool quick, struct eco_err *err)
{
    (void)quick;
    return run(db, "SELECT 1", NULL, 0, NULL, NULL, err);
}

/* A server in recovery answers, and takes nothing. */
static int ready(struct store_sql *db, struct eco_err *err)
{
    static const char sql[] = "SELECT current_setting('transaction_read_only'), count(*) "
                              "FROM eco_schema";
    struct eco_arena arena;
    struct store_rows rows = {0};
    eco_arena_init(&arena, 0);
    int rc = run(db, sql, NULL, 0, &arena, &rows, err);
    if (rc == 0 && rows.count && strcmp(eco_sql_as_text(eco_sql_cell(&rows, 0, 0)), "off") != 0)
        rc = eco_err_set(err, ECO_E_PERMISSION, "store", "postgresql: the server is read-only");
    eco_arena_done(&arena);
    return rc;
}

static void close_db(struct store_sql *db)
{
    struct postgres *p = (struct postgres *)db;
    PQfinish(p->db);
    free(p);
}

static void no_notice(void *arg, const char *message)
{
    (void)arg;
    (void)message;
}

static const struct store_sql_class class = {"postgresql", "BIGSERIAL PRIMARY KEY",
                                             "BEGIN",      "SELECT pg_advisory_xact_lock(7305813)",
                                             "",           run,
                                             check,        ready,
                                             close_db};

int eco_sql_open_postgres(const char *url, int busy_ms, struct store_sql **out, struct eco_err *err)
{
    /* a host that does not answer must not hold everybody: the address may say otherwise */
    static const char *const names[] = {"connect_timeout", "dbname", NULL};
    const char *const values[] = {"5", url, NULL};
    struct postgres *p = calloc(1, sizeof(*p));
    if (!p)
        return eco_err_set(err, ECO_E_NO_MEMORY, "store", "out of memory");
    p->base.class = &class;
    p->busy_ms = busy_ms;
    p->db = PQconnectdbParams(names, values, 1);
    PQsetNoticeProcessor(p->db, no_notice, NULL);
    int rc = set_up(p, err);
    if (rc != 0) {
        close_db(&p->base);
        return rc;
    }
    *out = &p->base;
    return 0;
}

#else

int eco_sql_open_postgres(const char *url, int busy_ms, struct store_sql **out, struct eco_err *err)
{
    (void)url;
    (void)busy_ms;
    (void)out;
    return eco_err_set(err, ECO_E_UNSUPPORTED, "store",
                       "this build has no PostgreSQL (libpq-dev was not there); sqlite:FILE works");
}

#endif
