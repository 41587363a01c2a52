/*
 * The store, one suite for both backends: ECO_STORE_URL "postgresql://…/" (of postgres.sh), or a
 * SQLite file in a temporary folder. Several processes write at once, one is killed in the
 * middle, a file is damaged; the report's rules and the published curves are the real ones.
 */
#include "eco_test.h"

#include "base/csv.h"
#include "base/json.h"
#include "dataset/dataset.h"
#include "helpers/store_port.h"
#include "report/report.h"
#include "report/sign.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WRITERS 6
#define EACH 15
#define KILLS 8

static char dir[64], url[256];
static int stores;
static pid_t parent;
static struct eco_arena arena;
static int64_t clock_ms = 1700000000000;

static int64_t now_ms(void)
{
    return ++clock_ms;
}

static bool on_sqlite(void)
{
    return getenv("ECO_STORE_URL") == NULL;
}

static void sqlite_only(void)
{
    if (on_sqlite())
        return;
    print_message("about SQLite's one file: skipped on a server\n");
    skip();
}

/* A store of its own for each test. */
static void fresh(void)
{
    const char *server = getenv("ECO_STORE_URL");
    stores++;
    if (!server) {
        snprintf(url, sizeof(url), "sqlite:%s/%d.db", dir, stores);
        return;
    }
    char command[512];
    snprintf(command, sizeof(command), "%s 'CREATE SCHEMA eco%d'", getenv("ECO_STORE_ADMIN"),
             stores);
    assert_int_equal(system(command), 0);
    snprintf(url, sizeof(url), "%spostgres?options=-csearch_path%%3Deco%d", server, stores);
}

static struct eco_store_options options(void)
{
    struct eco_store_options o;
    eco_store_port_options(url, true, &o);
    o.now_unix_ms = now_ms;
    return o;
}

/* A forked writer ends here: failing as a test does, it would go on with the tests after it. */
static void must(int rc, const struct eco_err *err)
{
    if (rc == 0)
        return;
    if (getpid() == parent)
        fail_msg("%s", err->message);
    fprintf(stderr, "a writer: %s\n", err->message);
    _exit(1);
}

static struct eco_store *open_store(void)
{
    struct eco_store_options o = options();
    struct eco_store *s = NULL;
    struct eco_err err = {0};
    must(eco_store_open(&o, &s, &err), &err);
    return s;
}

/* A report that holds to the published schema. */
static const char *report(const char *gpu, const char *arch, const char *precision, double params_b,
                          double delta_pct, const char *basis, int serial)
{
    return eco_arena_printf(
        &arena,
        "{\"schema_version\":\"ecocompute-energy/1.1\",\"benchmark\":\"x\",\"scenario\":"
        "\"SingleStream\",\"certified_benchmark_result\":false,\"system_under_test\":{\"gpu\":"
        "\"%s\",\"gpu_arch\":\"%s\",\"accelerator_count\":1},\"workload\":{\"model_name\":"
        "\"m-%d\",\"params_b\":%.17g,\"precision\":\"%s\",\"batch_size\":1},\"measurement\":"
        "{\"method\":\"m\",\"sample_rate_hz\":10},\"results\":{\"energy_per_token_mj\":3900.25,"
        "\"vs_fp16_energy_pct\":%.17g,\"vs_fp16_ci95_pct\":[-31.5,-25.25],\"basis\":\"%s\"},"
        "\"statistics\":{\"n\":4}}",
        gpu, arch, serial, params_b, precision, delta_pct, basis);
}

static const char *plain(int serial)
{
    return report("NVIDIA GeForce RTX 4090", "ada", "NF4", 7, -28.46, "measured", serial);
}

static struct eco_store_receipt submit(struct eco_store *s, const char *text)
{
    struct eco_store_receipt r;
    struct eco_err err = {0};
    must(eco_store_submit(s, text, strlen(text), true, &r, &err), &err);
    return r;
}

static int64_t total(struct eco_store *s, bool any_state)
{
    struct eco_store_query q;
    struct eco_store_page page;
    struct eco_err err = {0};
    eco_store_query_init(&q);
    q.any_state = any_state;
    if (eco_store_list(s, &q, &arena, &page, &err) != 0)
        fail_msg("%s", err.message);
    return page.total;
}

