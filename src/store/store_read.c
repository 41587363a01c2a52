/* What reads the store: list, get, export. */
#include "store.h"

#include "base/csv.h"
#include "base/json.h"
#include "store_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARGS 16
#define NAME(name, type) ", " #name
#define COLUMNS "seq, id, signer, received_unix_ms, state, reason" STORE_FACTS(NAME)

/* ---- a row ----------------------------------------------------------------------------------- */

#define T(name) out->name = eco_sql_as_text(eco_sql_cell(rows, row, at++));
#define D(name) out->name = eco_sql_as_real(eco_sql_cell(rows, row, at++));
#define I(name) whole[flag++] = eco_sql_as_int(eco_sql_cell(rows, row, at++), -1);
#define C(name, type) type(name)

static void read_row(const struct store_rows *rows, size_t row, struct eco_store_row *out)
{
    size_t at = 6, flag = 0;
    int64_t whole[4]; /* n, replication, classified, agrees: as STORE_FACTS has them */
    *out = (struct eco_store_row){
        .seq = eco_sql_as_int(eco_sql_cell(rows, row, 0), 0),
        .id = eco_sql_as_text(eco_sql_cell(rows, row, 1)),
        .signer = eco_sql_as_text(eco_sql_cell(rows, row, 2)),
        .received_unix_ms = eco_sql_as_int(eco_sql_cell(rows, row, 3), 0),
        .state = (enum eco_store_state)eco_sql_as_int(eco_sql_cell(rows, row, 4), 0),
        .reason = (enum eco_store_reason)eco_sql_as_int(eco_sql_cell(rows, row, 5), 0)};
    STORE_FACTS(C)
    out->n = whole[0];
    out->replication = whole[1] == 1;
    out->classified = whole[2] == 1;
    out->agrees = whole[3] == 1;
}

/* ---- conditions ------------------------------------------------------------------------------ */

struct where {
    struct eco_buf text;
    struct store_value args[MAX_ARGS];
    size_t n;
};

/* `condition` ends where the parameter goes. */
static void add(struct where *w, const char *condition, struct store_value value, const char *rest)
{
    eco_buf_printf(&w->text, "%s%s$%d%s", w->text.len ? " AND " : " WHERE ", condition,
                   (int)w->n + 1, rest);
    w->args[w->n++] = value;
}

static void add_text(struct where *w, const char *condition, const char *value)
{
    if (value && *value)
        add(w, condition, eco_sql_text(value), ")");
}

static void conditions(const struct eco_store_query *q, struct where *w)
{
    if (!q->any_state)
        add(w, "state = ", eco_sql_int(q->state), "");
    if (q->replications_only)
        add(w, "replication = ", eco_sql_int(1), "");
    add_text(w, "lower(gpu) = lower(", q->gpu);
    add_text(w, "lower(arch) = lower(", q->arch);
    add_text(w, "lower(model) = lower(", q->model);
    add_text(w, "lower(precision) = lower(", q->precision ? eco_store_precision(q->precision) : "");
    add_text(w, "lower(basis) = lower(", q->basis);
    if (q->signer && *q->signer)
        add(w, "signer = ", eco_sql_text(q->signer), "");
    if (q->signed_only)
        add(w, "signer <> ", eco_sql_text(""), "");
    if (!isnan(q->min_params_b))
        add(w, "params_b >= ", eco_sql_real(q->min_params_b), "");
    if (!isnan(q->max_params_b))
        add(w, "params_b <= ", eco_sql_real(q->max_params_b), "");
}

/* A cursor is the number of the last row that was shown. */
static int read_cursor(const char *cursor, int64_t *out, struct eco_err *err)
{
    char *end;
    *out = INT64_MAX;
    if (!cursor || !*cursor)
        return 0;
    long long v = strlen(cursor) < 20 ? strtoll(cursor, &end, 10) : 0;
    if (v <= 0 || *end || *cursor < '0' || *cursor > '9')
        return eco_err_set(err, ECO_E_INVALID, "cursor", "'cursor' is not one of this store's");
    *out = v;
    return 0;
}

/* ---- list ------------------------------------------------------------------------------------ */

