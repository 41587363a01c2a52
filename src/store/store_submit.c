/* What changes the store: submit, withdraw, moderate. */
#include "store.h"

#include "base/hash.h"
#include "store_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TOKEN_BYTES 32

/* ---- submit ---------------------------------------------------------------------------------- */

struct submission {
    const char *text;
    size_t len;
    char key[ECO_STORE_KEY_SIZE], token_sha256[65];
    struct eco_store_row facts;
    struct eco_store_receipt *out;
};

static int random_token(char out[ECO_STORE_TOKEN_SIZE], struct eco_err *err)
{
    unsigned char bytes[TOKEN_BYTES];
    size_t done = 0;
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && done < sizeof(bytes)) {
        ssize_t n = read(fd, bytes + done, sizeof(bytes) - done);
        if (n <= 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    if (done < sizeof(bytes))
        return eco_err_set(err, ECO_E_IO, "store",
                           "no random numbers: /dev/urandom cannot be read");
    struct eco_buf b = ECO_BUF_INIT;
    eco_base64url_encode(&b, bytes, sizeof(bytes));
    snprintf(out, ECO_STORE_TOKEN_SIZE, "%s", eco_buf_str(&b));
    eco_buf_done(&b);
    return 0;
}

#define T(name) eco_sql_text(f->name)
#define D(name) eco_sql_real(f->name)
#define I(name) eco_sql_int((int64_t)f->name)
#define C(name, type) type(name),
#define NAME(name, type) ", " #name

/* $1 … of the fixed columns, then one for each fact. */
#define FIXED 8
#define FACTS 20

static int insert(struct eco_store *s, void *arg, struct eco_err *err)
{
    static const char columns[] =
        "id, body, signer, token_sha256, received_unix_ms, consent_unix_ms, state, "
        "reason" STORE_FACTS(NAME);
    struct submission *sub = arg;
    const struct eco_store_row *f = &sub->facts;
    int64_t now_ms = eco_store_now_ms(s);
    const struct store_value args[FIXED + FACTS] = {eco_sql_text(sub->out->id),
                                                    eco_sql_bytes(sub->text, sub->len),
                                                    eco_sql_text(sub->key),
                                                    eco_sql_text(sub->token_sha256),
                                                    eco_sql_int(now_ms),
                                                    eco_sql_int(now_ms),
                                                    eco_sql_int(sub->out->state),
                                                    eco_sql_int(ECO_STORE_NO_REASON),
                                                    STORE_FACTS(C)};
    struct eco_buf sql = ECO_BUF_INIT;
    struct eco_arena arena;
    struct store_rows rows = {0};
    eco_arena_init(&arena, 0);
    eco_buf_printf(&sql, "INSERT INTO eco_report (%s) VALUES (", columns);
    for (int i = 1; i <= FIXED + FACTS; i++)
        eco_buf_printf(&sql, "%s$%d", i > 1 ? ", " : "", i);
    eco_buf_puts(&sql, ") ON CONFLICT (id) DO NOTHING RETURNING seq");
    int rc = eco_buf_ok(&sql) ? s->db->class->run(s->db, eco_buf_str(&sql), args, FIXED + FACTS,
                                                  &arena, &rows, err)
                              : eco_err_set(err, ECO_E_NO_MEMORY, "store", "out of memory");
    sub->out->duplicate = rc == 0 && rows.count == 0;
    if (rc == 0 && !sub->out->duplicate)
        rc = eco_store_event(s, sub->out->id, "submitted", err);
    eco_arena_done(&arena);
    eco_buf_done(&sql);
    return rc;
}

/* A duplicate's receipt says in which state the first one is. */
static int read_state(struct eco_store *s, struct eco_store_receipt *out, struct eco_err *err)
{
    const struct store_value id = eco_sql_text(out->id);
    struct eco_arena arena;
    struct store_rows rows = {0};
    eco_arena_init(&arena, 0);
    int rc = s->db->class->run(s->db, "SELECT state FROM eco_report WHERE id = $1", &id, 1, &arena,
                               &rows, err);
    if (rc == 0 && rows.count)
        out->state = (enum eco_store_state)eco_sql_as_int(eco_sql_cell(&rows, 0, 0), 0);
    eco_arena_done(&arena);
    return rc;
}

static int prepare(struct eco_store *s, struct submission *sub, struct eco_arena *arena,
                   struct eco_err *err)
{
    struct eco_buf content = ECO_BUF_INIT;
    int rc = s->o.hooks.check(sub->text, sub->len, err);
    if (rc == 0 && s->o.hooks.verify)
        rc = s->o.hooks.verify(sub->text, sub->len, sub->key, err);
    rc = rc ? rc : s->o.hooks.canonical(sub->text, sub->len, &content, err);
    if (rc == 0)
        eco_sha256_hex(eco_buf_str(&content), content.len, sub->out->id);
    eco_buf_done(&content);
    rc = rc ? rc
            : eco_store_facts(sub->text, sub->len, s->o.curves, s->o.curve_count, arena,
                              &sub->facts, err);
    rc = rc ? rc : random_token(sub->out->token, err);
    if (rc == 0)
        eco_sha256_hex(sub->out->token, strlen(sub->out->token), sub->token_sha256);
    return rc;
}

int eco_store_submit(struct eco_store *s, const char *text, size_t len, bool consent,
                     struct eco_store_receipt *out, struct eco_err *err)
{
    struct eco_store_receipt receipt = {.state = s->o.auto_accept ? ECO_STORE_ACCEPTED
                                                                  : ECO_STORE_PENDING};
    struct submission sub = {.text = text, .len = len, .out = &receipt};
    struct eco_arena arena;
    if (!consent)
        return eco_err_set(err, ECO_E_MISSING, "consent",
                           "a report is stored only with its sender's consent: say consent=true");
    if (len > ECO_STORE_MAX_REPORT)
        return eco_err_set(err, ECO_E_TOO_LARGE, "report",
                           "a report of %zu bytes is over the limit of %zu", len,
                           ECO_STORE_MAX_REPORT);
    eco_arena_init(&arena, 0);
    int rc = prepare(s, &sub, &arena, err);
    pthread_mutex_lock(&s->lock);
    rc = rc ? rc : eco_store_transact(s, insert, &sub, err);
    if (rc == 0 && receipt.duplicate) {
        receipt.token[0] = '\0';
        rc = read_state(s, &receipt, err);
    }
    pthread_mutex_unlock(&s->lock);
    eco_arena_done(&arena);
    if (rc == 0)
        *out = receipt;
    return rc;
}

/* ---- withdraw -------------------------------------------------------------------------------- */

struct withdrawal {
    const char *id, *token;
};

static int withdraw(struct eco_store *s, void *arg, struct eco_err *err)
{
    const struct withdrawal *w = arg;
    const struct store_value id = eco_sql_text(w->id);
    struct eco_arena arena;
    struct store_rows rows = {0};
    char hash[65];
    eco_arena_init(&arena, 0);
    eco_sha256_hex(w->token, strlen(w->token), hash);
    int rc = s->db->class->run(s->db, "SELECT token_sha256 FROM eco_report WHERE id = $1", &id, 1,
                               &arena, &rows, err);
    if (rc == 0 && rows.count == 0)
        rc = eco_err_set(err, ECO_E_NOT_FOUND, "id", "there is no report '%.64s'", w->id);
    else if (rc == 0 && !eco_str_same_secret(eco_sql_as_text(eco_sql_cell(&rows, 0, 0)), hash))
        rc =
            eco_err_set(err, ECO_E_PERMISSION, "token", "this token does not withdraw this report");
    rc = rc ? rc
            : s->db->class->run(s->db, "DELETE FROM eco_report WHERE id = $1", &id, 1, NULL, NULL,
                                err);
    rc = rc ? rc : eco_store_event(s, w->id, "withdrawn", err);
    eco_arena_done(&arena);
    return rc;
}

int eco_store_withdraw(struct eco_store *s, const char *id, const char *token, struct eco_err *err)
{
    struct withdrawal w = {id, token};
    pthread_mutex_lock(&s->lock);
    int rc = eco_store_transact(s, withdraw, &w, err);
    if (rc == 0 && s->db->class->forget[0]) { /* withdrawn it is; readers may keep this waiting */
        s->db->class->run(s->db, s->db->class->forget, NULL, 0, NULL, NULL, NULL);
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* ---- moderate -------------------------------------------------------------------------------- */

struct judgement {
    const char *id;
    enum eco_store_state state;
    enum eco_store_reason reason;
};

static int moderate(struct eco_store *s, void *arg, struct eco_err *err)
{
    const struct judgement *j = arg;
    const struct store_value args[] = {eco_sql_int(j->state), eco_sql_int(j->reason),
                                       eco_sql_text(j->id)};
    struct eco_arena arena;
    struct store_rows rows = {0};
    eco_arena_init(&arena, 0);
    int rc = s->db->class->run(
        s->db, "UPDATE eco_report SET state = $1, reason = $2 WHERE id = $3 RETURNING seq", args, 3,
        &arena, &rows, err);
    if (rc == 0 && rows.count == 0)
        rc = eco_err_set(err, ECO_E_NOT_FOUND, "id", "there is no report '%.64s'", j->id);
    rc = rc ? rc : eco_store_event(s, j->id, eco_store_state_name(j->state), err);
    eco_arena_done(&arena);
    return rc;
}

int eco_store_moderate(struct eco_store *s, const char *id, enum eco_store_state state,
                       enum eco_store_reason reason, struct eco_err *err)
{
    struct judgement j = {id, state, reason};
    if ((state == ECO_STORE_REJECTED) != (reason != ECO_STORE_NO_REASON))
        return eco_err_set(err, ECO_E_INVALID, "reason",
                           state == ECO_STORE_REJECTED
                               ? "a rejection needs its reason: format, personal-data, spam or "
                                 "same-run (results are no reason)"
                               : "only a rejection has a reason");
    pthread_mutex_lock(&s->lock);
    int rc = eco_store_transact(s, moderate, &j, err);
    pthread_mutex_unlock(&s->lock);
    return rc;
}