/* ---- submitting ------------------------------------------------------------------------------ */

static void test_a_report_comes_back(void **state)
{
    (void)state;
    fresh();
    struct eco_store *s = open_store();
    assert_string_equal(eco_store_backend(s), on_sqlite() ? "sqlite" : "postgresql");
    const char *text = plain(1), *back;
    struct eco_store_receipt r = submit(s, text);
    assert_int_equal(strlen(r.id), 64);
    assert_int_equal(strlen(r.token), 43);
    assert_false(r.duplicate);
    assert_int_equal(r.state, ECO_STORE_ACCEPTED);
    struct eco_store_row row;
    size_t len;
    assert_int_equal(eco_store_get(s, r.id, &arena, &row, &back, &len, NULL), 0);
    assert_int_equal(len, strlen(text));
    assert_string_equal(back, text);
    assert_string_equal(row.gpu, "NVIDIA GeForce RTX 4090");
    assert_string_equal(row.model, "m-1");
    assert_near(row.params_b, 7, 0);
    assert_near(row.delta_pct, -28.46, 0); /* to the last bit */
    assert_near(row.lo95_pct, -31.5, 0);
    assert_near(row.hi95_pct, -25.25, 0);
    assert_near(row.j_per_token, 3.90025, 0);
    assert_int_equal(row.n, 4);
    assert_true(row.replication);
    assert_string_equal(row.boundary, "");
    assert_string_equal(row.signer, "");
    eco_store_close(s);
    s = open_store(); /* and after a restart */
    assert_int_equal(eco_store_get(s, r.id, &arena, &row, &back, &len, NULL), 0);
    assert_string_equal(back, text);
    assert_int_equal(eco_store_check(s, NULL), 0);
    eco_store_close(s);
}

static void test_what_is_not_taken(void **state)
{
    (void)state;
    fresh();
    struct eco_store *s = open_store();
    struct eco_store_receipt r;
    struct eco_err err = {0};
    const char *text = plain(1);
    assert_int_equal(eco_store_submit(s, text, strlen(text), false, &r, &err), ECO_E_MISSING);
    assert_string_equal(err.arg, "consent");
    static const char *const bad[] = {"", "{}", "[1]", "not json", "{\"a\":1,\"a\":2}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(eco_store_submit(s, bad[i], strlen(bad[i]), true, &r, &err),
                         ECO_E_CONTENT);
    struct eco_buf large = ECO_BUF_INIT;
    for (size_t i = 0; i <= ECO_STORE_MAX_REPORT; i++)
        eco_buf_putc(&large, ' ');
    assert_int_equal(eco_store_submit(s, large.data, large.len, true, &r, &err), ECO_E_TOO_LARGE);
    eco_buf_done(&large);
    assert_int_equal(total(s, true), 0);
    eco_store_close(s);
}

static void test_the_same_content_once(void **state)
{
    (void)state;
    fresh();
    struct eco_store *s = open_store();
    const char *text = plain(1);
    struct eco_store_receipt first = submit(s, text);
    struct eco_store_receipt again = submit(s, eco_arena_printf(&arena, " %s\n", text));
    assert_true(again.duplicate);
    assert_string_equal(again.id, first.id);
    assert_string_equal(again.token, ""); /* nobody else's token withdraws it */
    assert_int_equal(total(s, true), 1);
    assert_string_not_equal(submit(s, plain(2)).id, first.id);
    assert_int_equal(total(s, true), 2);
    eco_store_close(s);
}

static void test_signatures(void **state)
{
    (void)state;
    struct eco_sign_key key;
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_store_receipt r;
    struct eco_err err = {0};
    char name[64];
    fresh();
    if (eco_sign_keygen(&key, &err) != 0) {
        print_message("SKIPPED: %s\n", err.message);
        skip();
    }
    struct eco_store *s = open_store();
    const char *unsigned_text = plain(1);
    assert_int_equal(eco_report_sign(unsigned_text, strlen(unsigned_text), &key, &text, NULL), 0);
    submit(s, text.data);
    eco_sign_key_name(key.public_key, name);
    struct eco_store_query q;
    struct eco_store_page page;
    eco_store_query_init(&q);
    q.signed_only = true;
    q.signer = name;
    assert_int_equal(eco_store_list(s, &q, &arena, &page, NULL), 0);
    assert_int_equal(page.count, 1);
    assert_string_equal(page.rows[0].signer, name);
    char *digit = strstr(text.data, "3900.25");
    *digit = '4'; /* a changed number under the old signature */
    assert_int_equal(eco_store_submit(s, text.data, text.len, true, &r, &err), ECO_E_CONTENT);
    assert_string_equal(err.arg, "signature");
    submit(s, plain(2));
    q.signer = NULL;
    assert_int_equal(eco_store_list(s, &q, &arena, &page, NULL), 0);
    assert_int_equal(page.total, 1);
    eco_store_close(s);
    eco_buf_done(&text);
}