static int total(struct eco_store *s, struct where *w, struct eco_arena *arena, int64_t *out,
                 struct eco_err *err)
{
    struct eco_buf sql = ECO_BUF_INIT;
    struct store_rows rows = {0};
    eco_buf_printf(&sql, "SELECT count(*) FROM eco_report%s", eco_buf_str(&w->text));
    int rc = s->db->class->run(s->db, eco_buf_str(&sql), w->args, w->n, arena, &rows, err);
    *out = rc == 0 && rows.count ? eco_sql_as_int(eco_sql_cell(&rows, 0, 0), 0) : 0;
    eco_buf_done(&sql);
    return rc;
}

static int fetch(struct eco_store *s, struct where *w, int64_t before, size_t limit,
                 struct eco_arena *arena, struct store_rows *rows, struct eco_err *err)
{
    struct eco_buf sql = ECO_BUF_INIT;
    add(w, "seq < ", eco_sql_int(before), "");
    eco_buf_printf(&sql, "SELECT " COLUMNS " FROM eco_report%s ORDER BY seq DESC LIMIT %zu",
                   eco_buf_str(&w->text), limit);
    int rc = eco_buf_ok(&sql) && eco_buf_ok(&w->text)
                 ? s->db->class->run(s->db, eco_buf_str(&sql), w->args, w->n, arena, rows, err)
                 : eco_err_set(err, ECO_E_NO_MEMORY, "store", "out of memory");
    eco_buf_done(&sql);
    return rc;
}

int eco_store_list(struct eco_store *s, const struct eco_store_query *q, struct eco_arena *arena,
                   struct eco_store_page *out, struct eco_err *err)
{
    size_t limit = q->limit ? q->limit : ECO_STORE_PAGE;
    struct where w = {.text = ECO_BUF_INIT};
    struct store_rows rows = {0};
    int64_t before;
    int rc = read_cursor(q->cursor, &before, err);
    if (rc == 0 && limit > ECO_STORE_MAX_PAGE)
        rc = eco_err_set(err, ECO_E_RANGE, "limit", "'limit' is at most %d", ECO_STORE_MAX_PAGE);
    if (rc != 0)
        return rc;
    *out = (struct eco_store_page){.next = ""};
    conditions(q, &w);
    pthread_mutex_lock(&s->lock);
    rc = total(s, &w, arena, &out->total, err);
    rc =
        rc ? rc : fetch(s, &w, before, limit + 1, arena, &rows, err); /* one more: is there more? */
    pthread_mutex_unlock(&s->lock);
    eco_buf_done(&w.text);
    out->count = rows.count > limit ? limit : rows.count;
    struct eco_store_row *list = eco_arena_array(arena, out->count + 1, sizeof(*list));
    if (rc == 0 && !list)
        rc = eco_err_set(err, ECO_E_NO_MEMORY, "store", "out of memory");
    for (size_t i = 0; rc == 0 && i < out->count; i++)
        read_row(&rows, i, &list[i]);
    if (rc == 0 && rows.count > limit)
        snprintf(out->next, sizeof(out->next), "%" PRId64, list[limit - 1].seq);
    out->rows = list;
    return rc;
}

int eco_store_get(struct eco_store *s, const char *id, struct eco_arena *arena,
                  struct eco_store_row *row, const char **text, size_t *len, struct eco_err *err)
{
    const struct store_value args[] = {eco_sql_text(id), eco_sql_int(ECO_STORE_REJECTED)};
    struct store_rows rows = {0};
    pthread_mutex_lock(&s->lock);
    int rc = s->db->class->run(
        s->db, "SELECT " COLUMNS ", body FROM eco_report WHERE id = $1 AND state <> $2", args, 2,
        arena, &rows, err);
    pthread_mutex_unlock(&s->lock);
    if (rc == 0 && rows.count == 0)
        rc = eco_err_set(err, ECO_E_NOT_FOUND, "id", "there is no report '%.64s'", id);
    if (rc != 0)
        return rc;
    const struct store_value *body = eco_sql_cell(&rows, 0, rows.columns - 1);
    read_row(&rows, 0, row);
    *text = eco_sql_as_text(body);
    *len = body->len;
    return 0;
}

/* ---- export ---------------------------------------------------------------------------------- */

#undef T
#undef D
#undef I
#define T(name) eco_jw_kv_str(&w, #name, row->name);
#define D(name) eco_jw_kv_num(&w, #name, row->name);
#define I(name) count(&w, #name, (int64_t)row->name);

