/*
 * The store of submitted reports, on SQLite (a file, the default) or PostgreSQL, by URL:
 * "sqlite:FILE" or "postgresql://USER@HOST/DB". One set of statements and of tests for both.
 *
 * A report is taken with the sender's explicit consent only, once it holds to its schema; it is
 * known by the hash of its content, so the same content is stored once. The receipt holds a token
 * that withdraws it again; only its hash is kept. Moderation is about format, never about results.
 * What was acknowledged is on disk: SQLite in WAL mode with full syncs, PostgreSQL by its commit.
 *
 * Life cycle: open -> submit, list, get, withdraw, moderate, export … -> close.
 * Threads: a handle may be used by several threads, one call at a time runs (a mutex inside);
 * several processes may open the same store. Results live in the caller's arena.
 * Errors: ECO_E_CONTENT for what is wrong with a report (err.arg: the JSON pointer), or for a
 * damaged store (err.arg "store", its file named); ECO_E_DEVICE for a server that is not there;
 * ECO_E_IO; ECO_E_NOT_FOUND; ECO_E_PERMISSION for a wrong token; ECO_E_UNSUPPORTED for a backend
 * that was not built in or a store of a later version. Not part of the main program: helpers only.
 */
#ifndef ECO_STORE_H
#define ECO_STORE_H

#include "base/arena.h"
#include "base/buf.h"
#include "eco_err.h"
#include "eco_published.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ECO_STORE_MAX_REPORT ((size_t)256 << 10)
#define ECO_STORE_ID_SIZE 65    /* SHA-256 of the content, 64 hex digits */
#define ECO_STORE_TOKEN_SIZE 44 /* 43 base64url characters: 256 random bits */
#define ECO_STORE_KEY_SIZE 64   /* a signer's public key, base64url; "" */
#define ECO_STORE_PAGE 50       /* rows of a page when not said */
#define ECO_STORE_MAX_PAGE 500

/*
 * What the store may not know itself; the functions of src/report fit these types, but for verify:
 *   check      eco_report_validate, its findings as one error. Required.
 *   canonical  eco_report_canonical: the content that is hashed. Required.
 *   verify     0: unsigned (key "") or well signed (key set); an error for a bad signature. NULL:
 *              signatures are not looked at.
 */
struct eco_store_hooks {
    int (*check)(const char *text, size_t len, struct eco_err *err);
    int (*canonical)(const char *text, size_t len, struct eco_buf *out, struct eco_err *err);
    int (*verify)(const char *text, size_t len, char key[ECO_STORE_KEY_SIZE], struct eco_err *err);
};

struct eco_store_options {
    const char *url;
    struct eco_store_hooks hooks;
    const struct eco_published_curve *curves; /* for the consistency; static */
    size_t curve_count;
    bool auto_accept; /* what holds to the schema is listed at once; else it waits as pending */
    int64_t (*now_unix_ms)(void); /* NULL: the real clock */
    int busy_ms;                  /* how long a writer waits for another; 0: 10 000 */
};

struct eco_store;

/** Opens, creates or migrates; looks whether the file is whole. */
int eco_store_open(const struct eco_store_options *o, struct eco_store **out, struct eco_err *err);
void eco_store_close(struct eco_store *s);                /* accepts NULL */
const char *eco_store_backend(const struct eco_store *s); /* "sqlite", "postgresql" */
/** Could a report be taken now? Errors have the arg "store" and say what is in the way. */
int eco_store_ready(struct eco_store *s, struct eco_err *err);
/** Reads every page and index. ECO_E_CONTENT names the file and the first fault. */
int eco_store_check(struct eco_store *s, struct eco_err *err);

/* ---- submitting --------------------------------------------------------------------------- */