static void test_withdrawal(void **state)
{
    (void)state;
    fresh();
    struct eco_store *s = open_store();
    struct eco_store_receipt a = submit(s, plain(1)), b = submit(s, plain(2));
    struct eco_store_row row;
    struct eco_err err = {0};
    const char *text;
    size_t len;
    assert_int_equal(eco_store_withdraw(s, a.id, b.token, &err), ECO_E_PERMISSION);
    assert_int_equal(eco_store_withdraw(s, a.id, "", &err), ECO_E_PERMISSION);
    assert_int_equal(eco_store_withdraw(s, "nothing", a.token, &err), ECO_E_NOT_FOUND);
    assert_int_equal(total(s, true), 2);
    assert_int_equal(eco_store_withdraw(s, a.id, a.token, &err), 0);
    assert_int_equal(total(s, true), 1);
    assert_int_equal(eco_store_get(s, a.id, &arena, &row, &text, &len, &err), ECO_E_NOT_FOUND);
    assert_int_equal(eco_store_withdraw(s, a.id, a.token, &err), ECO_E_NOT_FOUND);
    struct eco_store_receipt anew = submit(s, plain(1)); /* consent may be given again */
    assert_false(anew.duplicate);
    assert_string_not_equal(anew.token, a.token);
    eco_store_close(s);
}

static void test_moderation(void **state)
{
    (void)state;
    fresh();
    struct eco_store_options o = options();
    struct eco_store *s = NULL;
    struct eco_store_row row;
    struct eco_err err = {0};
    const char *text;
    size_t len;
    o.auto_accept = false;
    assert_int_equal(eco_store_open(&o, &s, NULL), 0);
    struct eco_store_receipt r = submit(s, plain(1));
    assert_int_equal(r.state, ECO_STORE_PENDING);
    assert_int_equal(total(s, false), 0); /* not listed before it was looked at */
    assert_int_equal(total(s, true), 1);
    assert_int_equal(eco_store_moderate(s, r.id, ECO_STORE_REJECTED, ECO_STORE_NO_REASON, &err),
                     ECO_E_INVALID);
    assert_non_null(strstr(err.message, "results are no reason"));
    assert_int_equal(eco_store_moderate(s, r.id, ECO_STORE_ACCEPTED, ECO_STORE_SPAM, &err),
                     ECO_E_INVALID);
    assert_int_equal(eco_store_moderate(s, "none", ECO_STORE_ACCEPTED, ECO_STORE_NO_REASON, &err),
                     ECO_E_NOT_FOUND);
    assert_int_equal(eco_store_moderate(s, r.id, ECO_STORE_ACCEPTED, ECO_STORE_NO_REASON, &err), 0);
    assert_int_equal(total(s, false), 1);
    assert_int_equal(submit(s, plain(1)).state, ECO_STORE_ACCEPTED); /* the duplicate's receipt */
    assert_int_equal(eco_store_moderate(s, r.id, ECO_STORE_REJECTED, ECO_STORE_PERSONAL_DATA, &err),
                     0);
    assert_int_equal(total(s, false), 0);
    assert_int_equal(eco_store_get(s, r.id, &arena, &row, &text, &len, &err), ECO_E_NOT_FOUND);
    assert_int_equal(eco_store_withdraw(s, r.id, r.token, &err), 0); /* also a rejected one */
    eco_store_close(s);
    enum eco_store_reason reason;
    assert_true(eco_store_reason_parse("format", &reason));
    assert_false(eco_store_reason_parse("wrong result", &reason));
    assert_false(eco_store_reason_parse("", &reason));
}

/* ---- reading --------------------------------------------------------------------------------- */