static void count(struct eco_json_writer *w, const char *key, int64_t v)
{
    bool flag = strcmp(key, "n") != 0;
    eco_jw_key(w, key);
    if (flag)
        eco_jw_bool(w, v == 1);
    else if (v < 0)
        eco_jw_null(w);
    else
        eco_jw_i64(w, v);
}

void eco_store_row_json(const struct eco_store_row *row, struct eco_buf *out)
{
    struct eco_json_writer w;
    eco_jw_init(&w, out, 0);
    eco_jw_object(&w);
    eco_jw_kv_str(&w, "id", row->id);
    eco_jw_kv_i64(&w, "received_unix_ms", row->received_unix_ms);
    eco_jw_kv_str(&w, "state", eco_store_state_name(row->state));
    eco_jw_kv_str(&w, "reason", row->reason ? eco_store_reason_name(row->reason) : NULL);
    eco_jw_kv_str(&w, "signer", row->signer[0] ? row->signer : NULL);
    STORE_FACTS(C)
    eco_jw_object_end(&w);
}

#undef T
#undef D
#undef I
#define T(name) cell_text(out, row->name);
#define D(name) cell_num(out, row->name);
#define I(name) cell_int(out, (int64_t)row->name);

/* Spreadsheets take a cell that begins with one of these for a formula. */
static void cell_text(struct eco_buf *out, const char *s)
{
    struct eco_buf safe = ECO_BUF_INIT;
    eco_buf_puts(&safe, *s && strchr("=+-@", *s) ? "'" : "");
    eco_buf_puts(&safe, s);
    eco_buf_putc(out, ',');
    eco_csv_put(out, eco_buf_str(&safe), safe.len);
    eco_buf_done(&safe);
}

static void cell_num(struct eco_buf *out, double v)
{
    eco_buf_putc(out, ',');
    if (!isnan(v))
        eco_buf_put_num(out, v);
}

static void cell_int(struct eco_buf *out, int64_t v)
{
    eco_buf_putc(out, ',');
    if (v >= 0)
        eco_buf_printf(out, "%" PRId64, v);
}

static void row_csv(const struct eco_store_row *row, struct eco_buf *out)
{
    eco_buf_puts(out, row->id);
    cell_int(out, row->received_unix_ms);
    cell_text(out, eco_store_state_name(row->state));
    cell_text(out, eco_store_reason_name(row->reason));
    eco_buf_putc(out, ',');
    eco_buf_puts(out, row->signer); /* base64url: a leading '-' is no formula's */
    STORE_FACTS(C)
    eco_buf_putc(out, '\n');
}

#define HEADER(name, type) "," #name

int eco_store_export(struct eco_store *s, const struct eco_store_query *q, bool csv,
                     struct eco_buf *out, struct eco_err *err)
{
    struct eco_store_query page_of = *q;
    struct eco_store_page page = {.next = ""};
    struct eco_arena arena;
    char cursor[sizeof(page.next)] = "";
    size_t start = out->len;
    bool first = true;
    int rc;
    eco_arena_init(&arena, 0);
    page_of.limit = ECO_STORE_MAX_PAGE;
    page_of.cursor = NULL;
    eco_buf_puts(out,
                 csv ? "id,received_unix_ms,state,reason,signer" STORE_FACTS(HEADER) "\n" : "[");
    do {
        eco_arena_reset(&arena);
        rc = eco_store_list(s, &page_of, &arena, &page, err);
        for (size_t i = 0; rc == 0 && i < page.count; i++) {
            if (csv) {
                row_csv(&page.rows[i], out);
            } else {
                eco_buf_puts(out, first ? "\n" : ",\n");
                eco_store_row_json(&page.rows[i], out);
            }
            first = false;
        }
        snprintf(cursor, sizeof(cursor), "%s", page.next);
        page_of.cursor = cursor;
    } while (rc == 0 && cursor[0]);
    eco_buf_puts(out, csv ? "" : "\n]\n");
    eco_arena_done(&arena);
    if (rc == 0 && !eco_buf_ok(out))
        rc = eco_err_set(err, ECO_E_NO_MEMORY, "store", "out of memory");
    if (rc != 0 && out->data)
        out->len = start;
    return rc;
}
