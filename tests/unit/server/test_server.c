/* The server without sockets: addresses, tokens, queries, pages, kept replies, metrics. */
#include "eco_test.h"
#include "server/server_parts.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t clock_ns;

static int64_t fake_now(void)
{
    return clock_ns;
}

static struct eco_server *start(double rate, bool trust, const char *web)
{
    const struct eco_server_options o = {
        .rate_per_min = rate, .trust_proxy = trust, .web_dir = web, .now_ns = fake_now};
    struct eco_server *s = NULL;
    struct eco_err err = {0};
    assert_int_equal(eco_server_new(&o, &s, &err), 0);
    return s;
}

static struct eco_http_request ask(const char *method, const char *target)
{
    struct eco_http_request q = {.method = method, .target = target};
    q.peer[10] = q.peer[11] = 0xff;
    q.peer[12] = 127, q.peer[15] = 1;
    return q;
}

static int status_of(struct eco_server *s, struct eco_server_worker *w,
                     const struct eco_http_request *q, struct eco_http_reply *r)
{
    size_t limit;
    if (eco_server_admit(s, w, q, &limit, r)) {
        eco_server_handle(s, w, q, r);
    }
    return r->status;
}

static void test_decode(void **state)
{
    struct eco_arena arena;
    struct eco_err err = {0};
    size_t n;
    (void)state;
    eco_arena_init(&arena, 0);
    const char *in = "a%20b+c%2B%e4%ba%BF";
    assert_string_equal(eco_query_decode(&arena, in, strlen(in), true, &n, &err), "a b c+亿");
    assert_int_equal(n, strlen("a b c+亿"));
    assert_string_equal(eco_query_decode(&arena, "a+b", 3, false, &n, &err), "a+b");
    assert_non_null(eco_query_decode(&arena, "", 0, true, &n, &err));
    static const char *const bad[] = {"%", "%4", "%4g", "%g4", "x%", "%%", "%+1", "% 1"};
    for (size_t i = 0; i < ECO_COUNT(bad); i++) {
        assert_null(eco_query_decode(&arena, bad[i], strlen(bad[i]), true, &n, &err));
        assert_int_equal(err.code, ECO_E_INVALID);
    }
    eco_arena_done(&arena);
}

static void test_split(void **state)
{
    const char *query;
    size_t n;
    (void)state;
    assert_int_equal(eco_target_split("/a?b=1#c", &query, &n), 2);
    assert_int_equal(n, 3);
    assert_int_equal(eco_target_split("/a", &query, &n), 2);
    assert_null(query);
    assert_int_equal(eco_target_split("/a#?x", &query, &n), 2);
    assert_null(query);
    assert_int_equal(eco_target_split("", &query, &n), 0);
}

static void address(const char *text, unsigned char out[16])
{
    struct in_addr v4;
    memset(out, 0, 16);
    if (inet_pton(AF_INET, text, &v4) == 1) {
        out[10] = out[11] = 0xff;
        memcpy(out + 12, &v4, 4);
    } else {
        assert_int_equal(inet_pton(AF_INET6, text, out), 1);
    }
}

static void test_tokens(void **state)
{
    struct eco_limiter *l = eco_limiter_new(60); /* one a second, sixty at most */
    unsigned char a[16], b[16];
    int64_t t = 1000000000000;
    (void)state;
    address("192.0.2.1", a);
    address("192.0.2.2", b);
    for (int i = 0; i < 60; i++) {
        assert_near(eco_limiter_take(l, a, 1, t), 0, 0);
    }
    assert_near(eco_limiter_take(l, a, 1, t), 1, 1e-6);
    assert_near(eco_limiter_take(l, a, 1, t + 400000000), 0.6, 1e-6);
    assert_near(eco_limiter_take(l, b, 1, t), 0, 0);
    assert_near(eco_limiter_take(l, a, 1, t + 1000000000), 0, 0);
    assert_near(eco_limiter_take(l, a, 1, t + 1000000000), 1, 1e-6);
    for (int i = 0; i < 60; i++) { /* an hour later it is full, and not more than full */
        assert_near(eco_limiter_take(l, a, 1, t + 3600000000000), 0, 0);
    }
    assert_true(eco_limiter_take(l, a, 1, t + 3600000000000) > 0);
    address("2001:db8::1", a);
    address("2001:db8::ffff:2", b);
    for (int i = 0; i < 30; i++) {
        assert_near(eco_limiter_take(l, a, 1, t) + eco_limiter_take(l, b, 1, t), 0, 0);
    }
    assert_true(eco_limiter_take(l, b, 1, t) > 0);
    address("2001:db8:0:1::1", b);
    assert_near(eco_limiter_take(l, b, 1, t), 0, 0);
    address("192.0.2.9", a); /* what costs more, and what costs more than there ever is */
    assert_near(eco_limiter_take(l, a, 33, t), 0, 0);
    assert_near(eco_limiter_take(l, a, 33, t), 6, 1e-6);
    assert_near(eco_limiter_take(l, a, 27, t), 0, 0);
    assert_near(eco_limiter_take(l, a, 1000, t + 60000000000), 0, 0);
    assert_near(eco_limiter_take(l, a, 1000, t + 60000000000), 60, 1e-6);
    eco_limiter_free(l);
}