static void test_consistency_with_the_curve(void **state)
{
    (void)state;
    fresh();
    struct eco_store *s = open_store();
    const struct eco_published_tables *t = eco_dataset_published();
    const struct eco_published_curve *ada = NULL;
    for (size_t i = 0; i < t->n_curves; i++) {
        if (t->curves[i].arch == ECO_ARCH_ADA && t->curves[i].precision == ECO_PUB_NF4)
            ada = &t->curves[i];
    }
    assert_non_null(ada);
    double on = eco_published_curve_at(ada, 7), band = fmax(1.96 * ada->rms_pct, 5);
    submit(s, report("RTX 4090", "ada", "NF4", 7, on + band * 0.99, "measured", 1));
    submit(s, report("RTX 4090", "ada", "NF4", 7, on + band + 3, "measured", 2));
    submit(s, report("MI300X", "cdna3", "NF4", 7, on, "measured", 3));
    submit(s, report("RTX 4090", "ada", "NF4", 7, on, "interpolated", 4));
    struct eco_store_query q;
    struct eco_store_page page;
    eco_store_query_init(&q);
    assert_int_equal(eco_store_list(s, &q, &arena, &page, NULL), 0);
    assert_int_equal(page.count, 4); /* newest first */
    assert_false(page.rows[0].replication ||
                 page.rows[0].classified); /* derived is no replication */
    assert_true(page.rows[1].replication);
    assert_false(page.rows[1].classified); /* no curve of that class */
    assert_true(isnan(page.rows[1].pred_pct));
    assert_true(page.rows[2].classified && !page.rows[2].agrees);
    assert_near(page.rows[2].outside_pct, 3, 1e-9);
    assert_true(page.rows[3].classified && page.rows[3].agrees);
    assert_near(page.rows[3].pred_pct, on, 0);
    assert_near(page.rows[3].band_pct, band, 0);
    q.replications_only = true;
    assert_int_equal(eco_store_list(s, &q, &arena, &page, NULL), 0);
    assert_int_equal(page.total, 3);
    eco_store_close(s);
}

static struct eco_store *thirty_reports(void)
{
    static const char *const gpus[] = {"RTX 4090", "Tesla T4", "x'); DROP TABLE eco_report; --"};
    fresh();
    struct eco_store *s = open_store();
    for (int i = 0; i < 30; i++)
        submit(s, report(gpus[i % 3], i % 3 ? "turing" : "ada", i % 2 ? "NF4" : "INT8", 1 + i, -10,
                         "measured", i));
    return s;
}