enum eco_store_state { ECO_STORE_PENDING = 0, ECO_STORE_ACCEPTED, ECO_STORE_REJECTED };
/* Why a moderator rejects: the closed list has no word about results. */
enum eco_store_reason {
    ECO_STORE_NO_REASON = 0,
    ECO_STORE_BAD_FORMAT,
    ECO_STORE_PERSONAL_DATA,
    ECO_STORE_SPAM,
    ECO_STORE_SAME_RUN /* the same run again under another content */
};
const char *eco_store_state_name(enum eco_store_state state);    /* "pending" … */
const char *eco_store_reason_name(enum eco_store_reason reason); /* "", "format", … */
bool eco_store_state_parse(const char *name, enum eco_store_state *out);
bool eco_store_reason_parse(const char *name, enum eco_store_reason *out);

struct eco_store_receipt {
    char id[ECO_STORE_ID_SIZE];
    char token[ECO_STORE_TOKEN_SIZE]; /* withdraws it; shown once; "" for a duplicate */
    bool duplicate;                   /* the content was there already: nothing was stored */
    enum eco_store_state state;
};

/** ECO_E_MISSING without consent. The report is on disk when this returns 0. */
int eco_store_submit(struct eco_store *s, const char *text, size_t len, bool consent,
                     struct eco_store_receipt *out, struct eco_err *err);
/** Removes the report and all that was read from it. ECO_E_NOT_FOUND, ECO_E_PERMISSION. */
int eco_store_withdraw(struct eco_store *s, const char *id, const char *token, struct eco_err *err);
/** A reason is needed for REJECTED and forbidden otherwise: ECO_E_INVALID. */
int eco_store_moderate(struct eco_store *s, const char *id, enum eco_store_state state,
                       enum eco_store_reason reason, struct eco_err *err);

/* ---- reading ------------------------------------------------------------------------------ */

/* A stored report as a row. Texts are never NULL ("" when not stated); NAN, -1: not stated. */
struct eco_store_row {
    int64_t seq; /* rises with each submission */
    const char *id, *signer;
    int64_t received_unix_ms;
    enum eco_store_state state;
    enum eco_store_reason reason;
    bool replication; /* measured, and sized, and with a change: it can be set against the curve */
    const char *gpu, *arch, *model, *precision, *basis, *boundary, *level, *protocol;
    double params_b, delta_pct, lo95_pct, hi95_pct, j_per_token;
    int64_t n; /* trials */
    /* consistency with the published curve of its class; classified false: there is none */
    bool classified, agrees;
    double pred_pct, band_pct, outside_pct;
};

/* NULL, NAN, 0: any. Texts match whole, without case. */
struct eco_store_query {
    const char *gpu, *arch, *model, *precision, *basis, *signer;
    double min_params_b, max_params_b;
    bool replications_only, signed_only;
    bool any_state;             /* moderators: all states; else only `state` */
    enum eco_store_state state; /* init: accepted */
    size_t limit;               /* 0: ECO_STORE_PAGE */
    const char *cursor;         /* of the page before; NULL: from the newest on */
};
void eco_store_query_init(struct eco_store_query *q);

struct eco_store_page {
    const struct eco_store_row *rows; /* newest first; in the arena */
    size_t count;
    int64_t total; /* rows that match, all pages */
    char next[24]; /* cursor of the next page; "": this is the last */
};

int eco_store_list(struct eco_store *s, const struct eco_store_query *q, struct eco_arena *arena,
                   struct eco_store_page *out, struct eco_err *err);
/** One report with its text, as it was submitted. ECO_E_NOT_FOUND, also for a rejected one. */
int eco_store_get(struct eco_store *s, const char *id, struct eco_arena *arena,
                  struct eco_store_row *row, const char **text, size_t *len, struct eco_err *err);
/** All rows that match, every page, appended to `out`; `csv` false: a JSON list. */
int eco_store_export(struct eco_store *s, const struct eco_store_query *q, bool csv,
                     struct eco_buf *out, struct eco_err *err);
/** One row as a JSON object, appended: the same fields as in the export. */
void eco_store_row_json(const struct eco_store_row *row, struct eco_buf *out);

#endif