/* A million clients: the one that is out of tokens is not the one forgotten. */
static void test_many_clients(void **state)
{
    struct eco_limiter *l = eco_limiter_new(3);
    unsigned char a[16], other[16] = {0};
    int64_t t = 1;
    (void)state;
    address("192.0.2.1", a);
    for (int i = 0; i < 3; i++) {
        assert_near(eco_limiter_take(l, a, 1, t), 0, 0);
    }
    other[10] = other[11] = 0xff;
    for (uint32_t i = 0; i < 1000000; i++) {
        memcpy(other + 12, &i, 4);
        eco_limiter_take(l, other, 1, t);
    }
    assert_true(eco_limiter_take(l, a, 1, t) > 0);
    eco_limiter_free(l);
}

static void test_client(void **state)
{
    struct eco_server *trusting = start(0, true, NULL), *plain = start(0, false, NULL);
    struct eco_http_request q = ask("GET", "/");
    char text[64];
    (void)state;
    static const char *const cases[][2] = {{"192.0.2.7", "192.0.2.7"},
                                           {"10.0.0.1, 192.0.2.8", "192.0.2.8"},
                                           {"a, [2001:db8::1]:443", "2001:db8::1"},
                                           {"192.0.2.9:1234", "192.0.2.9"},
                                           {"2001:db8::2", "2001:db8::2"},
                                           {"garbage", "127.0.0.1"},
                                           {"", "127.0.0.1"},
                                           {"192.0.2.7,", "127.0.0.1"}};
    for (size_t i = 0; i < ECO_COUNT(cases); i++) {
        q.header[ECO_HTTP_FORWARDED_FOR] = cases[i][0];
        eco_server_client(trusting, &q, text);
        assert_string_equal(text, cases[i][1]);
        eco_server_client(plain, &q, text);
        assert_string_equal(text, "127.0.0.1");
    }
    eco_server_free(trusting);
    eco_server_free(plain);
}

static void test_limit_reply(void **state)
{
    struct eco_server *s = start(2, false, NULL);
    struct eco_server_worker *w = eco_server_worker_new(s);
    struct eco_http_request q = ask("GET", "/v1/gpus?arch=ada");
    struct eco_http_reply r;
    (void)state;
    clock_ns = 1000000000;
    assert_int_equal(status_of(s, w, &q, &r), 200);
    assert_int_equal(status_of(s, w, &q, &r), 200);
    assert_int_equal(status_of(s, w, &q, &r), 429);
    assert_string_equal(eco_http_header_of(&r, "Retry-After"), "30");
    clock_ns += 30000000000;
    assert_int_equal(status_of(s, w, &q, &r), 200);
    eco_server_worker_free(w);
    eco_server_free(s);
}