static void test_pages(void **state)
{
    (void)state;
    struct eco_store *s = thirty_reports();
    struct eco_store_query q;
    struct eco_store_page page;
    char cursor[24] = "";
    int seen[100] = {0}, pages = 0;
    eco_store_query_init(&q);
    q.limit = 7;
    q.cursor = cursor;
    do {
        assert_int_equal(eco_store_list(s, &q, &arena, &page, NULL), 0);
        assert_int_equal(page.total, pages ? 31 : 30);
        for (size_t i = 0; i < page.count; i++) {
            seen[(int)page.rows[i].params_b]++;
            assert_true(i == 0 || page.rows[i].seq < page.rows[i - 1].seq);
        }
        snprintf(cursor, sizeof(cursor), "%s", page.next);
        if (pages++ == 0) /* what comes later does not shift the pages */
            submit(s, report("late", "ada", "NF4", 99, -10, "measured", 99));
    } while (cursor[0]);
    for (int i = 1; i <= 30; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(seen[99], 0);
    assert_int_equal(pages, 5);
    static const char *const bad[] = {"x", "-5", "1x", "0", "99999999999999999999", " 1", "1;"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        q.cursor = bad[i];
        assert_int_equal(eco_store_list(s, &q, &arena, &page, NULL), ECO_E_INVALID);
    }
    q.cursor = NULL;
    q.limit = ECO_STORE_MAX_PAGE + 1;
    assert_int_equal(eco_store_list(s, &q, &arena, &page, NULL), ECO_E_RANGE);
    eco_store_close(s);
}

static int64_t matches(struct eco_store *s, const struct eco_store_query *q,
                       struct eco_store_page *page)
{
    assert_int_equal(eco_store_list(s, q, &arena, page, NULL), 0);
    return page->total;
}

static void test_filters(void **state)
{
    (void)state;
    struct eco_store *s = thirty_reports();
    struct eco_store_query q;
    struct eco_store_page page;
    eco_store_query_init(&q);
    q.gpu = "rtx 4090"; /* without case */
    assert_int_equal(matches(s, &q, &page), 10);
    q.gpu = "rtx"; /* whole */
    assert_int_equal(matches(s, &q, &page), 0);
    q.gpu = "x'); DROP TABLE eco_report; --"; /* a text, never a statement */
    assert_int_equal(matches(s, &q, &page), 10);
    q.precision = "int8"; /* published reports say INT8 for INT8-MIXED; both words find it */
    assert_int_equal(matches(s, &q, &page), 5);
    q.precision = "INT8-MIXED";
    assert_int_equal(matches(s, &q, &page), 5);
    assert_string_equal(page.rows[0].precision, "INT8-MIXED");
    q.min_params_b = 10;
    q.max_params_b = 20;
    assert_int_equal(matches(s, &q, &page), 1);
    assert_near(page.rows[0].params_b, 15, 0);
    q.model = "m-14";
    q.arch = "TURING";
    q.basis = "measured";
    assert_int_equal(matches(s, &q, &page), 1);
    q.model = "m-15";
    assert_int_equal(matches(s, &q, &page), 0);
    assert_int_equal(total(s, true), 30);
    eco_store_close(s);
}

static void test_export(void **state)
{
    (void)state;
    fresh();
    struct eco_store *s = open_store();
    const size_t n = ECO_STORE_MAX_PAGE / 100 + 5;
    submit(s, report("=cmd|' /C calc'!A0", "ada", "NF4", 7, -28.46, "measured", 0));
    submit(s, report("a, \\\"quoted\\\" card", "ada", "NF4", 7, 0.1, "measured", 1));
    for (size_t i = 2; i < n; i++)
        submit(s, plain((int)i));
    struct eco_store_query q;
    struct eco_buf out = ECO_BUF_INIT;
    struct eco_json_doc doc;
    struct eco_csv *c = malloc(sizeof(*c));
    eco_store_query_init(&q);
    assert_int_equal(eco_store_export(s, &q, false, &out, NULL), 0);
    assert_int_equal(eco_json_parse(&doc, out.data, out.len, NULL), 0);
    assert_int_equal(doc.root->count, n);
    const struct eco_json *last = doc.root->child;
    while (last->next)
        last = last->next;
    assert_string_equal(eco_json_get(last, "gpu")->str, "=cmd|' /C calc'!A0");
    assert_int_equal(eco_json_get(last, "replication")->type, ECO_JSON_TRUE);
    assert_int_equal(eco_json_get(last, "signer")->type, ECO_JSON_NULL);
    eco_json_done(&doc);
    eco_buf_clear(&out);
    assert_int_equal(eco_store_export(s, &q, true, &out, NULL), 0);
    assert_non_null(c);
    assert_int_equal(eco_csv_open(c, "export", out.data, out.len, NULL), 0);
    int gpu = eco_csv_column(c, "gpu"), delta = eco_csv_column(c, "delta_pct");
    size_t rows = 0;
    struct eco_err err = {0};
    for (int rc; (rc = eco_csv_next(c, &err)) != 0; rows++) {
        double pct;
        if (rc < 0)
            fail_msg("%s", err.message);
        assert_int_equal(eco_csv_num(c, delta, &pct, &err), 1);
        if (rows == n - 1)
            assert_string_equal(c->cell[gpu].s, "'=cmd|' /C calc'!A0"); /* no formula */
        if (rows == n - 2)
            assert_string_equal(c->cell[gpu].s, "a, \"quoted\" card");
    }
    assert_int_equal(rows, n);
    eco_csv_done(c);
    free(c);
    eco_buf_done(&out);
    eco_store_close(s);
}

/* ---- processes ------------------------------------------------------------------------------- */

static void writer(int serial)
{
    struct eco_store *s = open_store();
    for (int i = 0; i < EACH; i++) {
        submit(s, plain(serial * 1000 + i));
        submit(s, plain(777000 + i)); /* and one that all of them have */
    }
    eco_store_close(s);
    _exit(0);
}

static void test_concurrent_writers_lose_nothing(void **state)
{
    (void)state;
    fresh();
    pid_t child[WRITERS];
    for (int i = 0; i < WRITERS; i++) { /* they also race to create and migrate the store */
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0)
            writer(i + 1);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    struct eco_store *s = open_store();
    assert_int_equal(total(s, true), WRITERS * EACH + EACH);
    assert_int_equal(eco_store_check(s, NULL), 0);
    eco_store_close(s);
}

/* Another process has begun to write to the file that is not yet in write-ahead mode: SQLite's own
   time-out does not wait for that one. */
static void test_opening_waits_for_a_writer(void **state)
{
    (void)state;
    int began[2];
    char ready;
    sqlite_only();
    fresh();
    assert_int_equal(pipe(began), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct timespec hold = {0, 300000000};
        sqlite3 *db;
        int rc = sqlite3_open(url + strlen("sqlite:"), &db);
        sqlite3_busy_timeout(db, 10000); /* its COMMIT may meet the other's short look */
        rc = rc ? rc : sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
        rc = rc || write(began[1], "x", 1) != 1;
        nanosleep(&hold, NULL);
        rc = rc ? rc : sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
        sqlite3_close(db);
        _exit(rc != 0);
    }
    close(began[1]);
    assert_int_equal(read(began[0], &ready, 1), 1);
    close(began[0]);
    struct eco_store *s = open_store();
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(eco_store_check(s, NULL), 0);
    eco_store_close(s);
}

/* Writes the id of each acknowledged report to `fd` until it is killed. */
static void acknowledge(int fd, int serial)
{
    struct eco_store *s = open_store();
    for (int i = 0;; i++) {
        struct eco_store_receipt r = submit(s, plain(serial * 100000 + i));
        if (write(fd, r.id, 64) != 64)
            _exit(1);
    }
}

static void test_kill_loses_no_acknowledged_report(void **state)
{
    (void)state;
    fresh();
    size_t acknowledged = 0;
    for (int k = 0; k < KILLS; k++) {
        int pipes[2];
        char id[65] = "";
        assert_int_equal(pipe(pipes), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            close(pipes[0]);
            acknowledge(pipes[1], k + 1);
        }
        close(pipes[1]);
        for (int i = 0; i <= k; i++) /* killed somewhere inside the next one */
            assert_int_equal(read(pipes[0], id, 64), 64);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        struct eco_store *s = open_store();
        struct eco_store_row row;
        const char *text;
        size_t len, mine = (size_t)k + 1;
        assert_int_equal(eco_store_get(s, id, &arena, &row, &text, &len, NULL), 0);
        while (read(pipes[0], id, 64) == 64) { /* what was acknowledged while it was killed */
            assert_int_equal(eco_store_get(s, id, &arena, &row, &text, &len, NULL), 0);
            mine++;
        }
        close(pipes[0]);
        acknowledged += mine;
        /* at most the one that was under way is there besides */
        assert_true(total(s, true) >= (int64_t)acknowledged);
        assert_true(total(s, true) <= (int64_t)acknowledged + k + 1);
        assert_int_equal(eco_store_check(s, NULL), 0);
        eco_store_close(s);
    }
    print_message("%zu acknowledged before %d kills, all there\n", acknowledged, KILLS);
}

/* ---- damage and versions --------------------------------------------------------------------- */

static void overwrite(const char *path, long at, const char *with, size_t len)
{
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, with, len, at), (ssize_t)len);
    close(fd);
}

