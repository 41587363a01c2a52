#include "store.h"

#include "base/clock.h"
#include "base/hash.h"
#include "store_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUSY_MS 10000

/*
 * Migrations, one row a version; a row never changes once released. "@serial" is the type of a
 * column that numbers its rows.
 */
static const char *const migrations[STORE_VERSION][6] = {
    {"CREATE TABLE eco_report ("
     "seq @serial, id TEXT NOT NULL UNIQUE, body TEXT NOT NULL, signer TEXT NOT NULL, "
     "token_sha256 TEXT NOT NULL, received_unix_ms BIGINT NOT NULL, "
     "consent_unix_ms BIGINT NOT NULL, state BIGINT NOT NULL, reason BIGINT NOT NULL, "
     "gpu TEXT, arch TEXT, model TEXT, precision TEXT, basis TEXT, boundary TEXT, level TEXT, "
     "protocol TEXT, params_b DOUBLE PRECISION, delta_pct DOUBLE PRECISION, "
     "lo95_pct DOUBLE PRECISION, hi95_pct DOUBLE PRECISION, j_per_token DOUBLE PRECISION, "
     "n BIGINT, replication BIGINT NOT NULL, classified BIGINT NOT NULL, agrees BIGINT NOT NULL, "
     "pred_pct DOUBLE PRECISION, band_pct DOUBLE PRECISION, outside_pct DOUBLE PRECISION)",
     "CREATE INDEX eco_report_listed ON eco_report (state, replication, seq)"},
    {"CREATE TABLE eco_event (seq @serial, id TEXT NOT NULL, at_unix_ms BIGINT NOT NULL, "
     "what TEXT NOT NULL)",
     "CREATE INDEX eco_event_id ON eco_event (id)"},
};

int64_t eco_store_now_ms(const struct eco_store *s)
{
    return s->o.now_unix_ms ? s->o.now_unix_ms() : eco_clock_unix_ms();
}

int eco_store_transact(struct eco_store *s,
                       int (*body)(struct eco_store *s, void *arg, struct eco_err *err), void *arg,
                       struct eco_err *err)
{
    const struct store_sql_class *c = s->db->class;
    int rc = c->run(s->db, c->begin, NULL, 0, NULL, NULL, err);
    if (rc != 0)
        return rc;
    rc = body(s, arg, err);
    if (rc == 0)
        rc = c->run(s->db, "COMMIT", NULL, 0, NULL, NULL, err);
    if (rc != 0)
        c->run(s->db, "ROLLBACK", NULL, 0, NULL, NULL, NULL);
    return rc;
}

int eco_store_event(struct eco_store *s, const char *id, const char *what, struct eco_err *err)
{
    const struct store_value args[] = {eco_sql_text(id), eco_sql_int(eco_store_now_ms(s)),
                                       eco_sql_text(what)};
    return s->db->class->run(s->db,
                             "INSERT INTO eco_event (id, at_unix_ms, what) VALUES ($1, $2, $3)",
                             args, 3, NULL, NULL, err);
}

/* ---- migrations ------------------------------------------------------------------------------ */

static int run_plain(struct eco_store *s, const char *sql, struct eco_err *err)
{
    char text[2048];
    const char *serial = strstr(sql, "@serial");
    if (!serial)
        return s->db->class->run(s->db, sql, NULL, 0, NULL, NULL, err);
    snprintf(text, sizeof(text), "%.*s%s%s", (int)(serial - sql), sql, s->db->class->serial,
             serial + strlen("@serial"));
    return s->db->class->run(s->db, text, NULL, 0, NULL, NULL, err);
}

static int version_of(struct eco_store *s, int64_t *out, struct eco_err *err)
{
    struct eco_arena arena;
    struct store_rows rows = {0};
    eco_arena_init(&arena, 0);
    int rc = s->db->class->run(s->db, "SELECT max(version) FROM eco_schema", NULL, 0, &arena, &rows,
                               err);
    *out = rc == 0 && rows.count ? eco_sql_as_int(eco_sql_cell(&rows, 0, 0), 0) : 0;
    eco_arena_done(&arena);
    return rc;
}

static int migrate(struct eco_store *s, void *arg, struct eco_err *err)
{
    const struct store_sql_class *c = s->db->class;
    int64_t version = 0;
    (void)arg;
    int rc = c->lock[0] ? c->run(s->db, c->lock, NULL, 0, NULL, NULL, err) : 0;
    rc = rc ? rc
            : run_plain(s, "CREATE TABLE IF NOT EXISTS eco_schema (version BIGINT NOT NULL)", err);
    rc = rc ? rc : version_of(s, &version, err);
    if (rc == 0 && (version < 0 || version > STORE_VERSION))
        return eco_err_set(err, ECO_E_UNSUPPORTED, "store",
                           "the store is of version %lld, this program knows %d: use a later one",
                           (long long)version, STORE_VERSION);
    for (int64_t v = version; rc == 0 && v < STORE_VERSION; v++) {
        const struct store_value now = eco_sql_int(v + 1);
        for (size_t i = 0; rc == 0 && migrations[v][i]; i++)
            rc = run_plain(s, migrations[v][i], err);
        rc = rc ? rc
                : c->run(s->db, "INSERT INTO eco_schema (version) VALUES ($1)", &now, 1, NULL, NULL,
                         err);
    }
    return rc;
}