/* A megabyte of code is 33 requests, its size said or not; code is read one at a time. */
static void test_large_body(void **state)
{
    struct eco_server *s = start(70, false, NULL);
    struct eco_server_worker *w = eco_server_worker_new(s);
    struct eco_http_request q = ask("POST", "/v1/audit");
    struct eco_http_reply r;
    char *body = malloc(ECO_HTTP_MAX_BODY_AUDIT + 1);
    (void)state;
    assert_non_null(body);
    snprintf(body, ECO_HTTP_MAX_BODY_AUDIT + 1, "%-*s", (int)ECO_HTTP_MAX_BODY_AUDIT,
             "{\"text\":\"a\"}");
    q.body = body;
    q.body_len = ECO_HTTP_MAX_BODY_AUDIT;
    q.header[ECO_HTTP_CONTENT_LENGTH] = "1048576";
    assert_int_equal(status_of(s, w, &q, &r), 200);
    q.header[ECO_HTTP_CONTENT_LENGTH] = NULL;
    q.header[ECO_HTTP_TRANSFER_ENCODING] = "chunked";
    assert_int_equal(status_of(s, w, &q, &r), 200);
    assert_int_equal(status_of(s, w, &q, &r), 429);
    q.peer[15]++;
    atomic_store(&s->large, true); /* another thread reads one */
    assert_int_equal(status_of(s, w, &q, &r), 503);
    assert_string_equal(eco_http_header_of(&r, "Retry-After"), "1");
    q.body_len = ECO_HTTP_LARGE;
    assert_int_equal(status_of(s, w, &q, &r), 200);
    atomic_store(&s->large, false);
    free(body);
    eco_server_worker_free(w);
    eco_server_free(s);
}