static void test_a_damaged_file_is_named(void **state)
{
    (void)state;
    sqlite_only();
    fresh();
    struct eco_store *s = open_store();
    struct eco_store_options o = options();
    struct eco_err err = {0};
    for (int i = 0; i < 40; i++)
        submit(s, plain(i));
    eco_store_close(s);
    const char *path = url + strlen("sqlite:");
    struct stat st;
    char junk[4096];
    memset(junk, 0x5a, sizeof(junk));
    assert_int_equal(stat(path, &st), 0);
    overwrite(path, st.st_size / 4096 / 2 * 4096, junk, sizeof(junk)); /* a page in the middle */
    int rc = eco_store_open(&o, &s, &err);
    if (rc == 0) {
        rc = eco_store_check(s, &err);
        eco_store_close(s);
    }
    assert_int_equal(rc, ECO_E_CONTENT);
    assert_string_equal(err.arg, "store");
    if (!strstr(err.message, "is damaged") || !strstr(err.message, path))
        fail_msg("%s", err.message);
    overwrite(path, 0, junk, 100); /* its head */
    assert_int_equal(eco_store_open(&o, &s, &err), ECO_E_CONTENT);
    assert_non_null(strstr(err.message, path));
}

/* What no page check sees: a text that is not the content it is named by. */
static void test_a_changed_text_is_named(void **state)
{
    (void)state;
    fresh();
    struct eco_store *s = open_store();
    struct eco_err err = {0};
    char command[512];
    struct eco_store_receipt r = submit(s, plain(1));
    eco_store_close(s);
    if (on_sqlite()) {
        const char *path = url + strlen("sqlite:");
        struct eco_buf bytes = ECO_BUF_INIT;
        FILE *f = fopen(path, "rb");
        char chunk[4096];
        assert_non_null(f);
        for (size_t n; (n = fread(chunk, 1, sizeof(chunk), f)) > 0;)
            eco_buf_put(&bytes, chunk, n);
        fclose(f);
        char *at;
        for (at = bytes.data; at < bytes.data + bytes.len && memcmp(at, "3900.25", 7) != 0;)
            at++;
        overwrite(path, at - bytes.data, "4", 1);
        eco_buf_done(&bytes);
    } else {
        snprintf(command, sizeof(command),
                 "%s \"UPDATE eco%d.eco_report SET body = replace(body, '3900', '4900')\"",
                 getenv("ECO_STORE_ADMIN"), stores);
        assert_int_equal(system(command), 0);
    }
    s = open_store();
    assert_int_equal(eco_store_check(s, &err), ECO_E_CONTENT);
    assert_non_null(strstr(err.message, r.id));
    eco_store_close(s);
}