/* ---- life ------------------------------------------------------------------------------------ */

static int connect_db(const struct eco_store_options *o, struct store_sql **out,
                      struct eco_err *err)
{
    int busy_ms = o->busy_ms > 0 ? o->busy_ms : BUSY_MS;
    const char *url = o->url ? o->url : "";
    if (strncmp(url, "sqlite:", 7) == 0 && url[7])
        return eco_sql_open_sqlite(url + 7, busy_ms, out, err);
    if (strncmp(url, "postgresql://", 13) == 0 || strncmp(url, "postgres://", 11) == 0)
        return eco_sql_open_postgres(url, busy_ms, out, err);
    return eco_err_set(err, ECO_E_INVALID, "store",
                       "'store' is sqlite:FILE or postgresql://…, not '%.60s'", url);
}

int eco_store_open(const struct eco_store_options *o, struct eco_store **out, struct eco_err *err)
{
    if (!o->hooks.check || !o->hooks.canonical)
        return eco_err_set(err, ECO_E_INVALID, "hooks", "a store needs 'check' and 'canonical'");
    struct eco_store *s = calloc(1, sizeof(*s));
    if (!s)
        return eco_err_set(err, ECO_E_NO_MEMORY, "store", "out of memory");
    s->o = *o;
    s->o.url = NULL;
    pthread_mutex_init(&s->lock, NULL);
    int rc = connect_db(o, &s->db, err);
    rc = rc ? rc : s->db->class->check(s->db, true, err);
    rc = rc ? rc : eco_store_transact(s, migrate, NULL, err);
    if (rc != 0) {
        eco_store_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

void eco_store_close(struct eco_store *s)
{
    if (!s)
        return;
    if (s->db)
        s->db->class->close(s->db);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

int eco_store_ready(struct eco_store *s, struct eco_err *err)
{
    pthread_mutex_lock(&s->lock);
    int rc = s->db->class->ready(s->db, err);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

const char *eco_store_backend(const struct eco_store *s)
{
    return s->db->class->name;
}

/* Every stored text must still have the content it is named by. */
static int check_bodies(struct eco_store *s, struct eco_err *err)
{
    struct eco_arena arena;
    int64_t last = 0;
    int rc = 0;
    eco_arena_init(&arena, 0);
    for (bool more = true; rc == 0 && more;) {
        struct store_rows rows = {0};
        const struct store_value after = eco_sql_int(last);
        eco_arena_reset(&arena);
        rc = s->db->class->run(
            s->db, "SELECT seq, id, body FROM eco_report WHERE seq > $1 ORDER BY seq LIMIT 64",
            &after, 1, &arena, &rows, err);
        more = rc == 0 && rows.count > 0;
        for (size_t i = 0; rc == 0 && i < rows.count; i++) {
            const char *id = eco_sql_as_text(eco_sql_cell(&rows, i, 1));
            const struct store_value *body = eco_sql_cell(&rows, i, 2);
            struct eco_buf content = ECO_BUF_INIT;
            char hash[ECO_STORE_ID_SIZE] = "";
            last = eco_sql_as_int(eco_sql_cell(&rows, i, 0), last + 1);
            if (s->o.hooks.canonical(eco_sql_as_text(body), body->len, &content, NULL) == 0)
                eco_sha256_hex(eco_buf_str(&content), content.len, hash);
            eco_buf_done(&content);
            if (strcmp(hash, id) != 0)
                rc = eco_err_set(err, ECO_E_CONTENT, "store",
                                 "the store is damaged: report %.64s does not have the content it "
                                 "is named by",
                                 id);
        }
    }
    eco_arena_done(&arena);
    return rc;
}

int eco_store_check(struct eco_store *s, struct eco_err *err)
{
    pthread_mutex_lock(&s->lock);
    int rc = s->db->class->check(s->db, false, err);
    rc = rc ? rc : check_bodies(s, err);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *const states[] = {"pending", "accepted", "rejected"};
static const char *const reasons[] = {"", "format", "personal-data", "spam", "same-run"};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *eco_store_state_name(enum eco_store_state state)
{
    return (unsigned)state < COUNT(states) ? states[state] : states[0];
}

const char *eco_store_reason_name(enum eco_store_reason reason)
{
    return (unsigned)reason < COUNT(reasons) ? reasons[reason] : reasons[0];
}

bool eco_store_state_parse(const char *name, enum eco_store_state *out)
{
    for (size_t i = 0; name && i < COUNT(states); i++) {
        if (strcmp(name, states[i]) == 0) {
            *out = (enum eco_store_state)i;
            return true;
        }
    }
    return false;
}

bool eco_store_reason_parse(const char *name, enum eco_store_reason *out)
{
    for (size_t i = 1; name && i < COUNT(reasons); i++) {
        if (strcmp(name, reasons[i]) == 0) {
            *out = (enum eco_store_reason)i;
            return true;
        }
    }
    return false;
}

void eco_store_query_init(struct eco_store_query *q)
{
    *q = (struct eco_store_query){
        .min_params_b = NAN, .max_params_b = NAN, .state = ECO_STORE_ACCEPTED};
}