/* The second answer is a kept one, and the same; wrong questions are not kept. */
static void test_kept(void **state)
{
    struct eco_server *s = start(0, false, NULL);
    struct eco_server_worker *w = eco_server_worker_new(s);
    struct eco_http_request q = ask("GET", "/v1/estimate?params_b=7&arch=ada");
    struct eco_http_reply r;
    struct eco_buf kept = ECO_BUF_INIT;
    char etag[40], first[40];
    (void)state;
    assert_false(eco_reply_cache_get(s->cache, q.target, &kept, etag));
    assert_int_equal(status_of(s, w, &q, &r), 200);
    snprintf(first, sizeof first, "%s", eco_http_header_of(&r, "ETag"));
    assert_true(eco_reply_cache_get(s->cache, q.target, &kept, etag));
    assert_string_equal(first, etag);
    assert_int_equal(kept.len, r.len);
    assert_memory_equal(kept.data, r.body, r.len);
    assert_int_equal(status_of(s, w, &q, &r), 200);
    assert_memory_equal(kept.data, r.body, r.len);
    assert_string_equal(eco_http_header_of(&r, "ETag"), etag);
    q.header[ECO_HTTP_IF_NONE_MATCH] = etag;
    assert_int_equal(status_of(s, w, &q, &r), 304);
    assert_int_equal(r.len, 0);
    q = ask("GET", "/v1/estimate?params_b=x");
    assert_int_equal(status_of(s, w, &q, &r), 400);
    assert_false(eco_reply_cache_get(s->cache, q.target, &kept, etag));
    for (int i = 0; i < 5000; i++) { /* ten times what fits */
        char target[32];
        snprintf(target, sizeof target, "/%d", i);
        eco_reply_cache_put(s->cache, target, &kept, etag);
    }
    eco_buf_clear(&kept);
    assert_true(eco_reply_cache_get(s->cache, "/4999", &kept, etag));
    assert_false(eco_reply_cache_get(s->cache, "/0", &kept, etag));
    eco_buf_done(&kept);
    eco_server_worker_free(w);
    eco_server_free(s);
}

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* The digest of "1" in the policy is known: printf 1 | openssl dgst -sha256 -binary | base64 */
static void test_pages(void **state)
{
    char dir[] = "ecocompute-web-XXXXXX", path[512];
    struct eco_pages p;
    struct eco_err err = {0};
    (void)state;
    assert_non_null(mkdtemp(dir));
    write_file(dir, "index.html", "<script>1</script><script src=\"a.js\"></script>");
    write_file(dir, "a.js", "1");
    assert_int_equal(eco_pages_load(&p, dir, false, &err), 0);
    assert_int_equal(p.n, 3);
    const struct eco_page *root = eco_pages_find(&p, "/", 1);
    assert_non_null(root);
    assert_non_null(strstr(root->csp, "'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='"));
    assert_null(strstr(strstr(root->csp, "sha256-") + 7, "sha256-"));
    assert_ptr_equal(eco_pages_find(&p, "/a.jsx", 5)->path, eco_pages_find(&p, "/a.js", 5)->path);
    assert_null(eco_pages_find(&p, "/a.j", 4));
    assert_null(eco_pages_find(&p, "/a.jss", 6));
    assert_null(eco_pages_find(&p, "", 0));
    eco_pages_done(&p);
    snprintf(path, sizeof path, "%s/index.html", dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/a.js", dir);
    unlink(path);
    assert_int_equal(eco_pages_load(&p, dir, false, &err), ECO_E_NOT_FOUND); /* empty */
    eco_pages_done(&p);
    rmdir(dir);
    assert_int_equal(eco_pages_load(&p, dir, false, &err), ECO_E_NOT_FOUND); /* gone */
    eco_pages_done(&p);
}

static void test_metrics(void **state)
{
    struct eco_server *s = start(0, false, NULL);
    struct eco_server_worker *w = eco_server_worker_new(s);
    struct eco_http_request q = ask("GET", "/healthz");
    struct eco_http_reply r;
    (void)state;
    for (int i = 0; i < 3; i++) {
        status_of(s, w, &q, &r);
        eco_server_count(s, &r, 0.0002 + 0.01 * i);
    }
    q = ask("GET", "/metrics");
    status_of(s, w, &q, &r);
    assert_non_null(strstr(r.body, "requests_total{route=\"/healthz\",status=\"200\"} 3\n"));
    assert_non_null(strstr(r.body, "bucket{route=\"/healthz\",le=\"0.00025\"} 1\n"));
    assert_non_null(strstr(r.body, "bucket{route=\"/healthz\",le=\"0.025\"} 3\n"));
    assert_non_null(strstr(r.body, "bucket{route=\"/healthz\",le=\"+Inf\"} 3\n"));
    assert_non_null(strstr(r.body, "seconds_count{route=\"/healthz\"} 3\n"));
    eco_server_worker_free(w);
    eco_server_free(s);
}

/* Whom errors are told to: the address first, then the best of the browser's languages. */
static void test_language(void **state)
{
    static const struct {
        const char *target, *accept;
        enum eco_lang want;
    } cases[] = {{"/", NULL, ECO_LANG_EN},
                 {"/", "", ECO_LANG_EN},
                 {"/", "zh", ECO_LANG_ZH},
                 {"/", "ZH-Hans-CN", ECO_LANG_ZH},
                 {"/", "en-US,en;q=0.9,zh;q=0.8", ECO_LANG_EN},
                 {"/", "zh-CN,zh;q=0.9,en;q=0.8", ECO_LANG_ZH},
                 {"/", "en;q=0.3 , zh;q=0.35", ECO_LANG_ZH},
                 {"/", "zh;q=0.999,en;q=1", ECO_LANG_EN},
                 {"/", "zh;q=0", ECO_LANG_EN},
                 {"/", "fr, de;q=0.9, zh;q=0.1", ECO_LANG_ZH},
                 {"/", "zhx, zzh", ECO_LANG_EN},
                 {"/", ",,;q=,zh;q=", ECO_LANG_EN},
                 {"/?lang=zh", "en", ECO_LANG_ZH},
                 {"/?a=1&lang=ZH&lang=en", NULL, ECO_LANG_ZH},
                 {"/?l%61ng=%7a%68", NULL, ECO_LANG_ZH},
                 {"/?lang=en", "zh", ECO_LANG_EN},
                 {"/?lang=xx", "zh", ECO_LANG_ZH},
                 {"/?lang=%z&xlang=zh&lang", NULL, ECO_LANG_EN},
                 {"/#?lang=zh", NULL, ECO_LANG_EN}};
    struct eco_server *s = start(0, false, NULL);
    struct eco_server_worker *w = eco_server_worker_new(s);
    (void)state;
    for (size_t i = 0; i < ECO_COUNT(cases); i++) {
        struct eco_http_request q = ask("GET", cases[i].target);
        q.header[ECO_HTTP_ACCEPT_LANGUAGE] = cases[i].accept;
        w->request = &q;
        if (eco_server_language(w) != cases[i].want) {
            fail_msg("%s, %s", cases[i].target, cases[i].accept ? cases[i].accept : "-");
        }
    }
    eco_server_worker_free(w);
    eco_server_free(s);
}

static void test_places(void **state)
{
    static const char *const cases[][2] = {{"/v1/estimat", "/v1/estimate"},
                                           {"/estimate", "/v1/estimate"},
                                           {"/V1/Estimate", "/v1/estimate"},
                                           {"/metric", "/metrics"},
                                           {"/v1/mcp", "/mcp"},
                                           {"/healthz/", "/healthz"},
                                           {"/v1/xyz", NULL},
                                           {"/v1/", NULL},
                                           {"/", NULL},
                                           {"", NULL},
                                           {"/wp-login.php", NULL}};
    struct eco_server *s = start(0, false, NULL);
    (void)state;
    for (size_t i = 0; i < ECO_COUNT(cases); i++) {
        const char *near = eco_place_near(s, cases[i][0], strlen(cases[i][0]));
        if (cases[i][1]) {
            assert_non_null(near);
            assert_string_equal(near, cases[i][1]);
        } else {
            assert_null(near);
        }
    }
    assert_string_equal(eco_http_origin_form("/a?b"), "/a?b");
    assert_string_equal(eco_http_origin_form("http://a/b?c=http://d/e"), "/b?c=http://d/e");
    assert_string_equal(eco_http_origin_form("HTTPS://a:1/"), "/");
    assert_string_equal(eco_http_origin_form("http://a"), "/");
    assert_string_equal(eco_http_origin_form("*"), "*");
    eco_server_free(s);
}

/* Whose pages may change the store. 501: this one may, and there is no store. */
static void test_origins(void **state)
{
    static const char *const others[] = {"https://other.example"};
    static const struct {
        const char *host, *origin;
        bool proxy;
        int want;
    } cases[] = {{"127.0.0.1:8080", NULL, false, 501},
                 {"127.0.0.1:8080", "http://127.0.0.1:8080", false, 501},
                 {"[::1]:8080", "http://[::1]:8080", false, 501},
                 {"192.0.2.7:8080", "http://192.0.2.7:8080", false, 501},
                 {"gpu-box:8080", "http://gpu-box:8080", false, 501},
                 {"gpu-box:8080", "http://gpu-box:8081", false, 403},
                 {"eco.example.org", "https://eco.example.org", false, 501},
                 {"eco.example.org", "http://eco.example.org", false, 403}, /* DNS rebinding */
                 {"192.0.2.7.example:80", "http://192.0.2.7.example:80", false, 403},
                 {"eco.example.org", "http://eco.example.org", true, 501},
                 {"eco.example.org", "http://evil.example", true, 403},
                 {"eco.example.org", "https://other.example", false, 501},
                 {"eco.example.org", "null", false, 403},
                 {"eco.example.org", "", false, 403}};
    struct eco_http_reply r;
    (void)state;
    for (size_t i = 0; i < ECO_COUNT(cases); i++) {
        const struct eco_server_options o = {
            .trust_proxy = cases[i].proxy, .origins = others, .n_origins = 1, .now_ns = fake_now};
        struct eco_server *s = NULL;
        assert_int_equal(eco_server_new(&o, &s, NULL), 0);
        struct eco_server_worker *w = eco_server_worker_new(s);
        struct eco_http_request q = ask("POST", "/v1/withdrawals");
        q.header[ECO_HTTP_HOST] = cases[i].host;
        q.header[ECO_HTTP_ORIGIN] = cases[i].origin;
        q.body = "{\"id\":\"a\",\"token\":\"b\"}";
        q.body_len = strlen(q.body);
        if (status_of(s, w, &q, &r) != cases[i].want) {
            fail_msg("%s, %s: %d", cases[i].host, cases[i].origin, r.status);
        }
        eco_server_worker_free(w);
        eco_server_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),     cmocka_unit_test(test_split),
        cmocka_unit_test(test_tokens),     cmocka_unit_test(test_many_clients),
        cmocka_unit_test(test_client),     cmocka_unit_test(test_limit_reply),
        cmocka_unit_test(test_large_body), cmocka_unit_test(test_kept),
        cmocka_unit_test(test_pages),      cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_language),   cmocka_unit_test(test_places),
        cmocka_unit_test(test_origins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