static void test_urls_and_versions(void **state)
{
    (void)state;
    fresh();
    struct eco_store_options o = options();
    struct eco_store *s = NULL;
    struct eco_err err = {0};
    static const char *const bad[] = {"", "sqlite:", "mysql://x", "folder/x.db", "sqlite"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        o.url = bad[i];
        assert_int_equal(eco_store_open(&o, &s, &err), ECO_E_INVALID);
    }
    o.url = "sqlite:/no/such/folder/x.db";
    assert_int_equal(eco_store_open(&o, &s, &err), ECO_E_IO);
    assert_non_null(strstr(err.message, "/no/such/folder"));
    o.url = "postgresql://nobody@127.0.0.1:1/x";
    int rc = eco_store_open(&o, &s, &err);
    assert_true(rc == ECO_E_DEVICE || rc == ECO_E_UNSUPPORTED);
    if (!on_sqlite()) {
        char command[512];
        eco_store_close(open_store());
        snprintf(command, sizeof(command), "%s 'INSERT INTO eco%d.eco_schema VALUES (99)'",
                 getenv("ECO_STORE_ADMIN"), stores);
        assert_int_equal(system(command), 0);
        o.url = url;
        assert_int_equal(eco_store_open(&o, &s, &err), ECO_E_UNSUPPORTED);
        assert_non_null(strstr(err.message, "version 99"));
    }
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_report_comes_back),
        cmocka_unit_test(test_what_is_not_taken),
        cmocka_unit_test(test_the_same_content_once),
        cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_withdrawal),
        cmocka_unit_test(test_moderation),
        cmocka_unit_test(test_consistency_with_the_curve),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_export),
        cmocka_unit_test(test_concurrent_writers_lose_nothing),
        cmocka_unit_test(test_opening_waits_for_a_writer),
        cmocka_unit_test(test_kill_loses_no_acknowledged_report),
        cmocka_unit_test(test_a_damaged_file_is_named),
        cmocka_unit_test(test_a_changed_text_is_named),
        cmocka_unit_test(test_urls_and_versions),
    };
    snprintf(dir, sizeof(dir), "eco-store-XXXXXX");
    if (!mkdtemp(dir)) {
        perror(dir);
        return 1;
    }
    parent = getpid();
    eco_arena_init(&arena, (size_t)1 << 30);
    int rc = cmocka_run_group_tests(tests, NULL, remove_folder);
    eco_arena_done(&arena);
    return rc;
}
